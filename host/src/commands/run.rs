//! `host run`: arguments become a request, the engine measures, the journal keeps, the table is printed.

use super::{CommandError, Done, Exit, failed, usage};
use crate::cli::{FormatArg, Global, RunArgs};
use crate::commands::plugin::tell_problems;
use crate::output;
use crate::progress::Progress;
use skillbench_engine::document::{Cell, Outcome, RUN_SCHEMA, Run};
use skillbench_engine::environment::{self, Environment};
use skillbench_engine::run::{self, BackendChoice, Inventory, Observer, OptionChoice, Plan, RunRequest};
use skillbench_engine::worker::Stop;
use skillbench_results::{Journal, files, frames, questions};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

pub fn run(global: &Global, args: &RunArgs) -> Done {
    let earlier = args.resume.as_ref().map(|name| resumed(&args.output_dir, name)).transpose()?;
    let (request, folder, done) = match earlier {
        Some((recorded, folder)) => {
            let done = recorded.run.cells.iter().map(|cell| cell.index).collect();
            (recorded.request, Some((folder, recorded.run)), done)
        }
        None => (request(args)?, None, HashSet::new()),
    };
    let inventory = Inventory::take(&global.sources());
    tell_problems(&inventory.registry);
    let plan = run::plan(&inventory, request).map_err(usage)?;
    let (folder, run) = match folder {
        Some((folder, run)) => (folder, run),
        None => begin(&args.output_dir, &plan)?,
    };
    // A second Ctrl-C ends the program at once.
    let _ = ctrlc::set_handler(|| {
        if Stop::global().asked() {
            std::process::exit(130);
        }
        Stop::global().ask();
    });

    let journal =
        Journal::open(&folder, &plan.request).map_err(|error| failed(format!("{}: {error}", folder.display())))?;
    let progress = Progress::new(global.quiet, global.debug, plan.cells.len(), names(&plan));
    let mut observers: Vec<Box<dyn Observer>> = vec![Box::new(journal), Box::new(progress)];
    run::execute(&plan, &run, &folder, &done, &mut observers)
        .map_err(|error| failed(format!("the results could not be kept in {}: {error}", folder.display())))?;
    drop(observers);

    let recorded = skillbench_results::read(&folder).map_err(failed)?;
    files::write(&folder, &recorded).map_err(|error| failed(format!("{}: {error}", folder.display())))?;
    show(global, &recorded.run)?;
    if Stop::global().asked() {
        output::say(&format!("stopped; go on with: host run --resume {}", folder.display()));
        return Ok(Exit::Stopped);
    }
    if !global.quiet {
        output::say(&format!("kept in {}", folder.display()));
    }
    Ok(exit(&recorded.run.cells))
}

fn request(args: &RunArgs) -> Result<RunRequest, CommandError> {
    Ok(RunRequest {
        backends: args.plugin.iter().map(|text| BackendChoice::parse(text)).collect(),
        models: args.model.clone(),
        benchmarks: args.bench.clone(),
        batch_sizes: args.batch_sizes.clone(),
        sequence_lengths: args.sequence_lengths.clone(),
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
        seed: args.seed,
    })
}

/// An earlier run, by its folder or by its id in the output folder.
fn resumed(output: &Path, name: &str) -> Result<(skillbench_results::Recorded, PathBuf), CommandError> {
    let folder = [PathBuf::from(name), output.join(name)].into_iter().find(|folder| folder.is_dir());
    let folder = folder.ok_or_else(|| usage(format!("there is no run '{name}' in {}", output.display())))?;
    let recorded = skillbench_results::read(&folder).map_err(usage)?;
    Ok((recorded, folder))
}

/// A new run's folder and its head.
fn begin(output: &Path, plan: &Plan) -> Result<(PathBuf, Run), CommandError> {
    let started_at = environment::now_utc();
    let stamp: String = started_at.chars().filter(char::is_ascii_digit).collect();
    let run_id = format!("{}-{}-{:05}", &stamp[..8], &stamp[8..], std::process::id() % 100_000);
    let folder = output.join(&run_id);
    let mut environment = Environment::probe();
    let libraries = plan.backends.iter().map(|backend| (&backend.choice.plugin, &backend.plugin.library));
    let libraries = libraries.chain(plan.benchmarks.iter().map(|b| (&b.description.id, &b.library)));
    environment.plugin_sha256 =
        libraries.filter_map(|(id, library)| Some((id.clone(), environment::sha256(library).ok()?))).collect();
    let run = Run {
        schema: RUN_SCHEMA.into(),
        run_id,
        started_at,
        command: std::env::args().collect(),
        seed: plan.request.seed.unwrap_or(skillbench_engine::defaults::defaults().run.seed),
        environment,
        cells: vec![],
    };
    Ok((folder, run))
}

/// What each cell is called: "bert-tiny on rten, inference, batch=1 sequence=32".
fn names(plan: &Plan) -> Vec<String> {
    let name = |cell: &run::PlannedCell| {
        let axes: Vec<String> = cell.axes.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let choice = &plan.backends[cell.backend].choice;
        let device = choice.device.as_ref().map_or(String::new(), |device| format!(":{device}"));
        let (model, benchmark) = (plan.models[cell.model].id(), &plan.benchmarks[cell.benchmark].description.id);
        format!("{model} on {}{device}, {benchmark}, {}", choice.plugin, axes.join(" "))
    };
    plan.cells.iter().map(name).collect()
}

fn show(global: &Global, run: &Run) -> Result<(), CommandError> {
    if matches!(global.format, FormatArg::Json) {
        let text = serde_json::to_string_pretty(run).map_err(failed)?;
        output::print(&(text + "\n"));
        return Ok(());
    }
    let summary = frames::cells(run).and_then(questions::summary).map_err(failed)?;
    output::table(&skillbench_report::summary(&summary), global.format.into());
    Ok(())
}

/// The exit code: of several that hold, the first of unavailable, wrong, unmeasured.
fn exit(cells: &[Cell]) -> Exit {
    let any = |test: fn(&Outcome) -> bool| cells.iter().any(|cell| test(&cell.outcome));
    let all_unavailable = cells.iter().all(|cell| matches!(cell.outcome, Outcome::Unavailable(_)));
    if cells.is_empty() || all_unavailable {
        return Exit::Unavailable;
    }
    if any(|outcome| matches!(outcome, Outcome::Wrong(_))) {
        return Exit::Wrong;
    }
    match any(|outcome| !matches!(outcome, Outcome::Measured(_) | Outcome::Skipped(_))) {
        true => Exit::Unmeasured,
        false => Exit::Good,
    }
}
