//! Runs that an older host recorded, brought to what is recorded today. What it did not record and nobody can know stays unknown.

use crate::{Cell, Run, RunRequest, machine};
use std::collections::BTreeMap;
use std::path::Path;

impl Run {
    /// Fills in what hosts before machines had an identity left to the request: options, workers, and the machine, where it is this
    /// one. Runs of today are left as they are.
    pub fn upgrade(&mut self, request: Option<&RunRequest>) {
        if self.environment.machine.is_some() {
            return;
        }
        if let Some(request) = request {
            for cell in &mut self.cells {
                fill(cell, request);
            }
        }
        let is_here = self.environment.hostname.is_some()
            && self.environment.hostname == machine::hostname()
            && self.environment.cpu_model == machine::cpu_model();
        if is_here {
            self.environment.machine = machine::id();
        }
    }
}

fn fill(cell: &mut Cell, request: &RunRequest) {
    if cell.options.is_empty() {
        cell.options = options_for(&cell.plugin, request);
    }
    if cell.workers.is_none() {
        let measured = cell.outcome.metrics().and_then(|metrics| metrics.concurrent_workers);
        let is_of_workers = cell.benchmark.starts_with("throughput");
        cell.workers = measured.or(request.concurrent_workers.filter(|_| is_of_workers));
    }
}

/// The options that were asked for. One without an owner counts for every backend: which of them takes it was not recorded, and two
/// measurements are rather kept apart than mixed.
fn options_for(plugin: &str, request: &RunRequest) -> BTreeMap<String, String> {
    let mine = request.options.iter().filter(|option| option.plugin.as_deref().is_none_or(|owner| owner == plugin));
    let counts = mine.filter(|option| option.key != "threads" && !Path::new(&option.value).is_absolute());
    counts.map(|option| (option.key.clone(), option.value.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OptionChoice;

    #[test]
    fn options_come_from_the_request_of_an_older_run() {
        let option = |plugin: Option<&str>, key: &str, value: &str| OptionChoice {
            plugin: plugin.map(String::from),
            key: key.into(),
            value: value.into(),
        };
        let options = vec![
            option(None, "graph_optimization", "disable"),
            option(Some("rten"), "memory", "low"),
            option(None, "library", "/opt/engine.so"),
            option(None, "threads", "2"),
        ];
        let request = RunRequest { options, ..RunRequest::default() };
        let mut cell = Cell { plugin: "cpu".into(), ..Cell::blank() };
        fill(&mut cell, &request);
        assert_eq!(cell.options, BTreeMap::from([("graph_optimization".to_string(), "disable".to_string())]));
    }
}
