//! `host run`: arguments become a request, a session carries it out, the table is printed.

use super::asked::Asker;
use super::persist::Persist;
use super::{CommandError, Done, Exit, baseline, failed, gate, usage};
use crate::cli::{FleetArgs, FormatArg, Global, RunArgs};
use crate::commands::plugin::{tell_problems, tell_rejected};
use crate::output;
use crate::screen::Screen;
use skillbench_engine::skill::{Skill, Tell};
use skillbench_engine::suite::{SuiteFile, list_of, to_request};
use skillbench_record::{Cell, Outcome, Run, Verification};
use skillbench_record::{OptionChoice, RunRequest};
use skillbench_report::{Format, Table};
use skillbench_results::{frames, questions};
use skillbench_session::gate::GateError;
use skillbench_session::{Ended, Kept, Session, SessionError, Start};
use skillbench_store::Recorded;
use std::path::Path;

pub fn run(global: &Global, args: &RunArgs) -> Done {
    let persist = Persist { incremental: args.incremental, ..Persist::new(global, &args.persist) };
    if let Some(done) = persist.without_measuring(global) {
        return done;
    }
    match &args.resume {
        None if args.asked.is_some() => asked(global, args.asked.as_deref().unwrap_or(Path::new("-")), &persist),
        None => carry_out(global, &args.request.over(SuiteFile::default()), &persist, &args.fleet),
        Some(name) => {
            let start = Start::resume(&persist.output_dir, name).map_err(ended)?;
            let start = start.naming(options(&args.request.option)?);
            measure(global, start, &persist, &mut persist.session())
        }
    }
}

/// Measures a request that lies in a file, as an agent writes it.
fn asked(global: &Global, file: &Path, persist: &Persist) -> Done {
    let no_request = |error: &dyn std::fmt::Display| usage(format!("{}: {error}", file.display()));
    let text = std::fs::read_to_string(file).map_err(|error| no_request(&error))?;
    let request: RunRequest = serde_json::from_str(&text).map_err(|error| no_request(&error))?;
    match request.functions {
        true => super::bench::measure(global, request, persist),
        false => measure(global, Start::New(Box::new(request)), persist, &mut persist.session()),
    }
}

/// Measures what a suite asks for, here or on a fleet.
pub fn carry_out(global: &Global, suite: &SuiteFile, persist: &Persist, fleet: &FleetArgs) -> Done {
    let request = request(global, suite)?;
    if let Some(name) = &fleet.fleet {
        return super::fleet::submit::run(global, name, fleet, &request, persist);
    }
    measure(global, Start::New(Box::new(request)), persist, &mut persist.session())
}

/// The request of a suite. A folder of several models is a list of them.
///
/// # Errors
/// An option that is none, or a list that cannot be read.
pub fn request(global: &Global, suite: &SuiteFile) -> Result<RunRequest, CommandError> {
    let mut request = to_request(suite).map_err(usage)?;
    let mut models = vec![];
    for name in request.models {
        let place = Path::new(&name).canonicalize().ok();
        let is_search_path = place.is_some() && global.search.iter().any(|search| search.canonicalize().ok() == place);
        match list_of(Path::new(&name), is_search_path).map_err(|error| usage(format!("{name}: {error}")))? {
            None => models.push(name),
            Some(list) => {
                for rejected in &list.rejected {
                    output::warning(&format!("{} ({}) is left out: {}", rejected.id, rejected.origin, rejected.reason));
                }
                models.extend(list.skills.iter().map(Skill::as_name));
            }
        }
    }
    request.models = models;
    Ok(request)
}

/// Carries a request out, and prints what came of it.
pub fn measure(global: &Global, start: Start, persist: &Persist, session: &mut Session) -> Done {
    let asked = gate::asked(global, &persist.gate, persist)?;
    let mut inventory = global.inventory();
    if !global.quiet {
        inventory.tell = Tell(output::say);
    }
    tell_problems(&inventory.registry);
    tell_rejected(&inventory);
    let asker = Asker::of_environment(&global.stop).map_err(failed)?;
    let (mut after, mut shown) = (Exit::Good, Ok(()));
    let mut screen = Screen::new(global).on_kept(|run| {
        after = after.or(persist.after(global, run));
        if !run.is_again {
            shown = show(global, run);
        }
    });
    let result = session.run(&inventory, start, &asked, persist.incremental, &mut |event| {
        asker.iter().for_each(|asker| asker.on(&event));
        screen.on(event);
    });
    drop(screen);
    let ran = match result.map_err(ended)? {
        Ended::Stopped => return Ok(Exit::Stopped),
        Ended::NothingMissing => return Ok(Exit::Good),
        Ended::Ran(ran) => ran,
    };
    shown.map_err(failed)?;
    let Some(verdict) = ran.verdict else { return Ok(Exit::Stopped) };
    let held = gate::tell(global, persist, &ran.kept, &verdict)?;
    Ok(exit(&ran.kept.recorded).or(after).or(held))
}

/// How the program ends whose request could not be carried out.
pub fn ended(error: SessionError) -> CommandError {
    match error {
        SessionError::Lock(error) => super::locked_out(&error),
        SessionError::Request(_)
        | SessionError::NoRun { .. }
        | SessionError::NoRequest
        | SessionError::Functions(_)
        | SessionError::NoText(_)
        | SessionError::Recorded(_)
        | SessionError::Journal(_)
        | SessionError::Changed(_) => usage(error),
        SessionError::Gate(GateError::Baseline(error)) => baseline::refused(error),
        _ => failed(error),
    }
}

pub fn options(texts: &[String]) -> Result<Vec<OptionChoice>, CommandError> {
    texts.iter().map(|text| OptionChoice::parse(text)).collect::<Result<_, _>>().map_err(usage)
}

/// Prints a run, and says where it is kept and how to go on with it.
pub fn show(global: &Global, kept: &Kept) -> Result<(), String> {
    let (run, folder) = (&kept.recorded.run, kept.folder.display());
    let headline = print(global, run)?;
    if kept.is_in_folder() && global.stop.asked() {
        output::say(&format!("stopped; go on with: host run --resume {folder}"));
    } else if kept.is_in_folder() && !global.quiet {
        pooled(&run.cells).into_iter().for_each(|text| output::say(&text));
        output::say(&format!("kept in {folder}"));
    }
    // Who is ahead stands last, where people look.
    headline.filter(|_| !global.quiet).iter().for_each(|headline| output::say(headline));
    Ok(())
}

/// The run in the form that was asked for; who is ahead is returned, to be said last.
fn print(global: &Global, run: &Run) -> Result<Option<String>, String> {
    if matches!(global.format, FormatArg::Json) {
        let text = serde_json::to_string_pretty(run).map_err(|error| error.to_string())?;
        output::print(&(text + "\n"));
        return Ok(None);
    }
    let cells = frames::cells([run]).map_err(|error| error.to_string())?;
    // A program that reads rows gets those of the cells; the rest is in run.json.
    if matches!(global.format, FormatArg::Csv) {
        let summary = questions::summary(cells, &questions::added(&run.cells)).map_err(|error| error.to_string())?;
        output::table(&skillbench_report::summary(&summary), Format::Csv);
        return Ok(None);
    }
    let view = skillbench_report::run_view(&cells, &questions::added(&run.cells)).map_err(|error| error.to_string())?;
    output::table(&view.table, global.format.into());
    match global.format {
        FormatArg::Table => output::notes(&view.causes),
        _ if view.causes.is_empty() => {}
        format => {
            let mut causes = Table::new(["not measured"]);
            view.causes.into_iter().for_each(|cause| causes.row([cause.into()]));
            output::table(&causes, format.into());
        }
    }
    if matches!(global.format, FormatArg::Table) {
        output::notes(&view.notes);
    }
    let more = [skillbench_report::phases(run), skillbench_report::operators(run)];
    more.into_iter().flatten().for_each(|table| output::table(&table, global.format.into()));
    Ok(view.headline)
}

/// What was shared between cells; `None`: nothing could be.
fn pooled(cells: &[Cell]) -> Option<String> {
    let pools = || cells.iter().filter_map(|cell| cell.pool.as_ref());
    let (hits, misses) =
        (pools().map(|pool| pool.model_hits).sum::<u64>(), pools().map(|pool| pool.model_misses).sum::<u64>());
    (hits > 0).then(|| {
        let of = hits + misses;
        format!(
            "resource pool: {hits} of {of} models were there from the cell before; --no-resource-pool loads each anew"
        )
    })
}

/// The exit code: of several that hold, the first of unavailable, wrong, unmeasured, no verdict. What a rule skipped does not count, unless
/// nothing else is there: then nothing was measured.
pub fn exit(recorded: &Recorded) -> Exit {
    let cells = &recorded.run.cells;
    let verify_only = recorded.request.as_ref().is_some_and(|request| request.verify_only);
    let asked: Vec<&Cell> = cells.iter().filter(|cell| !matches!(cell.outcome, Outcome::Skipped(_))).collect();
    let any = |test: fn(&Outcome) -> bool| asked.iter().any(|cell| test(&cell.outcome));
    if cells.is_empty() || (!asked.is_empty() && !any(|outcome| !matches!(outcome, Outcome::Unavailable(_)))) {
        return Exit::Unavailable;
    }
    if any(|outcome| matches!(outcome, Outcome::Wrong(_))) {
        return Exit::Wrong;
    }
    if asked.is_empty() && !verify_only {
        return Exit::Unmeasured;
    }
    if any(|outcome| !matches!(outcome, Outcome::Measured(_))) || cells.iter().any(|cell| !cell.implausible.is_empty())
    {
        return Exit::Unmeasured;
    }
    let compared = |cell: &&Cell| matches!(cell.verification, Some(Verification::Passed { .. }));
    match verify_only && (asked.is_empty() || !asked.iter().all(compared)) {
        true => Exit::NoVerdict,
        false => Exit::Good,
    }
}
