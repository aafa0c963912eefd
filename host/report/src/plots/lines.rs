//! Figures against the batch or the sequence, a chart for each model.

use super::common::{
    attributes, estimate, far_apart, head, joined, latency, machine, missing, named, plot, precision, reason,
    throughput,
};
use super::rows::{Row, Rows, taken};
use super::words::words;
use super::{Plot, PlotError, PlotKind, Sources};
use polars::prelude::DataFrame;
use skillbench_charts::{Chart, Estimate, Guide, Lines, Point, Series};
use skillbench_record::catalog::column;
use skillbench_results::questions::{Along, scaling};
use std::collections::BTreeSet;

/// What charts are told apart by.
const CHART: [&str; 4] = [column::MACHINE, column::MODEL_ID, column::BENCHMARK, column::PRECISION];

/// What lines of a chart are told apart by.
const LINE: [&str; 4] = ["hardware", column::TRUST, "other_axes", column::THREADS];

pub(super) fn against(kind: PlotKind, sources: &Sources) -> Result<Vec<Plot>, PlotError> {
    let along = if kind == PlotKind::SequenceScaling { Along::Sequence } else { Along::Batch };
    let frame = scaling(sources.cells.clone(), along)?;
    let estimate = |row: Row<'_>| match kind {
        PlotKind::Throughput => throughput(row),
        PlotKind::BatchScaling => self::estimate(row, ["gain", "gain_low", "gain_high"]),
        _ => latency(row),
    };
    let scales = matches!(kind, PlotKind::BatchScaling | PlotKind::SequenceScaling);
    let missing = missing(sources)?;
    let mut plots = vec![];
    for mut rows in Rows::of(&frame).groups(&CHART) {
        // How something scales, one point does not tell.
        rows.retain(|row| !scales || row.count("points") > 1);
        if rows.iter().all(|row| estimate(*row).value.is_none()) {
            continue;
        }
        plots.push(chart(kind, sources, (&frame, &rows), &missing, estimate, along)?);
    }
    Ok(plots)
}

/// The chart of a model. Also used for what is against the batch in other frames that have `point` and `other_axes`.
pub(super) fn chart(
    kind: PlotKind,
    sources: &Sources,
    (frame, rows): (&DataFrame, &[Row<'_>]),
    missing: &DataFrame,
    estimate: impl Fn(Row<'_>) -> Estimate,
    along: Along,
) -> Result<Plot, PlotError> {
    let first = rows[0];
    let behind = taken(frame, rows)?;
    let several = |column: &str| rows.iter().map(|row| row.shown(column)).collect::<BTreeSet<_>>().len() > 1;
    let (axes_differ, threads_differ) = (several("other_axes"), several(column::THREADS));
    let mut series = vec![];
    let mut all = Rows::of(&behind).groups(&LINE);
    let place = |hardware: &str| rows.iter().position(|row| row.text("hardware") == hardware);
    all.sort_by_key(|line| {
        let axes = line[0].text("other_axes");
        (place(line[0].text("hardware")), axes.len(), axes)
    });
    for line in all {
        let of = line[0];
        let threads =
            if threads_differ { format!("{} {}", of.shown(column::THREADS), words().threads) } else { String::new() };
        let axes = if axes_differ { of.text("other_axes") } else { "" };
        let points = line.iter().filter_map(|row| Some(Point { x: row.number("point")?, estimate: estimate(*row) }));
        series.push(Series {
            name: joined(&[&named(of), axes, &threads]),
            hardware: of.text("hardware").into(),
            architecture: of.text(column::ARCHITECTURE_TYPE).into(),
            emulated: of.is_emulated(),
            points: points.collect(),
            attributes: attributes(of)?,
            ..Series::default()
        });
    }
    series.extend(absent(missing, first, &series)?);
    let words = words();
    let x_label = match along {
        Along::Batch => &words.axis_batch,
        Along::Sequence => &words.axis_sequence,
        Along::Load => &words.axis_load,
    };
    let other = if axes_differ { "" } else { first.text("other_axes") };
    // Elsewhere options are in the name of the hardware alone.
    let options = if along == Along::Load { first.text(column::OPTIONS) } else { "" };
    let under = [first.text(column::BENCHMARK), precision(first), other, options, machine(frame, first)];
    let lines = Lines {
        head: head(kind, sources, first.text(column::MODEL_ID), &under),
        x_label: x_label.clone(),
        y_label: words.of(kind).axis.clone(),
        unit: words.of(kind).unit.clone(),
        y_log: kind == PlotKind::SequenceScaling
            || (kind != PlotKind::BatchScaling && far_apart(rows.iter().map(|row| estimate(*row).value))),
        ideal: ideal(kind, rows),
        series,
        ..Lines::default()
    };
    let parts = [
        first.text(column::MODEL_ID),
        first.text(column::BENCHMARK),
        first.text(column::PRECISION),
        options,
        machine(frame, first),
    ];
    Ok(plot(kind, &parts, Chart::Lines(lines), &behind))
}

/// Hardware that has no measured cell of the model: a series without points, and the reason.
fn absent(missing: &DataFrame, chart: Row<'_>, drawn: &[Series]) -> Result<Vec<Series>, PlotError> {
    let same = |row: &Row<'_>| {
        [column::MACHINE, column::MODEL_ID, column::BENCHMARK].iter().all(|name| row.text(name) == chart.text(name))
    };
    let mut absent: Vec<Series> = vec![];
    for row in Rows::of(missing).all().filter(same) {
        let hardware = row.text("hardware");
        if drawn.iter().chain(&absent).all(|series| series.hardware != hardware) {
            let (note, attributes) = (reason(row), attributes(row)?);
            absent.push(Series {
                name: hardware.into(),
                hardware: hardware.into(),
                note,
                attributes,
                ..Series::default()
            });
        }
    }
    Ok(absent)
}

fn ideal(kind: PlotKind, rows: &[Row<'_>]) -> Option<Guide> {
    let points = || rows.iter().filter_map(|row| row.number("point"));
    let (least, most) = (points().fold(f64::INFINITY, f64::min), points().fold(0.0, f64::max));
    if least <= 0.0 || least >= most {
        return None;
    }
    match kind {
        PlotKind::BatchScaling => {
            Some(Guide { label: words().ideal_batch.clone(), points: vec![(least, 1.0), (most, most / least)] })
        }
        PlotKind::SequenceScaling => {
            let fastest = rows.iter().filter(|row| row.number("point") == Some(least));
            let from = fastest.filter_map(|row| row.number(column::LATENCY_MEDIAN_MS)).reduce(f64::min)?;
            let points = vec![(least, from), (most, from * most / least)];
            Some(Guide { label: words().ideal_sequence.clone(), points })
        }
        _ => None,
    }
}
