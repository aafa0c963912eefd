//! Cells as they are compared: what ran, and the value of each metric in each round.

use crate::Stored;
use crate::questions::latest;
use polars::prelude::*;
use skillbench_record::catalog::{self, Better, column};
use skillbench_record::{Axes, Reason};
use skillbench_stats::compare::{Estimate, Metric, Subject};
use std::collections::HashMap;

/// A metric in every round of a cell.
pub(super) struct Rounds {
    pub metric: Metric,
    pub values: Vec<f64>,
}

pub(super) struct SideCell {
    pub subject: Subject,
    pub machine: String,
    pub benchmark: String,
    pub benchmark_version: String,
    pub axes: Axes,
    pub content: String,
    pub beside: String,
    pub outcome: String,
    /// Why it was not measured.
    pub reason: Option<Reason>,
    pub rounds: Vec<Rounds>,
    /// One figure each: memory, the metrics that are asked for, and those that plugins added.
    pub figures: Vec<(Metric, f64)>,
    /// The load that it bears; `None`: it was not searched.
    pub capacity: Option<Estimate>,
}

/// Reads columns by row; what is not there is not told.
struct Reader<'a>(&'a DataFrame);

impl Reader<'_> {
    fn text(&self, row: usize, column: &str) -> Option<String> {
        // A column of one value for all rows is a scalar until it is asked for as a series.
        self.0.column(column).ok()?.as_materialized_series().str().ok()?.get(row).map(String::from)
    }

    fn number(&self, row: usize, column: &str) -> Option<f64> {
        let value = self.0.column(column).ok()?.get(row).ok()?;
        if value.is_null() { None } else { value.extract::<f64>() }
    }
}

/// The rows that count of a side.
pub(super) fn cells(stored: &Stored, metrics: &[&'static catalog::Metric]) -> PolarsResult<Vec<SideCell>> {
    let frame = latest::latest(latest::placed(stored.cells.clone())?.collect()?)?;
    let (rounds, sessions) = (rounds(stored)?, sessions(stored)?);
    let read = Reader(&frame);
    let cell = |row: usize| {
        let text = |column: &str| read.text(row, column);
        let key = (text(column::RUN).unwrap_or_default(), read.number(row, column::CELL).unwrap_or(-1.0) as i64);
        let outcome = text(column::OUTCOME).unwrap_or_default();
        let reason = (outcome != "measured").then(|| {
            let message = text(column::REASON).unwrap_or_else(|| "no reason was recorded".into());
            Reason::new(&text(column::REASON_CODE).unwrap_or_default(), message)
        });
        let throughput = read.number(row, column::THROUGHPUT_SAMPLES_PER_SEC);
        let rounds_of = rounds.get(&key).map(|series| of_series(series, throughput)).unwrap_or_default();
        SideCell {
            subject: Subject {
                plugin: text(column::PLUGIN).unwrap_or_default(),
                plugin_version: text(column::PLUGIN_VERSION).unwrap_or_default(),
                device: text(column::DEVICE_ID),
                model: text(column::MODEL_ID).unwrap_or_default(),
                precision: text(column::PRECISION),
                threads: read.number(row, column::THREADS).map(|n| n as u64),
                engine: text(column::ENGINE),
                trust: text(column::TRUST).and_then(|text| text.parse().ok()),
                options: text(column::OPTIONS),
                workers: read.number(row, column::WORKERS).map(|n| n as u64),
            },
            machine: text(column::MACHINE).unwrap_or_default(),
            benchmark: text(column::BENCHMARK).unwrap_or_default(),
            benchmark_version: text(column::BENCHMARK_VERSION).unwrap_or_default(),
            axes: text(column::AXES).and_then(|text| text.parse().ok()).unwrap_or_default(),
            content: text(column::MODEL_CONTENT).unwrap_or_default(),
            beside: text(column::BESIDE).unwrap_or_default(),
            outcome,
            reason,
            figures: figures(&read, row, metrics, stored, &key, &rounds_of),
            capacity: capacity(&read, row, sessions.get(&key).copied().unwrap_or_default()),
            rounds: rounds_of,
        }
    };
    Ok((0..frame.height()).map(cell).collect())
}

fn capacity(read: &Reader<'_>, row: usize, sessions: u64) -> Option<Estimate> {
    let of = |column: &str| read.number(row, column);
    let ci95 = [of(column::CAPACITY_CI95_LOW_PER_SEC)?, of(column::CAPACITY_CI95_HIGH_PER_SEC)?];
    Some(Estimate { value: of(column::CAPACITY_PER_SEC)?, ci95, rounds: sessions })
}

/// How many sessions each search had, by run and cell.
fn sessions(stored: &Stored) -> PolarsResult<HashMap<(String, i64), u64>> {
    let Some(samples) = &stored.samples else { return Ok(HashMap::new()) };
    let of_searches = samples.clone().lazy().filter(col("series").eq(lit("trial.per_s")));
    let counted = of_searches.group_by([col(column::RUN), col(column::CELL)]).agg([len().alias("n")]).collect()?;
    let read = Reader(&counted);
    let one = |row: usize| {
        let key = (read.text(row, column::RUN)?, read.number(row, column::CELL)? as i64);
        Some((key, read.number(row, "n")? as u64))
    };
    Ok((0..counted.height()).filter_map(one).collect())
}

/// What has one figure in a cell. What has rounds is compared by them.
fn figures(
    read: &Reader<'_>,
    row: usize,
    metrics: &[&'static catalog::Metric],
    stored: &Stored,
    (run, cell): &(String, i64),
    rounds: &[Rounds],
) -> Vec<(Metric, f64)> {
    let memory = read.number(row, column::PEAK_MEMORY_MB).map(|value| (Metric::memory(), value));
    // Those of these names have a place of their own.
    let other = |metric: &&&catalog::Metric| ![column::PEAK_MEMORY_MB, column::CAPACITY_PER_SEC].contains(&metric.id);
    let asked = metrics.iter().filter(other).filter_map(|metric| {
        let higher_is_better = metric.better == Better::Higher;
        Some((Metric::new(metric.name, metric.unit, higher_is_better), read.number(row, metric.id)?))
    });
    let of_cell = stored.plugin_metrics.iter().filter(|metric| metric.run == *run && metric.cell == *cell);
    let of_plugins = of_cell
        .filter_map(|metric| Some((Metric::new(&metric.name, &metric.unit, metric.higher_is_better?), metric.value)));
    let has_rounds = |name: &str| {
        rounds.iter().any(|rounds| rounds.metric.name == name || rounds.metric.name.strip_suffix("_ms") == Some(name))
    };
    memory.into_iter().chain(asked).chain(of_plugins).filter(|(metric, _)| !has_rounds(&metric.name)).collect()
}

/// One round of a series.
struct Round {
    series: String,
    n: f64,
    median_ns: f64,
    wall_ns: Option<f64>,
    cpu_ns: Option<f64>,
}

/// The rounds of durations, by run and cell, in their order.
fn rounds(stored: &Stored) -> PolarsResult<HashMap<(String, i64), Vec<Round>>> {
    let mut all: HashMap<(String, i64), Vec<Round>> = HashMap::new();
    let Some(samples) = &stored.samples else { return Ok(all) };
    let grouped = samples
        .clone()
        .lazy()
        .filter(col("round").gt(lit(0)).and(col("unit").eq(lit("ns"))))
        .group_by_stable([col(column::RUN), col(column::CELL), col("series"), col("round")])
        .agg([
            col("value").median().alias("median"),
            len().cast(DataType::Float64).alias("n"),
            col("round_wall_ns").first().alias("wall"),
            col("round_cpu_ns").first().alias("cpu"),
        ])
        .collect()?;
    let read = Reader(&grouped);
    for row in 0..grouped.height() {
        let (Some(run), Some(cell), Some(series)) =
            (read.text(row, column::RUN), read.number(row, column::CELL), read.text(row, "series"))
        else {
            continue;
        };
        let (Some(n), Some(median_ns)) = (read.number(row, "n"), read.number(row, "median")) else { continue };
        let (wall_ns, cpu_ns) = (read.number(row, "wall"), read.number(row, "cpu"));
        all.entry((run, cell as i64)).or_default().push(Round { series, n, median_ns, wall_ns, cpu_ns });
    }
    Ok(all)
}

/// What series tell, as metrics. Rates are those of the cell's own figure, spread over its rounds.
fn of_series(rounds: &[Round], throughput: Option<f64>) -> Vec<Rounds> {
    let mut names: Vec<&str> = vec![];
    rounds.iter().for_each(|round| {
        if !names.contains(&round.series.as_str()) {
            names.push(&round.series);
        }
    });
    let mut all = vec![];
    for name in names {
        let mine = || rounds.iter().filter(|round| round.series == name);
        let Some(metric) = Metric::of_series(name, "ns", "duration", None) else { continue };
        let overlapping = metric.name == Metric::THROUGHPUT;
        let each = |round: &Round| match overlapping {
            true => round.wall_ns.map(|wall| wall / round.n),
            false => Some(round.median_ns),
        };
        let values: Vec<f64> = match metric.higher_is_better {
            false => mine().filter_map(|round| Some(each(round)? * 1e-6)).collect(),
            true => {
                let (spent, n) = mine()
                    .filter_map(|round| Some((each(round)? * round.n, round.n)))
                    .fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
                // Items in each iteration: only the concurrent series has the cell's own figure; of another the ratio is what counts.
                let items = if overlapping { throughput.map_or(1.0, |rate| rate * spent * 1e-9 / n) } else { 1.0 };
                mine().filter_map(|round| Some(items / (each(round)? * 1e-9))).collect()
            }
        };
        all.push(Rounds {
            metric,
            values: values.into_iter().filter(|value| value.is_finite() && *value > 0.0).collect(),
        });
        if ["latency", "execution_time", "end_to_end"].contains(&name) {
            let cpu = mine().filter_map(|round| Some(round.cpu_ns? / round.n * 1e-6)).filter(|value| *value > 0.0);
            all.push(Rounds { metric: Metric::cpu(), values: cpu.collect() });
        }
    }
    all.retain(|rounds| !rounds.values.is_empty());
    all
}
