//! Which figure counts: commands that were asked one after the other about the same database give one answer.

use serde_json::{Value, json};
use skillbench_tests::{Ran, World};

const ASKED: [&str; 8] = ["--plugin", "cpu", "--model", "probe-mlp", "--bench", "inference", "--batch-sizes", "1"];

const OPTION: &str = "graph_optimization=disable";
const LABEL: &str = "cpu (graph_optimization=disable)";

fn rows(ran: &Ran) -> Vec<Value> {
    serde_json::from_str(&ran.exits_with(0).stdout()).expect("rows")
}

/// Measured, measured with an option, and tried again in vain.
fn world() -> (World, [Value; 3]) {
    let world = World::default();
    let (first, one) = world.run(&ASKED);
    first.exits_with(0);
    let (second, two) = world.run(&[&ASKED[..], &["--option", OPTION]].concat());
    second.exits_with(0);
    let (third, three) = world.run(&[&ASKED[..], &["--timeout", "0.001"]].concat());
    third.exits_with(4);
    (world, [one, two, three].map(|run| run["run_id"].clone()))
}

#[test]
fn seven_commands_give_the_figure_of_the_measurement_and_name_the_option_and_the_newer_try() {
    let (world, [measured, with_option, failed]) = world();
    let failed = failed.as_str().unwrap();

    let sql = "SELECT run, options, newer_run, newer_outcome FROM latest_benchmarks ORDER BY options NULLS FIRST";
    let found = rows(&world.host(&["query", sql, "--format", "json"]));
    let plain = json!({"run": measured, "options": null, "newer_run": failed, "newer_outcome": "timed-out"});
    let set = json!({"run": with_option, "options": OPTION, "newer_run": null, "newer_outcome": null});
    assert_eq!(found, [plain, set]);

    let report = world.host(&["report", "--all", "--format", "markdown"]).exits_with(0).stdout();
    assert!(report.contains("2 of 2 cells measured") && report.contains("newer try failed"), "{report}");
    assert!(report.contains(LABEL) && report.contains("(since then timed-out)"), "{report}");

    let matrix = world.host(&["matrix"]).exits_with(0).stdout();
    assert!(matrix.contains(LABEL) && matrix.contains("1 cell did not succeed when tried again"), "{matrix}");

    let ranked = rows(&world.host(&["recommend", "--model", "probe-mlp", "--format", "json"]));
    let of =
        |hardware: &str| ranked.iter().find(|row| row["hardware"] == hardware).unwrap_or_else(|| panic!("{ranked:?}"));
    assert_eq!((&of("cpu")["run"], &of(LABEL)["run"]), (&measured, &with_option));
    assert_eq!(of("cpu")["newer_try"], format!("timed-out in {failed}"));
    assert!(ranked.iter().all(|row| row["rank"].is_u64()));

    let predicted = rows(&world.host(&["predict", "--model", "probe-mlp", "--batch-size", "1", "--format", "json"]));
    let latency = |hardware: &str| {
        let row = predicted.iter().find(|row| row["hardware"] == hardware && row["quantity"] == "latency");
        row.unwrap_or_else(|| panic!("{predicted:?}")).clone()
    };
    assert_eq!(
        (&latency("cpu")["measured"], &latency(LABEL)["measured"]),
        (&of("cpu")["figure"], &of(LABEL)["figure"])
    );
    assert_eq!(latency("cpu")["newer_try"], format!("timed-out in {failed}"));

    let again = world.host(&[&["run"][..], &ASKED, &["--incremental"]].concat());
    again
        .exits_with(0)
        .tells("nothing to do: the database has figures of all 1 cells")
        .tells("a newer try did not succeed: timed-out");
    let missing = world.host(&[&["run"][..], &ASKED, &["--incremental", "--option", OPTION]].concat());
    missing.exits_with(0).tells("nothing to do");

    let stale = rows(&world.host(&["update", "--dry-run", "--older-than", "0", "--format", "json"]));
    let runs: Vec<(&Value, &Value)> = stale.iter().map(|row| (&row["run"], &row["options"])).collect();
    assert_eq!(runs.len(), 2, "{stale:?}");
    assert!(runs.contains(&(&measured, &Value::Null)) && runs.contains(&(&with_option, &json!(OPTION))), "{stale:?}");
}

#[test]
fn runs_with_other_options_are_compared_only_where_that_is_asked_for() {
    let (world, [measured, with_option, _]) = world();
    let sides = [measured.as_str().unwrap(), with_option.as_str().unwrap()];
    let refused = world.host(&["compare", sides[0], sides[1], "--format", "json"]);
    let refused: Value = serde_json::from_str(&refused.stdout()).unwrap();
    assert_eq!(refused["cells"][0]["reason"]["code"], "options", "{refused}");
    let compared = world.host(&["compare", sides[0], sides[1], "--across", "options", "--format", "json"]);
    let compared: Value = serde_json::from_str(&compared.stdout()).unwrap();
    let labels = compared["cells"][0]["labels"].as_array().unwrap();
    assert!(labels.contains(&json!(format!("options the defaults against {OPTION}"))), "{compared}");
}

#[test]
fn containers_of_one_machine_keep_one_baseline_where_it_is_named() {
    let world = World::apart();
    let named = |arguments: &[&str]| {
        let output = world.command(arguments).env("SKILLBENCH_MACHINE", "rack-7").output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output
    };
    let asked = ["run", "--plugin", "rten", "--model", "probe-mlp", "--bench", "inference", "--batch-sizes", "1"];
    named(&[&asked[..], &["--save-baseline", "night"]].concat());
    let listed = named(&["baseline", "list", "--format", "json"]).stdout;
    let listed: Value = serde_json::from_slice(&listed).unwrap();
    assert_eq!((&listed[0]["name"], &listed[0]["here"]), (&json!("night"), &json!(true)));
    world.host(&["baseline", "remove", "night"]).exits_with(2).tells("no baseline");
    let sql = "SELECT DISTINCT machine FROM benchmark_results";
    assert_eq!(rows(&world.host(&["query", sql, "--format", "json"])), [json!({"machine": "rack-7"})]);
}
