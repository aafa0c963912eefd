//! What backends offer beside plain runs: a queue, times of their own, and operators one by one.

use skillbench_tests::{World, outcomes, workspace};

#[test]
fn a_queue_of_the_backend_takes_the_place_of_workers_and_is_an_axis() {
    let world = World::default();
    let asked =
        ["--plugin", "openvino", "--model", "probe-mlp", "--batch-sizes", "2", "--bench", "throughput-inference"];
    let (ran, document) = world.run(&[&asked[..], &["--dim", "queue_depth=4"]].concat());
    if outcomes(&document) == ["unavailable"] {
        eprintln!("skipped: OpenVINO is not installed; scripts/test installs it");
        return;
    }
    ran.exits_with(0);
    let cell = &document["cells"][0];
    assert_eq!((&cell["axes"]["queue_depth"], cell["workers"].as_u64()), (&4.into(), None));
    assert!(cell["metrics"]["concurrent_per_s"].as_f64() > Some(0.0), "{cell}");
}

#[test]
fn a_backend_without_a_queue_says_so_and_a_number_that_no_benchmark_takes_is_refused() {
    let world = World::default();
    let asked = ["--plugin", "rten", "--model", "probe-mlp", "--batch-sizes", "2", "--bench", "throughput-inference"];
    let (ran, document) = world.run(&[&asked[..], &["--dim", "queue_depth=4"]].concat());
    ran.exits_with(4);
    assert_eq!(outcomes(&document), ["unsupported"]);
    world
        .host(&[&["run"], &asked[..], &["--dim", "queue_depths=4"]].concat())
        .exits_with(2)
        .tells("no dimension 'queue_depths'");
    world.host(&[&["run"], &asked[..], &["--dim", "queue_depth=999"]].concat()).exits_with(2).tells("queue_depth");
    world.host(&[&["run"], &asked[..], &["--dim", "workers=2"]].concat()).exits_with(2).tells("--concurrent-workers");
}

#[test]
fn a_backend_that_computes_within_the_call_tells_its_device_time() {
    let (ran, document) = World::default().run(&[
        "--plugin",
        "rten",
        "--model",
        "probe-mlp",
        "--batch-sizes",
        "2",
        "--bench",
        "inference",
    ]);
    ran.exits_with(0);
    let measured = &document["cells"][0]["metrics"];
    // Of a round the mean is told, which may be more than the median of its runs and never more than the longest.
    let (longest, device) = (&measured["latency_ms"]["max"], &measured["device_ms"]["median"]);
    assert!(device.as_f64() > Some(0.0) && device.as_f64() <= longest.as_f64(), "{device} of {longest}");
}

#[test]
fn operators_are_climbed_one_by_one_and_an_unknown_one_is_refused_with_the_nearest() {
    let world = World::default();
    let text = world.host(&["plugin", "ladder", "rten", "--operators", "Add,Relu", "--format", "json"]).stdout();
    let told: serde_json::Value = serde_json::from_str(&text).unwrap();
    let cases = told[0]["cases"].as_array().unwrap();
    let is = |name: &str, verdict: &str| cases.iter().any(|case| case["case"] == name && case["verdict"] == verdict);
    assert!(is("add_f32", "right") && is("relu_f16", "refused"), "{text}");
    world.host(&["plugin", "ladder", "rten", "--operators", "Convv"]).exits_with(2).tells("did you mean Conv");
    world.host(&["plugin", "ladder", "rten", "--operators", "If"]).exits_with(2).tells("no case of If");
}

#[test]
fn copies_to_a_device_and_back_are_told_apart_from_its_work() {
    let asked = ["--plugin", "webgpu", "--model", "probe-mlp", "--batch-sizes", "64", "--bench", "inference"];
    let (ran, document) = World::default().run(&asked);
    if outcomes(&document) == ["unavailable"] {
        eprintln!("skipped: the WebGPU provider is not installed; scripts/test installs it");
        return;
    }
    ran.exits_with(0);
    let measured = &document["cells"][0]["metrics"];
    let of = |name: &str, what: &str| measured[name][what].as_f64().unwrap_or_else(|| panic!("{name}: {measured:#}"));
    let parts = ["host_to_device_ms", "device_ms", "device_to_host_ms"].map(|name| of(name, "median"));
    assert!(parts.iter().all(|part| *part > 0.0), "{parts:?}");
    assert!(parts.iter().sum::<f64>() <= of("latency_ms", "max"), "{parts:?}");
}

/// On a device without float16 the products in it are refused in their first run, when the graph is loaded already.
#[test]
fn the_roofline_leaves_out_what_is_refused_in_a_run_and_has_the_rates_of_copies() {
    let (ran, document) = World::default().run(&["--plugin", "webgpu", "--bench", "roofline"]);
    if outcomes(&document) == ["unavailable"] {
        eprintln!("skipped: the WebGPU provider is not installed; scripts/test installs it");
        return;
    }
    ran.exits_with(0);
    let series = &document["cells"][0]["metrics"]["series"];
    for name in ["peak.float32", "peak.host_to_device", "peak.device_to_host"] {
        assert!(series[name]["stats"]["median"].as_f64() > Some(0.0), "{name}: {series:#}");
    }
}

/// Builds the backend in C with one text in place of another, as `libchanged.so` in a world of its own.
fn changed(from: &str, to: &str) -> World {
    with_changes(&[(from, to)])
}

fn with_changes(changes: &[(&str, &str)]) -> World {
    let world = World::default();
    let fixture = workspace().join("tests/fixtures/c-backend");
    for entry in std::fs::read_dir(fixture).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap().replace("@NAME@", "changed").replace("@IDENT@", "changed");
        let text = changes.iter().fold(text, |text, (from, to)| text.replace(from, to));
        world.write(path.file_name().unwrap().to_str().unwrap(), text);
    }
    world.write("skillbench.h", std::fs::read(workspace().join("plugin-api/include/skillbench.h")).unwrap());
    assert!(world.shell("make -s").stderr().is_empty());
    world
}

/// What a rule says of the backend in C with one text in place of another.
fn checked(rule: &str, from: &str, to: &str) -> String {
    checked_with(rule, &[(from, to)])
}

fn checked_with(rule: &str, changes: &[(&str, &str)]) -> String {
    let world = with_changes(changes);
    let told = world.host(&["plugin", "check", "./libchanged.so", "--format", "csv"]).stdout();
    let line = told.lines().find(|line| line.contains(rule)).unwrap_or("not applicable");
    line.to_string()
}

#[test]
fn copies_that_are_none_and_memory_that_is_shared_break_the_rule_about_it() {
    let memory = |from: &str, to: &str| checked("device-memory", from, to);
    let copy = "memcpy((char *)to->data + to->byte_offset, (const char *)from->data + from->byte_offset, size);";
    assert!(memory("", "").contains(",kept,"));
    assert!(memory(copy, "").contains("is not what it was when `copy` was called"));
    let shared = "static char all[4096]; made->owned.tensor.data = all;";
    let line = memory("made->owned.tensor.data = made->data;", shared);
    assert!(line.contains("changes another one") || line.contains("is not what it was"), "{line}");
    let line = memory("|| !is_alike(from, to))", "|| (is_alike(from, to), 0))");
    assert!(line.contains("of another"), "{line}");
}

#[test]
fn a_cache_of_compiled_code_that_is_told_and_not_kept_breaks_the_rule_about_it() {
    let told = "placement.cache_hit = SB_UNKNOWN;";
    let cache = |to: &str| checked("compiled-cache", told, to);
    assert_eq!(cache(told), "not applicable");
    assert!(cache("placement.cache_hit = 0;").contains("writes none into the folder"));
    assert!(cache("placement.cache_hit = 1;").contains("the first load, with an empty folder"));
}

#[test]
fn a_model_that_is_loaded_onto_several_devices_is_measured_as_on_one_that_is_called_by_all_their_names() {
    let world = changed("", "");
    let library = world.path().join("libchanged.so");
    world.write("config/registry.toml", format!("version = 1\n[[plugin]]\nid = \"changed\"\nlibrary = {library:?}\n"));
    let run = |device: &str| {
        let plugin = format!("changed:{device}");
        world.run(&["--plugin", &plugin, "--model", "probe-mlp", "--bench", "inference"])
    };
    let (ran, document) = run("cpu1+cpu0");
    ran.exits_with(0);
    let cell = &document["cells"][0];
    assert_eq!(cell["placement"]["device"], "cpu1+cpu0", "{cell:#}");
    assert_eq!(cell["hardware"]["name"], "2 x The CPU, in plain C", "{cell:#}");
    run("cpu0+cpu0").0.exits_with(5).tells("asked for twice");
    run("cpu0+cpu2").0.exits_with(5).tells("there is no device 'cpu2'; there is: cpu0, cpu1");
}

#[test]
fn a_model_that_is_not_on_all_the_devices_that_it_tells_breaks_the_rule_about_them() {
    let several = |from: &str, to: &str| checked("several-devices", from, to);
    assert!(several("", "").contains(",kept,"));
    let told = "model->device_count > 1 ?";
    assert!(several(told, "model->device_count > 2 ?").contains("tells that it is on 'cpu1'"));
    let twice = "load->devices[i] == load->devices[0] || ";
    assert!(several(twice, "").contains("named twice is not refused"));
    let copied = "memcpy(to, made->data, element_count(made) * sizeof(float));";
    let spoiled = format!("{copied} if (request->engine != request->model->engines[0]) to[0] += 1;");
    assert!(several(copied, &spoiled).contains("other outputs than on one"));
}

/// A sensor whose truth is known: 10 W always, and 0.2 J for each run of a model, however long the machine makes it wait; it moves every
/// 100 ms, as NVIDIA's driver does.
const SLOW_SENSOR: &str = r#"
uint64_t runs;

static sb_status read_power(sb_instance *instance, uint32_t device, sb_energy *out, sb_error *error)
{
  static uint64_t last, told;
  uint64_t tick = host_now(instance->host) / 100000000u;
  sb_energy energy;
  (void)device;
  (void)error;
  if (tick != last) {
    last = tick;
    told = tick * 1000000u + __atomic_load_n(&runs, __ATOMIC_RELAXED) * 200000u;
  }
  memset(&energy, 0, sizeof energy);
  energy.size = sizeof energy;
  energy.scope = SB_SCOPE_DEVICE;
  energy.microjoules = told;
  energy.at_ns = energy.period_ns = SB_UNKNOWN;
  strcpy(energy.source, "known");
  fill(out, &energy, sizeof energy);
  return SB_OK;
}

static const sb_power power = {sizeof(sb_power), 0, read_power};

static const void *extension(sb_instance *instance, const char *id)
{
  (void)instance;
  return strcmp(id, SB_POWER) == 0 ? &power : NULL;
}

#define OPTIONS_SCHEMA"#;

#[test]
fn a_sensor_that_cannot_be_read_while_a_model_runs_breaks_the_rule_about_it() {
    let first = "/* Requests: tensors that";
    let headers = format!("#define _POSIX_C_SOURCE 200809L\n#include <time.h>\n{first}");
    let end = "measured.end_ns = host_now(host);";
    let busy = format!("runs = 1; nanosleep(&(struct timespec){{0, 2000000}}, NULL); runs = 0; {end}");
    let told = |sensor: &str| {
        checked_with(
            "sensors-meanwhile",
            &[
                ("#define OPTIONS_SCHEMA", sensor),
                ("NULL,                       /* extension */", "extension,"),
                (end, &busy),
                ("/* request.c */", "extern uint64_t runs;"),
                (first, &headers),
            ],
        )
    };
    assert_eq!(checked("sensors-meanwhile", "", ""), "not applicable");
    let kept = told(SLOW_SENSOR);
    assert!(kept.contains(",kept,"), "{kept}");
    let refuses = SLOW_SENSOR.replace("(void)error;", "if (runs) return SB_INTERNAL;\n  (void)error;");
    let broken = told(&refuses);
    assert!(broken.contains("while runs are under way"), "{broken}");
}

#[test]
fn a_sensor_that_moves_seldom_gets_rounds_of_its_own_and_tells_what_is_true() {
    let end = "measured.end_ns = host_now(host);";
    // Sleep is what a busy machine stretches least: runs that take alike are what a figure demands.
    let pause = "nanosleep(&(struct timespec){0, 5000000}, NULL);";
    let counted = format!("{pause} __atomic_fetch_add(&runs, 1, __ATOMIC_RELAXED); {end}");
    let first = "/* Requests: tensors that";
    let world = with_changes(&[
        ("#define OPTIONS_SCHEMA", SLOW_SENSOR),
        ("NULL,                       /* extension */", "extension,"),
        (end, &counted),
        ("/* request.c */", "extern uint64_t runs;"),
        (first, &format!("#define _POSIX_C_SOURCE 200809L\n#include <time.h>\n{first}")),
    ]);
    let library = world.path().join("libchanged.so");
    world.write("config/registry.toml", format!("version = 1\n[[plugin]]\nid = \"changed\"\nlibrary = {library:?}\n"));
    let asked = ["--plugin", "changed:cpu0", "--model", "probe-mlp", "--batch-sizes", "64", "--bench", "inference"];
    let (ran, document) = world.run(&asked);
    ran.exits_with(0);
    let metrics = &document["cells"][0]["metrics"];
    let energy = &metrics["energy"];
    assert!(energy["reason"].is_null(), "{energy:#}");
    // Three rounds of two seconds; those that were measured took less than one.
    assert!(energy["seconds"].as_f64() > Some(4.0) && energy["seconds"].as_f64() < Some(20.0), "{energy:#}");
    assert!(metrics["throughput_per_s"].as_f64().is_some(), "{metrics:#}");
    let joules = metrics["energy_j_per_item"].as_f64().unwrap() * 64.0;
    assert!((0.17..=0.23).contains(&joules), "{joules} J for each run: {metrics:#}");
}
