//! `host doctor --generator`: how late this machine issues requests, and so which latencies it can tell of under load.

use super::{Done, Exit, failed, locked_out, usage};
use crate::cli::{DoctorArgs, Global};
use crate::output;
use crate::screen::Screen;
use skillbench_engine::bench::{self, Discovery};
use skillbench_engine::run::Observer;
use skillbench_record::{Metrics, OptionChoice, Outcome, RunRequest, scratch};
use skillbench_report::{Cell, Table};

/// Requests a second.
const RATES: [u64; 4] = [100, 1_000, 10_000, 100_000];
/// Seconds at each rate.
const BUDGET_S: f64 = 3.0;
const BENCHMARK: &str = "generator";

struct Nobody;

impl Observer for Nobody {}

pub fn generator(global: &Global, args: &DoctorArgs) -> Done {
    let asked = args.generator.as_deref().unwrap_or_default();
    let rates = if asked.is_empty() { &RATES[..] } else { asked };
    let discovery = Discovery::take(&global.inventory(), &[]);
    let (mut lock, mut screen) = (args.lock.lock(), Screen::new(global));
    lock.take(&global.stop, &mut |event| screen.on(event)).map_err(|error| locked_out(&error))?;
    drop(screen);
    // What a benchmark leaves is nobody's.
    let folder = scratch::folder().map_err(failed)?;
    let mut table = Table::new([
        "rate_per_s",
        "late_median_us",
        "late_p99_us",
        "until_taken_us",
        "generator_cores",
        "tells_median_from_us",
        "tells_p99_from_us",
    ]);
    for rate in rates {
        let option = OptionChoice { plugin: Some(BENCHMARK.into()), key: "rate".into(), value: rate.to_string() };
        let request = RunRequest {
            benchmarks: vec![BENCHMARK.into()],
            functions: true,
            options: vec![option],
            budget_s: Some(BUDGET_S),
            ..RunRequest::default()
        };
        let plan = discovery.plan(request).map_err(usage)?;
        for (index, function) in plan.functions.iter().enumerate() {
            let (cell, _) = bench::measure(function, index, &plan.request, folder.path(), &global.stop, &mut Nobody);
            match &cell.outcome {
                Outcome::Measured(metrics) => table.row(row(*rate, metrics)),
                other => {
                    let why = other.reason().map_or("nothing was measured", |reason| &reason.message);
                    output::error(&format!("{rate} requests a second: {why}"));
                }
            }
        }
        if global.stop.asked() {
            return Ok(Exit::Stopped);
        }
    }
    output::table(&table, global.format.into());
    if table.rows.len() < rates.len() {
        return Ok(Exit::Unmeasured);
    }
    if !global.quiet {
        output::say(
            "shorter latencies than the last two columns say are void at that rate: the requests would be as late as they take. Without such a figure none is too short, or requests were too few. Beside a target that works on every processor they are later",
        );
    }
    Ok(Exit::Good)
}

fn row(rate: u64, metrics: &Metrics) -> [Cell; 7] {
    let serving = metrics.serving.as_ref();
    let late = serving.and_then(|serving| serving.lateness_ms.as_ref());
    let queue = serving.and_then(|serving| serving.queue_ms.as_ref());
    let us = |ms: f64| Cell::number(ms * 1e3);
    // In nanoseconds, as the benchmark hands it over.
    let from = |name: &str| Cell::maybe(metrics.series.get(name), |series| Cell::number(series.stats.median * 1e-3));
    let (median, p99) = (late.map(|late| late.median), late.and_then(|late| late.p99));
    [
        Cell::count(rate),
        Cell::maybe(median, us),
        Cell::maybe(p99, us),
        Cell::maybe(queue.map(|queue| queue.median), us),
        Cell::maybe(serving.and_then(|serving| serving.generator_cores), Cell::number),
        from("tells_from.median"),
        // Of few requests nobody knows a 99th percentile.
        p99.map_or_else(|| Cell::maybe(None, Cell::number), |_| from("tells_from.p99")),
    ]
}
