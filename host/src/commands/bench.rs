//! `host bench`: benchmarks that are plain functions.

use super::asked::Asker;
use super::persist::Persist;
use super::run::{ended, options};
use super::{Done, Exit, failed, gate, usage};
use crate::cli::{BenchArgs, BenchCommand, FormatArg, Global};
use crate::commands::plugin::tell_problems;
use crate::output;
use crate::screen::Screen;
use skillbench_engine::bench::{self, Discovery, Found, Summary};
use skillbench_record::catalog::{self, Metric};
use skillbench_record::{Cell as Measured, Run, RunRequest, Selection};
use skillbench_report::{Cell, Table};
use skillbench_session::{Ended, Kept};
use std::path::{Path, PathBuf};

pub fn bench(global: &Global, command: &BenchCommand) -> Done {
    match command {
        BenchCommand::List(which) => list(global, which),
        BenchCommand::Run { which, series, option, fleet, persist } => {
            let request = RunRequest {
                options: options(option)?,
                iterations: series.iterations,
                warmup: series.warmup,
                budget_s: series.budget,
                timeout_s: series.timeout,
                ..asked(which)
            };
            let persist = Persist::new(global, persist);
            if let Some(done) = persist.without_measuring(global) {
                return done;
            }
            if let Some(name) = &fleet.fleet {
                if !which.dir.is_empty() {
                    return Err(usage(
                        "--dir is a folder of this machine: put it into the registry of those that measure",
                    ));
                }
                return super::fleet::submit::run(global, name, fleet, &request, &persist);
            }
            run(global, discover(global, &which.dir), request, &persist)
        }
    }
}

fn asked(which: &BenchArgs) -> RunRequest {
    RunRequest {
        benchmarks: which.name.clone(),
        functions: true,
        models: which.model.clone(),
        selection: Selection { categories: which.category.clone(), ..Selection::default() },
        ..RunRequest::default()
    }
}

fn discover(global: &Global, folders: &[PathBuf]) -> Discovery {
    let inventory = global.inventory();
    tell_problems(&inventory.registry);
    let discovery = Discovery::take(&inventory, folders);
    if !global.quiet {
        for rejected in &discovery.rejected {
            output::warning(&format!("{} ({}) is rejected: {}", rejected.id, rejected.origin, rejected.reason));
        }
    }
    discovery
}

fn list(global: &Global, which: &BenchArgs) -> Done {
    let discovery = discover(global, &which.dir);
    let chosen = discovery.offered(&asked(which)).map_err(usage)?;
    let mut table = Table::new(["id", "category", "model", "version", "plugin", "summary"])
        .least(["version", "category", "plugin"]);
    for found in &chosen {
        table.row([
            Cell::text(&found.description.id),
            Cell::maybe(found.category.clone(), Cell::from),
            Cell::maybe(found.model.clone(), Cell::from),
            Cell::text(&found.description.version),
            Cell::text(&found.plugin),
            Cell::text(&found.description.summary),
        ]);
    }
    output::table(&table, global.format.into());
    if !global.quiet {
        let others: Vec<&str> = discovery.with_target.iter().map(Found::id).collect();
        output::say(&format!("measuring a model on a backend, with `host run --bench`: {}", others.join(", ")));
    }
    Ok(Exit::Good)
}

/// Calls the functions that a request means, as an agent asks it.
pub fn measure(global: &Global, request: RunRequest, persist: &Persist) -> Done {
    run(global, discover(global, &[]), request, persist)
}

fn run(global: &Global, discovery: Discovery, request: RunRequest, persist: &Persist) -> Done {
    let asked = gate::asked(global, &persist.gate, persist)?;
    let asker = Asker::of_environment(&global.stop).map_err(failed)?;
    if !global.quiet {
        discovery.left_out(&request).map_err(usage)?.iter().for_each(tell_left_out);
    }
    let (mut after, mut shown) = (Exit::Good, Ok(()));
    let mut screen = Screen::new(global).on_kept(|kept| {
        after = after.or(persist.after(global, kept));
        if !kept.is_again {
            shown = show(global, kept);
        }
    });
    let mut session = persist.session();
    let result = session.run_functions(&discovery, request, &asked, &global.stop, &mut |event| {
        asker.iter().for_each(|asker| asker.on(&event));
        screen.on(event);
    });
    drop(screen);
    let Ended::Ran(ran) = result.map_err(ended)? else { return Ok(Exit::Stopped) };
    shown.map_err(failed)?;
    let Some(verdict) = ran.verdict else { return Ok(Exit::Stopped) };
    let held = gate::tell(global, persist, &ran.kept, &verdict)?;
    Ok(exit(&ran.kept.recorded.run).or(after).or(held))
}

/// Says which option a function needs that nobody named.
pub fn tell_left_out((name, option): &(String, String)) {
    output::say(&format!("{name} is left out: name it, and give it --option {name}:{option}="));
}

/// The exit code of a run of functions.
pub fn exit(run: &Run) -> Exit {
    match Summary::of(&run.cells) {
        Summary { total_benchmarks: 0, .. } => Exit::NoVerdict,
        Summary { failed_runs: 0, .. } => Exit::Good,
        _ => Exit::Unmeasured,
    }
}

/// Prints a run, and writes the flat forms that other tools read beside it.
pub fn show(global: &Global, kept: &Kept) -> Result<(), String> {
    let run = &kept.recorded.run;
    print(global, run)?;
    if !kept.is_in_folder() {
        return Ok(());
    }
    let folder = kept.folder.display();
    flat_forms(run, &kept.folder).map_err(|error| format!("{folder}: {error}"))?;
    if !global.quiet {
        output::say(&format!("kept in {folder}"));
    }
    Ok(())
}

fn flat_forms(run: &Run, folder: &Path) -> std::io::Result<()> {
    for (model, flat) in bench::json_by_model(run) {
        let name =
            model.map_or("results.json".into(), |model| format!("results-{}.json", model.replace(['/', '\\'], "-")));
        std::fs::write(folder.join(name), serde_json::to_string_pretty(&flat)? + "\n")?;
    }
    std::fs::write(folder.join("success-rates.csv"), bench::csv(run))
}

fn print(global: &Global, run: &Run) -> Result<(), String> {
    match global.format {
        FormatArg::Json => {
            let text = serde_json::to_string_pretty(&bench::json(run)).map_err(|error| error.to_string())?;
            output::print(&(text + "\n"));
        }
        FormatArg::Csv => output::print(&bench::csv(run)),
        FormatArg::Table | FormatArg::Markdown | FormatArg::Html => {
            let figures: Vec<&Metric> = OF_LOAD.iter().filter_map(|name| catalog::metric(name)).collect();
            let has = |metric: &&&Metric| run.cells.iter().any(|cell| figure(cell, metric).is_some());
            let figures: Vec<&Metric> = figures.iter().filter(has).copied().collect();
            let columns = COLUMNS.iter().copied().chain(figures.iter().map(|metric| metric.id)).chain(["reason"]);
            let columns = columns.map(String::from).collect();
            let mut table = Table { columns, ..Table::default() }.least([
                "stable",
                "n",
                "peak_mb",
                "cpu_ms",
                "category",
                "per_second",
                "model",
            ]);
            for cell in &run.cells {
                let of_load = figures.iter().map(|metric| Cell::maybe(figure(cell, metric), Cell::number));
                let reason = Cell::maybe(cell.outcome.reason().map(|reason| reason.message.clone()), Cell::from);
                table.rows.push(row(cell).into_iter().chain(of_load).chain([reason]).collect());
            }
            output::table(&table, global.format.into());
            let summary = Summary::of(&run.cells);
            let rate = summary.success_rate.map_or(String::new(), |rate| format!(" ({:.0}%)", rate * 100.0));
            output::say(&format!("{} of {} measured{rate}", summary.successful_runs, summary.total_benchmarks));
        }
    }
    Ok(())
}

const COLUMNS: [&str; 10] =
    ["benchmark", "category", "model", "outcome", "median_ms", "cpu_ms", "peak_mb", "per_second", "n", "stable"];

/// What is shown of requests that arrive, where a function has any.
const OF_LOAD: [&str; 10] = [
    "latency_ms.p99",
    "capacity_per_s",
    "capacity.ci95.0",
    "capacity.ci95.1",
    "goodput_per_s",
    "serving.tokens.ttft_ms.median",
    "serving.tokens.ttft_ms.p99",
    "serving.tokens.tpot_ms.median",
    "serving.tokens.tokens_per_s",
    "error_rate",
];

fn figure(cell: &Measured, metric: &Metric) -> Option<f64> {
    cell.outcome
        .metrics()
        .filter(|metrics| metrics.serving.is_some() || metrics.capacity.is_some())
        .and_then(metric.value)
}

fn row(cell: &Measured) -> [Cell; 10] {
    let metrics = cell.outcome.metrics();
    let time = metrics.and_then(|metrics| metrics.latency_ms.as_ref());
    let cpu = metrics.and_then(|metrics| metrics.cpu_ms.as_ref());
    [
        Cell::text(&cell.benchmark),
        Cell::maybe(Some(cell.category.clone()).filter(|text| !text.is_empty()), Cell::from),
        Cell::maybe(cell.about.clone(), Cell::from),
        Cell::text(cell.outcome.name()),
        Cell::maybe(time.map(|stats| stats.median), Cell::number),
        Cell::maybe(cpu.map(|stats| stats.median), Cell::number),
        Cell::maybe(metrics.and_then(|metrics| metrics.memory_mb.peak), Cell::number),
        Cell::maybe(metrics.and_then(|metrics| metrics.throughput_per_s), Cell::number),
        Cell::maybe(time.map(|stats| stats.n), Cell::count),
        Cell::flag(cell.stable),
    ]
}
