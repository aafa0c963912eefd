//! Where the time of cells went: their phases, and the operators of their models.

use crate::{Cell, Table};
use skillbench_record::catalog::column;
use skillbench_record::{Cell as Measured, OperatorCost, PartProfile, Run};

/// No more types of operators of one part are shown; files have them all.
const MOST_TYPES: usize = 12;

/// A row for each phase of each cell; `None`: nobody asked.
pub fn phases(run: &Run) -> Option<Table> {
    let mut table = Table::new([column::CELL, "phase", "ms", "share_pct"]);
    for cell in &run.cells {
        let Some(phases) = &cell.phases else { continue };
        let parts = phases.parts.iter().map(|part| (part.name.as_str(), part.ms));
        for (name, ms) in parts.chain([("other", phases.other_ms), ("total", phases.total_ms)]) {
            table.row([title(cell).into(), name.into(), Cell::number(ms), Cell::number(100.0 * ms / phases.total_ms)]);
        }
    }
    (!table.rows.is_empty()).then_some(table)
}

/// A row for each of the costliest types of operators; `None`: nobody asked, or no engine tells.
pub fn operators(run: &Run) -> Option<Table> {
    let mut table =
        Table::new([column::CELL, "part", "operator", "kernel", "device", "count", "total_ms", "mean_ms", "share_pct"]);
    for cell in &run.cells {
        for part in cell.profile.iter().flat_map(|profile| &profile.parts) {
            part.by_type.iter().take(MOST_TYPES).for_each(|cost| table.row(row(cell, part, cost)));
        }
    }
    (!table.rows.is_empty()).then_some(table)
}

fn row(cell: &Measured, part: &PartProfile, cost: &OperatorCost) -> [Cell; 9] {
    [
        title(cell).into(),
        Cell::maybe(Some(part.part.clone()).filter(|name| !name.is_empty()), Cell::from),
        Cell::text(&cost.kind),
        Cell::maybe(cost.kernel.clone(), Cell::from),
        Cell::text(&cost.device),
        Cell::number(cost.count),
        Cell::number(cost.total_ms),
        Cell::number(cost.mean_ms),
        Cell::number(100.0 * cost.share),
    ]
}

fn title(cell: &Measured) -> String {
    format!("{} {} on {}", cell.index, cell.skill, cell.plugin)
}
