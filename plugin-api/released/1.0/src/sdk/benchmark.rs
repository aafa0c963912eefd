//! A benchmark: the host owns clock, schedule, loading, inputs and verification; the plugin owns the work.

use super::{Host, Target};
use crate::error::{checked, guarded};
use crate::raw::*;
use crate::{Error, Options, Result, Round, RoundKind, SeriesInfo, abi_size, text};
use std::ffi::CStr;
use std::time::Instant;

/// Measures a target, or just a function.
pub trait Benchmark: 'static {
    const ID: &'static CStr;
    /// A result of one version is never compared with one of another.
    const VERSION: &'static CStr;
    /// "unit", "integration" or "performance".
    const CATEGORY: &'static CStr;
    const SUMMARY: &'static CStr;
    /// JSON Schema of the options it takes.
    const OPTIONS_SCHEMA: &'static CStr;
    const NEEDS_TARGET: bool;
    /// Whether it takes the option `cold_start=true`: load, first inference, return.
    const COLD_START: bool = false;
    /// Whether no figure of it tells of loading, so that `load` may give it a model that an earlier cell loaded.
    const SHARES_MODELS: bool = false;
    /// The one skill it measures, where it brings its own.
    const SKILL: Option<&'static CStr> = None;

    /// Does the work that the host asks for, round by round.
    ///
    /// # Errors
    /// What went wrong; the cell then has no number.
    fn run(context: &Context<'_>) -> Result<()>;
}

/// What a benchmark works with.
pub struct Context<'a> {
    pub host: Host,
    pub options: Options,
    pub reporter: Reporter,
    target: Option<Target<'a>>,
}

impl<'a> Context<'a> {
    /// # Safety
    /// Host, target (or null) and reporter are those of a benchmark's `run`, and live for `'a`.
    pub(crate) unsafe fn new(
        host: *const sb_host,
        target: *const sb_target,
        options: Options,
        reporter: *const sb_reporter,
    ) -> Result<Context<'a>> {
        // SAFETY: the caller promises it.
        unsafe {
            let reporter = abi_size::read(reporter).ok_or_else(|| Error::invalid("a benchmark without a reporter"))?;
            let (host, target) = (Host::new(host), Target::new(target)?);
            Ok(Context { host, options, reporter: Reporter(reporter), target })
        }
    }

    /// What to measure.
    ///
    /// # Errors
    /// `InvalidArgument` where the host gave none.
    pub fn target(&self) -> Result<&Target<'a>> {
        self.target.as_ref().ok_or_else(|| Error::invalid("this benchmark needs a target: a backend and a model"))
    }
}

/// Hands samples to the host and asks it for rounds.
pub struct Reporter(sb_reporter);

/// A series that the host knows.
#[derive(Clone, Copy)]
pub struct Series(pub u32);

impl Reporter {
    /// Announces a series, before its first round.
    ///
    /// # Errors
    /// A name given twice, a unit that does not fit the kind.
    pub fn series(&self, info: &SeriesInfo) -> Result<Series> {
        let (name, unit) = (text::c_string(&info.name), text::c_string(&info.unit));
        let mut raw: sb_series = abi_size::sized();
        raw.kind = info.kind.to_raw();
        raw.better = match info.higher_is_better {
            Some(true) => SB_HIGHER_IS_BETTER,
            Some(false) => SB_LOWER_IS_BETTER,
            None => SB_NEITHER,
        };
        raw.flags = if info.concurrent { SB_SERIES_CONCURRENT } else { 0 };
        (raw.name, raw.unit) = (name.as_ptr(), unit.as_ptr());
        raw.items_per_sample = info.items_per_sample;
        let slot = self.0.series.ok_or_else(|| Error::invalid("the host's reporter is incomplete: no `series`"))?;
        let mut handle = 0;
        // SAFETY: [any]; everything lent lives through the call.
        checked(|error| unsafe { slot(self.0.ctx, &raw const raw, &raw mut handle, error) })?;
        Ok(Series(handle))
    }

    /// The next round of a series; `None`: enough.
    pub fn next_round(&self, series: Series) -> Option<Round> {
        let mut raw: sb_round = abi_size::sized();
        // SAFETY: [main], where a benchmark's `run` is called; the struct is writable.
        let more = unsafe { self.0.next_round?(self.0.ctx, series.0, &raw mut raw) };
        (more != 0).then_some(Round {
            id: raw.id,
            kind: if raw.kind == SB_MEASURED { RoundKind::Measured } else { RoundKind::WarmUp },
            iterations: raw.iterations,
            settle: raw.settle,
        })
    }

    /// Hands over what a round measured, a sample for each iteration.
    ///
    /// # Errors
    /// Samples the host rejects: a wrong count, more time than the round took.
    pub fn samples(&self, series: Series, round: &Round, values: &[f64]) -> Result<()> {
        self.hand_over(series, round.id, values)
    }

    /// Hands over a figure that needs no round, such as a first inference.
    ///
    /// # Errors
    /// A value the host rejects.
    pub fn single(&self, series: Series, value: f64) -> Result<()> {
        self.singles(series, &[value])
    }

    /// Hands over several such figures.
    ///
    /// # Errors
    /// A value the host rejects.
    pub fn singles(&self, series: Series, values: &[f64]) -> Result<()> {
        self.hand_over(series, 0, values)
    }

    /// Hands over figures that need no round of their own, such as the parts of samples.
    ///
    /// # Errors
    /// A value the host rejects.
    pub fn figures(&self, series: Series, values: &[f64]) -> Result<()> {
        self.hand_over(series, 0, values)
    }

    /// Hands over the samples of a round by its id; 0: figures that need no round.
    ///
    /// # Errors
    /// Samples the host rejects.
    pub fn hand_over(&self, series: Series, round: u64, values: &[f64]) -> Result<()> {
        let mut raw: sb_samples = abi_size::sized();
        (raw.series, raw.round) = (series.0, round);
        (raw.count, raw.values) = (values.len() as u64, values.as_ptr());
        let slot = self.0.samples.ok_or_else(|| Error::invalid("the host's reporter is incomplete: no `samples`"))?;
        // SAFETY: [main]; the values live through the call.
        checked(|error| unsafe { slot(self.0.ctx, &raw const raw, error) })
    }

    /// Runs every round the host asks for: `work` once for each iteration, timed one by one.
    ///
    /// # Errors
    /// The first failure of `work`, or samples the host rejects.
    pub fn time(&self, series: Series, mut work: impl FnMut() -> Result<()>) -> Result<()> {
        let mut values = Vec::new();
        while let Some(round) = self.next_round(series) {
            for _ in 0..round.settle {
                work()?;
            }
            values.clear();
            values.reserve(round.iterations as usize);
            for _ in 0..round.iterations {
                let start = Instant::now();
                work()?;
                values.push(start.elapsed().as_nanos() as f64);
            }
            self.samples(series, &round, &values)?;
        }
        Ok(())
    }

    /// Keeps a file with the run's results.
    pub fn attach(&self, name: &str, bytes: &[u8]) {
        if let Some(attach) = self.0.attach {
            let name = text::c_string(name);
            // SAFETY: [any]; name and bytes live through the call, and the host copies them.
            unsafe { attach(self.0.ctx, name.as_ptr(), bytes.as_ptr().cast(), bytes.len() as u64) }
        }
    }
}

/// The table of a benchmark, ready to be a `static`.
pub const fn benchmark_table<B: Benchmark>() -> sb_benchmark {
    sb_benchmark {
        size: size_of::<sb_benchmark>() as u32,
        flags: if B::NEEDS_TARGET { SB_BENCHMARK_NEEDS_TARGET } else { 0 }
            | if B::COLD_START { SB_BENCHMARK_COLD_START } else { 0 }
            | if B::SHARES_MODELS { SB_BENCHMARK_SHARES_MODELS } else { 0 },
        id: B::ID.as_ptr(),
        version: B::VERSION.as_ptr(),
        category: B::CATEGORY.as_ptr(),
        summary: B::SUMMARY.as_ptr(),
        options_schema: B::OPTIONS_SCHEMA.as_ptr(),
        run: Some(run::<B>),
        skill: match B::SKILL {
            Some(skill) => skill.as_ptr(),
            None => std::ptr::null(),
        },
    }
}

unsafe extern "C" fn run<B: Benchmark>(
    host: *const sb_host,
    target: *const sb_target,
    options: *const sb_options,
    reporter: *const sb_reporter,
    error: *mut sb_error,
) -> sb_status {
    // SAFETY: the contract: everything lent lives until `run` returns.
    unsafe { guarded(error, || B::run(&Context::new(host, target, Options::from_raw(options), reporter)?)) }
}
