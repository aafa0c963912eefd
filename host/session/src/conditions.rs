//! What a plan's cells would be measured with here and now: the machine, and what identifies everything that the plan uses.

use skillbench_engine::bench::Found;
use skillbench_engine::environment;
use skillbench_engine::run::{self, Availability, Inventory, Plan, PlannedCell};
use skillbench_engine::skill::SkillSource;
use skillbench_models::user_models::files;
use skillbench_record::sealed::Sealed;
use skillbench_record::{CellName, Environment, PluginOptions, options_text};
use skillbench_results::freshness::{MadeWith, Wanted};
use skillbench_worker::DeviceRecord;
use skillbench_worker::sandbox::{Mode, enforced};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The option by which every backend takes its number of threads.
pub(crate) const THREADS: &str = "threads";

/// The conditions of a plan, looked at once.
pub struct Conditions<'p> {
    plan: &'p Plan,
    environment: Environment,
    availability: Vec<Availability>,
}

impl<'p> Conditions<'p> {
    /// Looks at every backend of the plan, and at every file that it uses.
    pub fn look(plan: &'p Plan) -> Conditions<'p> {
        Conditions { plan, environment: environment_of(plan), availability: run::availability(plan) }
    }

    /// Whether the backend of a cell can be used.
    pub fn availability(&self, cell: &PlannedCell) -> &Availability {
        &self.availability[cell.backend]
    }

    /// The cell as it would be measured on this device.
    pub fn wanted(&self, cell: &PlannedCell, device: &DeviceRecord) -> Wanted {
        let (backend, request) = (&self.plan.backends[cell.backend], &self.plan.request);
        let benchmark = &self.plan.benchmarks[cell.benchmark];
        let name = CellName { device: Some(device.id.clone()), ..self.name(cell) };
        let known = MadeWith::of(&self.environment, &name.plugin, &name.benchmark, &name.model);
        Wanted {
            precision: request.precision.clone(),
            threads: backend.plugin.options.get(THREADS).and_then(|text| text.parse().ok()),
            workers: benchmark.workers(),
            options: options_text(&backend.key_options),
            beside: request.parallel,
            unverified: request.no_verify || request.verify_only,
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
        self.plan.name(cell)
    }
}

/// What each cell of a plan is called: "bert-tiny on rten, inference, batch=1 sequence=32".
pub fn names(plan: &Plan) -> Vec<String> {
    plan.cells.iter().map(|cell| plan.name(cell).to_string()).collect()
}

/// SHA-256 of every library that a plan uses, by plugin.
pub(crate) fn libraries(plan: &Plan) -> BTreeMap<String, String> {
    let backends = plan.backends.iter().map(|backend| (backend.choice.plugin.clone(), &backend.plugin.library.path));
    let benchmarks = plan.benchmarks.iter().map(|b| (b.description.id.clone(), &b.library.path));
    let reference = plan.references.iter().map(|known| (known.plugin.id.clone(), &known.plugin.library.path));
    let skillsets = plan.models.iter().filter_map(|skill| match &skill.source {
        SkillSource::Skillset { library, plugin } => Some((plugin.clone(), &library.path)),
        SkillSource::UserModel(_) | SkillSource::Bad { .. } => None,
    });
    let all = backends.chain(benchmarks).chain(reference).chain(skillsets);
    hashes(all.map(|(id, library)| (id, library.clone())).collect())
}

/// What a plan sealed has been hashed already, and is not read again.
fn hashes(files: BTreeMap<String, PathBuf>) -> BTreeMap<String, String> {
    files.into_iter().filter_map(|(name, path)| Some((name, Sealed::of(&path).ok()?.sha256))).collect()
}

/// The engine's library by the plugin's name, and whatever other files its plugins were opened with.
fn runtimes(plan: &Plan) -> BTreeMap<String, String> {
    let of_backend = plan.backends.iter().flat_map(|backend| {
        let plugin = &backend.choice.plugin;
        let files = backend.plugin.options.iter().filter(|(_, value)| Path::new(value).is_file());
        files.map(move |(option, path)| match option.as_str() {
            "library" => (plugin.clone(), PathBuf::from(path)),
            other => (format!("{plugin} {other}"), PathBuf::from(path)),
        })
    });
    hashes(of_backend.collect())
}

/// What identifies the content of each model: the text that its skillset tells, or the hashes of its files.
fn models(plan: &Plan) -> BTreeMap<String, String> {
    let models = plan.models.iter().filter_map(|skill| match &skill.source {
        SkillSource::Skillset { .. } => Some((skill.id().to_string(), skill.description.content.clone())),
        SkillSource::UserModel(user_model) => Some((skill.id().to_string(), user_model.hashes().join(" "))),
        SkillSource::Bad { path, .. } => Some((skill.id().to_string(), files::sha256(path)?)),
    });
    models.collect()
}

/// The mode, and what the system enforces of it.
fn sandbox(plan: &Plan) -> String {
    let modes = plan.backends.iter().filter(|backend| backend.rejected.is_none());
    sandbox_text(modes.map(|backend| backend.plugin.library.sandbox.mode).max().unwrap_or_default())
}

fn sandbox_text(mode: Mode) -> String {
    match mode {
        Mode::Off => mode.name().into(),
        _ => match enforced() {
            parts if parts.is_empty() => format!("{} (this system enforces nothing of it)", mode.name()),
            parts => format!("{} ({})", mode.name(), parts.join(", ")),
        },
    }
}

/// The machine, and what identifies all that a plan uses.
pub fn environment_of(plan: &Plan) -> Environment {
    let mut environment = environment::probe();
    environment.plugin_sha256 = libraries(plan);
    environment.runtime_sha256 = runtimes(plan);
    environment.models = models(plan);
    environment.sandbox = Some(sandbox(plan));
    environment
}

/// The machine, and what identifies everything that an inventory has, and functions that lie beside it, whatever is used of it.
pub fn environment_of_all(inventory: &Inventory, functions: &[Found]) -> Environment {
    let beside = functions.iter().map(|found| (found.plugin.clone(), found.library.path.clone()));
    let of_plugins = inventory.plugins.iter().map(|plugin| (plugin.id.clone(), plugin.library.path.clone()));
    let libraries = beside.chain(of_plugins);
    let of_backend = inventory.backends().flat_map(|(plugin, _)| {
        let options = plugin.opened_with(&PluginOptions::new(), None).map(|opened| opened.options).unwrap_or_default();
        let library = options.get("library").map(PathBuf::from).filter(|path| path.is_file());
        library.map(|path| (plugin.id.clone(), path))
    });
    let mut environment = environment::probe();
    environment.runtime_sha256 = hashes(of_backend.collect());
    // A benchmark is known by its own name, and the library may have several.
    let of_benchmarks =
        inventory.benchmarks().map(|(plugin, benchmark)| (benchmark.id.clone(), plugin.library.path.clone()));
    environment.plugin_sha256 = hashes(libraries.chain(of_benchmarks).collect());
    environment.models = inventory
        .catalog()
        .skills
        .iter()
        .map(|skill| (skill.id().to_string(), skill.description.content.clone()))
        .collect();
    environment.sandbox = Some(sandbox_text(inventory.sandbox));
    environment
}
