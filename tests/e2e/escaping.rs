//! Names and messages of plugins and models stay texts: a terminal obeys none of them, no line of theirs passes for the host's, and no file
//! has a formula, markup or a link of theirs.

use serde_json::{Value, json};
use skillbench_tests::{Ran, World, built_library, cells, workspace};
use std::path::Path;

/// Who writes to the terminal or a file of rows: each goes through an escaper.
const WRITERS: [&str; 3] = ["host/src/output.rs", "host/results/src/csv.rs", "host/store/src/database/export.rs"];

/// Of a model; the fixture has a text like it for its device and its error.
const MODEL: &str = "=cmd|\u{1b}[31m\u{202e}\nerror: forged <img src=x onerror=alert(1)>";

/// A backend and a list of models, all of whose names are hostile.
fn world() -> World {
    let world = World::default();
    let library = built_library("misbehave_fixture");
    let entry = format!("[[plugin]]\nid = \"misbehave\"\nlibrary = {library:?}\n[plugin.options]\nhow = \"hostile\"\n");
    world.write("hostile.toml", format!("version = 1\n{entry}"));
    world.write("first.onnx", std::fs::read(workspace().join("host/worker/data/probe.onnx")).unwrap());
    let model =
        json!({ "name": "mine", "family": "vision", "size": "small", "modality": "vision", "path": "first.onnx" });
    world.write("list.json", json!({ (MODEL): model }).to_string());
    world
}

fn host(world: &World, arguments: &[&str]) -> Ran {
    world.host(&[&["--registry", "hostile.toml"], arguments].concat())
}

/// What was printed holds nothing that a terminal obeys, and no line that a text of others began.
#[track_caller]
fn is_only_text(text: &str) {
    let obeyed = |c: char| (c.is_control() && !matches!(c, '\n' | '\t')) || ('\u{202a}'..='\u{202e}').contains(&c);
    assert!(!text.contains(obeyed), "{text:?}");
    assert!(!text.lines().any(|line| ["error: forged", "[9/9]"].iter().any(|made| line.starts_with(made))), "{text}");
}

#[track_caller]
fn printed(ran: &Ran) -> String {
    is_only_text(&ran.stdout());
    is_only_text(&ran.stderr());
    ran.stdout()
}

#[track_caller]
fn has_no_formula(csv: &str) {
    is_only_text(csv);
    assert!(csv.contains("'=cmd|"), "{csv}");
    let starts = ["\n=", ",=", "\"="];
    assert!(!starts.iter().any(|start| csv.contains(start)), "{csv}");
}

#[track_caller]
fn has_no_markup(markdown: &str) {
    is_only_text(markdown);
    assert!(markdown.contains("&lt;img"), "{markdown}");
    let live = ["<img", "](javascript:", " https://evil", "@everybody"];
    assert!(!live.iter().any(|live| markdown.replace("\\](", "").contains(live)), "{markdown}");
}

#[test]
fn a_device_is_named_in_every_format_by_text_alone() {
    let world = world();
    let devices = |format| printed(host(&world, &["devices", "--format", format]).exits_with(0));
    assert!(devices("table").contains("\\u001b[2J"));
    has_no_formula(&devices("csv"));
    has_no_markup(&devices("markdown"));
    let page = devices("html");
    assert!(page.contains("&lt;img") && !page.contains("<img"), "{page}");
    let rows: Vec<Value> = serde_json::from_str(&devices("json")).unwrap();
    let name = rows.iter().find(|row| row["plugin"] == "misbehave").unwrap()["name"].as_str().unwrap();
    assert!(name.starts_with("=cmd|") && name.contains("\u{1b}[2J") && name.contains('\u{202e}'), "{name:?}");
}

#[test]
fn a_run_is_told_kept_and_reported_by_text_alone() {
    let world = world();
    let asked = ["run", "--plugin", "misbehave", "--models-set", "custom", "--custom-models", "list.json"];
    let asked = [&asked[..], &["--bench", "inference", "--batch-sizes", "1", "--budget", "0.1"]].concat();
    let ran = host(&world, &asked);
    let shown = printed(ran.exits_with(4));
    assert!(shown.contains("=cmd|\\u001b[31m"), "{shown}");
    assert!(ran.stderr().contains("\n  error: forged"), "its lines are indented: {}", ran.stderr());
    has_no_formula(&std::fs::read_to_string(world.run_folder().join("summary.csv")).unwrap());

    // Nothing was measured, so that it is no latest run.
    let folder = world.run_folder();
    let folder = folder.to_str().unwrap();
    let report = |format| printed(host(&world, &["report", folder, "--format", format]).exits_with(0));
    has_no_markup(&report("markdown"));
    has_no_markup(&report("table"));
    has_no_formula(&report("csv"));
    assert!(serde_json::from_str::<Value>(&report("json")).is_ok());
    report("html");
    let page = std::fs::read_to_string(world.run_folder().join("report.html")).unwrap();
    assert!(page.contains("&lt;img src=x") && !page.contains("<img src=x"));

    let sql = "SELECT model_id, device_name, reason FROM benchmark_results";
    has_no_formula(&printed(host(&world, &["query", sql, "--format", "csv"]).exits_with(0)));
    printed(host(&world, &["matrix"]).exits_with(0));
    let matrix = printed(host(&world, &["matrix", "--format", "markdown"]).exits_with(0));
    has_no_markup(&matrix);
    let document: Value = serde_json::from_slice(&std::fs::read(world.run_folder().join("run.json")).unwrap()).unwrap();
    assert_eq!(cells(&document)[0]["skill"], MODEL, "what is kept is what was said");
}

#[test]
fn a_model_is_described_by_text_alone() {
    let world = world();
    let graph = std::fs::read(world.path().join("first.onnx")).unwrap();
    let file = world.write(&format!("{MODEL}.onnx"), &graph);
    world.write("folder/model.onnx", &graph);
    world.write("folder/config.json", json!({ "model_type": MODEL }).to_string());
    for format in ["table", "json", "csv", "markdown"] {
        let ran = host(&world, &["models", file.to_str().unwrap(), "folder", "--format", format]);
        printed(ran.exits_with(0));
        ran.tells("model_type is '=cmd|\\u001b[31m\\u202e");
    }
}

#[test]
fn errors_about_arguments_are_text_alone() {
    let world = world();
    printed(host(&world, &["run", "--no-such\u{1b}[31m"]).exits_with(2).tells("--no-such"));
    printed(host(&world, &["report", "no\u{1b}[31msuch"]).exits_with(2).tells("no\\u001b[31msuch"));
    printed(host(&world, &["--help"]).exits_with(0));
}

/// Lines of code below a folder that write past the escapers.
fn writes(folder: &Path, found: &mut Vec<String>) {
    const WAYS: [&str; 6] = ["io::stdout().", "io::stderr(),", "println!(", "print!(", "CsvWriter::new", "FORMAT csv"];
    for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let name = path.strip_prefix(workspace()).unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            writes(&path, found);
        } else if name.ends_with(".rs") && !WRITERS.contains(&name.as_str()) {
            let text = std::fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            let lines = code.lines().filter(|line| WAYS.iter().any(|way| line.contains(way)));
            found.extend(lines.map(|line| format!("{name}: {}", line.trim())));
        }
    }
}

#[test]
fn nobody_writes_past_the_escapers() {
    let mut found = vec![];
    for part in
        ["src", "engine/src", "models/src", "predict/src", "record/src", "report/src", "results/src", "session/src"]
    {
        writes(&workspace().join("host").join(part), &mut found);
    }
    writes(&workspace().join("host/store/src"), &mut found);
    assert_eq!(found, Vec::<String>::new(), "print through host/src/output.rs, write rows with shown::csv");
}
