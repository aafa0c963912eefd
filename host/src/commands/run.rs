//! `host run`: arguments become a request, a session carries it out, the table is printed.

use super::persist::Persist;
use super::{CommandError, Done, Exit, baseline, failed, gate, usage};
use crate::cli::{FormatArg, Global, RunArgs, SetArg};
use crate::commands::plugin::{tell_problems, tell_rejected};
use crate::output;
use crate::screen::Screen;
use skillbench_engine::skill::Tell;
use skillbench_models::user_models::custom;
use skillbench_record::{BackendChoice, ModelSet, OptionChoice, RunRequest, Selection};
use skillbench_record::{Cell, Outcome, Run, Verification};
use skillbench_results::{frames, questions};
use skillbench_session::gate::GateError;
use skillbench_session::{Ended, Kept, Session, SessionError, Start};
use skillbench_store::Recorded;

pub fn run(global: &Global, args: &RunArgs) -> Done {
    let persist = Persist { incremental: args.incremental, ..Persist::new(global, &args.persist) };
    if let Some(done) = persist.without_measuring(global) {
        return done;
    }
    let start = match &args.resume {
        Some(name) => Start::resume(&persist.output_dir, name).map_err(ended)?.naming(options(&args.option)?),
        None => Start::New(Box::new(request(args)?)),
    };
    measure(global, start, &persist, &mut persist.session())
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
    let (mut after, mut shown) = (Exit::Good, Ok(()));
    let mut screen = Screen::new(global).on_kept(|run| {
        after = after.or(persist.after(global, run));
        if !run.is_again {
            shown = show(global, run);
        }
    });
    let result = session.run(&inventory, start, &asked, persist.incremental, &mut |event| screen.on(event));
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
        | SessionError::NoText(_)
        | SessionError::Recorded(_)
        | SessionError::Journal(_)
        | SessionError::Changed(_) => usage(error),
        SessionError::Gate(GateError::Baseline(error)) => baseline::refused(error),
        _ => failed(error),
    }
}

fn request(args: &RunArgs) -> Result<RunRequest, CommandError> {
    Ok(RunRequest {
        backends: args.plugin.iter().map(|text| BackendChoice::parse(text)).collect(),
        chosen: Default::default(),
        include_web_platforms: args.include_web_platforms,
        models: models(args)?,
        names: Default::default(),
        selection: selection(args),
        benchmarks: args.bench.clone(),
        batch_sizes: args.batch_sizes.clone(),
        sequence_lengths: args.sequence_lengths.clone(),
        image_sizes: args.image_sizes.clone(),
        audio_seconds: args.audio_seconds.clone(),
        frames: args.frames.clone(),
        prompt_lengths: args.prompt_lengths.clone(),
        new_tokens: args.new_tokens.clone(),
        dims: args.dim.iter().cloned().collect(),
        iterations: args.iterations,
        warmup: args.warmup,
        concurrent_workers: args.concurrent_workers,
        threads: args.threads,
        options: options(&args.option)?,
        precision: args.precision.clone(),
        timeout_s: args.timeout,
        memory_limit_mb: args.memory_limit,
        budget_s: args.budget,
        no_verify: args.no_verify || args.benchmark_only,
        verify_only: args.verify_only,
        no_precheck: args.benchmark_only,
        seed: args.seed,
        no_fix: args.no_fix,
        no_resource_pool: args.no_resource_pool,
        cool_down_s: args.cool_down,
        wait_quiet_s: args.wait_quiet,
        launches: args.launches,
        parallel: args.parallel,
        profile: args.profile || args.profile_detailed,
        profile_operators: args.profile_detailed,
        exactly: vec![],
    })
}

pub fn options(texts: &[String]) -> Result<Vec<OptionChoice>, CommandError> {
    texts.iter().map(|text| OptionChoice::parse(text)).collect::<Result<_, _>>().map_err(usage)
}

/// The models that are named, on the command line and in files with one name a line.
fn models(args: &RunArgs) -> Result<Vec<String>, CommandError> {
    let mut names = args.model.clone();
    for file in &args.model_list {
        let places = custom::read_lines(file).map_err(usage)?;
        names.extend(places.iter().map(custom::Place::as_name));
    }
    Ok(names)
}

fn selection(args: &RunArgs) -> Selection {
    let set = match args.models_set {
        Some(SetArg::Key) => Some(ModelSet::Key),
        Some(SetArg::Small) => Some(ModelSet::Small),
        Some(SetArg::Custom) => Some(ModelSet::Custom),
        None => args.all_models.then_some(ModelSet::All),
    };
    Selection {
        set,
        small: args.small_models,
        keys: args.specific_models.clone(),
        families: args.model_families.clone(),
        categories: args.benchmark_category.clone(),
        // A run may be resumed from another folder.
        custom: args.custom_models.as_ref().map(|file| std::path::absolute(file).unwrap_or_else(|_| file.clone())),
    }
}

/// Prints a run, and says where it is kept and how to go on with it.
fn show(global: &Global, kept: &Kept) -> Result<(), String> {
    let (run, folder) = (&kept.recorded.run, kept.folder.display());
    print(global, run)?;
    if !kept.is_in_folder() {
        return Ok(());
    }
    if global.stop.asked() {
        output::say(&format!("stopped; go on with: host run --resume {folder}"));
    } else if !global.quiet {
        pooled(&run.cells).into_iter().for_each(|text| output::say(&text));
        output::say(&format!("kept in {folder}"));
    }
    Ok(())
}

fn print(global: &Global, run: &Run) -> Result<(), String> {
    if matches!(global.format, FormatArg::Json) {
        let text = serde_json::to_string_pretty(run).map_err(|error| error.to_string())?;
        output::print(&(text + "\n"));
        return Ok(());
    }
    let summary = frames::cells([run]).and_then(questions::summary).map_err(|error| error.to_string())?;
    output::table(&skillbench_report::summary(&summary, global.format.into()), global.format.into());
    // A program that reads rows gets those of the cells; the rest is in run.json.
    if !matches!(global.format, FormatArg::Csv) {
        let more = [skillbench_report::phases(run), skillbench_report::operators(run)];
        more.into_iter().flatten().for_each(|table| output::table(&table, global.format.into()));
    }
    Ok(())
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

/// The exit code: of several that hold, the first of unavailable, wrong, unmeasured, no verdict. What a rule skipped does not count.
fn exit(recorded: &Recorded) -> Exit {
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
