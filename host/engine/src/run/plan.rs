//! From a request to cells: every backend × model × benchmark × point of the grid that was asked for, in order.

use super::Inventory;
use super::grid::{own_point, points};
use super::named::{Asked, PlannedBackend, PlannedBenchmark, choose_backends, choose_benchmarks, choose_models};
use super::request::{RequestError, RunRequest};
use crate::architectures::architectures;
use crate::defaults::defaults;
use crate::document::{Axes, Cell, Reason};
use crate::registry::PluginOptions;
use crate::skill::Skill;
use crate::worker::PluginUse;

#[derive(Clone, Debug)]
pub struct PlannedCell {
    pub index: usize,
    /// Index into [`Plan::backends`].
    pub backend: usize,
    /// Index into [`Plan::models`].
    pub model: usize,
    /// Index into [`Plan::benchmarks`].
    pub benchmark: usize,
    pub axes: Axes,
    /// Why it is not to be run, by a stated rule.
    pub skip: Option<Reason>,
}

/// What a run will do.
#[derive(Debug)]
pub struct Plan {
    pub request: RunRequest,
    pub backends: Vec<PlannedBackend>,
    pub models: Vec<Skill>,
    pub benchmarks: Vec<PlannedBenchmark>,
    pub reference: Option<PluginUse>,
    pub reference_version: String,
    /// Why there is no reference.
    pub no_reference: String,
    pub cells: Vec<PlannedCell>,
    pub warnings: Vec<String>,
}

/// Plans a run.
///
/// # Errors
/// The first name or value that cannot be, with what was expected.
pub fn plan(inventory: &Inventory, request: RunRequest) -> Result<Plan, RequestError> {
    let mut warnings = vec![];
    let backends = choose_backends(inventory, &request, &mut warnings)?;
    let benchmarks = choose_benchmarks(inventory, &request)?;
    let models = choose_models(&inventory.catalog(), &request, &benchmarks)?;
    let id = &defaults().reference.plugin;
    let reference = inventory.plugin(id);
    let opened = reference.map(|plugin| plugin.opened_with(&PluginOptions::new(), None));
    let (reference_use, no_reference) = match opened {
        Some(Ok(reference)) => (Some(reference), String::new()),
        Some(Err(error)) => (None, error),
        None => (None, inventory.why_not(id)),
    };
    let mut plan = Plan {
        reference: reference_use,
        reference_version: reference.map(|plugin| plugin.description.version.clone()).unwrap_or_default(),
        no_reference,
        request,
        backends,
        models,
        benchmarks,
        cells: vec![],
        warnings,
    };
    plan.lay_out()?;
    plan.warn_of_bad_pairs();
    Ok(plan)
}

impl Plan {
    /// Whether a recorded cell is a planned one.
    pub fn is_cell(&self, planned: &PlannedCell, cell: &Cell) -> bool {
        self.backends[planned.backend].choice.plugin == cell.plugin
            && self.models[planned.model].id() == cell.skill
            && self.benchmarks[planned.benchmark].description.id == cell.benchmark
            && planned.axes == cell.axes
    }

    /// Whether a backend is the reference itself.
    pub(super) fn is_reference(&self, backend: usize) -> bool {
        self.reference.as_ref().is_some_and(|reference| reference.library == self.backends[backend].plugin.library)
    }

    /// Says which models are known to run badly on a backend that was asked for.
    fn warn_of_bad_pairs(&mut self) {
        let mut pairs: Vec<(usize, usize)> = self.cells.iter().map(|cell| (cell.model, cell.backend)).collect();
        pairs.dedup();
        for (model, backend) in pairs {
            let (skill, plugin) = (&self.models[model], &self.backends[backend].choice.plugin);
            let architecture = &skill.description.architecture;
            let text = format!("{} is {architecture}, which is not known to run well on {plugin}", skill.id());
            let by_name = self.backends[backend].asked == Asked::ByName;
            if by_name && architectures().runs_badly(architecture, plugin) && !self.warnings.contains(&text) {
                self.warnings.push(text);
            }
        }
    }

    fn lay_out(&mut self) -> Result<(), RequestError> {
        for (model, skill) in self.models.iter().enumerate() {
            let is_own = |benchmark: &PlannedBenchmark| benchmark.description.skill.as_deref() == Some(skill.id());
            // What a benchmark brings is no point of the asked grid.
            let points = match self.benchmarks.iter().any(is_own) {
                true => vec![(own_point(skill), None)],
                false => points(skill, &self.request)?,
            };
            let chosen = self.request.chosen.get(skill.id());
            for backend in 0..self.backends.len() {
                let PlannedBackend { choice, asked, .. } = &self.backends[backend];
                if *asked == Asked::ByName && chosen.is_some_and(|chosen| *chosen != choice.plugin) {
                    continue;
                }
                for (benchmark, planned) in self.benchmarks.iter().enumerate() {
                    if planned.description.skill.as_deref().is_some_and(|own| own != skill.id())
                        || (planned.description.skill.is_none() && self.benchmarks.iter().any(is_own))
                    {
                        continue;
                    }
                    for (axes, skip) in &points {
                        let (axes, skip) = (axes.clone(), skip.clone());
                        self.cells.push(PlannedCell { index: 0, backend, model, benchmark, axes, skip });
                    }
                }
            }
        }
        self.cells.iter_mut().enumerate().for_each(|(index, cell)| cell.index = index);
        Ok(())
    }
}
