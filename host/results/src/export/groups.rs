//! The cells of a run by model and hardware.

use skillbench_record::{Cell, Run};
use std::collections::{BTreeMap, BTreeSet};

/// One model on one hardware.
pub(super) struct Group<'a> {
    pub family: &'a str,
    pub model: &'a str,
    pub hardware: String,
    /// In the order of the plan.
    pub cells: Vec<&'a Cell>,
}

impl<'a> Group<'a> {
    pub fn of_benchmark(&self, name: &str) -> Vec<&'a Cell> {
        self.cells.iter().copied().filter(|cell| cell.benchmark == name).collect()
    }
}

/// Every model on every hardware that has cells, in the order of the plan. Functions have none.
pub(super) fn groups(run: &Run) -> Vec<Group<'_>> {
    let names = Hardware::of(run);
    let mut groups: Vec<Group<'_>> = vec![];
    for cell in run.cells.iter().filter(|cell| !cell.is_function()) {
        let hardware = names.name(cell);
        match groups.iter_mut().find(|group| group.model == cell.skill && group.hardware == hardware) {
            Some(group) => group.cells.push(cell),
            None => groups.push(Group {
                family: if cell.family.is_empty() { "unknown" } else { &cell.family },
                model: &cell.skill,
                hardware,
                cells: vec![cell],
            }),
        }
    }
    groups
}

/// Hardware is called by its backend, and by the device too where a run has several of one backend.
pub(super) struct Hardware<'a> {
    several: BTreeSet<&'a str>,
}

impl<'a> Hardware<'a> {
    pub fn of(run: &'a Run) -> Hardware<'a> {
        let mut devices: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for cell in run.cells.iter().filter(|cell| !cell.device.is_empty()) {
            devices.entry(&cell.plugin).or_default().insert(&cell.device);
        }
        Hardware { several: devices.into_iter().filter(|(_, ids)| ids.len() > 1).map(|(plugin, _)| plugin).collect() }
    }

    pub fn name(&self, cell: &Cell) -> String {
        match self.several.contains(cell.plugin.as_str()) && !cell.device.is_empty() {
            true => format!("{}:{}", cell.plugin, cell.device),
            false => cell.plugin.clone(),
        }
    }
}
