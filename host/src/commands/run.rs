//! `host run`: arguments become a request, the engine measures, the journal keeps, the table is printed.

use super::against::Ended;
use super::keep::Keeping;
use super::turn::Turn;
use super::typed::typed;
use super::{CommandError, Done, Exit, against, failed, incremental, usage};
use crate::cli::{FormatArg, Global, RunArgs, SetArg};
use crate::commands::plugin::{tell_problems, tell_rejected};
use crate::output;
use crate::progress::Progress;
use skillbench_engine::brought::custom;
use skillbench_engine::document::{Cell, Outcome, RUN_SCHEMA, Run, Verification};
use skillbench_engine::environment::{self, Environment};
use skillbench_engine::run::{
    self, BackendChoice, Inventory, ModelSet, Observer, OptionChoice, Plan, RunRequest, Selection,
};
use skillbench_engine::skill::{SkillSource, Tell};
use skillbench_engine::worker::Stop;
use skillbench_results::{frames, questions};
use skillbench_store::{Journal, Recorded, journal};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

pub fn run(global: &Global, args: &RunArgs) -> Done {
    let keeping = Keeping { incremental: args.incremental, ..Keeping::new(global, &args.keeping) };
    if let Some(done) = keeping.without_measuring(global) {
        return done;
    }
    let earlier = args.resume.as_ref().map(|name| resumed(&keeping.output_dir, name)).transpose()?;
    let (request, folder, done) = match earlier {
        Some((recorded, folder)) => {
            let done = recorded.run.cells.iter().map(|cell| cell.index).collect();
            let request = recorded.request.ok_or_else(|| usage("the journal does not say what was asked for"))?;
            (request, Some((folder, recorded.run)), done)
        }
        None => (request(args)?, None, HashSet::new()),
    };
    measure(global, request, &keeping, folder, &done)
}

/// Carries a request out, from the plan to the printed table; `earlier` is a run to go on with.
pub fn measure(
    global: &Global,
    request: RunRequest,
    keeping: &Keeping,
    earlier: Option<(PathBuf, Run)>,
    done: &HashSet<usize>,
) -> Done {
    let asked = against::asked(global, &keeping.against, keeping)?;
    let mut inventory = Inventory::take(&global.sources());
    if !global.quiet {
        inventory.tell = Tell(output::say);
    }
    tell_problems(&inventory.registry);
    tell_rejected(&inventory);
    let verify_only = request.verify_only;
    // Slips are told without a wait: a plan is no work. Choosing a backend is, since it loads models.
    let mut turn = Turn::default();
    if request.backends.is_empty()
        && let Err(exit) = turn.take(global, &keeping.lock)
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
    if let Err(exit) = turn.take(global, &keeping.lock) {
        return Ok(exit);
    }
    if keeping.incremental {
        match incremental::missing(global, &inventory, plan, keeping)? {
            Some(missing) => plan = missing,
            None => return Ok(Exit::Good),
        }
    }
    if Stop::global().asked() {
        return Ok(Exit::Stopped);
    }
    let (folder, run) = match earlier {
        Some((folder, run)) => {
            unchanged(&plan, &run)?;
            (folder, run)
        }
        None => begin(&keeping.output_dir, &plan)?,
    };
    let journal =
        Journal::open(&folder, &plan.request).map_err(|error| failed(format!("{}: {error}", folder.display())))?;
    let progress = Progress::new(global.quiet, global.debug, plan.cells.len(), names(&plan));
    let mut observers: Vec<Box<dyn Observer>> = vec![Box::new(journal), Box::new(progress)];
    run::execute(&plan, &run, &folder, done, &mut observers)
        .map_err(|error| failed(format!("the results could not be kept in {}: {error}", folder.display())))?;
    drop(observers);

    let recorded = journal::read(&folder).map_err(failed)?;
    let kept = keeping.keep(global, &folder, &recorded)?;
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
    let held = against::hold(global, &asked, keeping, &ended)?;
    Ok(exit(&recorded.run.cells, verify_only).or(kept).or(held))
}

/// What is done stays done only if the plan is the one it was done by, with the very same plugins.
fn unchanged(plan: &Plan, run: &Run) -> Result<(), CommandError> {
    let libraries = libraries(plan);
    let other = |(id, hash): &(&String, &String)| run.environment.plugin_sha256.get(*id) != Some(*hash);
    if let Some((id, _)) = libraries.iter().find(other) {
        return Err(usage(format!("plugin '{id}' is not the one this run began with; begin a new run")));
    }
    // Beyond the plan are smaller batches that were tried where memory did not suffice.
    let same = |cell: &Cell| plan.cells.get(cell.index).is_none_or(|planned| plan.is_cell(planned, cell));
    match run.cells.iter().all(same) {
        true => Ok(()),
        false => Err(usage("the plugins or models here would make another plan than this run's; begin a new run")),
    }
}

/// SHA-256 of every library that a plan uses, by plugin.
fn libraries(plan: &Plan) -> std::collections::BTreeMap<String, String> {
    let backends = plan.backends.iter().map(|backend| (backend.choice.plugin.clone(), &backend.plugin.library));
    let benchmarks = plan.benchmarks.iter().map(|b| (b.description.id.clone(), &b.library));
    let reference = plan.references.iter().map(|known| (known.plugin.id.clone(), &known.plugin.library));
    let skillsets = plan.models.iter().filter_map(|skill| match &skill.source {
        SkillSource::Skillset { library, plugin } => Some((plugin.clone(), library)),
        SkillSource::Brought(_) | SkillSource::Bad { .. } => None,
    });
    let all = backends.chain(benchmarks).chain(reference).chain(skillsets);
    all.filter_map(|(id, library)| Some((id, environment::sha256(library).ok()?))).collect()
}

fn request(args: &RunArgs) -> Result<RunRequest, CommandError> {
    Ok(RunRequest {
        backends: args.plugin.iter().map(|text| BackendChoice::parse(text)).collect(),
        chosen: Default::default(),
        include_web_platforms: args.include_web_platforms,
        models: models(args)?,
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

/// A new run's folder and its head.
pub fn begin(output: &Path, plan: &Plan) -> Result<(PathBuf, Run), CommandError> {
    let started_at = environment::now_utc();
    let stamp: String = started_at.chars().filter(char::is_ascii_digit).collect();
    // One process may begin two runs in a second.
    let numbers = std::process::id()..;
    let ids = numbers.map(|number| format!("{}-{}-{:05}", &stamp[..8], &stamp[8..], number % 100_000));
    let free = ids.map(|id| (output.join(&id), id)).find(|(folder, _)| !folder.exists());
    let (folder, run_id) = free.ok_or_else(|| failed(format!("{}: no new run can begin there", output.display())))?;
    let environment = environment_of(plan);
    let run = Run {
        schema: RUN_SCHEMA.into(),
        run_id,
        started_at,
        command: typed(),
        seed: plan.request.seed.unwrap_or(skillbench_engine::defaults::defaults().run.seed),
        environment,
        left_out: Default::default(),
        cells: vec![],
    };
    Ok((folder, run))
}

/// The machine, and what identifies all that a plan uses.
pub fn environment_of(plan: &Plan) -> Environment {
    let mut environment = Environment::probe();
    environment.plugin_sha256 = libraries(plan);
    let runtimes = plan.backends.iter().flat_map(|backend| {
        // The engine's library by the plugin's name, and whatever other files the plugin was opened with.
        let name = |option: &str| match option {
            "library" => backend.choice.plugin.clone(),
            other => format!("{} {other}", backend.choice.plugin),
        };
        let files = backend.plugin.options.iter().filter(|(_, value)| Path::new(value).is_file());
        files.filter_map(move |(option, path)| Some((name(option), environment::sha256(Path::new(path)).ok()?)))
    });
    environment.runtime_sha256 = runtimes.collect();
    let models = plan.models.iter().filter_map(|skill| match &skill.source {
        SkillSource::Skillset { .. } => Some((skill.id().to_string(), skill.description.content.clone())),
        SkillSource::Brought(brought) => {
            let hashes = brought.parts.iter().filter_map(|(_, graph)| environment::sha256(graph).ok());
            Some((skill.id().to_string(), hashes.collect::<Vec<_>>().join(" ")))
        }
        SkillSource::Bad { path, .. } => Some((skill.id().to_string(), environment::sha256(path).ok()?)),
    });
    environment.models = models.collect();
    environment
}

/// What each cell is called: "bert-tiny on rten, inference, batch=1 sequence=32".
pub fn names(plan: &Plan) -> Vec<String> {
    let name = |cell: &run::PlannedCell| {
        let axes: Vec<String> = cell.axes.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let choice = &plan.backends[cell.backend].choice;
        let device = choice.device.as_ref().map_or(String::new(), |device| format!(":{device}"));
        let (model, benchmark) = (plan.models[cell.model].id(), &plan.benchmarks[cell.benchmark].description.id);
        format!("{model} on {}{device}, {benchmark}, {}", choice.plugin, axes.join(" "))
    };
    plan.cells.iter().map(name).collect()
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
