//! Requests that arrive: their latency at each rate, and the largest rate that keeps a limit.

use super::bars::{absent_at, bar};
use super::common::{belongs, estimate, head, joined, machine, missing, plot, precision, together};
use super::rows::{Row, Rows, taken};
use super::words::words;
use super::{Plot, PlotError, PlotKind, Sources, lines};
use skillbench_charts::{Bar, Bars, Chart, Estimate};
use skillbench_record::catalog::column;
use skillbench_record::shown;
use skillbench_results::questions::{Along, capacities, latency_by_load};

fn p99(row: Row<'_>) -> Estimate {
    Estimate { value: row.number(column::LATENCY_99P_MS), ..Estimate::default() }
}

/// A chart for each model, and for each limit and way to arrive that options ask for.
pub(super) fn against_rate(sources: &Sources) -> Result<Vec<Plot>, PlotError> {
    let frame = latency_by_load(sources.cells.clone())?;
    let missing = missing(sources)?;
    let by = [column::MACHINE, column::MODEL_ID, column::BENCHMARK, column::PRECISION, column::OPTIONS];
    let charts =
        Rows::of(&frame).groups(&by).into_iter().filter(|rows| rows.iter().any(|row| p99(*row).value.is_some()));
    let of_options = |rows: &[Row<'_>]| {
        let same = Rows::of(&missing).all().filter(|row| row.text(column::OPTIONS) == rows[0].text(column::OPTIONS));
        Ok::<_, PlotError>(taken(&missing, &same.collect::<Vec<_>>())?)
    };
    charts
        .map(|rows| lines::chart(PlotKind::Load, sources, (&frame, &rows), &of_options(&rows)?, p99, Along::Load))
        .collect()
}

/// The hardware on each model, a chart for each limit.
pub(super) fn capacity(sources: &Sources) -> Result<Vec<Plot>, PlotError> {
    let kind = PlotKind::Capacity;
    let frame = capacities(sources.cells.clone())?;
    let missing = missing(sources)?;
    let mut plots = vec![];
    for rows in Rows::of(&frame).groups(&[column::MACHINE, column::BENCHMARK, column::PRECISION, column::OPTIONS]) {
        let first = rows[0];
        let options = first.text(column::OPTIONS);
        let unmeasured: Vec<Row<'_>> = Rows::of(&missing)
            .all()
            .filter(|row| belongs(*row, first) && row.text(column::OPTIONS) == options)
            .collect();
        let behind = taken(&frame, &rows)?;
        let mut bars = vec![];
        for model in Rows::of(&behind).groups(&[column::MODEL_ID, column::AXES]) {
            let group = joined(&[model[0].text(column::MODEL_ID), &shown::axes(model[0].text(column::AXES))]);
            let figure =
                [column::CAPACITY_PER_SEC, column::CAPACITY_CI95_LOW_PER_SEC, column::CAPACITY_CI95_HIGH_PER_SEC];
            for row in &model {
                bars.push(Bar { group: group.clone(), estimate: estimate(*row, figure), ..bar(*row)? });
            }
            bars.extend(absent_at(&unmeasured, model[0], &group)?);
        }
        let under = [options, first.text(column::BENCHMARK), precision(first), machine(&frame, first)];
        let (head, unit) = (head(kind, sources, "", &under), words().of(kind).unit.clone());
        let chart = Bars { head, unit, bars, ..Bars::default() };
        plots.push(plot(kind, &under, Chart::Bars(chart), &together(behind.clone(), &missing, &unmeasured)?));
    }
    Ok(plots)
}
