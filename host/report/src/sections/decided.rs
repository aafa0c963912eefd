//! What was measured at each point, for the decision table; and where it was measured.

use super::SectionError;
use super::rows::{Rows, now};
use crate::decision::{Course, Facet, METRICS, Metric, Point, points};
use crate::page::Decisions;
use crate::spark;
use polars::prelude::DataFrame;
use skillbench_charts::Look;
use skillbench_record::catalog::column;
use skillbench_record::shown;
use skillbench_results::questions::latest::HARDWARE;
use skillbench_results::{Stored, trend};
use std::collections::{BTreeMap, BTreeSet};

/// So many values are listed one by one.
const LISTED: usize = 4;

/// The points of each metric that was measured; `None`: there is nothing to decide from.
pub fn decisions(cells: &DataFrame, look: &Look) -> Result<Option<Decisions>, SectionError> {
    let frame = now(cells.clone())?;
    let rows = Rows(&frame);
    let metrics = METRICS.iter().map(|metric| (metric.clone(), points(&rows, metric)));
    let mut metrics: Vec<_> = metrics.filter(|(_, points)| !points.is_empty()).collect();
    for (metric, points) in &mut metrics {
        courses(cells, metric, points)?;
    }
    let hardware = metrics.iter().flat_map(|(_, points)| points).flat_map(|point| &point.entries);
    let colours = hardware.map(|entry| (entry.hardware.clone(), String::from(look.colour(&entry.hardware)))).collect();
    Ok((!metrics.is_empty()).then_some(Decisions { metrics, colours }))
}

/// Tells each entry how its figure was in the runs before.
fn courses(cells: &DataFrame, metric: &Metric, points: &mut [Point]) -> Result<(), SectionError> {
    let Some(measure) = trend::metrics().find(|measure| measure.column == metric.value) else { return Ok(()) };
    let mut courses = BTreeMap::new();
    for history in trend::histories(cells.clone(), &[], Some(&[measure]))? {
        let of = history.of;
        let values: Vec<f64> = history.points.iter().map(|point| point.value).collect();
        let (Some(first), Some(last), line) = (values.first(), values.last(), spark::line(&values)) else { continue };
        if of.trust != HARDWARE || of.benchmark != metric.benchmark || line.is_empty() {
            continue;
        }
        let ends = format!("from {} to {}", shown::number(*first), shown::number(*last));
        let course = Course { line, told: format!("{} runs, {ends} {}", values.len(), metric.unit) };
        let threads = of.threads.and_then(|threads| usize::try_from(threads).ok()).unwrap_or(0);
        let precision = of.precision.unwrap_or_else(|| "unknown".into());
        courses.insert(
            (Facet { machine: of.machine, precision, threads }, of.model_id, shown::axes(&of.axes), of.hardware),
            course,
        );
    }
    for point in points {
        for entry in &mut point.entries {
            let key = (point.facet.clone(), point.model.clone(), point.axes.clone(), entry.hardware.clone());
            entry.course = courses.get(&key).cloned();
        }
    }
    Ok(())
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
