//! What benchmarks of plugins measure beside the metrics of the catalogue: a column for each series, with the unit that the plugin declares.

use polars::prelude::*;
use skillbench_record::Cell;
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

/// All of these cells, in the order of their names.
pub fn added(cells: &[Cell]) -> Vec<Added> {
    let mut all: BTreeMap<String, Added> = BTreeMap::new();
    for cell in cells {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::questions::summary;
    use skillbench_record::{Metrics, Outcome, SeriesMetrics, Stats};

    fn series(name: &str, unit: &str, median: f64) -> (String, SeriesMetrics) {
        let (p90, std) = (None, None);
        let (n, min, mean, max, mad, outliers) = (3, median, median + 1.0, median + 2.0, 0.0, 0);
        let stats = Stats { n, min, mean, median, p90, p95: None, p99: None, max, std, mad, ci95: None, outliers };
        let (kind, stopped_by, higher_is_better) = ("rate".into(), None, Some(true));
        let (items_per_sample, rounds, stable, unit) = (1.0, 1, true, unit.into());
        (
            name.into(),
            SeriesMetrics { unit, kind, higher_is_better, items_per_sample, rounds, stable, stopped_by, stats },
        )
    }

    fn measured(index: usize, all: impl IntoIterator<Item = (String, SeriesMetrics)>) -> Cell {
        let metrics = Metrics { series: all.into_iter().collect(), ..Metrics::default() };
        Cell { index, outcome: Outcome::Measured(Box::new(metrics)), ..Cell::blank() }
    }

    #[test]
    fn a_vendors_series_has_a_column_with_its_unit_and_is_null_where_it_was_not_measured() {
        let own = [series("cycles", "Mcycle", 4.0), series("wait", "ns", 2e6), series("latency", "ns", 1e6)];
        let cells = [measured(0, own), measured(1, [series("share", "", 0.5), series("latency.part", "ns", 1e6)])];
        let added = added(&cells);
        let headings: Vec<&str> = added.iter().map(|one| one.heading.as_str()).collect();
        assert_eq!(headings, ["series.cycles (Mcycle)", "series.share", "series.wait (ms)"]);
        let none = crate::frames::cells([]).unwrap().lazy();
        let frame = df!("cell" => [1i64, 0], "outcome" => ["measured", "measured"]).unwrap().lazy();
        let frame = concat_lf_diagonal([none, frame], UnionArgs::default()).unwrap().collect().unwrap();
        let table = summary(frame, &added).unwrap();
        let of = |name: &str| table.column(name).unwrap().f64().unwrap().iter().collect::<Vec<_>>();
        assert_eq!(of("series.cycles (Mcycle)"), [Some(4.0), None]);
        assert_eq!(of("series.wait (ms)"), [Some(2.0), None]);
        assert_eq!(of("series.share"), [None, Some(0.5)]);
    }
}
