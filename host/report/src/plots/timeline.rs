//! Requests over the time in which they came: what a mean hides, such as a queue that grows or a machine that becomes slower.

use super::common::{attributes, estimate, far_apart, head, machine, named, plot, precision};
use super::rows::{Row, Rows, taken};
use super::words::words;
use super::{Plot, PlotError, PlotKind, Sources};
use skillbench_charts::{Chart, Estimate, Lines, Point, Series, XScale};
use skillbench_record::catalog::column;
use skillbench_results::questions::{of_cells, timeline};

/// What charts are told apart by: a load of a model.
const CHART: [&str; 6] =
    [column::MACHINE, column::MODEL_ID, column::BENCHMARK, column::AXES, column::OPTIONS, column::PRECISION];

/// Of each load two charts, latencies and how many requests came, with a line for each hardware.
pub(super) fn over_time(sources: &Sources) -> Result<Vec<Plot>, PlotError> {
    let kind = PlotKind::Timeline;
    let Some(samples) = &sources.samples else { return Ok(vec![]) };
    let frame = of_cells(timeline(samples.clone())?, sources.cells.clone())?;
    let words = words();
    let latency = |row: Row<'_>| estimate(row, ["latency_ms", "latency_low_ms", "latency_high_ms"]);
    let load = |row: Row<'_>| Estimate { value: row.number("load_per_s"), ..Estimate::default() };
    let mut plots = vec![];
    for rows in Rows::of(&frame).groups(&CHART) {
        let first = rows[0];
        let model = first.text(column::MODEL_ID);
        let under = [
            first.text(column::BENCHMARK),
            precision(first),
            first.text(column::AXES),
            first.text(column::OPTIONS),
            machine(&frame, first),
        ];
        let behind = taken(&frame, &rows)?;
        let of_latency = (words.of(kind).axis.as_str(), words.of(kind).unit.as_str(), "");
        let of_load = (words.axis_load.as_str(), "1/s", "load");
        for ((axis, unit, name), figure) in [(of_latency, &latency as &dyn Fn(Row<'_>) -> Estimate), (of_load, &load)] {
            let mut head = head(kind, sources, model, &under);
            if !name.is_empty() {
                head.title = head.title.replace(&words.of(kind).title, &words.load_over_time);
                head.subtitle = head.subtitle.replace(&words.of(kind).shows, &words.load_over_time_shows);
            }
            let lines = Lines {
                head,
                x_label: words.axis_time.clone(),
                y_label: axis.into(),
                unit: unit.into(),
                x_scale: XScale::Linear,
                y_log: name.is_empty() && far_apart(rows.iter().map(|row| figure(*row).value)),
                series: series(&rows, figure)?,
                ..Lines::default()
            };
            let parts = [model, under[0], under[1], under[2], under[3], under[4], name];
            plots.push(plot(kind, &parts, Chart::Lines(lines), &behind));
        }
    }
    Ok(plots)
}

/// A line for each cell: of several runs each is a line of its own.
fn series(rows: &[Row<'_>], figure: &dyn Fn(Row<'_>) -> Estimate) -> Result<Vec<Series>, PlotError> {
    let cell = |row: &Row<'_>| (row.shown(column::RUN), row.shown(column::CELL));
    let of = |row: &Row<'_>| Some(Point { x: row.number("point")?, estimate: figure(*row) });
    let line = |line: &[Row<'_>]| {
        Ok(Series {
            name: named(line[0]),
            hardware: line[0].text("hardware").into(),
            architecture: line[0].text(column::ARCHITECTURE_TYPE).into(),
            emulated: line[0].is_emulated(),
            points: line.iter().filter_map(of).collect(),
            attributes: attributes(line[0])?,
            ..Series::default()
        })
    };
    rows.chunk_by(|one, other| cell(one) == cell(other)).map(line).collect()
}
