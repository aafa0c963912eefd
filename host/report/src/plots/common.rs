//! What all plots share: heads, names, attributes, and the chart that says that there is nothing.

use super::rows::{Row, Rows, taken};
use super::words::words;
use super::{Plot, PlotError, PlotKind, Sources};
use crate::Table;
use polars::prelude::*;
use skillbench_charts::{Attributes, Bars, Chart, Estimate, Head, Reference};
use skillbench_record::catalog::column;
use skillbench_record::shown;
use skillbench_results::questions::{latest, not_measured, problems};
use std::collections::BTreeSet;

/// What a mark tells the page around it. `hardware` is written by the chart.
const TOLD: [(&str, &str); 7] = [
    ("model", column::MODEL_ID),
    (column::FAMILY, column::FAMILY),
    ("architecture", column::ARCHITECTURE_TYPE),
    (column::BENCHMARK, column::BENCHMARK),
    (column::PRECISION, column::PRECISION),
    (column::AXES, column::AXES),
    (column::TRUST, column::TRUST),
];

/// Attributes of a mark made from a row. `outcome` is that of the row, or `measured` where it has a trust.
pub(super) fn attributes(row: Row<'_>) -> Result<Attributes, PlotError> {
    let mut attributes = Attributes::default();
    for (name, column) in TOLD {
        let value = row.text(column);
        if !value.is_empty() {
            attributes.set(name, value)?;
        }
    }
    let outcome = match row.text(column::OUTCOME) {
        "" if !row.text(column::TRUST).is_empty() => "measured",
        outcome => outcome,
    };
    if !outcome.is_empty() {
        attributes.set(column::OUTCOME, outcome)?;
    }
    Ok(attributes)
}

/// The head of a chart of a kind. `of` is what it is about, `under` the circumstances: benchmark, precision, axes, machine.
pub(super) fn head(kind: PlotKind, sources: &Sources, of: &str, under: &[&str]) -> Head {
    let words = words().of(kind);
    let title = if of.is_empty() { words.title.clone() } else { format!("{}: {of}", words.title) };
    let said = under.iter().copied().chain([words.shows.as_str()]).filter(|part| !part.is_empty());
    Head {
        title,
        subtitle: said.collect::<Vec<_>>().join(" · "),
        source: sources.source.clone(),
        id: None,
        titled: false,
    }
}

/// A plot whose name is made of its kind and these parts.
pub(super) fn plot(kind: PlotKind, parts: &[&str], chart: Chart, behind: &DataFrame) -> Plot {
    let name = std::iter::once(kind.name()).chain(parts.iter().copied()).map(slug);
    let name = name.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-");
    let mut table = Table::from_frame(behind);
    // Where there is one machine it need not be told in every row.
    table.keep_columns(|name, cells| {
        let different: BTreeSet<&str> = cells.iter().map(|cell| cell.shown.as_str()).collect();
        !(name == column::MACHINE && different.len() < 2) && cells.iter().any(|cell| !cell.value.is_null())
    });
    Plot { kind, name, chart, table }
}

fn slug(text: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '.' || c == '_' { c.to_ascii_lowercase() } else { '-' };
    let dashed: String = text.chars().map(plain).collect();
    dashed.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")
}

/// Plots of one name get a number each, so that none is written over another.
pub(super) fn tell_apart(plots: &mut [Plot]) {
    let mut seen = BTreeSet::new();
    for plot in plots {
        let name = plot.name.clone();
        let mut number = 1;
        while !seen.insert(plot.name.clone()) {
            number += 1;
            plot.name = format!("{name}-{number}");
        }
    }
}

/// The machine, where the data has several.
pub(super) fn machine<'a>(frame: &DataFrame, row: Row<'a>) -> &'a str {
    let several = frame.column(column::MACHINE).and_then(|column| column.n_unique()).is_ok_and(|count| count > 1);
    if several { row.text(column::MACHINE) } else { "" }
}

/// A precision in words where nobody knows it.
pub(super) fn precision<'a>(row: Row<'a>) -> &'a str {
    match row.text(column::PRECISION) {
        "" => &words().no_precision,
        precision => precision,
    }
}

/// Hardware as people read it: an unverified or remote one says so. What is emulated is drawn and named as such by the chart.
pub(super) fn named(row: Row<'_>) -> String {
    let hardware = row.text("hardware");
    match row.text(column::TRUST) {
        latest::UNVERIFIED => format!("{hardware} ({})", words().unverified),
        latest::REMOTE => format!("{hardware} ({})", words().remote),
        _ => hardware.into(),
    }
}

/// Axes without the batch, which a chart has elsewhere.
pub(super) fn other_axes(axes: &str) -> String {
    shown::axes(axes).split(' ').filter(|axis| !axis.starts_with("batch=")).collect::<Vec<_>>().join(" ")
}

/// "batch 4"; empty where there is none.
pub(super) fn batch(row: Row<'_>) -> String {
    let batch = row.shown(column::BATCH_SIZE);
    if batch.is_empty() { batch } else { format!("{} {batch}", words().batch) }
}

pub(super) fn joined(parts: &[&str]) -> String {
    parts.iter().copied().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

/// A figure with the ends of its interval.
pub(super) fn estimate(row: Row<'_>, [value, low, high]: [&str; 3]) -> Estimate {
    Estimate { value: row.number(value), low: row.number(low), high: row.number(high) }
}

pub(super) fn latency(row: Row<'_>) -> Estimate {
    estimate(row, [column::LATENCY_MEDIAN_MS, column::LATENCY_CI95_LOW_MS, column::LATENCY_CI95_HIGH_MS])
}

pub(super) fn time_per_token(row: Row<'_>) -> Estimate {
    estimate(
        row,
        [
            column::TIME_PER_OUTPUT_TOKEN_MS,
            column::TIME_PER_OUTPUT_TOKEN_CI95_LOW_MS,
            column::TIME_PER_OUTPUT_TOKEN_CI95_HIGH_MS,
        ],
    )
}

pub(super) fn throughput(row: Row<'_>) -> Estimate {
    estimate(
        row,
        [column::THROUGHPUT_SAMPLES_PER_SEC, column::THROUGHPUT_CI95_LOW_PER_SEC, column::THROUGHPUT_CI95_HIGH_PER_SEC],
    )
}

/// How many times as fast as the CPU.
pub(super) fn speedup(row: Row<'_>) -> Estimate {
    estimate(row, ["speedup", "speedup_low", "speedup_high"])
}

/// Whether values are so far apart that the small ones could not be read on a linear axis.
pub(super) fn far_apart(values: impl IntoIterator<Item = Option<f64>>) -> bool {
    let known: Vec<f64> = values.into_iter().flatten().filter(|value| *value > 0.0).collect();
    known.iter().copied().fold(0.0, f64::max) > 20.0 * known.iter().copied().fold(f64::INFINITY, f64::min)
}

/// A heading for what may not be ranked beside measured hardware; such rows come after it.
pub(super) fn apart(row: Row<'_>) -> (u8, &'static str) {
    match row.text(column::TRUST) {
        latest::EMULATED => (3, &words().emulated),
        latest::UNVERIFIED => (2, &words().unverified),
        latest::REMOTE => (1, &words().remote),
        _ => (0, ""),
    }
}

/// What a chart shows of cells that were measured and of those that were not, as one frame.
pub(super) fn together(measured: DataFrame, missing: &DataFrame, rows: &[Row<'_>]) -> PolarsResult<DataFrame> {
    if rows.is_empty() {
        return Ok(measured);
    }
    polars::functions::concat_df_diagonal(&[measured, taken(missing, rows)?])
}

/// Where the CPU stands among speeds against it.
pub(super) fn baseline() -> Option<Reference> {
    Some(Reference { value: 1.0, label: words().baseline.clone() })
}

/// "failed: out of memory".
pub(super) fn reason(row: Row<'_>) -> String {
    let outcome = row.text(column::OUTCOME);
    match row.text(column::REASON) {
        "" => outcome.into(),
        reason => format!("{outcome}: {reason}"),
    }
}

/// The cells that were not measured.
pub(super) fn missing(sources: &Sources) -> Result<DataFrame, PlotError> {
    Ok(not_measured(sources.cells.clone())?)
}

/// Whether a cell that was not measured belongs into a chart of a precision: it had none to read back, so that what was asked for
/// counts.
pub(super) fn belongs(row: Row<'_>, to: Row<'_>) -> bool {
    let same = |column: &str| row.text(column) == to.text(column);
    let asked = row.text(column::PRECISION_REQUESTED);
    same(column::MACHINE) && same(column::BENCHMARK) && (asked.is_empty() || asked == to.text(column::PRECISION))
}

/// A chart that says that there is nothing to draw, and why.
pub(super) fn nothing(kind: PlotKind, sources: &Sources) -> Result<Plot, PlotError> {
    let cells = &sources.cells;
    let outcomes = cells.column(column::OUTCOME).and_then(|column| Ok(column.str()?.clone())).ok();
    let measured = outcomes.is_some_and(|outcomes| outcomes.iter().any(|outcome| outcome == Some("measured")));
    let mut why = words().of(kind).empty.clone();
    let mut behind = DataFrame::default();
    if measured && sources.before.is_some() {
        why = words().no_pair.clone();
    } else if cells.height() == 0 && sources.before.is_none() {
        why = words().no_cells.clone();
    } else if !measured && cells.height() > 0 {
        behind = problems(cells.clone())?;
        if let Some(row) = Rows::of(&behind).all().next() {
            why = words().none_measured.replace("{cells}", &cells.height().to_string());
            why = why.replace("{outcome}", row.text(column::OUTCOME)).replace("{reason}", row.text(column::REASON));
        }
    }
    let head = Head { subtitle: why, ..head(kind, sources, "", &[]) };
    Ok(plot(kind, &[], Chart::Bars(Bars { head, ..Bars::default() }), &behind))
}
