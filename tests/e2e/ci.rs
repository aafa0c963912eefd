//! The recipes of docs/ci.md: each line of shell in them runs, with 0 where nothing became slower and 1 where something did.

use crate::docs::page;
use skillbench_tests::{Ran, World, build_folder, built_library};
use std::ffi::OsString;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

const PAGE: &str = "docs/ci.md";

/// Each has its test below.
const RECIPES: [&str; 7] = [
    ".github/workflows/benchmark.yml",
    ".gitlab-ci.yml",
    "benchmark.sh",
    "follow.sh",
    ".github/workflows/rules.yml",
    ".github/workflows/nightly.yml",
    "runner.sh",
];

/// The fenced files of a page: language, name and text of each.
fn files(page: &str) -> Vec<(&str, &str, String)> {
    let (mut files, mut lines) = (vec![], page.lines());
    while let Some(line) = lines.next() {
        if let Some(told) = line.strip_prefix("```") {
            let (language, name) = told.split_once(' ').unwrap_or((told, ""));
            let text: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            files.push((language, name, text.join("\n")));
        }
    }
    files
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// A scalar of YAML on one line: plain, or in single quotes.
fn scalar(text: &str) -> String {
    match text.strip_prefix('\'').and_then(|text| text.strip_suffix('\'')) {
        Some(quoted) => quoted.replace("''", "'"),
        None => {
            assert!(!text.contains(" #") && !text.contains(": ") && !text.starts_with('"'), "not plain: {text}");
            text.to_string()
        }
    }
}

/// What a service gives to a shell, in order: `run: LINE`, `run: |` with lines, and the items of `script:`. Every other key whose name says that it
/// has shell in it is refused.
fn steps_of_yaml(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let mut steps = vec![];
    for (number, line) in lines.iter().enumerate() {
        let key = line.trim_start().trim_start_matches("- ");
        let column = line.len() - key.len();
        let below = lines[number + 1..].iter().take_while(|line| !line.is_empty() && indent(line) > column);
        match key.split_once(':') {
            Some(("run", " |")) => steps.push(below.map(|line| line.trim()).collect::<Vec<_>>().join("\n")),
            Some(("run", command)) => steps.push(scalar(command.trim())),
            Some(("script", "")) => {
                steps.extend(below.map(|line| scalar(line.trim_start().strip_prefix("- ").unwrap())))
            }
            Some((name, _)) => assert!(!name.ends_with("script") && name != "shell", "nobody runs this: {line}"),
            None => {}
        }
    }
    steps
}

/// What the recipe has for shells. A file for a shell is a step for each line.
fn recipe(name: &str) -> Vec<String> {
    let page = page(PAGE);
    let (language, _, text) = files(&page).into_iter().find(|(_, file, _)| *file == name).unwrap();
    let steps = match language {
        "yaml" => steps_of_yaml(&text),
        _ => text.lines().map(String::from).collect(),
    };
    assert!(!steps.is_empty() && steps.iter().all(|step| !step.trim().is_empty()), "{name}: {steps:?}");
    steps
}

fn is_gate(step: &str) -> bool {
    step.contains("--fail-on-regression") || step.contains("--limit")
}

/// A runner with two checkouts of a plugin's repository, `base` and `head`. Its `skillbench` is the host as it is, but that it measures for a shorter
/// time, and what would speak to a service keeps what it was told in `told`.
struct Runner {
    world: World,
    backend: &'static str,
}

impl Runner {
    fn new() -> Runner {
        let runner = Runner { world: World::apart(), backend: "rten" };
        let host = build_folder().join("host").display().to_string();
        let shorter = "case \"$1 / $*\" in\n\
                       'run / '*) exec HOST \"$@\" --budget 0.5 ;;\n\
                       'compare / '*--interleave*) exec HOST \"$@\" --launches 2 --pairs 5 ;;\n\
                       'doctor / '*--noise*) exec HOST \"$@\" --comparisons 2 ;;\n\
                       esac\nexec HOST \"$@\"";
        runner.program("skillbench", &shorter.replace("HOST", &format!("'{host}'")));
        for service in ["gh", "curl"] {
            let told = runner.world.path().join("told");
            runner.program(service, &format!("printf '%s\\n' {service} \"$@\" >> '{}'", told.display()));
        }
        runner.world.host(&["plugin", "new", "acme", "--lang", "c"]).exits_with(0);
        runner.world.shell("mv acme base && cp -r base head && mkdir head/tools").exits_with(0);
        let check = build_folder().join("skillbench-check");
        symlink(&check, runner.world.path().join("bin/skillbench-check")).unwrap();
        symlink(&check, runner.world.path().join("head/tools/skillbench-check")).unwrap();
        runner
    }

    fn program(&self, name: &str, text: &str) {
        let path = self.world.write(&format!("bin/{name}"), format!("#!/bin/sh\n{text}\n"));
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Runs a step as a service does, in this folder, with the variables that the recipe and the service set. A variable that neither sets is an error.
    fn step(&self, folder: &str, step: &str) -> Ran {
        let within = |name: &str| self.world.path().join(name).into_os_string();
        let mut path = within("bin");
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        let mut shell = Command::new("bash");
        shell.args(["-eu", "-o", "pipefail", "-c", step]).current_dir(self.world.path().join(folder));
        for (name, value) in self.world.command(&[]).get_envs() {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        let text = OsString::from;
        shell.env_remove("SKILLBENCH_ALERT_WEBHOOK").env_remove("CFLAGS").envs([
            ("PATH", path),
            ("MODEL", text("probe-mlp")),
            ("BACKEND", text(self.backend)),
            ("BENCHMARK_DB_PATH", within("history.duckdb")),
            ("NUMBER", text("7")),
            ("GITHUB_STEP_SUMMARY", within("summary.md")),
            ("GITHUB_REPOSITORY", text("acme/acme")),
            ("COMMENT_TOKEN", text("secret")),
            ("CI_API_V4_URL", text("https://gitlab.example.org/api/v4")),
            ("CI_PROJECT_ID", text("1")),
            ("CI_MERGE_REQUEST_IID", text("2")),
        ]);
        Ran::of(shell)
    }

    fn all(&self, folder: &str, steps: &[String]) {
        for step in steps {
            let ran = self.step(folder, step);
            assert_eq!(ran.code(), Some(0), "{step}\n{}\n{}", ran.stdout(), ran.stderr());
        }
    }

    /// What is merged next is several times slower.
    fn becomes_slower(&self) {
        self.world.shell("sed -i 's/ -O3/ -O0/' head/Makefile && rm head/libacme.so").exits_with(0);
    }

    fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.world.path().join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }
}

#[test]
fn every_recipe_is_run_and_stands_on_this_page() {
    let text = page(PAGE);
    let named: Vec<&str> = files(&text).iter().map(|(_, name, _)| *name).collect();
    assert_eq!(named, RECIPES, "each file has a name and a test of its own");
    let docs = std::fs::read_dir(skillbench_tests::workspace().join("docs")).unwrap().flatten();
    let pages =
        docs.map(|entry| format!("docs/{}", entry.file_name().to_string_lossy())).filter(|n| n.ends_with(".md"));
    for name in pages.chain(["README.md".to_string()]).filter(|name| name != PAGE) {
        assert!(!page(&name).contains("```yaml"), "{name} has a recipe: its place is {PAGE}, where it is run");
    }
}

#[test]
fn a_pull_request_is_compared_in_turns_and_commented() {
    let (runner, steps) = (Runner::new(), recipe(RECIPES[0]));
    assert_eq!(steps.iter().filter(|step| is_gate(step)).count(), 1);
    runner.all("", &steps);
    let table = runner.text("comparison.md");
    assert!(table.starts_with("| model ") && table.contains("latency_ms"), "{table}");
    assert!(runner.text("told").contains("--body-file\ncomparison.md\n"), "{}", runner.text("told"));
    runner.becomes_slower();
    for step in &steps {
        runner.step("", step).exits_with(i32::from(is_gate(step)));
    }
    assert!(runner.text("summary.md").contains("slower"), "{}", runner.text("summary.md"));
}

#[test]
fn a_merge_request_is_held_against_the_baseline_of_the_machine() {
    let (runner, steps) = (Runner::new(), recipe(RECIPES[1]));
    for step in &steps {
        let code = runner.step("head", step).code();
        // On a busy machine two moments may differ by more than is assumed of one: then once more.
        let code = if is_gate(step) && code == Some(1) { runner.step("head", step).code() } else { code };
        assert!(code == Some(0) || is_gate(step) && code == Some(3), "{step}: {code:?}");
    }
    assert!(runner.text("head/check.xml").contains("<testcase"));
    assert!(
        runner.text("told").contains("body@comparison.md\n") && runner.text("told").contains("/1/merge_requests/2/")
    );
    runner.becomes_slower();
    let again = ["make", "--fail-on-regression", "curl"];
    for step in steps.iter().filter(|step| again.iter().any(|part| step.contains(part))) {
        runner.step("head", step).exits_with(i32::from(is_gate(step)));
    }
    assert!(runner.text("head/comparison.md").contains("slower"), "{}", runner.text("head/comparison.md"));
}

#[test]
fn a_limit_that_is_broken_fails_a_job_of_any_service() {
    let (mut runner, steps) = (Runner::new(), recipe(RECIPES[2]));
    runner.all("", &steps);
    let library = built_library("misbehave_fixture");
    let entry = format!(
        "version = 1\n[[plugin]]\nid = \"misbehave\"\nlibrary = {library:?}\n[plugin.options]\nwork = \"20000\"\n"
    );
    runner.world.write("config/registry.toml", entry);
    runner.backend = "misbehave";
    for step in &steps {
        runner.step("", step).exits_with(i32::from(is_gate(step)));
    }
    runner.backend = "mps";
    runner.step("", &steps[0]).exits_with(5);
}

#[test]
fn services_that_follow_figures_get_each_run_in_their_form() {
    let (runner, steps) = (Runner::new(), recipe(RECIPES[3]));
    runner.all("", &steps);
    let folder = std::fs::read_dir(runner.world.path().join("followed")).unwrap().flatten();
    let names: Vec<String> = folder.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    let text = |ending: &str| {
        let name = names.iter().find(|name| name.ends_with(ending)).unwrap_or_else(|| panic!("{ending}: {names:?}"));
        runner.text(&format!("followed/{name}"))
    };
    let json = |ending: &str| serde_json::from_str::<serde_json::Value>(&text(ending)).unwrap();
    let bencher = json(".bencher.json");
    let (name, figures) = bencher.as_object().unwrap().iter().next().unwrap();
    assert!(name.starts_with("probe-mlp/float32/rten") && name.contains("/inference/batch_1"), "{name}");
    let latency = figures["latency"]["value"].as_f64().unwrap();
    let smaller = json(".smaller.json");
    assert_eq!(smaller[0]["name"], format!("{name}: median latency"));
    assert!((smaller[0]["value"].as_f64().unwrap() * 1e6 / latency - 1.0).abs() < 1e-9, "{smaller} {bencher}");
    assert_eq!(json(".bigger.json")[0]["unit"], "1/s");
    let metrics = text(".openmetrics.txt");
    assert!(metrics.contains("skillbench_latency_median_seconds{") && metrics.ends_with("# EOF\n"), "{metrics}");
}

#[test]
fn a_plugin_is_held_against_the_rules_and_told_as_junit() {
    let (runner, steps) = (Runner::new(), recipe(RECIPES[4]));
    runner.all("head", &steps);
    assert!(runner.text("head/check.xml").contains("<testcase"));
    for document in ["head/report.json", "head/ladder.json"] {
        assert!(serde_json::from_str::<serde_json::Value>(&runner.text(document)).is_ok(), "{document}");
    }
}

#[test]
fn a_night_adds_to_the_history_and_tells_what_is_missing() {
    let (mut runner, steps) = (Runner::new(), recipe(RECIPES[5]));
    runner.all("", &steps);
    assert!(runner.world.path().join("history.duckdb").is_file() && !runner.text("summary.md").is_empty());
    // Nobody has this device on Linux.
    runner.backend = "mps";
    runner.step("", &steps[0]).exits_with(5);
}

#[test]
fn a_runner_is_looked_at_and_its_noise_is_kept() {
    let (runner, steps) = (Runner::new(), recipe(RECIPES[6]));
    runner.all("", &steps);
    // Kept where the next verdict finds it.
    let data = std::fs::read_dir(runner.world.path().join("data")).unwrap().flatten();
    let kept: Vec<String> = data.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    assert!(kept.iter().any(|name| name.contains("noise")), "{kept:?}");
}
