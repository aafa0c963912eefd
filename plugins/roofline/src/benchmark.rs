//! Measuring part after part: load, check, rounds. What a backend refuses is left out, and said to be.

use crate::copies::{FROM_DEVICE, TO_DEVICE, copies};
use crate::parts::{Form, PASSES, Part, SIZES};
use crate::peaks::{Peaks, median, rate};
use crate::skill::SKILL;
use skillbench_plugin_api::sdk::{Benchmark, Context, Level};
use skillbench_plugin_api::{Code, Error, Result, RoundKind, SeriesInfo, SeriesKind};
use std::ffi::CStr;
use std::time::Instant;

/// The longest run of a product that is begun, where the option says nothing.
const LONGEST_RUN_MS: u64 = 500;
/// Of a read that is as short, what it takes to begin is a part that counts.
const QUICK_READ_MS: f64 = 1.0;

pub struct Roofline;

impl Benchmark for Roofline {
    const ID: &'static CStr = c"roofline";
    const VERSION: &'static CStr = c"2";
    const CATEGORY: &'static CStr = c"performance";
    const SUMMARY: &'static CStr = c"Peak operations per second in each precision, and peak bytes per second";
    const OPTIONS_SCHEMA: &'static CStr = cr#"{
        "type": "object",
        "properties": {
            "longest_run_ms": {
                "type": "integer",
                "minimum": 1,
                "default": 500,
                "description": "A larger product is left out where one run of it would take longer than this, as the smaller one shows"
            },
            "quick_read_ms": {
                "type": "number",
                "minimum": 0,
                "default": 1,
                "description": "Where one read of the large matrix takes no longer than this, it is read 16 times in one run, too"
            }
        },
        "additionalProperties": false
    }"#;
    const NEEDS_TARGET: bool = true;
    const SKILL: Option<&'static CStr> = Some(SKILL);

    fn run(context: &Context<'_>) -> Result<()> {
        let longest = context.options.parse("longest_run_ms")?.unwrap_or(LONGEST_RUN_MS);
        let quick_read = context.options.parse("quick_read_ms")?.unwrap_or(QUICK_READ_MS);
        let mut session = Session { context, left_out: vec![], peaks: Peaks::default() };
        let mut refusals = vec![];
        for form in Form::ALL {
            refusals.extend(session.products(form, longest as f64 * 1e6)?);
        }
        // Without a product or without a copy there is no roofline.
        match refusals.len() == Form::ALL.len() {
            true => return Err(refusals.swap_remove(0)),
            false => session.bandwidth(quick_read * 1e6)?,
        }
        session.copies()?;
        session.conclude()
    }
}

struct Session<'a> {
    context: &'a Context<'a>,
    /// One line for each part that gave no figure.
    left_out: Vec<String>,
    peaks: Peaks,
}

/// What a part came to.
struct Measured {
    /// In nanoseconds; none where the host only wanted to see the outputs checked.
    samples: Vec<f64>,
    /// The effective precision; "": the backend cannot tell.
    precision: String,
}

impl Session<'_> {
    /// One form in all sizes, from the smallest on, until a run gets too long or the backend refuses. Returns the refusal of
    /// the smallest: then nothing of this form was measured.
    fn products(&mut self, form: Form, longest_ns: f64) -> Result<Option<Error>> {
        for (index, size) in SIZES.into_iter().enumerate() {
            let part = Part::Products { form, size };
            let measured = match self.measured(part)? {
                Ok(measured) => measured,
                Err(refusal) => return Ok((index == 0).then_some(refusal)),
            };
            match (measured.precision.as_str(), rate(part.items(), &measured.samples)) {
                (_, None) => {}
                ("", Some(_)) => {
                    self.leave_out(part, "the backend cannot tell its precision, so its rate counts for no peak");
                }
                (precision, Some(rate)) => self.peaks.take(precision, rate),
            }
            let Some(next) = SIZES.get(index + 1).map(|size| Part::Products { form, size: *size }) else { break };
            let growth = next.items() as f64 / part.items() as f64;
            let expected = median(&measured.samples).map_or(0.0, |median| median * growth);
            if expected > longest_ns {
                let text = format!("a run would take about {:.1} s, as {} shows", expected / 1e9, part.name());
                self.leave_out(next, &text);
                break;
            }
        }
        Ok(None)
    }

    fn bandwidth(&mut self, quick_ns: f64) -> Result<()> {
        let copy = self.measured(Part::Copy)??;
        self.bandwidth_of(Part::Copy, &copy);
        for passes in PASSES {
            let part = Part::Read { passes };
            let Ok(read) = self.measured(part)? else { break };
            self.bandwidth_of(part, &read);
            if median(&read.samples).is_some_and(|median| median > quick_ns) {
                break;
            }
        }
        Ok(())
    }

    fn bandwidth_of(&mut self, part: Part, measured: &Measured) {
        if let Some(rate) = rate(part.items(), &measured.samples) {
            self.peaks.take("bandwidth", rate);
        }
    }

    /// Copies to the device's memory and back, where it has some of its own.
    fn copies(&mut self) -> Result<()> {
        let target = self.context.target()?;
        let model = target.load(&Part::Copy.name())?;
        // Rounds are given out for a model that was seen to compute rightly.
        let mut request = model.request()?;
        target.prepare(&model, &mut request, 0)?;
        request.run()?;
        target.verify(&model, &mut request)?;
        match copies(&model, self.context) {
            Err(error) if refuses(&error) => {
                self.left_out.push(format!("copies to the device and back: {}", error.message));
                Ok(())
            }
            measured => {
                let bytes = crate::copies::BYTES as u64;
                for (name, samples) in measured? {
                    if let Some(rate) = rate(bytes, &samples) {
                        self.peaks.take(name, rate);
                    }
                }
                Ok(())
            }
        }
    }

    /// Loads, checks and measures a part. The inner error is a refusal, which is noted.
    ///
    /// # Errors
    /// Whatever is no refusal: wrong outputs, a run that fails, a run that is being stopped.
    fn measured(&mut self, part: Part) -> Result<Result<Measured>> {
        let Context { host, reporter, .. } = self.context;
        let target = self.context.target()?;
        if host.stopping() {
            return Err(Error::new(Code::Cancelled, "the run is being stopped"));
        }
        let model = match target.load(&part.name()) {
            Err(error) if refuses(&error) => {
                self.leave_out(part, &error.message);
                return Ok(Err(error));
            }
            loaded => loaded?,
        };
        let precision = model.placement()?.precision;
        let mut request = model.request()?;
        target.prepare(&model, &mut request, 0)?;
        match request.run() {
            Err(error) if refuses(&error) => {
                self.leave_out(part, &error.message);
                return Ok(Err(error));
            }
            ran => ran?,
        }
        target.verify(&model, &mut request)?;

        let series = reporter.series(&SeriesInfo::duration(&part.series(), part.items() as f64))?;
        let mut samples = vec![];
        while let Some(round) = reporter.next_round(series) {
            for _ in 0..round.settle {
                request.run()?;
            }
            let mut values = Vec::with_capacity(round.iterations as usize);
            for _ in 0..round.iterations {
                let start = Instant::now();
                request.run()?;
                values.push(start.elapsed().as_nanos() as f64);
            }
            reporter.samples(series, &round, &values)?;
            if round.kind == RoundKind::Measured {
                samples.extend_from_slice(&values);
            }
        }
        Ok(Ok(Measured { samples, precision }))
    }

    fn leave_out(&mut self, part: Part, why: &str) {
        let line = format!("{}: {why}", part.name());
        self.context.host.log(Level::Info, &format!("left out, {line}"));
        self.left_out.push(line);
    }

    fn conclude(&self) -> Result<()> {
        for (name, rate) in self.peaks.iter() {
            let unit = match name {
                "bandwidth" | TO_DEVICE | FROM_DEVICE => "B/s",
                name if name.starts_with("int") => "OP/s",
                _ => "FLOP/s",
            };
            let info = SeriesInfo {
                name: format!("peak.{name}"),
                unit: unit.into(),
                kind: SeriesKind::Rate,
                higher_is_better: Some(true),
                concurrent: false,
                items_per_sample: 1.0,
            };
            let series = self.context.reporter.series(&info)?;
            self.context.reporter.single(series, rate)?;
        }
        if !self.left_out.is_empty() {
            self.context.reporter.attach("roofline-left-out.txt", (self.left_out.join("\n") + "\n").as_bytes());
        }
        Ok(())
    }
}

/// Whether an error says that the backend does not do this, rather than that it failed at it.
fn refuses(error: &Error) -> bool {
    matches!(error.code, Code::Unimplemented | Code::FailedPrecondition | Code::Unavailable | Code::ResourceExhausted)
}
