//! How samples are spread, and where the time of a start goes.

use super::common::{apart, attributes, far_apart, head, joined, machine, named, plot, precision};
use super::rows::{Row, Rows, taken};
use super::words::words;
use super::{Plot, PlotError, PlotKind, Sources};
use polars::prelude::{IdxCa, IdxSize};
use skillbench_charts::{Bins, Chart, Distribution, Part, Stack, Stacked};
use skillbench_record::Samples;
use skillbench_record::catalog::column;
use skillbench_results::questions::{self, histogram, of_cells, quantiles};

/// The parts of a start in their order, by their columns.
const PHASES: [&str; 6] = [
    column::IMPORT_MS,
    column::INSTANTIATE_MS,
    column::READ_MS,
    column::COMPILE_COLD_MS,
    "load_rest_ms",
    column::FIRST_INFERENCE_MS,
];

/// Those that loading is made of.
const OF_LOAD: [&str; 3] = [column::READ_MS, column::COMPILE_COLD_MS, "load_rest_ms"];

/// The start of each model on each hardware, at its first point of the grid.
pub(super) fn init_phases(sources: &Sources) -> Result<Vec<Plot>, PlotError> {
    let kind = PlotKind::InitPhases;
    let frame = questions::init_phases(sources.cells.clone())?;
    let mut plots = vec![];
    // What is emulated starts so much slower that nothing else could be read beside it.
    for rows in Rows::of(&frame).groups(&[column::MACHINE, column::BENCHMARK, column::PRECISION, column::TRUST]) {
        let behind = taken(&frame, &rows)?;
        let models = Rows::of(&behind).groups(&[column::MODEL_ID]).into_iter().flatten().map(|row| row.place);
        let by_model =
            behind.take(&IdxCa::from_vec("places".into(), models.map(|place| place as IdxSize).collect()))?;
        let cells = Rows::of(&by_model).groups(&[column::MODEL_ID, "hardware"]).into_iter();
        let firsts = cells.filter_map(|cells| {
            cells.into_iter().min_by_key(|row| (row.text(column::AXES).len(), row.text(column::AXES)))
        });
        let mut stacks = vec![];
        for row in firsts {
            stacks.push(Stack {
                label: named(row),
                sublabel: row.text(column::AXES).into(),
                group: row.text(column::MODEL_ID).into(),
                hardware: row.text("hardware").into(),
                emulated: row.is_emulated(),
                parts: parts(row),
                note: String::new(),
                attributes: attributes(row)?,
            });
        }
        let first = rows[0];
        let under = [first.text(column::BENCHMARK), precision(first), apart(first).1, machine(&frame, first)];
        let unit = words().of(kind).unit.clone();
        let chart = Stacked { head: head(kind, sources, "", &under), unit, stacks };
        plots.push(plot(kind, &under, Chart::Stacked(chart), &behind));
    }
    Ok(plots)
}

/// The phases of a row. An engine that does not tell reading from compiling has its load whole.
fn parts(row: Row<'_>) -> Vec<Part> {
    let part = |column: &str| Part { name: words().phase(column).into(), value: row.number(column) };
    let told = row.number(column::READ_MS).is_some() || row.number(column::COMPILE_COLD_MS).is_some();
    let mut parts = vec![];
    for column in PHASES {
        match (OF_LOAD.contains(&column), told) {
            (false, _) => parts.push(part(column)),
            // What an engine does not tell is no part that was missed.
            (true, true) => parts.extend(Some(part(column)).filter(|part| part.value.is_some())),
            (true, false) if column == OF_LOAD[0] => parts.push(part(column::LOAD_MS)),
            (true, false) => {}
        }
    }
    parts
}

/// The series of each model, hardware below hardware.
pub(super) fn distribution(sources: &Sources) -> Result<Vec<Plot>, PlotError> {
    let kind = PlotKind::Distribution;
    let Some(samples) = &sources.samples else { return Ok(vec![]) };
    let figures = of_cells(quantiles(samples.clone())?, sources.cells.clone())?;
    let bins = histogram(samples.clone())?;
    let mut of_series: std::collections::HashMap<[String; 3], Vec<Row<'_>>> = Default::default();
    for row in Rows::of(&bins).all() {
        of_series.entry(key(row)).or_default().push(row);
    }
    let mut plots = vec![];
    let charts = Rows::of(&figures).groups(&[
        column::MACHINE,
        column::MODEL_ID,
        column::BENCHMARK,
        column::PRECISION,
        "series",
        "unit",
    ]);
    // What has one sample a cell is no distribution: a yes or no, a figure of the whole.
    let spreads =
        |rows: &Vec<Row<'_>>| !is_of_no_rounds(rows[0].text("series")) && rows.iter().any(|row| row.count("n") > 1);
    for rows in charts.into_iter().filter(spreads) {
        let first = rows[0];
        let (scale, unit) = if first.text("unit") == "ns" { (1e-6, "ms") } else { (1.0, first.text("unit")) };
        let figure = |row: &Row<'_>, name: &str| row.number(name).map(|value| scale * value);
        let several = rows.iter().any(|row| row.text(column::RUN) != first.text(column::RUN));
        let mut series = vec![];
        for row in &rows {
            let counted = of_series.get(&key(*row)).map(Vec::as_slice).unwrap_or_default();
            let (edges, counts) = filled(counted, scale);
            let run = if several { row.text(column::RUN) } else { "" };
            series.push(Bins {
                label: named(*row),
                sublabel: joined(&[row.text(column::AXES), run]),
                hardware: row.text("hardware").into(),
                emulated: row.is_emulated(),
                edges,
                counts,
                q1: figure(row, "q1"),
                median: figure(row, "median"),
                q3: figure(row, "q3"),
                p90: figure(row, "p90"),
                outliers: counted.first().map(|row| row.count("beyond").max(0) as u64),
                note: if row.count("n") == 1 { words().one_sample.clone() } else { String::new() },
                attributes: attributes(*row)?,
                ..Bins::default()
            });
        }
        let under = [first.text("series"), first.text(column::BENCHMARK), precision(first), machine(&figures, first)];
        let head = head(kind, sources, first.text(column::MODEL_ID), &under);
        let log = far_apart(rows.iter().map(|row| figure(row, "median")));
        let chart = Distribution { head, unit: unit.into(), log, series, ..Distribution::default() };
        let parts = [first.text(column::MODEL_ID), under[0], under[1], under[2], under[3]];
        plots.push(plot(kind, &parts, Chart::Distribution(chart), &taken(&figures, &rows)?));
    }
    Ok(plots)
}

/// When requests were due is a plan, and no figure. Neither are series of the few samples before the measured rounds, which are in [`init_phases`], and of the trials of a search, each of which was
/// another one. What was read over the time is drawn over it.
fn is_of_no_rounds(series: &str) -> bool {
    let begins = ["init.", "trial", Samples::OVER_TIME, Samples::READ_AT];
    ["due", "first_inference"].contains(&series) || begins.iter().any(|with| series.starts_with(with))
}

fn key(row: Row<'_>) -> [String; 3] {
    [column::RUN, column::CELL, "series"].map(|column| row.shown(column))
}

/// Edges and counts with the empty bins between.
fn filled(bins: &[Row<'_>], scale: f64) -> (Vec<f64>, Vec<u64>) {
    let (mut edges, mut counts): (Vec<f64>, Vec<u64>) = (vec![], vec![]);
    let mut next = bins.first().map_or(0, |row| row.count("bin"));
    for row in bins {
        let (Some(low), Some(high)) = (row.number("low"), row.number("high")) else { continue };
        let (low, high) = (scale * low, scale * high);
        let width = high - low;
        while next < row.count("bin") {
            edges.push(low - width * (row.count("bin") - next) as f64);
            counts.push(0);
            next += 1;
        }
        edges.push(low);
        counts.push(row.count("count").max(0) as u64);
        next += 1;
    }
    edges.extend(bins.last().and_then(|row| row.number("high")).map(|high| scale * high));
    (edges, counts)
}
