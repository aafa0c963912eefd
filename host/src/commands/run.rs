//! `host run`: arguments become a request, the engine measures, the journal keeps, the table is printed.

use super::gate::Ended;
use super::machine_lock::MachineLock;
use super::persist::Persist;
use super::typed::typed;
use super::{CommandError, Done, Exit, failed, gate, incremental, usage};
use crate::cli::{FormatArg, Global, RunArgs, SetArg};
use crate::commands::plugin::{tell_problems, tell_rejected};
use crate::output;
use crate::progress::Progress;
use skillbench_engine::run::{self, Inventory};
use skillbench_engine::skill::Tell;
use skillbench_engine::user_models::custom;
use skillbench_engine::worker::Stop;
use skillbench_record::{BackendChoice, ModelSet, OptionChoice, RunRequest, Selection};
use skillbench_record::{Cell, Outcome, Run, Verification};
use skillbench_results::{frames, questions};
use skillbench_session::{self as session, Begun, names};
use skillbench_store::{Recorded, journal};
use std::path::{Path, PathBuf};

pub fn run(global: &Global, args: &RunArgs) -> Done {
    let persist = Persist { incremental: args.incremental, ..Persist::new(global, &args.persist) };
    if let Some(done) = persist.without_measuring(global) {
        return done;
    }
    let earlier = args.resume.as_ref().map(|name| resumed(&persist.output_dir, name)).transpose()?;
    let (request, earlier) = match earlier {
        Some((recorded, folder)) => {
            let request = recorded.request.ok_or_else(|| usage("the journal does not say what was asked for"))?;
            (request, Some((folder, recorded.run)))
        }
        None => (request(args)?, None),
    };
    measure(global, request, &persist, earlier)
}

/// Carries a request out, from the plan to the printed table; `earlier` is a run to go on with.
pub fn measure(global: &Global, request: RunRequest, persist: &Persist, earlier: Option<(PathBuf, Run)>) -> Done {
    let asked = gate::asked(global, &persist.gate, persist)?;
    let mut inventory = Inventory::take(&global.sources());
    if !global.quiet {
        inventory.tell = Tell(output::say);
    }
    tell_problems(&inventory.registry);
    tell_rejected(&inventory);
    let verify_only = request.verify_only;
    // Slips are told without a wait: a plan is no work. Choosing a backend is, since it loads models.
    let mut lock = MachineLock::default();
    if request.backends.is_empty()
        && let Err(exit) = lock.take(global, &persist.lock)
    {
        return Ok(exit);
    }
    let chosen = run::choose(&inventory, request);
    if Stop::global().asked() {
        return Ok(Exit::Stopped);
    }
    let (request, notes) = chosen.map_err(usage)?;
    if !global.quiet {
        notes.iter().for_each(|note| output::say(note));
    }
    let mut plan = run::plan(&inventory, request).map_err(usage)?;
    if let Err(exit) = lock.take(global, &persist.lock) {
        return Ok(exit);
    }
    if persist.incremental {
        match incremental::missing(global, &inventory, plan, persist)? {
            Some(missing) => plan = missing,
            None => return Ok(Exit::Good),
        }
    }
    if Stop::global().asked() {
        return Ok(Exit::Stopped);
    }
    let begun = match earlier {
        Some((folder, run)) => Begun::resumed(folder, run, &plan).map_err(usage)?,
        None => Begun::new(&persist.output_dir, &plan, typed()).map_err(failed)?,
    };
    let progress = Progress::new(global.quiet, global.debug, plan.cells.len(), names(&plan));
    let recorded = session::measure(&plan, &begun, vec![Box::new(progress)]).map_err(failed)?;
    let folder = begun.folder;
    let kept = persist.keep(global, &folder, &recorded)?;
    show(global, &recorded.run).map_err(failed)?;
    let ended = Ended { request: &plan.request, folder: &folder, recorded: &recorded };
    if Stop::global().asked() {
        output::say(&format!("stopped; go on with: host run --resume {}", folder.display()));
        return Ok(Exit::Stopped);
    }
    if !global.quiet {
        pooled(&recorded.run.cells).into_iter().for_each(|text| output::say(&text));
        output::say(&format!("kept in {}", folder.display()));
    }
    let held = gate::hold(global, &asked, persist, &ended)?;
    Ok(exit(&recorded.run.cells, verify_only).or(kept).or(held))
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
        options: args.option.iter().map(|text| OptionChoice::parse(text)).collect::<Result<_, _>>().map_err(usage)?,
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
        parallel: args.parallel,
        profile: args.profile || args.profile_detailed,
        profile_operators: args.profile_detailed,
        exactly: vec![],
    })
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

/// An earlier run, by its folder or by its id in the output folder.
fn resumed(output: &Path, name: &str) -> Result<(Recorded, PathBuf), CommandError> {
    let folder = [PathBuf::from(name), output.join(name)].into_iter().find(|folder| folder.is_dir());
    let folder = folder.ok_or_else(|| usage(format!("there is no run '{name}' in {}", output.display())))?;
    let recorded = journal::read(&folder).map_err(usage)?;
    Ok((recorded, folder))
}

fn show(global: &Global, run: &Run) -> Result<(), String> {
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
fn exit(cells: &[Cell], verify_only: bool) -> Exit {
    let asked: Vec<&Cell> = cells.iter().filter(|cell| !matches!(cell.outcome, Outcome::Skipped(_))).collect();
    let any = |test: fn(&Outcome) -> bool| asked.iter().any(|cell| test(&cell.outcome));
    if cells.is_empty() || (!asked.is_empty() && !any(|outcome| !matches!(outcome, Outcome::Unavailable(_)))) {
        return Exit::Unavailable;
    }
    if any(|outcome| matches!(outcome, Outcome::Wrong(_))) {
        return Exit::Wrong;
    }
    if any(|outcome| !matches!(outcome, Outcome::Measured(_))) {
        return Exit::Unmeasured;
    }
    let compared = |cell: &&Cell| matches!(cell.verification, Some(Verification::Passed { .. }));
    match verify_only && (asked.is_empty() || !asked.iter().all(compared)) {
        true => Exit::NoVerdict,
        false => Exit::Good,
    }
}
