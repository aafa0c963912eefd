//! What the matrix needs of the cells' frame.

use crate::questions::latest::counting;
use polars::prelude::*;
use skillbench_record::catalog::column;
use skillbench_record::{OutcomeKind, Trust};
use std::collections::HashMap;

/// The columns it is built from.
pub const COLUMNS: [&str; 34] = [
    column::RUN,
    column::TIMESTAMP,
    column::MACHINE,
    column::HOSTNAME,
    column::CPU_MODEL,
    column::CELL,
    column::PLUGIN,
    column::DEVICE_ID,
    column::DEVICE_KIND,
    column::EMULATED,
    column::MODEL_ID,
    column::MODEL_CONTENT,
    column::FAMILY,
    column::BENCHMARK,
    column::AXES,
    column::PRECISION_REQUESTED,
    column::PRECISION,
    column::THREADS,
    column::WORKERS,
    column::OPTIONS,
    column::BESIDE,
    column::PARAMETER_COUNT,
    column::RELATION,
    column::OUTCOME,
    column::REASON_CODE,
    column::REASON,
    column::STABLE,
    column::TRUST,
    column::HAS_FIGURES,
    column::KEY,
    column::ATTEMPT,
    column::LATENCY_MEAN_MS,
    column::LATENCY_MEDIAN_MS,
    column::THROUGHPUT_SAMPLES_PER_SEC,
];

#[derive(Clone, Debug)]
pub(super) struct Row<'a> {
    pub run: &'a str,
    /// Microseconds since 1970-01-01.
    pub timestamp: Option<i64>,
    pub cell: Option<i64>,
    pub machine: &'a str,
    /// See [`skillbench_record::HardwareLabel`].
    pub hardware: &'a str,
    /// As everybody gets it: no option is set, and nothing ran at the same time.
    pub plain: bool,
    pub plugin: &'a str,
    pub on_cpu: bool,
    pub emulated: bool,
    pub model: &'a str,
    pub family: &'a str,
    pub parameters: Option<i64>,
    pub relation: Option<&'a str>,
    pub benchmark: &'a str,
    pub axes: &'a str,
    pub precision: Option<&'a str>,
    pub threads: Option<i64>,
    pub outcome: OutcomeKind,
    pub reason: Option<&'a str>,
    /// `None`: it is not measured.
    pub trust: Option<Trust>,
    /// It counts now.
    pub is_latest: bool,
    /// How a newer try of it ended, and why.
    pub newer: Option<(OutcomeKind, Option<&'a str>)>,
    pub mean_ms: Option<f64>,
    pub median_ms: Option<f64>,
    pub throughput: Option<f64>,
}

impl Row<'_> {
    pub fn measured(&self) -> bool {
        self.outcome == OutcomeKind::Measured
    }

    /// Hardware itself, with outputs that were held against others: what may be ranked.
    pub fn comparable(&self) -> bool {
        self.trust.is_some_and(Trust::is_comparable)
    }

    pub fn order(&self) -> (Option<i64>, &str, Option<i64>) {
        (self.timestamp, self.run, self.cell)
    }

    pub fn moment(&self) -> Option<String> {
        self.timestamp.map(|us| skillbench_record::time::utc(us.div_euclid(1_000_000)))
    }
}

/// The rows of cells that have a model, a backend and an outcome, in the order of time and plan. The frame is one of
/// [`crate::questions::latest::placed`].
pub(super) fn rows(frame: &DataFrame) -> PolarsResult<Vec<Row<'_>>> {
    let text = |name: &str| {
        frame.column(name)?.as_materialized_series().str().map(|column| column.iter().collect::<Vec<Option<&str>>>())
    };
    let whole = |name: &str| frame.column(name)?.i64().map(|column| column.iter().collect::<Vec<_>>());
    let number = |name: &str| frame.column(name)?.f64().map(|column| column.iter().collect::<Vec<_>>());
    let microseconds = DataType::Datetime(TimeUnit::Microseconds, None);
    let times = frame.column(column::TIMESTAMP)?.cast(&microseconds)?.cast(&DataType::Int64)?;
    let times: Vec<Option<i64>> = times.i64()?.iter().collect();
    let emulated: Vec<Option<bool>> = frame.column(column::EMULATED)?.bool()?.iter().collect();
    let (run, machine, hardware, plugin) =
        (text(column::RUN)?, text(column::MACHINE)?, text("hardware")?, text(column::PLUGIN)?);
    let (kind, model, family, benchmark) =
        (text(column::DEVICE_KIND)?, text(column::MODEL_ID)?, text(column::FAMILY)?, text(column::BENCHMARK)?);
    let (axes, precision, options, beside) =
        (text(column::AXES)?, text(column::PRECISION)?, text(column::OPTIONS)?, text(column::BESIDE)?);
    let (outcome, reason, trust) = (text(column::OUTCOME)?, text(column::REASON)?, text(column::TRUST)?);
    let (cell, threads) = (whole(column::CELL)?, whole(column::THREADS)?);
    let (parameters, relation) = (whole(column::PARAMETER_COUNT)?, text(column::RELATION)?);
    let (mean, median, rate) = (
        number(column::LATENCY_MEAN_MS)?,
        number(column::LATENCY_MEDIAN_MS)?,
        number(column::THROUGHPUT_SAMPLES_PER_SEC)?,
    );
    let latest: HashMap<usize, Option<usize>> =
        counting(frame)?.into_iter().map(|latest| (latest.place, latest.newer)).collect();
    let ended = |at: usize| outcome[at].and_then(|text| text.parse::<OutcomeKind>().ok());
    let row = |at: usize| {
        Some(Row {
            run: run[at]?,
            timestamp: times[at],
            cell: cell[at],
            machine: machine[at].unwrap_or_default(),
            hardware: hardware[at]?,
            plain: options[at].is_none() && beside[at].is_none(),
            plugin: plugin[at]?,
            on_cpu: kind[at] == Some("cpu"),
            emulated: emulated[at] == Some(true),
            model: model[at]?,
            family: family[at].unwrap_or("unknown"),
            parameters: parameters[at],
            relation: relation[at],
            benchmark: benchmark[at].unwrap_or_default(),
            axes: axes[at].unwrap_or_default(),
            precision: precision[at],
            threads: threads[at],
            outcome: ended(at)?,
            reason: reason[at],
            trust: trust[at].and_then(|text| text.parse().ok()),
            is_latest: latest.contains_key(&at),
            newer: latest.get(&at).copied().flatten().and_then(|newer| Some((ended(newer)?, reason[newer]))),
            mean_ms: mean[at],
            median_ms: median[at],
            throughput: rate[at],
        })
    };
    let mut rows: Vec<Row<'_>> = (0..frame.height()).filter_map(row).collect();
    rows.sort_by(|one, other| one.order().cmp(&other.order()));
    Ok(rows)
}
