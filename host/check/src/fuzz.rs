//! `skillbench-check fuzz`: a backend used at random.

use crate::cli::{Format, FuzzArgs};
use crate::exit::{CheckError, Done, Exit};
use crate::output;
use crate::subject::Subject;
use skillbench_worker::fuzz::Hunt;
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
        Format::Table | Format::Junit => hunted.found.iter().for_each(|found| output::print(&found.shown())),
        Format::Json => output::print(&format!("{:#}\n", hunted.document(args.seed))),
    }
    output::say(&hunted.sentence(args.seed));
    Ok(if hunted.found.is_empty() { Exit::Good } else { Exit::Broken })
}
