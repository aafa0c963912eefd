//! Heat maps: architectures and models by hardware. Failed, unavailable and not run are three different things.

use super::common::{
    attributes, batch, belongs, head, machine, missing, named, other_axes, plot, precision, reason, together,
};
use super::measure::Measure;
use super::rows::{Row, Rows, taken};
use super::words::words;
use super::{Plot, PlotError, PlotKind, Sources};
use polars::prelude::DataFrame;
use skillbench_charts::{Cell, CellState, CellValue, Chart, Heading, HeatMap, number};
use skillbench_record::catalog::column;
use skillbench_results::questions::{by_architecture, relative_to_cpu};

/// What a map is made of: what its rows are, and what a measured cell says.
struct Map<'a> {
    kind: PlotKind,
    /// The columns that name a row: what stands large, and what small.
    row: [&'a str; 2],
    /// Charts are told apart by these.
    chart: &'a [&'a str],
    value: fn(Row<'_>) -> CellValue,
}

pub(super) fn architectures(sources: &Sources) -> Result<Vec<Plot>, PlotError> {
    let map = Map {
        kind: PlotKind::HeatMap,
        row: [column::ARCHITECTURE_TYPE, ""],
        chart: &[column::MACHINE, column::BENCHMARK, column::PRECISION],
        value: |row| CellValue {
            text: row.number("speedup").map_or_else(|| words().measured.clone(), |ratio| format!("{}×", number(ratio))),
            value: row.number("speedup"),
            ratio: row.number("speedup"),
            ratio_text: match row.count("models_used") {
                0 => words().without_cpu.clone(),
                used => words().models(used),
            },
            interval: None,
        },
    };
    map.draw(sources, &by_architecture(sources.cells.clone())?)
}

pub(super) fn models(sources: &Sources) -> Result<Vec<Plot>, PlotError> {
    let map = Map {
        kind: PlotKind::ModelHeatMap,
        row: [column::MODEL_ID, column::AXES],
        chart: &[column::MACHINE, column::BENCHMARK, column::PRECISION, column::BATCH_SIZE],
        value: |row| {
            let measure = Measure::of_rows(&[row]);
            let estimate = measure.map(|measure| (measure.of)(row)).unwrap_or_default();
            CellValue {
                text: measure.map(|measure| measure.text(row)).unwrap_or_default(),
                value: estimate.value,
                interval: estimate.low.zip(estimate.high),
                ratio: row.number("speedup"),
                ratio_text: row.number("speedup").map(|ratio| format!("{}×", number(ratio))).unwrap_or_default(),
            }
        },
    };
    map.draw(sources, &relative_to_cpu(sources.cells.clone())?)
}

impl Map<'_> {
    fn draw(&self, sources: &Sources, frame: &DataFrame) -> Result<Vec<Plot>, PlotError> {
        let missing = missing(sources)?;
        let charts = Rows::of(frame).groups(self.chart);
        charts.iter().map(|rows| self.chart(sources, frame, rows, &missing)).collect()
    }

    fn chart(
        &self,
        sources: &Sources,
        frame: &DataFrame,
        rows: &[Row<'_>],
        missing: &DataFrame,
    ) -> Result<Plot, PlotError> {
        let (first, words) = (rows[0], words());
        let by_batch = self.chart.contains(&column::BATCH_SIZE);
        let unmeasured: Vec<Row<'_>> = Rows::of(missing)
            .all()
            .filter(|row| belongs(*row, first))
            .filter(|row| !by_batch || row.number(column::BATCH_SIZE) == first.number(column::BATCH_SIZE))
            .collect();
        let (mut down, mut across): (Vec<[String; 2]>, Vec<(String, String)>) = (vec![], vec![]);
        for row in rows.iter().chain(&unmeasured) {
            let (name, column) = (self.row_of(*row), (row.text("hardware").to_string(), named(*row)));
            // What is not measured has no trust of its own: it is a column where its hardware is not one already.
            let known = |one: &(String, String)| {
                if row.text(column::TRUST).is_empty() { one.0 == column.0 } else { *one == column }
            };
            if !down.contains(&name) {
                down.push(name);
            }
            if !across.iter().any(known) {
                across.push(column);
            }
        }
        let mut cells = vec![];
        for name in &down {
            let mut line = vec![];
            for (hardware, column) in &across {
                let here = |row: &&Row<'_>| self.row_of(**row) == *name && row.text("hardware") == hardware;
                let measured = rows.iter().filter(here).find(|row| named(**row) == *column);
                let cell = match (measured, unmeasured.iter().find(here)) {
                    (Some(row), _) => {
                        let value = (self.value)(*row);
                        let state =
                            if row.is_emulated() { CellState::Emulated(value) } else { CellState::Value(value) };
                        Cell { state, attributes: attributes(*row)? }
                    }
                    (None, Some(row)) => Cell { state: state(*row), attributes: attributes(*row)? },
                    (None, None) => Cell::default(),
                };
                line.push(cell);
            }
            cells.push(line);
        }
        let batch = if by_batch { batch(first) } else { String::new() };
        let under = [first.text(column::BENCHMARK), precision(first), &batch, machine(frame, first)];
        let heading = |label: &str, sublabel: &str, hardware: &str| Heading {
            label: label.into(),
            sublabel: sublabel.into(),
            hardware: hardware.into(),
        };
        let chart = HeatMap {
            head: head(self.kind, sources, "", &under),
            scale: words.of(self.kind).axis.clone(),
            below: words.slower.clone(),
            above: words.faster.clone(),
            rows: down.iter().map(|[label, sublabel]| heading(label, sublabel, "")).collect(),
            columns: across.iter().map(|(hardware, column)| heading(column, "", hardware)).collect(),
            cells,
        };
        Ok(plot(self.kind, &under, Chart::HeatMap(chart), &together(taken(frame, rows)?, missing, &unmeasured)?))
    }

    fn row_of(&self, row: Row<'_>) -> [String; 2] {
        [row.text(self.row[0]).into(), other_axes(row.text(self.row[1]))]
    }
}

/// How a cell that was not measured is shown.
fn state(row: Row<'_>) -> CellState {
    match row.text(column::OUTCOME) {
        "unavailable" => CellState::Unavailable { reason: row.text(column::REASON).into() },
        "unsupported" => CellState::Unsupported,
        "skipped" => CellState::NotRun,
        _ => CellState::Failed { reason: reason(row) },
    }
}
