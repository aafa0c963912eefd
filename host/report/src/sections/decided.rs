//! What was measured at each point, for the decision table; and where it was measured.

use super::SectionError;
use super::rows::{Rows, now};
use crate::decision::{Course, METRICS, Metric, Point, points};
use crate::page::Decisions;
use crate::spark;
use polars::prelude::DataFrame;
use skillbench_charts::Look;
use skillbench_record::catalog::column;
use skillbench_record::shown;
use skillbench_results::questions::latest::HARDWARE;
use skillbench_results::{Stored, trend};
use std::collections::BTreeSet;

/// So many values are listed one by one.
const LISTED: usize = 4;

/// The points of each metric that was measured; `None`: there is nothing to decide from.
pub fn decisions(cells: &DataFrame, look: &Look) -> Result<Option<Decisions>, SectionError> {
    let frame = now(cells.clone())?;
    let rows = Rows(&frame);
    let metrics = METRICS.iter().map(|metric| (metric.clone(), points(&rows, metric)));
    let mut metrics: Vec<_> = metrics.filter(|(_, points)| !points.is_empty()).collect();
    if several_runs(cells) {
        courses(cells, &mut metrics)?;
    }
    let hardware = metrics.iter().flat_map(|(_, points)| points).flat_map(|point| &point.entries);
    let colours = hardware.map(|entry| (entry.hardware.clone(), String::from(look.colour(&entry.hardware)))).collect();
    Ok((!metrics.is_empty()).then_some(Decisions { metrics, colours }))
}

fn several_runs(cells: &DataFrame) -> bool {
    cells.column(column::RUN).and_then(|runs| runs.n_unique()).is_ok_and(|count| count > 1)
}

/// Gives each entry the history that ends with its figure: of histories that differ in options alone, there may be several.
fn courses(cells: &DataFrame, metrics: &mut [(Metric, Vec<Point>)]) -> Result<(), SectionError> {
    let measures: Vec<_> =
        trend::metrics().filter(|measure| metrics.iter().any(|(metric, _)| metric.value == measure.column)).collect();
    let histories = trend::histories(cells.clone(), &[], Some(&measures))?;
    for (metric, points) in metrics {
        let of_metric: Vec<_> = histories
            .iter()
            .filter(|history| history.metric.column == metric.value && history.of.benchmark == metric.benchmark)
            .filter(|history| history.of.trust == HARDWARE)
            .collect();
        for point in points {
            let Point { facet, model, axes, entries, .. } = point;
            for entry in entries {
                let is_its = |history: &&&trend::History| {
                    let of = &history.of;
                    let same = (&of.machine, &of.model_id, &of.hardware) == (&facet.machine, model, &entry.hardware);
                    let threads = of.threads.and_then(|threads| usize::try_from(threads).ok()).unwrap_or(0);
                    same && threads == facet.threads
                        && of.precision.as_deref().unwrap_or("unknown") == facet.precision
                        && shown::axes(&of.axes) == *axes
                        && history.points.last().is_some_and(|last| last.value == entry.value)
                };
                entry.course = of_metric.iter().find(is_its).and_then(|history| course(history, &metric.unit));
            }
        }
    }
    Ok(())
}

/// `None`: one run alone.
fn course(history: &trend::History, unit: &str) -> Option<Course> {
    let values: Vec<f64> = history.points.iter().map(|point| point.value).collect();
    let line = spark::line(&values);
    let (first, last) = (shown::number(*values.first()?), shown::number(*values.last()?));
    let summary = format!("{} runs, from {first} to {last} {unit}", values.len());
    (!line.is_empty()).then_some(Course { line, summary })
}

/// Machine, engines with their versions, threads, precision, batch and date.
pub fn context(stored: &Stored) -> Result<Vec<(String, String)>, SectionError> {
    let frame = now(stored.cells.clone())?;
    let rows = Rows(&frame);
    let all = |column: &str| -> BTreeSet<String> {
        (0..rows.len()).filter_map(|row| rows.text(row, column)).map(String::from).collect()
    };
    let counts = |column: &str| -> BTreeSet<String> {
        let counts = (0..rows.len()).filter(|row| rows.number(*row, column).is_some());
        let counts: BTreeSet<usize> = counts.map(|row| rows.count(row, column)).collect();
        counts.into_iter().map(|count| count.to_string()).collect()
    };
    let engines: BTreeSet<String> = (0..rows.len()).filter_map(|row| engine(&rows, row)).collect();
    let dates: BTreeSet<&str> = stored.runs.iter().filter_map(|run| run.started_at.get(..10)).collect();
    let dates = match (dates.first(), dates.last()) {
        (Some(first), Some(last)) if first != last => Some(format!("{first} to {last}")),
        (first, _) => first.map(|first| first.to_string()),
    };
    let parts = [
        ("Machine", listed(all(column::MACHINE))),
        ("Engines", listed(engines)),
        ("Threads", listed(counts(column::THREADS))),
        ("Precision", listed(all(column::PRECISION))),
        ("Batch", listed(counts(column::BATCH_SIZE))),
        ("Date", dates),
    ];
    Ok(parts.into_iter().filter_map(|(name, value)| Some((name.to_string(), value?))).collect())
}

/// "OpenVINO 2026.4.1", of a cell that was measured.
fn engine(rows: &Rows<'_>, row: usize) -> Option<String> {
    if rows.text(row, column::OUTCOME) != Some("measured") {
        return None;
    }
    rows.text(row, column::ENGINE).or_else(|| rows.text(row, column::PLUGIN)).map(String::from)
}

fn listed(values: BTreeSet<String>) -> Option<String> {
    let few = values.iter().take(LISTED).map(String::as_str).collect::<Vec<_>>().join(", ");
    match values.len() {
        0 => None,
        count if count > LISTED => Some(format!("{few} and {} more", count - LISTED)),
        _ => Some(few),
    }
}
