//! The benchmark `generation-serving`: requests for tokens, each of a sequence of its own.

use crate::engine::{Engine, Lengths};
use crate::options::OF_TOKENS;
use skillbench_load::crew::Crew;
use skillbench_load::options::{Asked, Of};
use skillbench_load::server::{Server, Tokens};
use skillbench_load::sizes::Lengths as TraceLengths;
use skillbench_plugin_api::sdk::{Benchmark, Context};
use skillbench_plugin_api::{Error, Result};
use skillbench_sequences::sampled::{Again, tell_checked};
use skillbench_sequences::{Loads, Work};
use std::ffi::CStr;

pub struct GenerationServing;

impl Benchmark for GenerationServing {
    const ID: &'static CStr = c"generation-serving";
    const VERSION: &'static CStr = c"1";
    const CATEGORY: &'static CStr = c"performance";
    const SUMMARY: &'static CStr =
        c"Time to the first token and of each after it, of sequences that arrive at a rate, and the largest rate that keeps limits";
    const OPTIONS_SCHEMA: &'static CStr = OF_TOKENS;
    const NEEDS_TARGET: bool = true;
    const SHARES_MODELS: bool = true;

    fn run(context: &Context<'_>) -> Result<()> {
        let target = context.target()?;
        let asked = Asked::read(&context.options, target.batch_size(), Of::Tokens)?;
        let loads = Loads::new(context.host, target, &context.options, true)?;
        let models = loads.models();
        let Loads { manifest, plan, sizes, .. } = &loads;
        let work = Work { host: context.host, target, manifest, plan, sizes, models: &models };
        let _checked = work.verified()?;
        let lengths = Lengths {
            prompt: sizes.fed,
            tokens: sizes.new_tokens,
            uniform: context.options.get("lengths") == Some("uniform"),
            seed: target.seed(),
        };
        if let Some(longest) = asked.trace.as_ref().and_then(|trace| trace.longest()) {
            fits(longest, &lengths)?;
        }
        let varied = lengths.uniform || asked.trace.as_ref().is_some_and(|trace| trace.longest().is_some());
        if varied && (plan.image.is_some() || !plan.before.is_empty()) {
            let text = "options lengths and trace: a sequence with an encoder or an image before it has one length";
            return Err(Error::invalid(text));
        }
        let engine = |worker: usize| Engine::new(&work, asked.batching, lengths, worker as u64);
        let mut engines: Vec<Engine<'_>> = (0..asked.workers).map(engine).collect::<Result<_>>()?;
        engines.iter_mut().try_for_each(|engine| engine.check(&work))?;
        // All are made alike.
        let kept_by_backend = engines.first().and_then(Engine::kept_by_backend);
        let (seed, tokens) = (target.seed(), Tokens { most: sizes.new_tokens, kept_by_backend });
        std::thread::scope(|scope| {
            let crew = Crew::hire(scope, engines.iter_mut())?;
            Server::new(context, asked, tokens, crew, seed)?.serve()
        })?;
        let mut again = Again::default();
        engines.iter_mut().try_for_each(|engine| engine.check_sampled(&work, &mut again))?;
        tell_checked(&context.reporter, &again)?;
        engines.iter_mut().try_for_each(|engine| engine.check(&work))
    }
}

/// The cell has room for the longest request of its trace.
fn fits(longest: TraceLengths, cell: &Lengths) -> Result<()> {
    if cell.uniform {
        return Err(Error::invalid("option lengths: requests of a trace are as long as they were"));
    }
    if longest.prompt <= cell.prompt && longest.tokens <= cell.tokens {
        return Ok(());
    }
    let text = format!(
        "option trace: its longest prompt has {} tokens, and its requests make up to {}; this cell has room for {} and {}: ask for --prompt-lengths {} --new-tokens {}",
        longest.prompt, longest.tokens, cell.prompt, cell.tokens, longest.prompt, longest.tokens
    );
    Err(Error::invalid(text))
}
