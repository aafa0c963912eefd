//! The order of it all, and the series.

use skillbench_plugin_api::sdk::{Benchmark, Context, Reporter, Series};
use skillbench_plugin_api::{Result, RoundKind, SeriesInfo, SeriesKind};
use skillbench_sequences::decoder::Keeper;
use skillbench_sequences::sampled::{Again, Sampled, tell_checked};
use skillbench_sequences::sequence::{Sequence, Times};
use skillbench_sequences::sizes::Sizes;
use skillbench_sequences::{Loads, Work};
use std::ffi::CStr;

pub struct Generation;

impl Benchmark for Generation {
    const ID: &'static CStr = c"generation";
    const VERSION: &'static CStr = c"1";
    const CATEGORY: &'static CStr = c"performance";
    const SUMMARY: &'static CStr = c"Time to the first token, and of each one after it";
    const OPTIONS_SCHEMA: &'static CStr = cr#"{
        "type": "object",
        "properties": {
            "new_tokens": {
                "type": "integer",
                "minimum": 1,
                "maximum": 100000,
                "default": 32,
                "description": "Tokens to generate for each sequence of the batch"
            },
            "prompt": {
                "type": "integer",
                "minimum": 1,
                "description": "Tokens of the prompt. Default: the cell's axis of that name"
            }
        },
        "additionalProperties": false
    }"#;
    const NEEDS_TARGET: bool = true;
    const SHARES_MODELS: bool = true;

    fn run(context: &Context<'_>) -> Result<()> {
        let target = context.target()?;
        let loads = Loads::new(context.host, target, &context.options, false)?;
        let models = loads.models();
        let Loads { manifest, plan, sizes, .. } = &loads;
        let work = Work { host: context.host, target, manifest, plan, sizes, models: &models };
        let _checked = work.verified()?;
        let mut sequence = work.sequence(Keeper::Backend, 0)?;
        work.check(&mut sequence)?;
        let mut sampled = Sampled::default();
        measure(&context.reporter, &mut sequence, sizes, &mut sampled)?;
        let mut again = Again::default();
        work.check_sampled(&mut sampled, &mut sequence, &mut again)?;
        tell_checked(&context.reporter, &again)?;
        work.check(&mut sequence)
    }
}

/// Series of one figure for each sequence or token, besides `end_to_end`.
struct Figures {
    first: Series,
    /// Only where there is more than one token.
    rest: Option<(Series, Series)>,
    parts: Vec<Series>,
}

impl Figures {
    fn announce(reporter: &Reporter, sequence: &Sequence<'_>, sizes: &Sizes) -> Result<Figures> {
        let batch = sizes.batch as f64;
        let duration = |name: &str, items: f64| reporter.series(&SeriesInfo::duration(name, items));
        let first = duration("time_to_first_token", batch * sizes.prompt as f64)?;
        let rest = match sizes.new_tokens {
            1 => None,
            _ => Some((duration("time_per_output_token", batch)?, duration("inter_token", batch)?)),
        };
        let parts = sequence.parts.once.iter().map(|part| duration(&format!("part.{}", part.name), batch));
        Ok(Figures { first, rest, parts: parts.collect::<Result<_>>()? })
    }

    fn hand_over(&self, reporter: &Reporter, times: &Times) -> Result<()> {
        reporter.single(self.first, times.first)?;
        if let Some((per_token, gaps)) = self.rest {
            reporter.single(per_token, (times.all - times.first) / times.gaps.len() as f64)?;
            reporter.figures(gaps, &times.gaps)?;
        }
        self.parts.iter().zip(&times.parts).try_for_each(|(series, time)| reporter.single(*series, *time))
    }
}

fn measure(reporter: &Reporter, sequence: &mut Sequence<'_>, sizes: &Sizes, sampled: &mut Sampled) -> Result<()> {
    if sequence.decoder.has_state() {
        let by_backend = reporter.series(&SeriesInfo {
            name: "cache_kept_by_backend".into(),
            unit: "yes".into(),
            kind: SeriesKind::Count,
            higher_is_better: None,
            concurrent: false,
            items_per_sample: 1.0,
        })?;
        reporter.single(by_backend, f64::from(u8::from(sequence.decoder.keeper == Keeper::Backend)))?;
    }
    let tokens = (sizes.batch * sizes.new_tokens) as f64;
    let all = reporter.series(&SeriesInfo::duration("end_to_end", tokens))?;
    let figures = Figures::announce(reporter, sequence, sizes)?;
    while let Some(round) = reporter.next_round(all) {
        let mut run = |_| {
            sequence.renew()?;
            let sample = (round.kind == RoundKind::Measured).then(|| sampled.begin(&sequence.prompt)).flatten();
            let made = sequence.run(sizes.new_tokens)?;
            if let Some(mut sample) = sample {
                made.tokens.into_iter().for_each(|tokens| sample.made(tokens));
                sampled.keep(sample);
            }
            Ok(made.times)
        };
        (0..round.settle).try_for_each(|number| run(number).map(drop))?;
        let times = (0..round.iterations).map(run).collect::<Result<Vec<Times>>>()?;
        reporter.samples(all, &round, &times.iter().map(|times| times.all).collect::<Vec<f64>>())?;
        if round.kind == RoundKind::Measured {
            times.iter().try_for_each(|times| figures.hand_over(reporter, times))?;
        }
    }
    Ok(())
}
