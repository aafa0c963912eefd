use super::*;
use crate::Stored;
use polars::prelude::*;
use skillbench_stats::compare::Verdict;

/// Cells with 12 rounds of 5 samples each around a latency.
struct Given {
    run: &'static str,
    hostname: &'static str,
    plugin: &'static str,
    precision: &'static str,
    options: Option<&'static str>,
    emulated: bool,
    latency_ms: f64,
    peak: Option<f64>,
}

const BEFORE: Given = Given {
    run: "a",
    hostname: "here",
    plugin: "cpu",
    precision: "float32",
    options: None,
    emulated: false,
    latency_ms: 10.0,
    peak: Some(100.0),
};

impl Given {
    fn key(&self) -> String {
        format!("{}|{}|{}|{:?}", self.hostname, self.plugin, self.precision, self.options)
    }
}

fn stored(given: &[Given]) -> Stored {
    let n = given.len();
    let text = |name: &str, of: fn(&Given) -> &str| Column::new(name.into(), given.iter().map(of).collect::<Vec<_>>());
    let same = |name: &str, value: &str| Column::new(name.into(), vec![value; n]);
    let nothing = |name: &str| Column::new(name.into(), vec![None::<String>; n]);
    let columns = vec![
        text("run", |g| g.run),
        Column::new("timestamp".into(), (0..n as i64).collect::<Vec<_>>()),
        text("hostname", |g| g.hostname),
        same("cpu_model", "one"),
        Column::new("cell".into(), (0..n as i64).collect::<Vec<_>>()),
        text("plugin", |g| g.plugin),
        same("plugin_version", "0.1"),
        same("device_id", "0"),
        Column::new("emulated".into(), given.iter().map(|g| g.emulated).collect::<Vec<_>>()),
        same("model_id", "bert-tiny"),
        same("benchmark", "inference"),
        same("benchmark_version", "0.1"),
        same("axes", "batch=1 sequence=32"),
        nothing("precision_requested"),
        text("precision", |g| g.precision),
        same("engine", "it"),
        Column::new("threads".into(), vec![2_i64; n]),
        nothing("beside"),
        same("outcome", "measured"),
        nothing("reason_code"),
        nothing("reason"),
        same("verified", "yes"),
        Column::new("machine".into(), given.iter().map(|g| g.hostname).collect::<Vec<_>>()),
        Column::new("key".into(), given.iter().map(Given::key).collect::<Vec<_>>()),
        Column::new("attempt".into(), given.iter().map(Given::key).collect::<Vec<_>>()),
        Column::new(
            "trust".into(),
            given.iter().map(|g| if g.emulated { "emulated" } else { "hardware" }).collect::<Vec<_>>(),
        ),
        Column::new("has_figures".into(), vec![true; n]),
        Column::new("options".into(), given.iter().map(|g| g.options).collect::<Vec<_>>()),
        Column::new("workers".into(), vec![None::<i64>; n]),
        same("model_content", "c"),
        Column::new("peak_memory_mb".into(), given.iter().map(|g| g.peak).collect::<Vec<_>>()),
        Column::new("throughput_samples_per_sec".into(), vec![None::<f64>; n]),
    ];
    let (mut run, mut cell, mut round, mut value) = (vec![], vec![], vec![], vec![]);
    for (index, given) in given.iter().enumerate() {
        for at in 1..=12_i64 {
            for i in 0..5 {
                run.push(given.run);
                cell.push(index as i64);
                round.push(at);
                value.push(given.latency_ms * 1e6 * (1.0 + 0.001 * (at % 4) as f64 + 0.0001 * f64::from(i)));
            }
        }
    }
    let n = run.len();
    let samples = vec![
        Column::new("run".into(), run),
        Column::new("cell".into(), cell),
        Column::new("series".into(), vec!["latency"; n]),
        Column::new("unit".into(), vec!["ns"; n]),
        Column::new("round".into(), round),
        Column::new("value".into(), value),
        Column::new("round_cpu_ns".into(), vec![None::<i64>; n]),
        Column::new("round_wall_ns".into(), vec![None::<i64>; n]),
    ];
    let cells = DataFrame::new(given.len(), columns).unwrap();
    Stored {
        runs: vec![],
        cells,
        samples: Some(DataFrame::new(n, samples).unwrap()),
        plugin_metrics: vec![],
        damaged: vec![],
    }
}

fn ask(before: &[Given], after: &[Given], across: Across) -> Vec<ComparedCell> {
    let noise = Noise::default();
    let question = Question { across, noise: &noise, effect: 0.01, metrics: &[], seed: 1 };
    compare(&stored(before), &stored(after), &question).unwrap()
}

fn code(cell: &ComparedCell) -> &str {
    cell.reason.as_ref().map_or("", |reason| &reason.code)
}

#[test]
fn a_difference_beyond_the_noise_of_two_moments_is_told_and_a_smaller_one_is_not() {
    let twice = ask(&[BEFORE], &[Given { run: "b", latency_ms: 20.0, ..BEFORE }], Across::default());
    let latency = &twice[0].metrics[0];
    assert_eq!((latency.verdict, latency.metric.name.as_str()), (Verdict::Slower, "latency_ms"));
    assert!((latency.evidence.ratio - 2.0).abs() < 1e-9 && latency.evidence.rounds == 12);
    let little = ask(&[BEFORE], &[Given { run: "b", latency_ms: 10.4, ..BEFORE }], Across::default());
    assert_eq!(
        little[0].metrics[0].verdict,
        Verdict::Unclear,
        "the assumed noise of two moments is half as much again"
    );
}

#[test]
fn one_figure_of_memory_on_each_side_is_unclear() {
    let more = ask(&[BEFORE], &[Given { run: "b", peak: Some(300.0), ..BEFORE }], Across::default());
    let memory = more[0].metrics.iter().find(|metric| metric.metric == Metric::memory()).unwrap();
    assert_eq!((memory.verdict, memory.evidence.ratio), (Verdict::Unclear, 3.0));
}

#[test]
fn what_is_not_the_same_is_refused_unless_it_is_asked_for_and_then_labelled() {
    let other = || Given { run: "b", precision: "float16", ..BEFORE };
    let found = ask(&[BEFORE], &[other()], Across::default());
    assert_eq!(code(&found[0]), "precision");
    assert!(found[0].reason.as_ref().unwrap().message.contains("--across precision"), "{:?}", found[0].reason);
    let found = ask(&[BEFORE], &[other()], Across { precision: true, ..Across::default() });
    assert_eq!((code(&found[0]), found[0].metrics.is_empty()), ("", false));
    assert!(found[0].labels.contains(&"precision float32 against float16".into()), "{:?}", found[0].labels);

    let there = || Given { run: "b", hostname: "there", ..BEFORE };
    assert_eq!(code(&ask(&[BEFORE], &[there()], Across::default())[0]), "machine");
    let found = ask(&[BEFORE], &[there()], Across { machine: true, ..Across::default() });
    assert!(found[0].labels.iter().any(|label| label.contains("machine here")), "{:?}", found[0].labels);
}

#[test]
fn options_are_compared_only_where_that_is_asked_for_and_are_told() {
    let set = || Given { run: "b", options: Some("graph_optimization=disable"), latency_ms: 30.0, ..BEFORE };
    let found = ask(&[BEFORE], &[set()], Across::default());
    assert_eq!(code(&found[0]), "options");
    let found = ask(&[BEFORE], &[set()], Across { options: true, ..Across::default() });
    assert_eq!(found[0].metrics[0].verdict, Verdict::Slower);
    let told = "options the defaults against graph_optimization=disable".to_string();
    assert!(found[0].labels.contains(&told), "{:?}", found[0].labels);
    let both = ask(&[Given { run: "a", ..set() }], &[set()], Across::default());
    assert_eq!((code(&both[0]), both[0].labels.as_slice()), ("", &["graph_optimization=disable".to_string()][..]));
}

#[test]
fn backends_are_compared_only_across_plugins() {
    let rten = || Given { run: "b", plugin: "rten", latency_ms: 30.0, ..BEFORE };
    let apart = ask(&[BEFORE], &[rten()], Across::default());
    assert_eq!(apart.iter().map(code).collect::<Vec<_>>(), ["only-after", "only-before"], "nothing belongs together");
    let found = ask(&[BEFORE], &[rten()], Across { plugin: true, ..Across::default() });
    assert_eq!((found[0].before.plugin.as_str(), found[0].after.plugin.as_str()), ("cpu", "rten"));
    assert_eq!(found[0].metrics[0].verdict, Verdict::Slower);
}

#[test]
fn across_plugins_options_of_backends_may_differ_and_how_requests_come_may_not() {
    let cpu = || Given { options: Some("cache=off slo=latency.p99<=20ms"), ..BEFORE };
    let against = |options| {
        let rten = Given { run: "b", plugin: "rten", options: Some(options), ..BEFORE };
        code(&ask(&[cpu()], &[rten], Across { plugin: true, ..Across::default() })[0]).to_string()
    };
    assert_eq!(against("prepack=on slo=latency.p99 <= 20ms"), "");
    for other in ["slo=latency.p99<=50ms", "arrivals=gamma:0.5 slo=latency.p99<=20ms", "cache=off"] {
        assert_eq!(against(other), "options", "{other}");
    }
}

#[test]
fn emulated_hardware_is_never_held_against_real_hardware() {
    let across = Across { machine: true, model: true, precision: true, plugin: true, options: true };
    let found = ask(&[BEFORE], &[Given { run: "b", emulated: true, ..BEFORE }], across);
    assert_eq!(code(&found[0]), "trust");
}
