//! Histories out of the frame of cells: the figures of one cell in the order of time, and how many runs have none.

use super::Measure;
use super::metric::{usual, words};
use crate::questions::latest::placed;
use polars::prelude::*;
use skillbench_record::Run;
use skillbench_record::catalog::column;
use skillbench_record::time::moment;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// The columns of cells that are read besides facts and metrics.
pub(super) const COLUMNS: [&str; 23] = [
    column::RUN,
    column::TIMESTAMP,
    column::MACHINE,
    column::HOSTNAME,
    column::CPU_MODEL,
    column::CELL,
    column::PLUGIN,
    column::DEVICE_ID,
    column::EMULATED,
    column::MODEL_ID,
    column::MODEL_CONTENT,
    column::BENCHMARK,
    column::AXES,
    column::PRECISION_REQUESTED,
    column::PRECISION,
    column::THREADS,
    column::WORKERS,
    column::OPTIONS,
    column::BESIDE,
    column::OUTCOME,
    column::TRUST,
    column::KEY,
    column::ATTEMPT,
];

/// What is the same in all runs of a history. What differs in any of it is another history.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Of {
    pub machine: String,
    pub model_id: String,
    /// See [`skillbench_record::HardwareLabel`].
    pub hardware: String,
    pub plugin: String,
    pub device_id: String,
    pub benchmark: String,
    pub axes: String,
    pub precision: Option<String>,
    pub threads: Option<i64>,
    /// Requests at once.
    pub workers: Option<i64>,
    /// Options of the plugin that differ from its defaults.
    pub options: Option<String>,
    /// Backends that ran at the same time.
    pub beside: Option<String>,
    pub trust: String,
    /// Digest of all of it.
    pub key: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    pub run: String,
    /// When the run began, in microseconds since 1970-01-01.
    pub time: i64,
    pub value: f64,
    /// What was recorded that may explain a change, in the order of `data/trend.toml`: of the cell, then of the environment.
    pub facts: Vec<Option<String>>,
}

#[derive(Clone, Debug)]
pub struct History {
    pub of: Of,
    pub metric: Measure,
    pub points: Vec<Point>,
    /// Runs since the first point in which the cell ended otherwise, by how; `no figure`: measured without this metric.
    pub not_measured: BTreeMap<String, u64>,
    /// Runs of the machine between the first point and the last in which the cell was not tried.
    pub runs_without: u64,
}

/// A row of the frame.
struct Row {
    of: Of,
    /// By which tries are the same.
    attempt: String,
    run: String,
    time: i64,
    outcome: String,
    measured: bool,
    facts: Vec<Option<String>>,
    place: usize,
}

struct Rows<'a>(&'a DataFrame);

impl Rows<'_> {
    fn shown(&self, column: &str, row: usize) -> Option<String> {
        match self.0.column(column).ok()?.get(row).ok()? {
            AnyValue::Null => None,
            AnyValue::String(text) => Some(text.into()),
            AnyValue::StringOwned(text) => Some(text.to_string()),
            other => Some(other.to_string()),
        }
    }

    fn number(&self, column: &str, row: usize) -> Option<f64> {
        let value = self.0.column(column).ok()?.get(row).ok()?.extract::<f64>();
        value.filter(|value| value.is_finite() && *value > 0.0)
    }
}

fn environment_facts(run: &Run) -> Vec<Option<String>> {
    let recorded = serde_json::to_value(&run.environment).unwrap_or_default();
    let told = |value: &serde_json::Value| match value {
        serde_json::Value::Null => None,
        serde_json::Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    };
    words().environment.iter().map(|fact| told(&recorded[&fact.name])).collect()
}

/// The histories of cells, in the order of time; none of which mixes machines, options, precisions or trust. `runs` are the heads of all
/// runs there are, without which nothing is known of environments and of runs between. `None` as metric: for each history the first of
/// the usual ones that it has. Cells of runs whose beginning is not known are left out.
///
/// # Errors
/// Polars' own.
pub fn histories(cells: DataFrame, runs: &[Run], metrics: Option<&[Measure]>) -> PolarsResult<Vec<History>> {
    let frame = placed(cells)?
        .with_column(
            col(column::TIMESTAMP).cast(DataType::Datetime(TimeUnit::Microseconds, None)).cast(DataType::Int64),
        )
        .collect()?;
    let times = frame.column(column::TIMESTAMP)?.i64()?.clone();
    let environments: HashMap<&str, Vec<Option<String>>> =
        runs.iter().map(|run| (run.run_id.as_str(), environment_facts(run))).collect();
    let rows = Rows(&frame);
    let text = |column: &str, row: usize| rows.shown(column, row).unwrap_or_default();
    let mut all: Vec<Row> = vec![];
    for place in 0..frame.height() {
        let Some(time) = times.get(place) else { continue };
        let whole = |column: &str| frame.column(column).ok()?.get(place).ok()?.extract::<i64>();
        let of = Of {
            machine: text(column::MACHINE, place),
            model_id: text(column::MODEL_ID, place),
            hardware: text("hardware", place),
            plugin: text(column::PLUGIN, place),
            device_id: text(column::DEVICE_ID, place),
            benchmark: text(column::BENCHMARK, place),
            axes: text(column::AXES, place),
            precision: rows.shown(column::PRECISION, place),
            threads: whole(column::THREADS),
            workers: whole(column::WORKERS),
            options: rows.shown(column::OPTIONS, place),
            beside: rows.shown(column::BESIDE, place),
            trust: text(column::TRUST, place),
            key: text(column::KEY, place),
        };
        let run = text(column::RUN, place);
        let cell_facts = words().cell.iter().map(|fact| rows.shown(&fact.name, place));
        let unknown = || vec![None; words().environment.len()];
        let environment = environments.get(run.as_str()).cloned().unwrap_or_else(unknown);
        all.push(Row {
            attempt: text(column::ATTEMPT, place),
            time,
            outcome: text(column::OUTCOME, place),
            measured: !of.trust.is_empty(),
            facts: cell_facts.chain(environment).collect(),
            place,
            of,
            run,
        });
    }
    all.sort_by(|one, other| (one.time, &one.run, one.place).cmp(&(other.time, &other.run, other.place)));
    let mut measured: BTreeMap<&Of, Vec<&Row>> = BTreeMap::new();
    let mut tried: HashMap<&str, Vec<&Row>> = HashMap::new();
    for row in &all {
        tried.entry(&row.attempt).or_default().push(row);
        if row.measured {
            measured.entry(&row.of).or_default().push(row);
        }
    }
    // As cells name them.
    let labels: HashMap<&str, &str> = all.iter().map(|row| (row.run.as_str(), row.of.machine.as_str())).collect();
    let ids: HashMap<String, &str> = runs
        .iter()
        .filter_map(|run| Some((run.environment.machine_id()?, *labels.get(run.run_id.as_str())?)))
        .collect();
    let machines: Vec<(String, i64, &str)> = runs
        .iter()
        .filter_map(|run| {
            let label = run.environment.machine_id().and_then(|id| ids.get(&id).copied()).unwrap_or(&run.run_id);
            Some((label.to_string(), moment(&run.started_at)?, run.run_id.as_str()))
        })
        .collect();
    let usual = usual();
    let mut histories = vec![];
    for (of, rows_of) in measured {
        let has = |metric: &&Measure| rows_of.iter().any(|row| rows.number(&metric.column, row.place).is_some());
        let of_it = match metrics {
            Some(metrics) => metrics.iter().filter(has).collect(),
            None => usual.iter().find(has).into_iter().collect::<Vec<_>>(),
        };
        for metric in of_it {
            let value = |row: &&Row| rows.number(&metric.column, row.place);
            let attempts: BTreeSet<&str> = rows_of.iter().map(|row| row.attempt.as_str()).collect();
            let tried: Vec<&Row> = attempts.iter().flat_map(|attempt| tried[attempt].iter().copied()).collect();
            histories.push(history(of, metric, &rows_of, &tried, &machines, &value));
        }
    }
    Ok(histories)
}

fn history(
    of: &Of,
    metric: &Measure,
    measured: &[&Row],
    tried: &[&Row],
    machines: &[(String, i64, &str)],
    value: &dyn Fn(&&Row) -> Option<f64>,
) -> History {
    let mut points: Vec<Point> = vec![];
    for row in measured {
        let Some(value) = value(row) else { continue };
        let point = Point { run: row.run.clone(), time: row.time, value, facts: row.facts.clone() };
        // A run that has a cell twice, such as under two names of one precision, counts once.
        match points.last_mut() {
            Some(last) if last.run == point.run => *last = point,
            _ => points.push(point),
        }
    }
    let (first, last) = (points.first().map_or(0, |point| point.time), points.last().map_or(0, |point| point.time));
    let have: HashSet<&str> = points.iter().map(|point| point.run.as_str()).collect();
    let own = |row: &&&Row| {
        let device = row.of.device_id.is_empty() || row.of.device_id == of.device_id;
        let it = if row.measured { row.of == *of } else { device };
        it && row.time >= first && !have.contains(row.run.as_str())
    };
    let mut not_measured: BTreeMap<String, u64> = BTreeMap::new();
    for row in tried.iter().filter(own) {
        let how = if row.measured { "no figure" } else { &row.outcome };
        *not_measured.entry(how.into()).or_default() += 1;
    }
    let tried: HashSet<&str> = tried.iter().map(|row| row.run.as_str()).collect();
    let between =
        |run: &&(String, i64, &str)| run.0 == of.machine && (first..=last).contains(&run.1) && !tried.contains(run.2);
    let runs_without = machines.iter().filter(between).count() as u64;
    History { of: of.clone(), metric: metric.clone(), points, not_measured, runs_without }
}
