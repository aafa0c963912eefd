//! Benchmarks without a target, from the folder they lie in to their outcome, and the suites that a folder of skills gives: with
//! real workers and plugins in C.

#![cfg(unix)]

use skillbench_engine::bench::{Discovery, Found, csv, execute, json};
use skillbench_engine::registry::{Registry, library_file_name};
use skillbench_engine::run::{Inventory, Observer};
use skillbench_engine::suite;
use skillbench_record::{Cell, OptionChoice, Outcome, RUN_SCHEMA, Run, RunRequest, Samples, Selection};
use skillbench_worker::Stop;
use skillbench_worker::child::WORKER_ARGUMENT;
use std::path::Path;
use std::process::Command;

/// Workers are this program again, which takes their argument for the name of a test.
#[test]
fn __worker() {
    if std::env::args().nth(1).is_some_and(|first| first == WORKER_ARGUMENT) {
        skillbench_worker::child::run();
    }
}

/// Goes on in a process of the test's own, with a cache of its own; the test ends here where that has been done.
macro_rules! alone {
    () => {
        fn here() {}
        if !alone(std::any::type_name_of_val(&here)) {
            return;
        }
    };
}

fn alone(path: &str) -> bool {
    const INSIDE: &str = "SKILLBENCH_TEST_ALONE";
    if std::env::var_os(INSIDE).is_some() {
        return true;
    }
    let test = path.split("::").nth(1).unwrap();
    let cache = tempfile::tempdir().unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact"]).env(INSIDE, "1").env("SKILLBENCH_CACHE", cache.path());
    let output = command.output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && told.contains("1 passed"), "{told}");
    false
}

/// Compiles the plugin of this folder to `path`.
fn compile(path: &Path, flags: &[&str]) {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut command = Command::new(std::env::var("CC").unwrap_or_else(|_| "cc".into()));
    command.args(["-std=gnu99", "-Wall", "-Wextra", "-Werror", "-fvisibility=hidden", "-fPIC", "-O1", "-shared"]);
    command.args(flags).arg("-I").arg(here.join("../../plugin-api/include"));
    let output = command.arg("-o").arg(path).arg(here.join("tests/functions/plugin.c")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// An inventory of nothing but a search path.
fn searching(folder: &Path) -> Inventory {
    let registry = Registry { search: vec![folder.to_path_buf()], ..Registry::default() };
    Inventory {
        registry,
        plugins: vec![],
        rejected: vec![],
        pins: Default::default(),
        tell: Default::default(),
        sandbox: Default::default(),
        stop: Default::default(),
    }
}

/// The plugin in a folder for a category, which changes nothing for benchmarks that have one.
fn discovered(root: &Path) -> Discovery {
    compile(&root.join("performance").join(library_file_name("in_c")), &[]);
    Discovery::take(&searching(root), &[])
}

fn quick() -> RunRequest {
    RunRequest { budget_s: Some(0.05), timeout_s: Some(20.0), ..RunRequest::default() }
}

fn of(names: &[&str]) -> RunRequest {
    RunRequest { benchmarks: names.iter().map(|name| name.to_string()).collect(), ..quick() }
}

/// Keeps what it is told in memory.
struct Kept(Run, Vec<Samples>);

impl Observer for Kept {
    fn cell_ended(&mut self, cell: &Cell, samples: &[Samples]) -> std::io::Result<()> {
        self.0.cells.push(cell.clone());
        self.1.extend(samples.iter().cloned());
        Ok(())
    }
}

fn kept(discovery: &Discovery, request: RunRequest) -> Kept {
    let folder = tempfile::tempdir().unwrap();
    let head = Run {
        schema: RUN_SCHEMA.into(),
        run_id: "it".into(),
        started_at: "2026-01-02T03:04:05Z".into(),
        command: vec![],
        seed: 42,
        environment: skillbench_engine::environment::probe(),
        left_out: Default::default(),
        cells: vec![],
    };
    let mut kept = Kept(head.clone(), vec![]);
    let plan = discovery.plan(request).unwrap();
    execute(&plan, &head, folder.path(), &Stop::default(), &mut kept).unwrap();
    kept
}

fn run(discovery: &Discovery, request: RunRequest) -> Vec<Cell> {
    kept(discovery, request).0.cells
}

fn one(discovery: &Discovery, name: &str) -> Outcome {
    let mut cells = run(discovery, of(&[name]));
    assert_eq!(cells.len(), 1);
    cells.remove(0).outcome
}

fn message(outcome: &Outcome) -> &str {
    assert!(outcome.metrics().is_none(), "a benchmark that failed has numbers");
    &outcome.reason().unwrap().message
}

fn ids(found: &[Found]) -> Vec<&str> {
    found.iter().map(Found::id).collect()
}

#[test]
fn a_benchmark_in_c_is_called_and_timed_round_by_round() {
    alone!();
    let root = tempfile::tempdir().unwrap();
    let outcome = one(&discovered(root.path()), "run_steps");
    let metrics = outcome.metrics().unwrap_or_else(|| panic!("{outcome:?}"));
    let execution = metrics.latency_ms.as_ref().unwrap();
    assert!(execution.median >= 1.0 && execution.n >= 3, "{execution:?}");
    let throughput = metrics.throughput_per_s.unwrap();
    assert!(throughput <= 10_000.0 && throughput > 100.0, "ten items in a millisecond at best: {throughput}");
    assert!(metrics.cpu_ms.as_ref().unwrap().median < execution.median, "it sleeps");
}

/// Other systems keep no mark of the highest resident set that can be set back.
#[cfg(target_os = "linux")]
#[test]
fn the_memory_of_the_first_calls_is_what_a_function_used() {
    alone!();
    let root = tempfile::tempdir().unwrap();
    let discovery = discovered(root.path());
    let used = |name: &str| {
        let memory = one(&discovery, name).metrics().unwrap().memory_mb.clone();
        memory.load_peak.unwrap() - memory.before.unwrap()
    };
    let (some, none) = (used("run_memory"), used("run_steps"));
    assert!((47.0..56.0).contains(&some), "48 MiB were touched, {some} were told");
    assert!(none < 2.0, "nothing was allocated, {none} were told");
}

#[test]
fn a_benchmark_with_one_series_of_durations_needs_no_special_name_for_it() {
    alone!();
    let root = tempfile::tempdir().unwrap();
    let outcome = one(&discovered(root.path()), "run_memory");
    assert!(outcome.metrics().unwrap().latency_ms.is_some());
}

#[test]
fn what_fails_crashes_hangs_or_invents_costs_itself_and_says_why() {
    alone!();
    let root = tempfile::tempdir().unwrap();
    let discovery = discovered(root.path());
    let cells = run(&discovery, of(&["run_failing", "run_crashing", "run_inventing", "run_silent", "run_steps"]));
    let became = |id: &str| &cells.iter().find(|cell| cell.benchmark == id).unwrap().outcome;
    assert!(matches!(became("run_failing"), Outcome::Failed(_)));
    assert_eq!(message(became("run_failing")), "the disk is on fire");
    assert!(matches!(became("run_crashing"), Outcome::Crashed(_)));
    assert!(message(became("run_crashing")).contains("SIGABRT"));
    assert!(message(became("run_inventing")).contains("more than the round took"));
    assert!(message(became("run_silent")).contains("without a single measured sample"));
    assert!(became("run_steps").metrics().is_some(), "what others did is not its affair");

    let outcome = &run(&discovery, RunRequest { timeout_s: Some(0.5), ..of(&["run_hanging"]) })[0].outcome;
    assert!(matches!(outcome, Outcome::TimedOut(_)) && message(outcome).contains("0.5 s"), "{outcome:?}");
}

#[test]
fn an_option_reaches_the_benchmark_that_takes_it_and_no_other() {
    alone!();
    let root = tempfile::tempdir().unwrap();
    let discovery = discovered(root.path());
    let with =
        |name: &str, option: &str| RunRequest { options: vec![OptionChoice::parse(option).unwrap()], ..of(&[name]) };
    let cells = run(&discovery, with("run_optional", "steps=3"));
    assert!(cells[0].outcome.metrics().is_some() && cells[0].options["steps"] == "3");
    let refused = |name: &str, option: &str| discovery.plan(with(name, option)).unwrap_err().to_string();
    assert!(refused("run_optional", "steps=many").contains("option 'steps'"));
    assert!(refused("run_steps", "steps=3").contains("none of the chosen benchmarks takes"));
}

#[test]
fn nothing_is_left_out_in_silence() {
    alone!();
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(root.path().join("unit")).unwrap();
    std::fs::write(root.path().join("unit").join(library_file_name("text")), "no library").unwrap();
    compile(&root.path().join("preformance").join(library_file_name("stray")), &["-DPLUGIN_ID=\"stray\""]);
    compile(&root.path().join("unit").join(library_file_name("twin")), &[]);
    let discovery = discovered(root.path());
    let reason = |id: &str| {
        let found = discovery.rejected.iter().find(|rejected| rejected.id == id);
        found.map(|rejected| rejected.reason.clone()).unwrap_or_else(|| panic!("{id}: {:?}", discovery.rejected))
    };
    assert!(reason("libtext").contains("cannot be opened"));
    assert!(reason("preformance").contains("did you mean performance?"));
    assert!(reason("libtwin").contains("a plugin 'in-c' is there already"));
    assert!(reason("run_odd").contains("'speed' is none of unit, integration, performance"));
    assert!(reason("run_steps").contains("has a benchmark 'run_steps' already"));
    assert_eq!(ids(&discovery.with_target), ["on_a_model"]);
    assert_eq!(discovery.rejected.len(), 5, "{:?}", discovery.rejected);
}

#[test]
fn the_folder_gives_what_a_benchmark_leaves_open_and_nothing_else() {
    alone!();
    let root = tempfile::tempdir().unwrap();
    let mut inventory = searching(root.path());
    // A model that some plugin knows makes a folder of that name one of its benchmarks.
    let library = root.path().join("Known_Model/unit").join(library_file_name("other"));
    compile(&library, &["-DOTHER", "-DPLUGIN_ID=\"other\""]);
    inventory.plugins.push(skillset(root.path()));
    let discovery = Discovery::take(&inventory, &[]);
    let told = |id: &str| {
        let found = discovery.benchmarks.iter().find(|found| found.id() == id).unwrap();
        (found.category.clone().unwrap_or_default(), found.model.clone().unwrap_or_default())
    };
    assert_eq!(told("run_labelled"), ("unit".into(), "known-model".into()));
    assert_eq!(told("run_own"), ("integration".into(), "gpt2".into()));
    let chosen = |category: &str, model: &str| {
        let list = |text: &str| if text.is_empty() { vec![] } else { vec![text.to_string()] };
        let selection = Selection { categories: list(category), ..Selection::default() };
        let request = RunRequest { models: list(model), selection, ..RunRequest::default() };
        discovery.choose(&request).map(|found| found.iter().map(|one| one.id().to_string()).collect::<Vec<_>>())
    };
    assert_eq!(chosen("UNIT", "").unwrap(), ["run_steps", "run_labelled"]);
    assert_eq!(chosen("", "known_model").unwrap(), ["run_steps", "run_labelled"]);
    assert_eq!(chosen("", "its alias").unwrap(), ["run_steps", "run_labelled"]);
    assert_eq!(chosen("", "GPT2").unwrap(), ["run_own"]);
    assert!(chosen("performance", "").unwrap().is_empty());
    assert!(chosen("speed", "").unwrap_err().to_string().contains("there are unit, integration, performance"));
    assert!(chosen("", "known-modle").unwrap_err().to_string().contains("did you mean known-model?"));
}

/// A described plugin with one skill; nothing of it is run.
fn skillset(folder: &Path) -> skillbench_engine::run::Plugin {
    use skillbench_worker::{Description, Entry, SkillsetDescription};
    let text = |text: &str| text.to_string();
    let skill = r#"{"id":"known-model","aliases":["its alias"]}"#;
    let description = Description {
        id: text("models"),
        name: text("Models"),
        version: text("1"),
        vendor: text(""),
        license: text(""),
        url: text(""),
        entry: Entry::C,
        contract: (1, 1),
        backend: None,
        skillset: Some(SkillsetDescription { id: text("models"), summary: text(""), skills: vec![text(skill)] }),
        benchmarks: vec![],
    };
    let file = folder.join("registry.toml");
    std::fs::write(&file, "version = 1\n[[plugin]]\nid = \"models\"\nlibrary = \"/nowhere/libmodels.so\"\n").unwrap();
    let sources = skillbench_engine::registry::Sources { registry: Some(file), ..Default::default() };
    let entry = Registry::load(&sources).entry("models").unwrap().clone();
    skillbench_engine::run::Plugin {
        id: text("models"),
        entry,
        needs: vec![],
        library: Default::default(),
        description,
    }
}

#[test]
fn a_folder_of_the_user_is_looked_at_with_what_is_below_it() {
    alone!();
    let (nothing, own) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    compile(&own.path().join(library_file_name("in_c")), &[]);
    compile(&own.path().join("unit").join(library_file_name("other")), &["-DOTHER", "-DPLUGIN_ID=\"other\""]);
    let folders = [own.path().to_path_buf(), own.path().join("missing")];
    let discovery = Discovery::take(&searching(nothing.path()), &folders);
    assert!(ids(&discovery.benchmarks).contains(&"run_memory") && ids(&discovery.benchmarks).contains(&"run_labelled"));
    let missing = discovery.rejected.iter().find(|rejected| rejected.id == "missing").unwrap();
    assert!(missing.reason.contains("cannot be read"), "{missing:?}");
}

#[test]
fn a_name_that_nothing_has_is_told_with_the_nearest_and_one_with_a_target_with_its_command() {
    alone!();
    let root = tempfile::tempdir().unwrap();
    let discovery = discovered(root.path());
    let refused = |name: &str| discovery.choose(&of(&[name])).unwrap_err().to_string();
    assert!(refused("run_stepz").contains("did you mean run_steps"));
    assert!(refused("on_a_model").contains("`host run --bench on_a_model`"));
    assert!(refused("run_odd").contains("is rejected: its category 'speed'"));
    let by_plugin = discovery.choose(&of(&["in_c"])).unwrap();
    assert_eq!(by_plugin.len(), discovery.benchmarks.len());
}

#[test]
fn a_folder_of_skillsets_and_models_gives_a_suite_for_each_skill() {
    alone!();
    let root = tempfile::tempdir().unwrap();
    compile(&root.path().join(library_file_name("in_c")), &[]);
    compile(&root.path().join(library_file_name("other")), &["-DOTHER", "-DPLUGIN_ID=\"other\""]);
    std::fs::write(root.path().join("mine.onnx"), include_bytes!("../../../worker/data/probe.onnx")).unwrap();
    let offered = suite::offered(root.path()).unwrap();
    let suites = suite::generate(&offered.skills);
    let files: Vec<&str> = suites.iter().map(|generated| generated.file.as_str()).collect();
    assert_eq!(files, ["small-one.json", "mine.json"]);
    assert_eq!((suites[0].suite.batch_sizes.as_slice(), offered.libraries.len()), (&[1, 2][..], 1));
    assert_eq!(suites[0].suite.model_families["vision"], ["small-one"]);
    let reasons: Vec<&str> = offered.rejected.iter().map(|rejected| rejected.reason.as_str()).collect();
    assert!(reasons[0].contains("it is no skillset, it is a benchmark"), "{reasons:?}");
    assert!(reasons[1].contains("not described as it should be") && reasons.len() == 2, "{reasons:?}");
}

#[test]
fn the_flat_result_and_the_table_come_of_what_was_run() {
    alone!();
    let root = tempfile::tempdir().unwrap();
    let discovery = discovered(root.path());
    let Kept(run, samples) = kept(&discovery, of(&["run_steps", "run_failing"]));
    assert!(run.cells.iter().all(Cell::is_function));
    let flat = json(&run);
    assert!(flat["results"]["run_steps"]["execution_time"].as_f64().unwrap() >= 1e-3);
    assert_eq!(flat["results"]["run_failing"]["error"], "the disk is on fire");
    assert_eq!(flat["summary"]["success_rate"], 0.5);
    let calls = samples.iter().filter(|samples| samples.cell == 0 && samples.series == "execution_time");
    assert!(calls.map(|samples| samples.values.len()).sum::<usize>() >= 3, "every sample is kept");
    let table = csv(&run);
    assert!(table.contains("\nbert-tiny,1,0,1,0.0000,") && table.contains("\n,1,1,0,1.0000,"), "{table}");
}
