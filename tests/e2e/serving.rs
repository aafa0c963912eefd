//! Requests that arrive: at a rate, all at once, and at the largest rate that keeps a limit.

use serde_json::Value;
use skillbench_testkit::graphs::{of_two_axes, sign_of_columns_beyond, write};
use skillbench_testkit::skipped;
use skillbench_tests::{World, built_library, cells};

const CELL: [&str; 6] = ["--plugin", "rten", "--model", "probe-mlp", "--threads", "1"];

/// So slow that the lateness of a busy machine is nothing against the waits.
const SLOW: [&str; 4] = ["--batch-sizes", "8", "--batch-wait", "100"];

/// The cell of a run. Beside other tests requests may be issued too late: such a session is void, and a user would run it again.
fn cell(world: &World, asked: &[&str]) -> Value {
    let batch: &[&str] = if asked.contains(&"--batch-sizes") { &[] } else { &["--batch-sizes", "1"] };
    let arguments = [&["run", "--format", "json"], &CELL[..], batch, asked].concat();
    let run = || {
        let ran = world.host(&arguments);
        let document: Value = serde_json::from_str(&ran.stdout())
            .unwrap_or_else(|error| panic!("no document: {error}\n{}", ran.stderr()));
        assert_eq!(cells(&document).len(), 1, "one plugin, one model, one benchmark: {document:#}");
        document["cells"][0].clone()
    };
    let is_void = |cell: &Value| cell["reason"]["message"].as_str().is_some_and(|told| told.starts_with("void: "));
    let mut cell = run();
    for _ in 0..2 {
        if is_void(&cell) {
            cell = run();
        }
    }
    cell
}

#[test]
fn all_requests_at_once_show_how_many_a_second_are_served() {
    let world = World::default();
    let cell = cell(&world, &["--scenario", "offline", "--budget", "0.6"]);
    assert_eq!(cell["outcome"], "measured", "{cell:#}");
    let metrics = &cell["metrics"];
    let rate = metrics["throughput_per_s"].as_f64().unwrap();
    let busy = metrics["serving"]["utilization"].as_f64().unwrap();
    assert!(rate > 100.0 && busy > 0.5, "{metrics:#}");
    assert_eq!(cell["options"]["scenario"], "offline");
}

#[test]
fn a_core_is_kept_for_the_thread_that_issues_requests_where_there_is_one() {
    let world = World::default();
    let load = ["--rate", "40", "--arrivals", "constant", "--budget", "3", "--generator-cores"];
    let apart = cell(&world, &[&load[..], &["1"], &SLOW].concat());
    let reason = apart["reason"].to_string();
    if reason.contains("this machine has 1") || reason.contains("does not tell its cores") {
        return skipped("a machine keeps one of several cores, where its system tells them");
    }
    assert_eq!(
        (&apart["outcome"], &apart["options"]["generator_cores"]),
        (&"measured".into(), &"1".into()),
        "{apart:#}"
    );
    assert!(apart["implausible"].is_null(), "nothing of the worker is where requests are issued: {apart:#}");
    // Nobody said how many threads: as many as there are cores left.
    let all = ["run", "--format", "json", "--plugin", "rten", "--model", "probe-mlp", "--batch-sizes", "1"];
    let threads = |more: &[&str]| {
        let ran = world.host(&[&all[..], &["--budget", "1", "--scenario", "offline"], more].concat());
        let document: Value = serde_json::from_str(&ran.stdout()).unwrap();
        document["cells"][0]["threads"].as_u64().unwrap()
    };
    let (with, without) = (threads(&["--generator-cores", "1"]), threads(&[]));
    assert!(with < without, "{with} of {without}");
    assert!(apart["options"]["generator_processors"].is_null(), "which ones is no part of the measurement: {apart:#}");
    let own = [&["run"], &CELL[..], &["--rate", "40", "--option", "serving:generator_processors=0"]].concat();
    world.host(&own).exits_with(2).tells("is what --generator-cores says");
}

#[test]
fn a_cell_is_held_against_the_rules_of_mlperf_and_says_which_it_breaks() {
    let world = World::default();
    let load = ["--mlperf", "--rate", "40", "--slo", "latency.p90<=10s", "--budget", "3", "--limit", "mlperf_valid>=1"];
    let server = cell(&world, &[&load[..], &SLOW].concat());
    assert_eq!((&server["outcome"], &server["options"]["mlperf"]), (&"measured".into(), &"on".into()), "{server:#}");
    let judged = &server["metrics"]["mlperf"];
    assert_eq!((&judged["scenario"], &judged["valid"]), (&"Server".into(), &false.into()), "{judged:#}");
    let why = judged["why"].to_string();
    assert!(why.contains("less than the 600 s of the rule") && why.contains("a limit is on p90"), "{why}");
    let stream = cell(&world, &["--mlperf", "--budget", "0.5"]);
    let judged = &stream["metrics"]["mlperf"];
    assert_eq!((&judged["scenario"], &judged["unit"]), (&"SingleStream".into(), &"ms".into()), "{stream:#}");
    // The whole budget, and no less.
    let why = judged["why"].as_array().unwrap();
    assert!(why.len() == 1 && why[0].to_string().contains("less than the 600 s of the rule"), "{judged:#}");
    let search = cell(&world, &["--mlperf", "--slo", "latency.p99<=10s"]);
    assert!(search["reason"].to_string().contains("no search"), "{search:#}");
}

#[test]
fn users_who_wait_for_their_answers_ask_no_more_than_they_can() {
    let world = World::default();
    let loop_of = ["--option", "serving:users=4", "--option", "serving:think_ms=100", "--arrivals", "constant"];
    let cell = cell(&world, &[&loop_of[..], &["--budget", "4", "--slo", "latency.p50<=10s"], &SLOW].concat());
    assert_eq!(cell["outcome"], "measured", "{cell:#}");
    assert_eq!((&cell["options"]["users"], &cell["options"]["think_ms"]), (&"4".into(), &"100".into()));
    // Each thinks for 100 ms, and waits for others as long.
    let [per_s, waited] = ["/serving/issued_per_s", "/latency_ms/median"].map(|path| {
        cell["metrics"].pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("{path}: {cell:#}"))
    });
    // Before they wait for each other they come sooner.
    assert!((10.0..=30.0).contains(&per_s), "{per_s}");
    assert!((20.0..=150.0).contains(&waited), "{waited}");
    assert_eq!(cell["metrics"]["serving"]["slo_kept"], true, "{cell:#}");
}

#[test]
fn users_who_ask_too_seldom_for_a_figure_are_told_how_long_it_takes() {
    let loop_of = ["--option", "serving:users=2", "--option", "serving:think_ms=5000", "--budget", "3"];
    let seldom = cell(&World::default(), &loop_of);
    let why = seldom["reason"]["message"].as_str().unwrap();
    assert!(why.contains("option users: 2 of them ask about 0.4 times") && why.contains("a figure needs 12"), "{why}");
    assert!(why.contains("a shorter think_ms"), "{why}");
}

#[test]
fn requests_of_one_item_are_served_together_as_far_as_the_batch_has_room() {
    let world = World::default();
    let load = ["--rate", "40", "--arrivals", "constant", "--budget", "3"];
    let cell = cell(&world, &[&load[..], &SLOW].concat());
    assert_eq!(cell["outcome"], "measured", "{cell:#}");
    assert_eq!((&cell["axes"]["batch"], &cell["axes"]["batch_wait_us"]), (&Value::from(8), &Value::from(100_000)));
    let metrics = &cell["metrics"];
    let together = metrics["serving"]["requests_per_run"].as_f64().unwrap();
    // Four come in 100 ms, and the first of them is there already.
    assert!((3.0..=8.0).contains(&together), "{metrics:#}");
    let per_s = metrics["throughput_per_s"].as_f64().unwrap();
    assert!((25.0..=45.0).contains(&per_s), "a request is one item, however large the batch: {per_s}");
    let waited = metrics["latency_ms"]["median"].as_f64().unwrap();
    assert!((20.0..=150.0).contains(&waited), "the wait for others is in the latency: {waited}");
    assert!(metrics["efficiency"].is_null(), "operations over a wait are no rate: {metrics:#}");
}

#[test]
fn a_rate_that_changes_over_time_keeps_its_mean_and_says_whether_limits_are_kept() {
    let world = World::default();
    let load =
        ["--rate", "60", "--slo", "latency.p50<=10s", "--budget", "3", "--option", "serving:over_time=steps:1,5"];
    let cell = cell(&world, &[&load[..], &SLOW, &["--limit", "slo_kept>=1"]].concat());
    assert_eq!(cell["outcome"], "measured", "{cell:#}");
    assert_eq!(cell["options"]["over_time"], "steps:1,5", "another measurement than one at a steady rate");
    let serving = &cell["metrics"]["serving"];
    let per_s = serving["issued_per_s"].as_f64().unwrap();
    assert!((50.0..=70.0).contains(&per_s), "{serving:#}");
    let table = world.shell("cat results/*/summary.csv").exits_with(0).stdout();
    assert!(table.contains("slo_kept") && table.contains(",yes,"), "{table}");
    let steady = self::cell(&world, &["--slo", "latency.p99<=1s", "--option", "serving:over_time=ramp:1-2"]);
    assert!(steady["reason"].to_string().contains("a search needs steady ones"), "{steady:#}");
    let no_rates = ["--rate", "9", "--option", "serving:over_time=ramp:1"];
    world.host(&[&["run"], &CELL[..], &no_rates].concat()).exits_with(2).tells("steps:RATE,RATE");
}

/// A trace with a request each 20 ms for a second, and one 200 ms later.
fn trace(lengths: &str) -> String {
    let header = if lengths.is_empty() { "time_s" } else { "time_s,input_length,output_length" };
    let at = (0..50).map(|number| f64::from(number) * 0.02).chain([1.2]);
    at.fold(format!("{header}\n"), |all, at| format!("{all}{at}{lengths}\n"))
}

#[test]
fn requests_of_a_trace_come_when_they_came_and_what_it_holds_is_part_of_the_measurement() {
    let world = World::apart();
    world.write("trace.csv", trace(""));
    let load = [&["--option", "serving:trace=trace.csv", "--budget", "4"], &SLOW[..]].concat();
    let one = cell(&world, &load);
    assert_eq!(one["outcome"], "measured", "{one:#}");
    let serving = &one["metrics"]["serving"];
    let requests = serving["requests"].as_u64().unwrap();
    assert!(requests >= 51 && requests.is_multiple_of(51), "all of it in each session: {serving:#}");
    let named = one["options"]["trace"].as_str().unwrap();
    assert!(named.starts_with("sha256-"), "{named}");
    let generator = serving["generator_cores"].as_f64().unwrap();
    assert!(generator > 0.0 && generator < 1.1, "{serving:#}");
    // As fast again, and another trace under the same name.
    let faster = cell(&world, &[&load[..], &["--rate", "50"]].concat());
    assert_eq!((&faster["options"]["trace"], &faster["axes"]["rate"]), (&one["options"]["trace"], &50.into()));
    assert_eq!(faster["outcome"], "measured", "{faster:#}");
    world.write("trace.csv", trace("").replace("\n1.2\n", "\n1.1\n"));
    assert_ne!(cell(&world, &load)["options"]["trace"], one["options"]["trace"]);
    world.host(&["plot", "--kind", "timeline", "--output-dir", "drawn"]).exits_with(0);
    let drawn: Vec<_> = std::fs::read_dir(world.path().join("drawn")).unwrap().flatten().collect();
    let of = |figure: &str| drawn.iter().filter(|file| file.file_name().to_string_lossy().contains(figure)).count();
    // Where the system tells what a worker has, that is drawn too, and more of a machine with sensors.
    let told = cfg!(target_os = "linux");
    assert_eq!((of("-load."), of("-memory.")), (2, if told { 2 } else { 0 }), "each as SVG and PNG: {drawn:?}");
    assert!(drawn.len() >= 4, "latency and load at least: {drawn:?}");
    for (text, wanted) in [("time_s\n2\n1\n".into(), "line 3: the time goes back"), (trace("") + "9\n", "--budget 27,")]
    {
        world.write("trace.csv", text);
        let told = cell(&world, &load)["reason"].to_string();
        assert!(told.contains(wanted), "{told}");
    }
    let nowhere = ["--option", "serving:trace=nowhere.csv"];
    world.host(&[&["run"], &CELL[..], &nowhere].concat()).exits_with(2).tells("nowhere.csv cannot be read");
}

#[test]
fn requests_of_a_trace_are_as_long_as_they_were() {
    let world = World::apart();
    world.write("trace.csv", trace(",5,3"));
    let asked = ["--plugin", "rten", "--model", "llama-tiny", "--threads", "1", "--batch-sizes", "2"];
    // A long limit: what is late on a busy machine is still within it.
    let trace = ["--option", "serving:trace=trace.csv", "--rate", "25", "--slo", "ttft.p50<=60s", "--budget", "9"];
    let told = |lengths: [&str; 4]| {
        let run = world.host(&[&["run", "--format", "json"], &asked[..], &trace, &lengths].concat());
        serde_json::from_str::<Value>(&run.stdout()).unwrap()["cells"][0].clone()
    };
    let cell = told(["--prompt-lengths", "8", "--new-tokens", "4"]);
    assert_eq!(cell["outcome"], "measured", "{cell:#}");
    let serving = &cell["metrics"]["serving"];
    let requests = serving["requests"].as_u64().unwrap();
    assert_eq!(serving["tokens"]["tokens"].as_u64(), Some(3 * requests), "{cell:#}");
    let short = told(["--prompt-lengths", "4", "--new-tokens", "4"])["reason"].to_string();
    assert!(short.contains("--prompt-lengths 5 --new-tokens 3"), "{short}");
}

#[test]
fn requests_of_several_sizes_are_verified_and_audited_at_each() {
    let world = World::default();
    let all = ["run", "--plugin", "rten", "--model", "bert-tiny", "--threads", "1", "--batch-sizes", "1"];
    let run = |asked: &[&str]| {
        let ran = world.host(&[&all[..], asked, &["--format", "json"]].concat());
        serde_json::from_str::<Value>(&ran.stdout()).unwrap_or_else(|_| panic!("{}", ran.stderr()))["cells"].clone()
    };
    // All at once: nothing is late, however busy the machine is.
    let offline = ["--scenario", "offline", "--budget", "2"];
    let sizes = ["--option", "serving:sizes=sequence:8,8,256"];
    let cells = run(&[&offline[..], &sizes, &["--sequence-lengths", "8,256"]].concat());
    let largest =
        "requests of several sizes are measured by the cell of the largest: ask for sequence 256 in place of 8";
    assert_eq!(cells[0]["reason"]["message"], largest, "{cells:#}");
    let mixed = &cells[1];
    assert_eq!(
        (&mixed["outcome"], &mixed["verification"]["status"]),
        (&"measured".into(), &"passed".into()),
        "{mixed:#}"
    );
    assert_eq!(mixed["options"]["sizes"], "sequence:8,8,256", "other sizes are another measurement");
    let [inputs, after_last, rounds] = ["inputs", "after_last", "rounds_of"]
        .map(|figure| mixed["audit"][figure].as_u64().unwrap_or_else(|| panic!("{mixed:#}")));
    assert!(inputs - after_last > rounds, "each size is audited in a round, not one of them: {mixed:#}");
    // Two of three are short: half of all take less than the long ones alone, and some as long.
    let alone = run(&[&offline[..], &["--sequence-lengths", "256"]].concat());
    let service = |cell: &Value, figure: &str| {
        let path = format!("/metrics/serving/service_ms/{figure}");
        cell.pointer(&path).and_then(Value::as_f64).unwrap_or_else(|| panic!("{path}: {cell:#}"))
    };
    assert!(service(mixed, "median") < 0.6 * service(&alone[0], "median"), "{mixed:#} {alone:#}");
    assert!(service(mixed, "max") > 0.6 * service(&alone[0], "median"), "{mixed:#} {alone:#}");

    let reason = |asked: &[&str]| run(&[asked, &["--budget", "1"]].concat())[0]["reason"].to_string();
    let of = |sizes: &'static str| ["--rate", "5", "--sequence-lengths", "64", "--option", sizes];
    assert!(reason(&of("serving:sizes=frames:8,64")).contains("has no axis 'frames'"));
    assert!(reason(&of("serving:sizes=sequence:64,64")).contains("is the only one"));
    assert!(reason(&of("serving:sizes=batch:1,1,8")).contains("the batch is how many items a request has"));
    assert!(reason(&of("serving:sizes=rate:2,5")).contains("no input of the model has the axis 'rate'"));
    let stream = ["--bench", "serving", "--sequence-lengths", "64", "--option", "serving:sizes=sequence:8,64"];
    assert!(reason(&stream).contains("one after the other have one size"));
    let beyond = ["--rate", "5", "--sequence-lengths", "99999", "--option", "serving:sizes=sequence:8,99999"];
    assert!(reason(&beyond).contains("outside what the model takes"));
    world.host(&[&all[..], &of("serving:sizes=sequence")].concat()).exits_with(2);
}

#[test]
fn a_backend_that_is_wrong_at_one_size_of_several_gets_no_figure() {
    let world = World::default();
    let library = built_library("misbehave_fixture");
    world
        .write("config/registry.toml", format!("version = 1\n[[plugin]]\nid = \"misbehave\"\nlibrary = {library:?}\n"));
    let model = write(world.path(), of_two_axes());
    let offline = [
        "--scenario",
        "offline",
        "--batch-sizes",
        "2",
        "--sequence-lengths",
        "64",
        "--budget",
        "1",
        "--format",
        "json",
    ];
    let run = |options: &[&str]| {
        let asked = ["run", "--plugin", "misbehave", "--model", model.to_str().unwrap()];
        let sizes = ["--option", "serving:sizes=sequence:4,64"];
        let ran = world.host(&[&asked[..], &sizes, &offline, options].concat());
        serde_json::from_str::<Value>(&ran.stdout()).unwrap_or_else(|_| panic!("{}", ran.stderr()))["cells"][0].clone()
    };
    let well = run(&[]);
    assert_eq!((&well["outcome"], &well["verification"]["status"]), (&"measured".into(), &"passed".into()), "{well:#}");
    // At once, and only when it is timed.
    for (from, where_it_is) in [("1", "at batch=2 sequence=4, output 'y'"), ("50", "")] {
        let from = format!("misbehave:from={from}");
        let wrong = run(&["--option", "misbehave:how=short", "--option", &from]);
        assert_eq!(wrong["outcome"], "wrong", "{from}: {wrong:#}");
        assert!(wrong["reason"]["message"].as_str().unwrap().contains(where_it_is), "{wrong:#}");
    }
}

#[test]
fn an_engine_that_is_alone_with_what_it_gives_at_one_size_is_outvoted_there() {
    let world = World::default();
    let model = write(world.path(), sign_of_columns_beyond(4.0));
    let asked = ["run", "--plugin", "rten,cpu", "--model", model.to_str().unwrap(), "--threads", "1"];
    let sizes = ["--option", "serving:sizes=sequence:4,64", "--batch-sizes", "1", "--sequence-lengths", "64"];
    let offline = ["--scenario", "offline", "--budget", "1", "--format", "json"];
    let ran = world.host(&[&asked[..], &sizes, &offline].concat());
    let document: Value = serde_json::from_str(&ran.stdout()).unwrap_or_else(|_| panic!("{}", ran.stderr()));
    let [rten, cpu] = cells(&document).as_slice() else { panic!("{document:#}") };
    assert_eq!((&rten["outcome"], &cpu["outcome"]), (&"wrong".into(), &"measured".into()), "{document:#}");
    let told = rten["reason"]["message"].as_str().unwrap();
    assert!(told.contains("at batch=1 sequence=4, output 'y'") && told.contains("agree within"), "{told}");
    let dissent = &cpu["verification"]["dissent"][0];
    assert!(dissent["reference"].as_str().unwrap().starts_with("rten"), "{cpu:#}");
    assert!(dissent["max_relative_difference"].as_f64().unwrap() > 0.1, "{cpu:#}");
    let by_size = cpu["audit"]["inputs_by_size"].as_object().unwrap();
    let of = |size: &str| by_size[size].as_u64().unwrap_or_default();
    assert!(by_size.len() == 2 && of("model") > 0 && of("model at batch=1 sequence=4") > 0, "{by_size:#?}");
}

#[test]
fn the_doctor_says_how_late_requests_are_issued_here_and_which_latencies_that_tells() {
    let world = World::default();
    let told = world.host(&["doctor", "--generator", "100,2000", "--format", "json"]);
    let rows: Value = serde_json::from_str(&told.exits_with(0).stdout()).unwrap();
    let rows = rows.as_array().unwrap();
    assert_eq!(rows.iter().map(|row| row["rate_per_s"].as_u64().unwrap()).collect::<Vec<_>>(), [100, 2_000]);
    for row in rows {
        let of = |name: &str| row[name].as_f64().unwrap_or_else(|| panic!("{name} of {row:#}"));
        assert!(of("late_median_us") < 1e6 && of("generator_cores") > 0.0, "{row:#}");
        // 20 us are allowed beside any latency, and that is a twentieth of the least that is told.
        let from = &row["tells_median_from_us"];
        assert!(from.is_null() || from.as_f64().unwrap() > 400.0, "{row:#}");
    }
    let all = world.host(&["bench", "run", "--budget", "0.05"]);
    all.exits_with(0).tells("generator is left out: name it, and give it --option generator:rate=");
    let run = ["bench", "run", "generator", "--option", "generator:rate=50", "--budget", "0.6"];
    world.host(&run).exits_with(0);
    let kept = ["query", "SELECT lateness_median_ms > 0 AS late, generator_cores > 0 AS worked FROM benchmark_results"];
    world.host(&[&kept[..], &["--format", "csv"]].concat()).exits_with(0).tells("true,true");
    world.host(&["doctor", "--generator", "0"]).exits_with(2);
    world.host(&["bench", "run", "serving"]).exits_with(2).tells("host run --bench serving");
}

#[test]
fn a_limit_that_no_rate_keeps_gives_no_figure_and_says_what_was_seen() {
    let world = World::default();
    let cell = cell(&world, &["--slo", "latency.p99<=1ns", "--budget", "2"]);
    assert_eq!(cell["outcome"], "failed", "{cell:#}");
    let told = cell["reason"].to_string();
    assert!(told.contains("no rate keeps the limit") || told.contains("void"), "{told}");
}

#[test]
fn a_target_that_is_overloaded_is_not_tried_with_smaller_batches() {
    let world = World::default();
    let asked = ["--plugin", "rten", "--model", "bert-tiny", "--sequence-lengths", "512", "--threads", "1"];
    // More than a thread serves of them in the session and the time after it.
    let load = ["--rate", "1000", "--batch-sizes", "4", "--budget", "2"];
    let ran = world.host(&[&["run", "--format", "json"], &asked[..], &load].concat());
    let document: Value = serde_json::from_str(&ran.stdout()).unwrap();
    ran.exits_with(4);
    assert_eq!(cells(&document).len(), 1, "{document:#}");
    // Beside other tests requests may be issued too late.
    let reason = &cells(&document)[0]["reason"];
    let message = reason["message"].as_str().unwrap();
    assert!(message.contains("overloaded") || message.contains("void"), "{reason:#}");
    assert!(!message.contains("a batch of"), "{reason:#}");
    assert_ne!(reason["code"], "out-of-memory");
}

#[test]
fn sequences_that_arrive_make_tokens_alone_and_side_by_side() {
    let world = World::default();
    let asked = ["--plugin", "rten,cpu", "--model", "llama-tiny", "--threads", "1", "--batch-sizes", "1,3"];
    // Long limits: what is late on a busy machine is still within them.
    let load = ["--rate", "6", "--slo", "ttft.p50<=60s,tpot.p50<=60s", "--prompt-lengths", "8", "--new-tokens", "4"];
    let (ran, document) = world.run(&[&asked[..], &load].concat());
    ran.exits_with(0);
    assert_eq!(cells(&document).len(), 4);
    for cell in cells(&document) {
        assert_eq!((&cell["benchmark"], &cell["skill"]), (&"generation-serving".into(), &"llama-tiny-kv".into()));
        assert_eq!(cell["verification"]["status"], "passed");
        let serving = &cell["metrics"]["serving"];
        let tokens = &serving["tokens"];
        let requests = serving["requests"].as_u64().unwrap();
        assert_eq!(tokens["tokens"], 4 * requests);
        let mean = |name: &str| tokens[name]["mean"].as_f64().unwrap_or_else(|| panic!("{name} of {tokens:#}"));
        let latency = cell["metrics"]["latency_ms"]["mean"].as_f64().unwrap();
        assert!(((mean("ttft_ms") + 3.0 * mean("tpot_ms")) / latency - 1.0).abs() < 1e-3, "{serving:#}");
        assert!((mean("itl_ms") / mean("tpot_ms") - 1.0).abs() < 1e-3, "all requests make as many tokens");
        assert!(mean("ttft_from_issue_ms") <= mean("ttft_ms"));
        assert_eq!(serving["within_slo"], 1.0, "{serving:#}");
        assert_eq!(serving["slo_kept"], true, "of a median seven requests say so: {serving:#}");
    }
}

#[test]
fn a_search_that_could_show_no_capacity_says_how_long_it_would_have_to_be() {
    let world = World::default();
    let told = |asked: &[&str]| cell(&world, asked)["reason"].to_string();
    // Sessions of 50 ms: whatever the rate, no queue grows to a second in them.
    let short = told(&["--slo", "latency.p99<=1s", "--budget", "2"]);
    assert!(short.contains("ask for --budget 800"), "{short}");
    let tokens = ["--model", "llama-tiny", "--new-tokens", "4", "--prompt-lengths", "8"];
    let alone = world
        .host(&[&["run", "--format", "json", "--plugin", "rten"], &tokens[..], &["--slo", "tpot.p99<=1s"]].concat());
    let document: Value = serde_json::from_str(&alone.stdout()).unwrap();
    let told = document["cells"][0]["reason"].to_string();
    assert!(told.contains("tpot alone does not limit"), "{told}");
}

#[test]
fn limits_of_tokens_are_for_the_benchmark_that_makes_them() {
    let world = World::default();
    // The benchmark of items has no tokens, and the one that has is taken in its place.
    let asked =
        ["--bench", "serving", "--model", "llama-tiny", "--plugin", "rten", "--rate", "2", "--slo", "ttft.p99<=60s"];
    let more = ["--prompt-lengths", "8", "--new-tokens", "2", "--budget", "2"];
    let told = world.host(&[&["run"], &asked[..], &more].concat()).exits_with(0).stdout();
    assert!(["generation-serving", "ttft (ms)", "tpot (ms)"].iter().all(|text| told.contains(text)), "{told}");
    let none = world.host(&[&["run"], &CELL[..], &["--slo", "ttft.p99<=60s"]].concat());
    none.exits_with(4).tells("makes no tokens");
}

#[test]
fn what_says_nothing_is_refused_before_or_told_as_the_reason() {
    let world = World::default();
    for asked in [&["--bench", "inference", "--rate", "5"][..], &["--rate", "0"], &["--rate", "0.0001"]] {
        world.host(&[&["run"], &CELL[..], asked].concat()).exits_with(2);
    }
    for asked in
        [&["--bench", "inference", "--batch-wait", "5"][..], &["--batch-wait", "-1"], &["--batch-wait", "0.0001"]]
    {
        world.host(&[&["run"], &CELL[..], asked].concat()).exits_with(2);
    }
    let together = cell(&world, &["--scenario", "offline", "--batch-wait", "2", "--budget", "0.5"]);
    assert!(together["reason"].to_string().contains("arrive one by one"), "{together:#}");
    let limit = world.host(&[&["run"], &CELL[..], &["--slo", "latency.p99<=20parsecs"]].concat());
    limit.exits_with(2).tells("such as latency.p99<=20ms");
    world.host(&[&["run"], &CELL[..], &["--rate", "9", "--arrivals", "now and then"]].concat()).exits_with(2);
    let cell = cell(&world, &["--bench", "serving", "--scenario", "server", "--budget", "0.5"]);
    assert!(cell["reason"].to_string().contains("needs a rate"), "{cell:#}");
}
