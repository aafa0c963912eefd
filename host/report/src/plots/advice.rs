//! Where hardware stands against its own peaks, and what to change.

use super::common::{attributes, head, joined, machine, named, plot, precision};
use super::rows::{Row, Rows, taken};
use super::words::words;
use super::{Plot, PlotError, PlotKind, Sources};
use skillbench_charts::{Bar, Bars, Chart, Estimate, number};
use skillbench_record::catalog::column;
use skillbench_results::questions;

/// No more of one kind are drawn; the table has all.
const MOST: usize = 12;

/// Of each model and hardware the cell that comes nearest to the peak.
pub(super) fn efficiency(sources: &Sources) -> Result<Vec<Plot>, PlotError> {
    let (kind, words) = (PlotKind::Efficiency, words());
    let frame = questions::efficiency(sources.cells.clone())?;
    let share = |row: &Row<'_>| row.number(column::SHARE_OF_PEAK_FLOPS);
    let mut plots = vec![];
    for rows in Rows::of(&frame).groups(&[column::MACHINE, column::BENCHMARK, column::PRECISION]) {
        if rows.iter().all(|row| share(row).is_none()) {
            continue;
        }
        let behind = taken(&frame, &rows)?;
        let mut bars = vec![];
        let of_model = Rows::of(&behind).groups(&["hardware", column::TRUST, column::MODEL_ID]);
        let best = |cells: Vec<Row<'_>>| {
            let order = |row: &Row<'_>| share(row).unwrap_or(f64::NEG_INFINITY);
            cells.into_iter().max_by(|one, other| order(one).total_cmp(&order(other))).map(|row| row.place)
        };
        let best: Vec<usize> = of_model.into_iter().filter_map(best).collect();
        for row in Rows::of(&behind).all().filter(|row| best.contains(&row.place)) {
            let percent = |column: &str| row.number(column).map(|share| 100.0 * share);
            let bandwidth = percent(column::SHARE_OF_PEAK_BANDWIDTH);
            let note = match (share(&row), bandwidth) {
                (None, _) if row.number(column::FLOPS_PER_SEC).is_none() => words.no_operations.clone(),
                (None, _) => words.no_peak.clone(),
                (Some(share), _) if share > 1.0 => words.above_peak.clone(),
                (Some(_), Some(memory)) => format!("{}% {}", number(memory), words.of_bandwidth),
                (Some(_), None) => String::new(),
            };
            bars.push(Bar {
                label: row.text(column::MODEL_ID).into(),
                sublabel: row.text(column::AXES).into(),
                group: named(row),
                estimate: Estimate { value: percent(column::SHARE_OF_PEAK_FLOPS), ..Estimate::default() },
                hardware: row.text("hardware").into(),
                emulated: row.is_emulated(),
                note,
                attributes: attributes(row)?,
            });
        }
        bars.sort_by(|one, other| one.group.cmp(&other.group));
        let first = rows[0];
        let under = [first.text(column::BENCHMARK), precision(first), machine(&frame, first)];
        let unit = words.of(kind).unit.clone();
        let chart = Bars { head: head(kind, sources, "", &under), unit, bars, ..Bars::default() };
        plots.push(plot(kind, &under, Chart::Bars(chart), &behind));
    }
    Ok(plots)
}

/// The largest factors of each kind; a kind without factors stands with its figure in words.
pub(super) fn opportunities(sources: &Sources) -> Result<Vec<Plot>, PlotError> {
    let (kind, words) = (PlotKind::Opportunities, words());
    let frame = questions::opportunities(sources.cells.clone())?;
    let mut plots = vec![];
    for rows in Rows::of(&frame).groups(&[column::MACHINE]) {
        let behind = taken(&frame, &rows)?;
        let mut bars = vec![];
        for of_kind in Rows::of(&behind).groups(&["kind"]) {
            for row in of_kind.iter().take(MOST) {
                bars.push(Bar {
                    label: joined(&[row.text(column::MODEL_ID), row.text("hardware")]),
                    sublabel: joined(&[row.text(column::BENCHMARK), row.text(column::AXES), precision(*row)]),
                    group: words.opportunity(row.text("kind")).into(),
                    estimate: Estimate { value: row.number("factor"), ..Estimate::default() },
                    hardware: row.text("hardware").into(),
                    emulated: false,
                    note: evidence(*row),
                    attributes: attributes(*row)?,
                });
            }
        }
        let under = [machine(&frame, rows[0])];
        let chart = Bars { head: head(kind, sources, "", &under), bars, ..Bars::default() };
        plots.push(plot(kind, &under, Chart::Bars(chart), &behind));
    }
    Ok(plots)
}

/// "batch=1 → batch=8: 120 → 310 1/s".
fn evidence(row: Row<'_>) -> String {
    if row.text("kind") == "unstable" && row.number("now").is_none() {
        return words().no_interval.clone();
    }
    let shown = |column: &str| row.number(column).map(number).unwrap_or_default();
    let arrow = |from: &str, to: &str| match (from.is_empty(), to.is_empty()) {
        (_, true) => from.to_string(),
        (true, false) => to.to_string(),
        (false, false) => format!("{from} → {to}"),
    };
    let change = arrow(row.text("from"), row.text("to"));
    let figures = format!("{} {}", arrow(&shown("now"), &shown("then")), row.text("unit"));
    if change.is_empty() { figures } else { format!("{change}: {figures}") }
}
