//! What a plan's cells would be measured with now, to be held against what was measured.

use super::run::environment_of;
use skillbench_engine::defaults::defaults;
use skillbench_engine::environment::Environment;
use skillbench_engine::registry::PluginOptions;
use skillbench_engine::run::{self, CellName, Inventory, Plan, PlannedCell, RunRequest, Standing};
use skillbench_engine::worker::DeviceRecord;
use skillbench_results::current::{MadeWith, Wanted};

pub struct Here<'p> {
    plan: &'p Plan,
    inventory: &'p Inventory,
    environment: Environment,
    standings: Vec<Standing>,
}

impl<'p> Here<'p> {
    /// Looks at every backend of the plan, and at every file that it uses.
    pub fn look(inventory: &'p Inventory, plan: &'p Plan) -> Here<'p> {
        Here { plan, inventory, environment: environment_of(plan), standings: run::standings(plan) }
    }

    pub fn standing(&self, cell: &PlannedCell) -> &Standing {
        &self.standings[cell.backend]
    }

    /// The cell as it would be measured on this device.
    pub fn wanted(&self, cell: &PlannedCell, device: &DeviceRecord) -> Wanted {
        let (backend, request) = (&self.plan.backends[cell.backend], &self.plan.request);
        let benchmark = &self.plan.benchmarks[cell.benchmark];
        let name = CellName { device: Some(device.id.clone()), ..self.name(cell) };
        let known = MadeWith::of(&self.environment, &name.plugin, &name.benchmark, &name.model);
        Wanted {
            precision: request.precision.clone(),
            threads: backend.plugin.options.get("threads").and_then(|text| text.parse().ok()),
            beside: request.parallel,
            unverified: request.no_verify || request.verify_only,
            options: own_options(self.inventory, request, &name.plugin),
            workers: benchmark.options.get("workers").and_then(|text| text.parse().ok()),
            made_with: MadeWith {
                plugin_version: Some(backend.version.clone()),
                benchmark_version: Some(benchmark.description.version.clone()),
                driver: Some(device.driver.clone()).filter(|driver| !driver.is_empty()),
                ..known
            },
            name,
        }
    }

    /// The cell by what was asked for.
    pub fn name(&self, cell: &PlannedCell) -> CellName {
        let choice = &self.plan.backends[cell.backend].choice;
        CellName {
            plugin: choice.plugin.clone(),
            device: choice.device.clone(),
            model: self.plan.models[cell.model].id().to_string(),
            benchmark: self.plan.benchmarks[cell.benchmark].description.id.clone(),
            axes: cell.axes.clone(),
        }
    }
}

/// The options of a request that are for this plugin; none for one that is not here.
pub fn own_options(inventory: &Inventory, request: &RunRequest, plugin: &str) -> PluginOptions {
    inventory.plugin(plugin).map(|plugin| run::own_options(request, plugin)).unwrap_or_default()
}

/// The workers of a request's throughput benchmarks.
pub fn workers(request: &RunRequest) -> u64 {
    request.concurrent_workers.unwrap_or(defaults().run.concurrent_workers)
}

/// "bert-tiny on rten:cpu, inference, batch=1 sequence=32".
pub fn told(name: &CellName) -> String {
    let device = name.device.as_ref().map_or(String::new(), |device| format!(":{device}"));
    format!("{} on {}{device}, {}, {}", name.model, name.plugin, name.benchmark, axes(name))
}

/// "batch=1 sequence=32".
pub fn axes(name: &CellName) -> String {
    name.axes.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}
