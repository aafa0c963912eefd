//! `host bench`: benchmarks that are plain functions.

use super::{Done, Exit, failed, locked_out, usage};
use crate::cli::{BenchArgs, BenchCommand, FormatArg, Global, LockArgs};
use crate::commands::plugin::tell_problems;
use crate::output;
use crate::screen::Screen;
use skillbench_engine::bench::{self, BenchRequest, BenchResult, BenchRun, Discovery, Found, Progress};
use skillbench_record::OptionChoice;
use skillbench_report::{Cell, Table};
use std::path::{Path, PathBuf};

pub fn bench(global: &Global, command: &BenchCommand) -> Done {
    match command {
        BenchCommand::List(which) => list(global, which),
        BenchCommand::Run { which, series, option, output_dir, lock } => {
            let options =
                option.iter().map(|text| OptionChoice::parse(text)).collect::<Result<_, _>>().map_err(usage)?;
            let request = BenchRequest {
                options,
                iterations: series.iterations,
                warmup: series.warmup,
                budget_s: series.budget,
                timeout_s: series.timeout,
                ..asked(which)
            };
            run(global, which, &request, output_dir, lock)
        }
    }
}

fn asked(which: &BenchArgs) -> BenchRequest {
    BenchRequest {
        names: which.name.clone(),
        categories: which.category.clone(),
        models: which.model.clone(),
        ..BenchRequest::default()
    }
}

fn discover(global: &Global, which: &BenchArgs) -> Discovery {
    let inventory = global.inventory();
    tell_problems(&inventory.registry);
    let discovery = Discovery::take(&inventory, &which.dir);
    if !global.quiet {
        for rejected in &discovery.rejected {
            output::warning(&format!("{} ({}) is rejected: {}", rejected.id, rejected.origin, rejected.reason));
        }
    }
    discovery
}

fn list(global: &Global, which: &BenchArgs) -> Done {
    let discovery = discover(global, which);
    let chosen = discovery.choose(&asked(which)).map_err(usage)?;
    let mut table = Table::new(["id", "category", "model", "version", "plugin", "summary"]);
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

fn run(global: &Global, which: &BenchArgs, request: &BenchRequest, output_dir: &Path, lock: &LockArgs) -> Done {
    let discovery = discover(global, which);
    let chosen = discovery.choose(request).map_err(usage)?;
    let mut machine = lock.lock();
    let mut screen = Screen::new(global);
    machine.take(&global.stop, &mut |event| screen.on(event)).map_err(|error| locked_out(&error))?;
    let folder = folder(output_dir);
    let mut lines = Lines { quiet: global.quiet, place: String::new() };
    let run = bench::execute(
        &chosen,
        request,
        &discovery.rejected,
        Some(&folder.join("attachments")),
        &global.stop,
        &mut lines,
    );
    let run = run.map_err(usage)?;
    keep(&run, &folder).map_err(|error| failed(format!("{}: {error}", folder.display())))?;
    show(global, &run)?;
    if !global.quiet {
        output::say(&format!("kept in {}", folder.display()));
    }
    let failed = run.summary().failed_runs;
    Ok(match (global.stop.asked(), run.benchmarks.is_empty(), failed) {
        (true, ..) => Exit::Stopped,
        (_, true, _) => Exit::NoVerdict,
        (_, _, 0) => Exit::Good,
        _ => Exit::Unmeasured,
    })
}

fn folder(output_dir: &Path) -> PathBuf {
    let stamp: String = skillbench_record::time::now_utc().chars().filter(char::is_ascii_digit).collect();
    output_dir.join(format!("bench-{}-{}-{:05}", &stamp[..8], &stamp[8..], std::process::id() % 100_000))
}

/// The whole document, and the flat forms that other tools read.
fn keep(run: &BenchRun, folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let pretty = |value: &serde_json::Value| serde_json::to_string_pretty(value).map(|text| text + "\n");
    std::fs::write(folder.join("bench.json"), pretty(&serde_json::to_value(run)?)?)?;
    for (model, flat) in bench::json_by_model(run) {
        let name =
            model.map_or("results.json".into(), |model| format!("results-{}.json", model.replace(['/', '\\'], "-")));
        std::fs::write(folder.join(name), pretty(&flat)?)?;
    }
    std::fs::write(folder.join("summary.csv"), bench::csv(run))
}

fn show(global: &Global, run: &BenchRun) -> Result<(), super::CommandError> {
    match global.format {
        FormatArg::Json => {
            let text = serde_json::to_string_pretty(&bench::json(run)).map_err(failed)?;
            output::print(&(text + "\n"));
        }
        FormatArg::Csv => output::print(&bench::csv(run)),
        FormatArg::Table | FormatArg::Markdown | FormatArg::Html => {
            let mut table = Table::new([
                "benchmark",
                "category",
                "model",
                "outcome",
                "median_ms",
                "cpu_ms",
                "used_mb",
                "per_second",
                "n",
                "stable",
                "reason",
            ]);
            run.benchmarks.iter().for_each(|result| table.row(row(result)));
            output::table(&table, global.format.into());
            let summary = run.summary();
            let rate = summary.success_rate.map_or(String::new(), |rate| format!(" ({:.0}%)", rate * 100.0));
            output::say(&format!("{} of {} measured{rate}", summary.successful_runs, summary.total_benchmarks));
        }
    }
    Ok(())
}

fn row(result: &BenchResult) -> [Cell; 11] {
    let metrics = result.outcome.metrics();
    let time = metrics.and_then(|metrics| metrics.execution_ms.as_ref());
    let cpu = metrics.and_then(|metrics| metrics.cpu_ms.as_ref());
    [
        Cell::text(&result.id),
        Cell::maybe(result.category.clone(), Cell::from),
        Cell::maybe(result.model.clone(), Cell::from),
        Cell::text(result.outcome.name()),
        Cell::maybe(time.map(|stats| stats.median), Cell::number),
        Cell::maybe(cpu.map(|stats| stats.median), Cell::number),
        Cell::maybe(metrics.and_then(|metrics| metrics.memory_mb.used), Cell::number),
        Cell::maybe(metrics.and_then(|metrics| metrics.throughput_per_s), Cell::number),
        Cell::maybe(time.map(|stats| stats.n), Cell::count),
        Cell::flag(result.stable),
        Cell::maybe(result.outcome.reason().map(|reason| reason.message.clone()), Cell::from),
    ]
}

/// A line for each benchmark that ended.
struct Lines {
    quiet: bool,
    place: String,
}

impl Progress for Lines {
    fn begun(&mut self, _: &Found, place: usize, of: usize) {
        self.place = format!("[{}/{of}]", place + 1);
    }

    fn warning(&mut self, text: &str) {
        output::warning(text);
    }

    fn ended(&mut self, result: &BenchResult) {
        if !self.quiet {
            let reason = result.outcome.reason().map_or(String::new(), |reason| format!(": {}", reason.message));
            output::say(&format!("{} {}: {}{reason}", self.place, result.id, result.outcome.name()));
        }
    }
}
