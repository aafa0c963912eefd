//! Models, or functions, dealt out over the machines of a class: sooner done, and each figure of one machine only.

use crate::form::{self, AskedCell, MachineRun};
use skillbench_record::{BackendChoice, CellName};
use std::collections::BTreeMap;

/// Machines that can stand for each other with a backend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shared {
    pub choice: BackendChoice,
    /// The one that comes first is given first.
    pub machines: Vec<String>,
}

/// What stays together on one machine: a model, or a function, which has none.
fn part(name: &CellName) -> &str {
    if name.model.is_empty() { &name.benchmark } else { &name.model }
}

/// Leaves each model of a shared backend to one of its machines: to the one with the fewest cells so far, of those that can measure it.
pub fn share_out(runs: &mut Vec<MachineRun>, shared: &[Shared]) {
    for Shared { choice, machines } in shared {
        let is_of = |cell: &AskedCell| cell.name.plugin == choice.plugin && cell.name.device == choice.device;
        let mut taken: BTreeMap<&str, usize> = machines.iter().map(|machine| (machine.as_str(), 0)).collect();
        let mut taker: BTreeMap<String, &str> = BTreeMap::new();
        for part in parts(runs, machines, &is_of) {
            // So many cells of it a machine would measure; where it has it not, none.
            let cells = |machine: &str| {
                let run = runs.iter().find(|run| run.machine == machine);
                let planned =
                    |run: &MachineRun, cell: &AskedCell| run.kinds.get(cell.kind).is_some_and(form::is_planned);
                run.map_or(0, |run| {
                    run.cells
                        .iter()
                        .filter(|cell| is_of(cell) && self::part(&cell.name) == part && planned(run, cell))
                        .count()
                })
            };
            let able = machines.iter().map(String::as_str).filter(|machine| cells(machine) > 0);
            let Some(machine) = able.min_by_key(|machine| taken[machine]).or(machines.first().map(String::as_str))
            else {
                continue;
            };
            *taken.entry(machine).or_default() += cells(machine);
            taker.insert(part, machine);
        }
        for run in runs.iter_mut().filter(|run| machines.contains(&run.machine)) {
            let is_own = |part: &str| taker.get(part).is_none_or(|machine| *machine == run.machine);
            run.cells.retain(|cell| !is_of(cell) || is_own(part(&cell.name)));
        }
    }
    runs.retain(|run| !run.cells.is_empty());
}

/// What some machines were asked for, in the order of the plan.
fn parts(runs: &[MachineRun], machines: &[String], is_of: &dyn Fn(&AskedCell) -> bool) -> Vec<String> {
    let mut parts: Vec<String> = vec![];
    for run in runs.iter().filter(|run| machines.contains(&run.machine)) {
        for cell in run.cells.iter().filter(|cell| is_of(cell)) {
            if !parts.iter().any(|known| known == part(&cell.name)) {
                parts.push(part(&cell.name).into());
            }
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use skillbench_record::{Axes, Cell, Environment, Outcome, Reason, RunRequest};

    /// A machine that is asked for so many cells of each model; of those named it has none.
    fn run(machine: &str, models: &[(&str, u64)], lacks: &[&str]) -> MachineRun {
        let environment: Environment = serde_json::from_value(serde_json::json!({
            "host_version": "0.1.0", "os": "linux", "arch": "x86_64", "clock": "monotonic", "plugin_sha256": {}
        }))
        .unwrap();
        let missing =
            Cell { outcome: Outcome::Skipped(Reason::new("other-model", "it is not there")), ..Cell::blank() };
        let cells = models.iter().flat_map(|(model, cells)| {
            (1..=*cells).map(|batch| {
                let axes: Axes = serde_json::from_value(serde_json::json!({"batch": batch})).unwrap();
                let name = CellName {
                    plugin: "cuda".into(),
                    device: None,
                    model: (*model).into(),
                    benchmark: "inference".into(),
                    axes,
                };
                AskedCell { key: batch.to_string(), name, kind: usize::from(lacks.contains(model)) }
            })
        });
        MachineRun {
            machine: machine.into(),
            request: RunRequest::default(),
            environment,
            clock: None,
            cells: cells.collect(),
            kinds: vec![Cell::blank(), missing],
        }
    }

    fn shared(machines: &[&str]) -> [Shared; 1] {
        let choice = BackendChoice { plugin: "cuda".into(), device: None };
        [Shared { choice, machines: machines.iter().map(ToString::to_string).collect() }]
    }

    /// The models of each machine with how many cells.
    fn dealt(runs: &[MachineRun]) -> Vec<(String, Vec<(String, usize)>)> {
        let of_run = |run: &MachineRun| {
            let mut models: BTreeMap<String, usize> = BTreeMap::new();
            run.cells.iter().for_each(|cell| *models.entry(cell.name.model.clone()).or_default() += 1);
            (run.machine.clone(), models.into_iter().collect())
        };
        runs.iter().map(of_run).collect()
    }

    fn expected(runs: &[(&str, &[(&str, usize)])]) -> Vec<(String, Vec<(String, usize)>)> {
        let models =
            |models: &[(&str, usize)]| models.iter().map(|(model, cells)| (model.to_string(), *cells)).collect();
        runs.iter().map(|(machine, of)| (machine.to_string(), models(of))).collect()
    }

    #[test]
    fn each_model_is_one_machines_and_the_cells_are_as_even_as_models_let_them_be() {
        let models = [("a", 4), ("b", 1), ("c", 2), ("d", 1)];
        let mut runs = vec![run("h1", &models, &[]), run("h2", &models, &[]), run("h3", &models, &[])];
        share_out(&mut runs, &shared(&["h1", "h2"]));
        let all: &[(&str, usize)] = &[("a", 4), ("b", 1), ("c", 2), ("d", 1)];
        assert_eq!(
            dealt(&runs),
            expected(&[("h1", &[("a", 4)]), ("h2", &[("b", 1), ("c", 2), ("d", 1)]), ("h3", all)])
        );
    }

    #[test]
    fn a_model_goes_to_a_machine_that_has_it_and_one_that_none_has_is_told_once() {
        let models = [("a", 1), ("b", 1), ("c", 1)];
        let mut runs = vec![run("h1", &models, &["a", "b", "c"]), run("h2", &models, &["c"])];
        share_out(&mut runs, &shared(&["h1", "h2"]));
        assert_eq!(dealt(&runs), expected(&[("h1", &[("c", 1)]), ("h2", &[("a", 1), ("b", 1)])]));
        // A machine that is left without a cell has no run.
        let mut runs = vec![run("h1", &[("a", 1)], &[]), run("h2", &[("a", 1)], &[])];
        share_out(&mut runs, &shared(&["h2", "h1"]));
        assert_eq!(dealt(&runs), expected(&[("h2", &[("a", 1)])]));
    }
}
