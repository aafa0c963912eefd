//! `skillbench-check fuzz`: a backend used at random.

use crate::cli::{Format, FuzzArgs};
use crate::exit::{CheckError, Done, Exit};
use crate::output;
use crate::subject::Subject;
use serde_json::{Value, json};
use skillbench_worker::fuzz::{Found, Hunt, Hunted};
use skillbench_worker::{FailureKind, Stop};
use std::time::Duration;

/// How many runs there are where nobody says.
const RUNS: u64 = 200;

pub fn fuzz(args: &FuzzArgs) -> Done {
    if args.format == Format::Junit {
        return Err(CheckError::Usage("random use is told as table or json".into()));
    }
    let subject = Subject::look(&args.library, &args.subject, args.limit.max(30))?;
    let backend = subject.backend()?;
    let described = subject.description.as_ref().ok().and_then(|it| it.backend.as_ref());
    let hunt = Hunt {
        backend: &backend,
        options_schema: described.map_or("", |it| &it.options_schema),
        seed: args.seed,
        whole_models: args.whole_models,
        runs: args.runs.or(args.seconds.is_none().then_some(RUNS)),
        time: args.seconds.map(Duration::from_secs),
        limit: Duration::from_secs(args.limit),
        stop: Stop::default(),
    };
    let hunted = match hunt.hunt() {
        Err(failure) if failure.kind == FailureKind::Unavailable => {
            output::error(&failure.to_string());
            return Ok(Exit::Unavailable);
        }
        hunted => hunted.map_err(|failure| CheckError::Failed(failure.to_string()))?,
    };
    match args.format {
        Format::Table | Format::Junit => hunted.found.iter().for_each(|found| output::print(&shown(found))),
        Format::Json => output::print(&format!("{:#}\n", document(&hunted, args.seed))),
    }
    let Hunted { runs, asked, refused, found } = &hunted;
    output::say(&format!(
        "{runs} runs from seed {}, {asked} calls, {refused} of them refused, {} faults",
        args.seed,
        found.len()
    ));
    Ok(if found.is_empty() { Exit::Good } else { Exit::Broken })
}

fn shown(found: &Found) -> String {
    let Found { seed, fault, text, first, runs, repeats } = found;
    let again = if *repeats { "again with" } else { "a matter of luck: it did not come again with" };
    let fault = fault.name();
    format!("seed {seed} {fault}: {}\n  {again}: --seed {first} --runs {runs}\n", skillbench_record::shown::line(text))
}

fn document(hunted: &Hunted, seed: u64) -> Value {
    let one = |found: &Found| {
        json!({
            "seed": found.seed,
            "fault": found.fault.name(),
            "text": found.text,
            "repeats": found.repeats,
            "again": { "seed": found.first, "runs": found.runs },
        })
    };
    json!({
        "seed": seed,
        "runs": hunted.runs,
        "calls": hunted.asked,
        "refused": hunted.refused,
        "found": hunted.found.iter().map(one).collect::<Vec<_>>(),
    })
}
