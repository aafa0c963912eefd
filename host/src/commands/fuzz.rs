//! `host plugin fuzz`: a backend used at random.

use super::check::Subject;
use super::{Done, Exit, failed, usage};
use crate::cli::{FormatArg, FuzzArgs, Global};
use crate::output;
use skillbench_worker::FailureKind;
use skillbench_worker::fuzz::Hunt;
use skillbench_worker::{PluginUse, Stop};
use std::time::Duration;

/// How many runs there are where nobody says.
const RUNS: u64 = 200;

pub fn fuzz(global: &Global, args: &FuzzArgs) -> Done {
    let subject = Subject::look(global, &args.plugin, &args.option)?;
    let description = subject.description.map_err(failed)?;
    let Some(described) = &description.backend else {
        return Err(usage(format!("'{}' is no backend: random use is of backends", args.plugin)));
    };
    let backend = PluginUse { id: described.id.clone(), library: subject.library, options: subject.options };
    let hunt = Hunt {
        backend: &backend,
        options_schema: &described.options_schema,
        seed: args.seed,
        whole_models: args.whole_models,
        runs: args.runs.or(args.seconds.is_none().then_some(RUNS)),
        time: args.seconds.map(Duration::from_secs),
        limit: Duration::from_secs(args.limit),
        stop: Stop::clone(&global.stop),
    };
    let hunted = match hunt.hunt() {
        Err(failure) if failure.kind == FailureKind::Unavailable => {
            output::warning(&failure.to_string());
            return Ok(Exit::Unavailable);
        }
        hunted => hunted.map_err(failed)?,
    };
    match global.format {
        FormatArg::Json => output::print(&format!("{:#}\n", hunted.document(args.seed))),
        _ => hunted.found.iter().for_each(|found| output::print(&found.shown())),
    }
    output::say(&hunted.sentence(args.seed));
    Ok(if hunted.found.is_empty() { Exit::Good } else { Exit::Broken })
}
