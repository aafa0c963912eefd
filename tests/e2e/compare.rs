//! Which of two is slower: measured in turns, out of stored runs, against baselines and limits.

use serde_json::{Value, json};
use skillbench_tests::{Ran, World, built_library, without_sums};
use std::process::Command;

fn world() -> World {
    let world = World::default();
    let library = built_library("misbehave_fixture");
    world
        .write("config/registry.toml", format!("version = 1\n[[plugin]]\nid = \"misbehave\"\nlibrary = {library:?}\n"));
    world
}

/// The host with data of its own: baselines and noise floors of the user count for nothing here.
fn command(world: &World, arguments: &[&str]) -> Command {
    let mut command = world.command(arguments);
    command.env("SKILLBENCH_DATA", world.path().join("data"));
    command
}

fn host(world: &World, arguments: &[&str]) -> Ran {
    Ran::of(command(world, arguments))
}

fn in_turns(world: &World, before: &str, after: &str, more: &[&str]) -> (Ran, Value) {
    let given = ["compare", before, after, "--interleave", "--model", "probe-mlp", "--format", "json"];
    let ran = host(world, &[&given, more].concat());
    let document = serde_json::from_str(&ran.stdout()).unwrap_or_else(|e| panic!("no document: {e}\n{}", ran.stderr()));
    (ran, document)
}

/// The comparison of a metric in the only cell.
fn metric<'d>(document: &'d Value, name: &str) -> &'d Value {
    let metrics = document["cells"][0]["metrics"].as_array().unwrap_or_else(|| panic!("{document:#}"));
    metrics.iter().find(|metric| metric["name"] == name).unwrap_or_else(|| panic!("no {name}: {document:#}"))
}

/// A run of the fixture that computes everything so many times, by a file: the options stay the same, as of a library that was
/// built anew.
fn run(world: &World, work: &str, more: &[&str]) -> Ran {
    let work = format!("misbehave:work={}", world.write("work", work).display());
    let given = [
        "run",
        "--plugin",
        "misbehave",
        "--model",
        "probe-mlp",
        "--bench",
        "inference",
        "--batch-sizes",
        "1",
        "--budget",
        "0.3",
        "--option",
        &work,
    ];
    host(world, &[&given, more].concat())
}

#[test]
fn a_throughput_benchmark_is_compared_in_turns_too() {
    let more = ["--bench", "throughput-inference", "--batch-sizes", "1", "--launches", "1", "--pairs", "3"];
    let (_, document) = in_turns(&world(), "misbehave@work=20", "misbehave@work=60", &more);
    let ratio = |name: &str| metric(&document, name)["ratio"].as_f64().unwrap_or_else(|| panic!("{document:#}"));
    assert!(ratio("sequential_per_s") < 0.7 && ratio("throughput_per_s") < 0.7, "{document:#}");
}

#[test]
fn which_of_two_bears_more_is_told_by_searches_in_turns_and_of_the_runs_that_they_leave() {
    let world = world();
    let more =
        ["--slo", "latency.p90<=10ms", "--budget", "10", "--launches", "1", "--threads", "1", "--batch-sizes", "1"];
    let (ran, document) = in_turns(&world, "misbehave@work=50", "misbehave@work=200", &more);
    assert_eq!(document["mode"], "interleaved");
    if let Some(reason) = document["cells"][0]["reason"]["message"].as_str() {
        // Beside other tests requests may be issued too late, or the machine may be too slow for the limit.
        let of_a_busy_machine = ["void", "too few to tell", "no rate keeps", "no lower end"];
        assert!(of_a_busy_machine.iter().any(|text| reason.contains(text)), "{document:#}");
        ran.exits_with(3);
        return;
    }
    let capacity = metric(&document, "capacity_per_s");
    let figure = |name: &str| capacity[name].as_f64().unwrap_or_else(|| panic!("{name}: {capacity:#}"));
    assert!(figure("ratio") < 0.7 && figure("before") > figure("after"), "{capacity:#}");
    let ends: Vec<f64> = capacity["interval"].as_array().unwrap().iter().filter_map(Value::as_f64).collect();
    assert!(ends[0] < figure("ratio") && figure("ratio") < ends[1], "{capacity:#}");
    assert!(figure("rounds") >= 5.0 && capacity["launches"] == 1, "{capacity:#}");
    let folder = std::fs::read_dir(world.path().join("results/comparisons")).unwrap().flatten();
    let mut runs: Vec<String> =
        folder.filter(|entry| entry.path().is_dir()).map(|entry| entry.path().display().to_string()).collect();
    runs.sort();
    assert_eq!(runs.len(), 2, "{runs:?}");
    let stored = ["compare", &runs[0], &runs[1], "--across", "options", "--format", "json"];
    let stored: Value = serde_json::from_str(&host(&world, &stored).stdout()).unwrap();
    let again = metric(&stored, "capacity_per_s")["ratio"].as_f64().unwrap();
    assert!((again / figure("ratio") - 1.0).abs() < 1e-6, "the same searches: {stored:#}");
}

#[test]
fn several_sides_are_each_held_against_the_first() {
    let sides = ["compare", "misbehave@work=20", "misbehave@work=60", "misbehave@work=100", "--interleave"];
    let more = ["--model", "probe-mlp", "--launches", "1", "--pairs", "3", "--format", "json"];
    let ran = host(&world(), &[&sides[..], &more].concat());
    let document: Value = serde_json::from_str(&ran.stdout()).unwrap_or_else(|e| panic!("{e}\n{}", ran.stderr()));
    let cells = document["cells"].as_array().unwrap();
    let told: Vec<&str> = cells.iter().map(|cell| cell["side"].as_str().unwrap()).collect();
    assert_eq!(told, ["misbehave@work=60", "misbehave@work=100"]);
    let ratio = |cell: &Value| {
        let metrics = cell["metrics"].as_array().unwrap();
        let latency = metrics.iter().find(|metric| metric["name"] == "latency_ms");
        latency.unwrap_or_else(|| panic!("{}: {cell:#}", cell["reason"]))["ratio"].as_f64().unwrap()
    };
    let ratios: Vec<f64> = cells.iter().map(ratio).collect();
    assert!(ratios[0] > 1.8 && ratios[1] > ratios[0] * 1.3, "{ratios:?}");
}

/// A library of ONNX Runtime in a data folder of the test's own, as two versions of the package.
#[test]
fn installed_versions_of_a_runtime_are_compared_in_turns() {
    let world = World::default();
    let of = |arguments: &[&str]| world.host(arguments).exits_with(0).stdout().trim().to_string();
    let library = of(&["runtime", "path", "cpu", "library"]);
    let (before, rest) = library.split_once("onnxruntime/").unwrap();
    let (version, path) = rest.split_once('/').unwrap();
    assert!(before.ends_with("runtimes/"), "{library}");
    for name in [version, "0.0.1"] {
        let copy = path.replace(version, name);
        world.write(&format!("data/runtimes/onnxruntime/{name}/{copy}"), std::fs::read(&library).unwrap());
    }
    let compare = |versions: &str| {
        let given = ["compare", "--interleave", "--runtime", versions, "--model", "probe-mlp", "--format", "json"];
        host(&world, &[&given[..], &["--launches", "1", "--pairs", "3", "--threads", "1"]].concat())
    };
    let ran = compare(&format!("cpu=0.0.1,{version}"));
    let document: Value = serde_json::from_str(&ran.stdout()).unwrap_or_else(|e| panic!("{e}\n{}", ran.stderr()));
    assert_eq!(document["before"]["name"], "cpu@runtime=0.0.1");
    assert!(!document["cells"][0]["metrics"].as_array().unwrap().is_empty(), "{document:#}");
    // A version that is no library at all: the side that names it cannot be measured.
    world.write(&format!("data/runtimes/onnxruntime/0.0.3/{}", path.replace(version, "0.0.3")), "no library");
    let ran = compare(&format!("cpu={version},0.0.3"));
    let document: Value = serde_json::from_str(&ran.stdout()).unwrap_or_else(|e| panic!("{e}\n{}", ran.stderr()));
    let why = document["cells"][0]["reason"]["message"].as_str().unwrap_or_default();
    assert!(why.starts_with("after: ") && why.contains("0.0.3"), "{document:#}");
    compare("cpu=0.0.2,0.0.1").exits_with(2).tells("installed: ").tells("0.0.1");
    compare("rten=1,2").exits_with(2).tells("no runtime that is installed");
    compare("cpu").exits_with(2).tells("PLUGIN=VERSION,VERSION");
}

#[test]
fn a_planted_difference_is_found_measured_twice_and_fails_a_limit_that_it_breaks() {
    let world = world();
    let (ran, document) = in_turns(&world, "misbehave@work=100", "misbehave@work=150", &["--fail-on-regression", "10"]);
    ran.exits_with(1);
    let latency = metric(&document, "latency_ms");
    assert_eq!(latency["verdict"], "slower", "{latency:#}");
    assert!(latency["first"]["ratio"].as_f64().is_some_and(|ratio| ratio > 1.1), "it was measured once more");
    let ratio = latency["ratio"].as_f64().unwrap();
    assert!((1.3..1.7).contains(&ratio), "{ratio}");
    assert!(latency["pairs"].as_array().is_some_and(|launches| launches.len() >= 10), "every round is kept");
    assert_eq!(document["mode"], "interleaved");
    let kept = std::fs::read_dir(world.path().join("results/comparisons")).unwrap().count();
    assert_eq!(kept, 1);
}

#[test]
fn a_backend_held_against_itself_is_no_slower() {
    let (ran, document) = in_turns(&world(), "misbehave@work=60", "misbehave@work=60", &["--fail-on-regression", "50"]);
    let latency = metric(&document, "latency_ms");
    assert!(["same", "unclear"].contains(&latency["verdict"].as_str().unwrap()), "{latency:#}");
    assert!(ran.code() == Some(0) || ran.code() == Some(3), "{}", ran.stderr());
    assert_eq!(document["cells"][0]["cells"][0]["outcome"], "measured");
    assert_eq!(
        document["cells"][0]["cells"][0]["verification"]["status"], "passed",
        "outputs are checked before rounds"
    );
}

#[test]
fn a_side_that_crashes_is_not_compared_and_says_why() {
    let (ran, document) = in_turns(&world(), "misbehave", "misbehave@how=abort", &[]);
    ran.exits_with(3);
    let reason = document["cells"][0]["reason"]["message"].as_str().unwrap_or_default();
    assert!(reason.contains("after") && reason.contains("SIGABRT"), "{reason}");
    assert_eq!(document["cells"][0]["metrics"].as_array().map(Vec::len), Some(0));
}

#[test]
fn another_version_is_compared_by_its_library() {
    let world = world();
    let library = built_library("misbehave_fixture");
    let old = world.path().join("old").join(library.file_name().unwrap());
    std::fs::create_dir_all(old.parent().unwrap()).unwrap();
    std::fs::copy(&library, &old).unwrap();
    let side = old.to_str().unwrap();
    let given =
        ["compare", "misbehave", side, "--interleave", "--model", "probe-mlp", "--launches", "1", "--pairs", "3"];
    let ran = host(&world, &[&given[..], &["--format", "json"]].concat());
    let document: Value = serde_json::from_str(&ran.stdout()).unwrap_or_else(|e| panic!("{e}: {}", ran.stderr()));
    assert_eq!(document["cells"][0]["after"]["plugin"], "misbehave", "{document:#}");
    assert_eq!(document["after"]["name"], side);
    assert!(metric(&document, "latency_ms")["rounds"].as_u64().is_some_and(|rounds| rounds >= 3));
}

#[test]
fn what_this_machine_shows_of_the_same_code_is_measured_kept_and_used() {
    let world = world();
    let noise = ["doctor", "--noise", "--plugin", "misbehave", "--model", "probe-mlp", "--comparisons", "2"];
    host(&world, &noise).exits_with(0).tells("latency_ms").tells("kept for");
    let (_, document) =
        in_turns(&world, "misbehave@work=60", "misbehave@work=60", &["--launches", "2", "--pairs", "5"]);
    let latency = metric(&document, "latency_ms");
    assert_eq!(latency["floor_from"]["from"], "measured", "{latency:#}");
    assert_eq!(latency["floor_from"]["comparisons"], 2);
}

#[test]
fn a_run_that_became_slower_than_its_baseline_is_measured_again_and_fails() {
    let world = world();
    run(&world, "20", &["--save-baseline", "main"]).exits_with(0).tells("is the baseline 'main' of this machine");
    host(&world, &["baseline", "list"]).exits_with(0).tells("main");
    let slower = run(&world, "200", &["--baseline", "main", "--fail-on-regression", "5"]);
    slower.exits_with(1).tells("measured again").tells("twice").tells("slower");
    let runs = std::fs::read_dir(world.path().join("results"))
        .unwrap()
        .flatten()
        .filter(|e| e.path().join("journal.ndjson").is_file());
    assert_eq!(runs.count(), 3, "the second measurement is a run of its own");
    let same = run(&world, "20", &["--baseline", "main", "--fail-on-regression", "60"]);
    assert!(same.code() == Some(0) || same.code() == Some(3), "no regression is told: {}", same.stderr());
    run(&world, "200", &["--baseline", "main", "--fail-on-regression", "5", "--save-baseline", "main"])
        .exits_with(1)
        .tells("is as it was");
    run(&world, "20", &["--save-baseline", "../x"]).exits_with(2).tells("no name for a baseline");
    host(&world, &["baseline", "remove", "main"]).exits_with(0);
    run(&world, "20", &["--baseline", "main"]).exits_with(2).tells("main").tells("host baseline list");
}

#[test]
fn a_limit_that_is_broken_fails_the_run_and_one_that_cannot_be_told_is_not_passed() {
    let world = world();
    run(&world, "5", &["--limit", "latency_ms.median<=1000"]).exits_with(0);
    run(&world, "5", &["--limit", "probe-mlp:latency_ms.median<=0.000001"]).exits_with(1).tells("is broken");
    run(&world, "5", &["--limit", "energy_j_per_item<=1000"]).exits_with(3).tells("was not measured here");
    run(&world, "5", &["--limit", "bert-tiny:latency_ms.median<=1"]).exits_with(3).tells("no cell of this run");
    run(&world, "5", &["--limit", "latency_ms.medain<=1"]).exits_with(2).tells("latency_ms.p90<=20");
}

#[test]
fn limits_stand_in_suites_too() {
    let world = world();
    world.write(
        "s.toml",
        "hardware_types = [\"rten\"]\nbatch_sizes = [1]\nlimits = [\"latency_ms.median<=0.0000001\"]\n[model_families]\nembedding = [\"probe-mlp\"]\n",
    );
    host(&world, &["suite", "run", "s.toml"]).exits_with(1).tells("is broken");
    world.write("bad.toml", "limits = [\"latency_ms\"]\n");
    host(&world, &["suite", "check", "bad.toml"]).exits_with(2).tells("limits");
}

#[test]
fn stored_runs_of_different_machines_are_compared_only_when_asked_and_then_labelled() {
    let world = world();
    run(&world, "20", &["--output-dir", "here"]).exits_with(0);
    let folder = |name: &str| {
        std::fs::read_dir(world.path().join(name)).unwrap().flatten().find(|e| e.path().is_dir()).unwrap().path()
    };
    let journal = std::fs::read_to_string(folder("here").join("journal.ndjson")).unwrap();
    let hostname =
        journal.split("\"hostname\":\"").nth(1).and_then(|rest| rest.split('"').next()).expect("it has a name");
    let run_id = folder("here").file_name().unwrap().to_string_lossy().into_owned();
    let other = without_sums(&journal)
        .replace(&format!("\"hostname\":\"{hostname}\""), "\"hostname\":\"elsewhere\"")
        .replace(&run_id, "20260101-000000-00001");
    world.write("there/20260101-000000-00001/journal.ndjson", other);
    let (a, b) = (folder("here"), world.path().join("there/20260101-000000-00001"));
    let (a, b) = (a.to_str().unwrap(), b.to_str().unwrap());
    host(&world, &["compare", a, b]).exits_with(2).tells("different machines").tells("--across machine");
    let ran = host(&world, &["compare", a, b, "--across", "machine", "--format", "json"]);
    let document: Value = serde_json::from_str(&ran.stdout()).unwrap_or_else(|e| panic!("{e}: {}", ran.stderr()));
    let labels = document["cells"][0]["labels"].to_string();
    assert!(labels.contains("machine") && labels.contains("elsewhere"), "{document:#}");
    let latency = metric(&document, "latency_ms");
    assert_eq!(latency["ratio"], 1.0, "the very same samples: {latency:#}");
    assert!(["same", "unclear"].contains(&latency["verdict"].as_str().unwrap()), "{latency:#}");
    host(&world, &["compare", a, a]).exits_with(2).tells("the same run");
    host(&world, &["compare", a, "nothing"]).exits_with(2).tells("nothing");
}

#[test]
fn stored_runs_are_compared_by_any_metric_of_the_catalogue_and_by_those_that_plugins_add() {
    let world = world();
    run(&world, "20", &["--output-dir", "here"]).exits_with(0);
    let folders = std::fs::read_dir(world.path().join("here")).unwrap().flatten();
    let folder = folders.map(|entry| entry.path()).find(|path| path.is_dir()).unwrap();
    let journal = std::fs::read_to_string(folder.join("journal.ndjson")).unwrap();
    let id = folder.file_name().unwrap().to_string_lossy().into_owned();
    let with_cycles = |id_of_copy: &str, cycles: f64| {
        let line = |line: &str| {
            let mut line: Value = serde_json::from_str(line).unwrap();
            if line["type"] == "cell" {
                let stats = line["cell"]["metrics"]["latency_ms"].clone();
                let mut series = json!({"unit": "cycles", "kind": "count", "higher_is_better": true, "items_per_sample": 1.0,
                    "rounds": 1, "stable": true, "stopped_by": null, "stats": stats});
                series["stats"]["median"] = json!(cycles);
                line["cell"]["metrics"]["series"]["acme.cycles"] = series;
            }
            line.to_string() + "\n"
        };
        let text: String = without_sums(&journal).replace(&id, id_of_copy).lines().map(line).collect();
        world.write(&format!("results/{id_of_copy}/journal.ndjson"), text);
    };
    with_cycles("20260101-000000-0000000a", 1000.0);
    with_cycles("20260102-000000-0000000b", 1500.0);
    let sides = ["compare", "20260101-000000-0000000a", "20260102-000000-0000000b"];
    for imported in [false, true] {
        if imported {
            host(&world, &["db", "import", "results"]).exits_with(0);
            std::fs::remove_dir_all(world.path().join("results/20260101-000000-0000000a")).unwrap();
        }
        let more = ["--metric", "init_ms.load,first_inference_factor", "--format", "json"];
        let ran = host(&world, &[&sides[..], &more].concat());
        let document: Value = serde_json::from_str(&ran.stdout()).unwrap_or_else(|e| panic!("{e}: {}", ran.stderr()));
        let cycles = metric(&document, "acme.cycles");
        assert_eq!(
            (&cycles["ratio"], &cycles["verdict"]),
            (&json!(1.5), &json!("unclear")),
            "one figure is no verdict"
        );
        assert_eq!(cycles["higher_is_better"], true);
        for name in ["init_ms.load", "first_inference_factor", "peak_memory_mb"] {
            assert_eq!(metric(&document, name)["ratio"], 1.0, "the very same figures");
        }
    }
    host(&world, &[&sides[..], &["--metric", "init_ms.loud"]].concat())
        .exits_with(2)
        .tells("did you mean init_ms.load");
}

#[test]
fn slips_of_a_comparison_are_told_before_anything_is_measured() {
    let world = world();
    for (arguments, text) in [
        (&["compare", "rten", "rtn", "--interleave"][..], "rtn"),
        (&["compare", "rten", "@x", "--interleave"], "expected PLUGIN"),
        (&["compare", "rten", "./missing.so", "--interleave"], "no such library"),
        (&["compare", "rten", "rten", "--interleave", "--model", "brt-tiny"], "brt-tiny"),
        (&["compare", "a", "b", "--launches", "3"], "--interleave"),
        (&["compare", "rten"], "two stored runs are compared"),
        (&["compare", "rten", "--interleave"], "at least two sides"),
        (&["baseline", "save", "../x"], "no name for a baseline"),
        (&["baseline", "remove", "none"], "host baseline list"),
        (&["doctor", "--comparisons", "3"], "--noise"),
    ] {
        host(&world, arguments).exits_with(2).tells(text);
    }
}
