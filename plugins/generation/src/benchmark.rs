//! The order of it all, and the series.

use crate::check;
use crate::decoder::{Decoder, Keeper};
use crate::manifest::{Manifest, Plan};
use crate::parts::{Loaded, Parts, loaded};
use crate::sequence::{Prompts, Sequence, Times};
use crate::sizes::Sizes;
use skillbench_plugin_api::client::Request;
use skillbench_plugin_api::sdk::{Benchmark, Context, Level, Reporter, Series, Target, TargetModel};
use skillbench_plugin_api::{Code, Error, Options, Result, RoundKind, SeriesInfo, SeriesKind};
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
        let (manifest, plan) = Manifest::parse(target.skill(), target.manifest())?;
        let new_tokens = new_tokens(&context.options, target)?;
        let sizes = Sizes::new(target.axes(), context.options.parse("prompt")?, new_tokens, &manifest, &plan)?;

        let models = load(context, target, &manifest, &plan, &sizes)?;
        let models: Vec<Loaded<'_>> = models.iter().map(|(name, model)| (*name, model)).collect();
        // Of the first run, at the cell's own axes: every part that a token depends on.
        // The requests live on: the host runs them once more after the last round, on inputs that nobody has seen.
        let _checked: Vec<Request<'_>> =
            models.iter().map(|(_, model)| verified(target, model)).collect::<Result<_>>()?;

        let work = Work { context, target, manifest: &manifest, plan: &plan, sizes: &sizes, models: &models };
        let mut sequence = work.sequence(Keeper::Backend)?;
        work.check(&mut sequence)?;
        measure(&context.reporter, &mut sequence, &sizes)?;
        work.check(&mut sequence)
    }
}

fn new_tokens(options: &Options, target: &Target<'_>) -> Result<usize> {
    let asked = options.parse("new_tokens")?.or(target.axis("new_tokens")).unwrap_or(32);
    usize::try_from(asked)
        .ok()
        .filter(|tokens| (1..=100_000).contains(tokens))
        .ok_or_else(|| Error::invalid(format!("option new_tokens: {asked} is not between 1 and 100000")))
}

/// Every part, in the order of a sequence: those that see tokens for any number of them, the others for the cell's axes.
fn load<'t, 'p>(
    context: &Context<'_>,
    target: &'t Target<'_>,
    manifest: &Manifest,
    plan: &'p Plan,
    sizes: &Sizes,
) -> Result<Vec<(&'p str, TargetModel<'t>)>> {
    let dims = sizes.dims(manifest, plan);
    let sees_tokens = |part: &str| part == plan.decoder || plan.embed.as_ref().is_some_and(|embed| embed.part == part);
    let load = |part: &'p str| {
        if context.host.stopping() {
            return Err(Error::new(Code::Cancelled, "the run is being stopped"));
        }
        let model = if sees_tokens(part) { target.load_for(part, &dims) } else { target.load(part) };
        model.map(|model| (part, model))
    };
    plan.parts().into_iter().map(load).collect()
}

fn verified<'m>(target: &Target<'_>, model: &'m TargetModel<'_>) -> Result<Request<'m>> {
    let mut request = model.request()?;
    target.prepare(model, &mut request, 0)?;
    request.run()?;
    target.verify(model, &mut request)?;
    Ok(request)
}

/// What sequences are made of.
struct Work<'w, 'm> {
    context: &'w Context<'w>,
    target: &'w Target<'w>,
    manifest: &'w Manifest,
    plan: &'w Plan,
    sizes: &'w Sizes,
    models: &'w [Loaded<'m>],
}

impl<'m> Work<'_, 'm> {
    fn sequence(&self, keeper: Keeper) -> Result<Sequence<'m>> {
        let Work { context, target, manifest, plan, sizes, models } = self;
        let model = loaded(models, &plan.decoder)?;
        let decoder = Decoder::new(target, model, manifest, plan, sizes, keeper)?;
        let parts = Parts::new(target, plan, models, &decoder)?;
        let (part, input) = plan.token_input();
        let rule = manifest.input(part, input).map(|input| input.fill.as_str());
        let prompts =
            Prompts { rule: rule.map(String::from), seed: target.seed(), count: sizes.batch * sizes.fed, number: 0 };
        Sequence::new(context.host, decoder, parts, sizes.batch, plan.one_token, prompts)
    }

    /// Before anything is measured, and after: that the cache holds what it should, for a prompt of its own.
    fn check(&self, sequence: &mut Sequence<'m>) -> Result<()> {
        let precision = loaded(self.models, &self.plan.decoder)?.placement()?.precision;
        let tolerance = self.manifest.tolerance(&self.plan.decoder, &precision);
        let steps = (self.sizes.new_tokens - 1).max(1);
        sequence.renew()?;
        let log = |text: String| self.context.host.log(Level::Info, &text);
        match (self.plan.one_token, sequence.decoder.keeper) {
            _ if !sequence.decoder.has_state() => log("no state is carried from token to token".into()),
            (false, _) => {
                let apart = check::against_reading(sequence, steps, tolerance)?;
                log(format!("after {steps} steps with the cache the logits are {apart:.1e} from those without it"));
            }
            (true, Keeper::Backend) => {
                let mut by_host = self.sequence(Keeper::Host)?;
                by_host.prompt.clone_from(&sequence.prompt);
                let apart = check::against_host(sequence, &mut by_host, steps, tolerance)?;
                log(format!(
                    "after {steps} steps the backend's state gives logits {apart:.1e} from those of its outputs"
                ));
            }
            (true, Keeper::Host) => {
                log("one token at a time, on outputs as they are: nothing to hold the cache against".into())
            }
        }
        Ok(())
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

fn measure(reporter: &Reporter, sequence: &mut Sequence<'_>, sizes: &Sizes) -> Result<()> {
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
            sequence.run(sizes.new_tokens).map(|made| made.times)
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
