//! What a fleet carries beside cells: models and files of a submitter's own, what cells leave, and what looks worse than a baseline.

use super::fleet::{Part, agent, documents, lab, lab_on, world};
use super::packages::{PACKAGE, library, pack};
use serde_json::Value;
use skillbench_tests::{Ran, World, built_library, cells, outcomes, workspace};
use std::process::Command;

/// A model of the submitter's own with a list that names it, and a trace of requests.
fn bring(world: &World) {
    let probe = std::fs::read(workspace().join("host/worker/data/probe.onnx")).unwrap();
    world.write("models/first.onnx", probe);
    let list = r#"{"mine": {"name": "org/mine", "family": "vision", "path": "models/first.onnx"}}"#;
    world.write("list.json", list);
    let requests: String = (0..20).map(|number| format!("{}\n", f64::from(number) * 0.02)).collect();
    world.write("day.csv", format!("time_s\n{requests}"));
}

#[test]
fn models_and_files_of_the_submitter_go_along_and_what_a_cell_leaves_comes_back() {
    let world = world();
    let _server = lab(&world);
    let h1 = agent(&world, "h1", "rten");
    bring(&world);
    let mine = ["--plugin", "rten", "--models-set", "custom", "--custom-models", "list.json", "--threads", "1"];
    let one = ["--batch-sizes", "1"];
    let here = [&["run", "--format", "json", "--verify-only"][..], &mine, &one].concat();
    let here: Value = serde_json::from_str(&world.host(&here).exits_with(0).stdout()).unwrap();

    // The agent sees nothing of the submitter's folder: what was submitted is gone when it begins.
    h1.signal("STOP");
    let quick = ["run", "--fleet", "lab", "--detach", "--budget", "0.3"];
    let profiled = world
        .host(&[&quick[..], &mine, &one, &["--bench", "inference", "--profile-detailed"]].concat())
        .exits_with(0)
        .stdout();
    // So slow that the lateness of a busy machine is nothing against the waits.
    let slow = ["--batch-sizes", "8", "--batch-wait", "100"];
    let load = [&["--bench", "serving", "--option", "serving:trace=day.csv"][..], &slow].concat();
    let loaded = [&["run", "--fleet", "lab", "--detach", "--budget", "2"][..], &mine, &load].concat();
    let loaded = world.host(&loaded).exits_with(0).stdout();
    std::fs::remove_dir_all(world.path().join("models")).unwrap();
    std::fs::remove_file(world.path().join("day.csv")).unwrap();
    h1.signal("CONT");

    let follow = |id: &str| {
        let follow = ["fleet", "follow", id.trim(), "--format", "json"];
        documents(world.host(&follow).exits_with(0)).remove(0)
    };
    let run = follow(&profiled);
    let cell = &cells(&run)[0];
    assert_eq!(
        (&cell["skill"], &cell["family"], &cell["outcome"]),
        (&"mine".into(), &"vision".into(), &"measured".into())
    );
    assert_eq!(
        run["environment"]["models"], here["environment"]["models"],
        "one content is one model, wherever it is measured"
    );
    assert!(cell["profile"]["parts"].as_array().is_some_and(|parts| !parts.is_empty()), "{cell:#}");
    let trace = world.path().join(format!("results/{}-h1/profiles/0.trace.json", profiled.trim()));
    let events: Value = serde_json::from_slice(&std::fs::read(&trace).unwrap()).unwrap();
    assert!(events["traceEvents"].as_array().is_some_and(|events| !events.is_empty()));
    let served = follow(&loaded);
    let serving = &cells(&served)[0];
    assert_eq!(serving["outcome"], "measured", "{serving:#}");
    assert!(serving["options"]["trace"].as_str().unwrap().starts_with("sha256-"), "{serving:#}");

    // A collector has the trace again where somebody took it away, and knows one that was changed.
    let id = profiled.trim();
    world.host(&["fleet", "verify", id]).exits_with(0).tells("0 lost, 0 twice, 0 not as signed");
    std::fs::write(&trace, "{}").unwrap();
    world.host(&["fleet", "verify", id]).exits_with(1).tells("0.trace.json");
    follow(&profiled);
    world.host(&["fleet", "verify", id]).exits_with(0);

    // The files are on the server once, and whoever removes them takes them from those who would measure with them.
    let files = world.host(&["fleet", "files", "--format", "csv"]).exits_with(0).stdout();
    assert_eq!(files.lines().count(), 1 + 3, "the model, the requests, the trace of operators: {files}");
    world.host(&["fleet", "files", "--remove", "x"]).exits_with(2).tells("the hash of 'x' is none");
    world.host(&["fleet", "files", "--remove", "all"]).exits_with(0).tells("3 files were removed");
    bring(&world);
    // Beside a model that the machine has.
    let again = run_of(&world, &[&mine[..], &one, &["--model", "probe-mlp"]].concat());
    assert!(outcomes(&again[0]).iter().all(|outcome| *outcome == "measured"), "{again:#?}");
    world.write("models/first.onnx", "no model");
    run_fleet(&world, &[&mine[..], &one].concat()).exits_with(2).tells("first.onnx");
}

fn run_fleet(world: &World, more: &[&str]) -> Ran {
    world.host(&[&["run", "--fleet", "lab", "--budget", "0.1", "--format", "json"], more].concat())
}

fn run_of(world: &World, more: &[&str]) -> Vec<Value> {
    documents(run_fleet(world, more).exits_with(0))
}

#[test]
fn what_looks_worse_than_a_baseline_is_measured_again_on_its_machine_and_fails() {
    let world = world();
    let library = built_library("misbehave_fixture");
    let registry = format!("version = 1\n[[plugin]]\nid = \"misbehave\"\nlibrary = {library:?}\n");
    world.write("config/registry.toml", registry);
    let _server = lab(&world);
    let _h1 = agent(&world, "h1", "misbehave");
    // The fixture computes everything so many times as a file says: options stay the same, as of a library that was built anew.
    let run = |work: &str, more: &[&str]| {
        let work = format!("misbehave:work={}", world.write("work", work).display());
        let asked = ["run", "--fleet", "lab", "--plugin", "misbehave", "--model", "probe-mlp", "--bench", "inference"];
        let cell = ["--batch-sizes", "1", "--budget", "0.3", "--option", &work];
        world.host(&[&asked[..], &cell, more].concat())
    };
    run("20", &["--baseline", "main"]).exits_with(2).tells("host baseline list");
    assert!(!world.path().join("results").exists(), "nothing was measured for a baseline that is not there");
    run("20", &["--save-baseline", "main"]).exits_with(0).tells("is the baseline 'main' of this machine");
    let slower = run("200", &["--baseline", "main", "--fail-on-regression", "5"]);
    slower.exits_with(1).tells("measured again").tells("twice").tells("slower");
    let runs = std::fs::read_dir(world.path().join("results")).unwrap().flatten();
    let of_h1 = runs.filter(|run| run.file_name().to_string_lossy().ends_with("-h1"));
    assert_eq!(of_h1.count(), 3, "the second measurement is a run of its own");
}

#[test]
fn a_machine_takes_the_packages_that_its_owner_lets_it_take_and_says_what_became_of_each() {
    let world = world();
    library(&world, "acme", "libacme.so");
    let pair = minisign::KeyPair::generate_unencrypted_keypair().unwrap();
    world.write("acme.key", pair.sk.to_box(None).unwrap().into_string());
    pack(&world);
    let _server = lab(&world);
    let _h1 = agent(&world, "h1", "rten");
    world.host(&["fleet", "user", "lab", "h2", "--role", "agent"]).exits_with(0);
    // A machine with users' folders of its own.
    std::fs::create_dir(world.path().join("data-h2")).unwrap();
    std::os::unix::fs::symlink(world.path().join("data/runtimes"), world.path().join("data-h2/runtimes")).unwrap();
    let of_h2 = [("SKILLBENCH_DATA", "data-h2"), ("SKILLBENCH_CONFIG", "config-h2")];
    let on_h2 = ["fleet", "agent", "h2.fleet", "--plugin", "rten", "--accept", "signed"];
    let _h2 = Part::start_as(&world, "h2", &on_h2, &of_h2).says("is ready");

    let offer = ["fleet", "offer", PACKAGE];
    world.host(&offer).exits_with(1).tells("takes no plugins of others").tells("is not trusted here");
    let mut trust = world.command(&["plugin", "trust", &pair.pk.to_base64(), "--name", "Acme Corp."]);
    for (variable, folder) in of_h2 {
        trust.env(variable, world.path().join(folder));
    }
    Ran::of(trust).exits_with(0);
    world.host(&[&offer[..], &["--on", "h2"]].concat()).exits_with(0).tells("h2").tells("installed");
    assert!(world.path().join("data-h2/packages/acme").is_dir() && !world.path().join("data/packages/acme").exists());

    // The submitter has it too, since it plans with it.
    world.host(&["plugin", "trust", &pair.pk.to_base64(), "--name", "Acme Corp."]).exits_with(0);
    world.host(&["plugin", "add", PACKAGE]).exits_with(0);
    let asked = ["--plugin", "rten", "--model", "acme-mlp", "--bench", "inference", "--batch-sizes", "1"];
    let runs = run_of(&world, &[&asked[..], &["--on", "h2"]].concat());
    assert_eq!(outcomes(&runs[0]), ["measured"]);
    let (libacme, changed) = (world.write("dist/x.txt", "no package"), "no name of a plugin package");
    world.host(&["fleet", "offer", libacme.to_str().unwrap()]).exits_with(2).tells(changed);
    world.host(&["fleet", "offer", PACKAGE, "--on", "h9"]).exits_with(2).tells("no agent 'h9'");
}

#[test]
fn a_server_with_a_small_disk_keeps_fewer_files_and_serves_all_the_same() {
    use std::os::unix::fs::PermissionsExt;
    let world = world();
    let runtimes = skillbench_record::paths::data().join("runtimes");
    let found = Command::new("find").arg(runtimes).args(["-type", "f", "-name", "nats-server"]).output().unwrap();
    let nats = String::from_utf8(found.stdout).unwrap();
    let nats = nats.lines().next().unwrap_or("nats-server");
    // As a disk of that size has it.
    let small = world.write(
        "small-nats",
        format!("#!/bin/sh\n[ \"$1\" = -c ] && sed -i 's/max_mem: 1GB/max_mem: 1GB, max_file: 6GB/' \"$2\"\nexec {} \"$@\"\n", nats),
    );
    std::fs::set_permissions(&small, std::fs::Permissions::from_mode(0o755)).unwrap();
    let _server = lab_on(&world, &["--server", small.to_str().unwrap()]);
    let configuration = std::fs::read_to_string(world.path().join("lab/nats.conf")).unwrap();
    assert!(configuration.contains("max_file: 6GB"), "{configuration}");
    world.host(&["fleet", "files"]).exits_with(0);
}
