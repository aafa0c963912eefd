//! What benchmarks of plugins measure beside the metrics of the catalogue: a column for each series, with the unit that the plugin declares.

use polars::prelude::*;
use skillbench_record::Run;
use skillbench_record::catalog::{added_series, column};
use std::collections::BTreeMap;

/// A series of a benchmark, over the cells of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Added {
    /// The name and the unit that it was declared with: "series.cycles (Mcycle)", which no figure of the host is called. Durations are in
    /// milliseconds.
    pub heading: String,
    /// The median of each cell that has it, by the cell's place in the plan.
    of_cells: BTreeMap<i64, f64>,
}

/// All of a run, in the order of their names.
pub fn added(run: &Run) -> Vec<Added> {
    let mut all: BTreeMap<String, Added> = BTreeMap::new();
    for cell in &run.cells {
        for series in cell.outcome.metrics().into_iter().flat_map(added_series) {
            let (unit, factor) = if series.unit == "ns" { ("ms", 1e-6) } else { (series.unit, 1.0) };
            let heading = match unit {
                "" => format!("series.{}", series.name),
                unit => format!("series.{} ({unit})", series.name),
            };
            let one = all.entry(heading.clone()).or_insert(Added { heading, of_cells: BTreeMap::new() });
            one.of_cells.insert(cell.index as i64, series.median.unwrap_or(series.mean) * factor);
        }
    }
    all.into_values().collect()
}

impl Added {
    /// The column of a frame of cells.
    ///
    /// # Errors
    /// The frame has no column of cells.
    pub(super) fn column(&self, cells: &DataFrame) -> PolarsResult<Column> {
        let places = cells.column(column::CELL)?.i64()?;
        let figures: Vec<Option<f64>> = places.iter().map(|place| self.of_cells.get(&place?).copied()).collect();
        Ok(Column::new(self.heading.as_str().into(), figures))
    }
}
