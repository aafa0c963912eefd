//! Requests over the time in which they came, and what the machine did meanwhile: what a mean hides, such as a queue that grows or a clock that falls.

use super::common::{attributes, estimate, far_apart, head, machine, named, plot, precision};
use super::rows::{Row, Rows, taken};
use super::words::words;
use super::{Plot, PlotError, PlotKind, Sources};
use polars::prelude::DataFrame;
use skillbench_charts::{Chart, Estimate, Lines, Point, Series, XScale};
use skillbench_record::catalog::column;
use skillbench_results::questions::{of_cells, over_time as read_over_time, timeline};

/// What charts are told apart by: a load of a model.
const CHART: [&str; 6] =
    [column::MACHINE, column::MODEL_ID, column::BENCHMARK, column::AXES, column::OPTIONS, column::PRECISION];

/// Of each load its latencies and how many requests came, and then what the machine and the device did meanwhile, with a line for each hardware.
pub(super) fn over_time(sources: &Sources) -> Result<Vec<Plot>, PlotError> {
    let kind = PlotKind::Timeline;
    let Some(samples) = &sources.samples else { return Ok(vec![]) };
    let requests = of_cells(timeline(samples.clone())?, sources.cells.clone())?;
    let words = words();
    let latency = |row: Row<'_>| estimate(row, ["latency_ms", "latency_low_ms", "latency_high_ms"]);
    let load = |row: Row<'_>| Estimate { value: row.number("load_per_s"), ..Estimate::default() };
    let value = |row: Row<'_>| Estimate { value: row.number("value"), ..Estimate::default() };
    let mut plots = vec![];
    for rows in Rows::of(&requests).groups(&CHART) {
        let of_latency = Told {
            name: "",
            title: &words.of(kind).title,
            shows: &words.of(kind).shows,
            axis: &words.of(kind).axis,
            unit: &words.of(kind).unit,
            figure: &latency,
        };
        let of_load = Told {
            name: "load",
            title: &words.load_over_time,
            shows: &words.load_over_time_shows,
            axis: &words.axis_load,
            unit: "1/s",
            figure: &load,
        };
        for told in [of_latency, of_load] {
            plots.push(told.plot(sources, &requests, &rows)?);
        }
    }
    let meanwhile = of_cells(read_over_time(samples.clone())?, sources.cells.clone())?;
    let by: Vec<&str> = CHART.into_iter().chain(["figure"]).collect();
    for rows in Rows::of(&meanwhile).groups(&by) {
        let (name, unit) = (rows[0].text("figure"), rows[0].text("unit"));
        let title = words.over_time(name);
        let axis = if unit.is_empty() { title.to_string() } else { format!("{}, {unit}", lower(title)) };
        let told = Told { name, title, shows: &words.over_time_shows, axis: &axis, unit, figure: &value };
        plots.push(told.plot(sources, &meanwhile, &rows)?);
    }
    Ok(plots)
}

/// "Memory of the worker" within a line.
fn lower(title: &str) -> String {
    let mut letters = title.chars();
    letters.next().map_or(String::new(), |first| first.to_lowercase().chain(letters).collect())
}

/// What one chart tells.
struct Told<'a> {
    /// Within the plot's name; empty: the kind says it.
    name: &'a str,
    title: &'a str,
    shows: &'a str,
    axis: &'a str,
    unit: &'a str,
    figure: &'a dyn Fn(Row<'_>) -> Estimate,
}

impl Told<'_> {
    /// `rows`: those of one load.
    fn plot(&self, sources: &Sources, frame: &DataFrame, rows: &[Row<'_>]) -> Result<Plot, PlotError> {
        let (kind, first) = (PlotKind::Timeline, rows[0]);
        let model = first.text(column::MODEL_ID);
        let under = [
            first.text(column::BENCHMARK),
            precision(first),
            first.text(column::AXES),
            first.text(column::OPTIONS),
            machine(frame, first),
        ];
        let mut head = head(kind, sources, model, &under);
        let usual = words().of(kind);
        head.title = head.title.replace(&usual.title, self.title);
        head.subtitle = head.subtitle.replace(&usual.shows, self.shows);
        let lines = Lines {
            head,
            x_label: words().axis_time.clone(),
            y_label: self.axis.into(),
            unit: self.unit.into(),
            x_scale: XScale::Linear,
            y_log: self.name.is_empty() && far_apart(rows.iter().map(|row| (self.figure)(*row).value)),
            series: series(rows, self.figure)?,
            ..Lines::default()
        };
        let parts = [model, under[0], under[1], under[2], under[3], under[4], self.name];
        Ok(plot(kind, &parts, Chart::Lines(lines), &taken(frame, rows)?))
    }
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
