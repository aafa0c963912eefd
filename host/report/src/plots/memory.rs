//! Memory: against the batch, by hardware, against the size of the model.

use super::common::{attributes, head, machine, missing, named, plot, precision};
use super::rows::{Row, Rows, taken};
use super::words::words;
use super::{Plot, PlotError, PlotKind, Sources, lines};
use skillbench_charts::{Bar, Bars, Chart, Dot, Estimate, Guide, Scatter};
use skillbench_record::catalog::column;
use skillbench_results::questions::{Along, memory_by_parameters, memory_scaling};

const MIB: f64 = 1_048_576.0;

fn peak(row: Row<'_>) -> Estimate {
    Estimate { value: row.number(column::PEAK_MEMORY_MB), ..Estimate::default() }
}

pub(super) fn against_batch(sources: &Sources) -> Result<Vec<Plot>, PlotError> {
    let frame = memory_scaling(sources.cells.clone(), Along::Batch)?;
    let missing = missing(sources)?;
    let charts = Rows::of(&frame).groups(&[column::MACHINE, column::MODEL_ID, column::BENCHMARK, column::PRECISION]);
    let chart =
        |rows: &Vec<Row<'_>>| lines::chart(PlotKind::Memory, sources, (&frame, rows), &missing, peak, Along::Batch);
    charts.iter().map(chart).collect()
}

pub(super) fn by_hardware(sources: &Sources) -> Result<Vec<Plot>, PlotError> {
    let kind = PlotKind::MemoryByHardware;
    let frame = memory_by_parameters(sources.cells.clone())?;
    let mut plots = vec![];
    for rows in Rows::of(&frame).groups(&[column::MACHINE, column::BENCHMARK, column::PRECISION]) {
        let behind = taken(&frame, &rows)?;
        let mut bars = vec![];
        for row in Rows::of(&behind).groups(&[column::MODEL_ID]).into_iter().flatten() {
            bars.push(Bar {
                label: named(row),
                group: row.text(column::MODEL_ID).into(),
                estimate: peak(row),
                hardware: row.text("hardware").into(),
                emulated: row.is_emulated(),
                attributes: attributes(row)?,
                ..Bar::default()
            });
        }
        let first = rows[0];
        let under = [first.text(column::BENCHMARK), precision(first), machine(&frame, first)];
        let unit = words().of(kind).unit.clone();
        let chart = Bars { head: head(kind, sources, "", &under), unit, bars, ..Bars::default() };
        plots.push(plot(kind, &under, Chart::Bars(chart), &behind));
    }
    Ok(plots)
}

pub(super) fn against_parameters(sources: &Sources) -> Result<Vec<Plot>, PlotError> {
    let kind = PlotKind::MemoryScaling;
    let frame = memory_by_parameters(sources.cells.clone())?;
    let mut plots = vec![];
    for rows in Rows::of(&frame).groups(&[column::MACHINE, column::BENCHMARK, column::PRECISION]) {
        let known: Vec<f64> = rows.iter().filter_map(|row| row.number(column::PARAMETER_COUNT)).collect();
        if known.is_empty() {
            continue;
        }
        let behind = taken(&frame, &rows)?;
        let mut dots = vec![];
        for row in Rows::of(&behind).all() {
            dots.push(Dot {
                x: row.number(column::PARAMETER_COUNT),
                y: row.number(column::PEAK_MEMORY_MB),
                label: row.text(column::MODEL_ID).into(),
                hardware: row.text("hardware").into(),
                architecture: row.text(column::ARCHITECTURE_TYPE).into(),
                emulated: row.is_emulated(),
                attributes: attributes(row)?,
            });
        }
        let (least, most) =
            (known.iter().copied().fold(f64::INFINITY, f64::min), known.iter().copied().fold(0.0, f64::max));
        let first = rows[0];
        let under = [first.text(column::BENCHMARK), precision(first), machine(&frame, first)];
        let words = words();
        let bytes = |parameters: f64| (parameters, 4.0 * parameters / MIB);
        let guide = Guide { label: words.bytes_per_parameter.clone(), points: vec![bytes(least), bytes(most)] };
        let chart = Scatter {
            head: head(kind, sources, "", &under),
            x_label: words.axis_parameters.clone(),
            y_label: words.of(kind).axis.clone(),
            x_log: true,
            y_log: true,
            dots,
            guides: if first.text(column::PRECISION) == "float32" && least < most { vec![guide] } else { vec![] },
            ..Scatter::default()
        };
        plots.push(plot(kind, &under, Chart::Scatter(chart), &behind));
    }
    Ok(plots)
}
