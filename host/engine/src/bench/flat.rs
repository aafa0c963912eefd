//! The flat result: one JSON object of names and numbers, and a CSV of success rates, as other tools read them.
//!
//! Times are in seconds, memory in mebibytes, medians where there are many samples. What is not known is null.

use serde::Serialize;
use serde_json::{Map, Value, json};
use skillbench_record::shown;
use skillbench_record::{Cell, Metrics, Outcome, Run};

/// How many benchmarks were measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Summary {
    pub total_benchmarks: u64,
    pub successful_runs: u64,
    pub failed_runs: u64,
    /// Successful over all, 0 to 1; `None` of none.
    pub success_rate: Option<f64>,
}

impl Summary {
    pub fn of<'r>(cells: impl IntoIterator<Item = &'r Cell>) -> Summary {
        let (mut total, mut successful) = (0, 0);
        for cell in cells {
            total += 1;
            successful += u64::from(cell.outcome.metrics().is_some());
        }
        Summary {
            total_benchmarks: total,
            successful_runs: successful,
            failed_runs: total - successful,
            success_rate: (total > 0).then(|| successful as f64 / total as f64),
        }
    }
}

/// The models of the functions, each once, in their order; those of no model come last.
fn models(run: &Run) -> Vec<Option<&str>> {
    let mut models: Vec<Option<&str>> = vec![];
    for cell in functions(run) {
        if !models.contains(&model(cell)) {
            models.push(model(cell));
        }
    }
    // Stable: the order of the others stays.
    models.sort_by_key(Option::is_none);
    models
}

fn functions(run: &Run) -> impl Iterator<Item = &Cell> {
    run.cells.iter().filter(|cell| cell.is_function())
}

fn model(cell: &Cell) -> Option<&str> {
    cell.about.as_deref()
}

/// Of a whole run; `model` where all its benchmarks are about one.
pub fn json(run: &Run) -> Value {
    match models(run)[..] {
        [Some(model)] => of(run, Some(model), functions(run)),
        _ => of(run, None, functions(run)),
    }
}

/// One result for each model, and one for the benchmarks of none.
pub fn json_by_model(run: &Run) -> Vec<(Option<String>, Value)> {
    let one = |wanted: Option<&str>| {
        let own = functions(run).filter(|cell| model(cell) == wanted);
        (wanted.map(String::from), of(run, wanted, own))
    };
    models(run).into_iter().map(one).collect()
}

fn of<'r>(run: &Run, model: Option<&str>, cells: impl Iterator<Item = &'r Cell>) -> Value {
    let cells: Vec<&Cell> = cells.collect();
    let mut flat = Map::new();
    flat.insert("timestamp".into(), json!(run.started_at));
    if let Some(model) = model {
        flat.insert("model".into(), json!(model));
    }
    let by_name: Map<String, Value> = cells.iter().map(|cell| (cell.benchmark.clone(), result(cell))).collect();
    flat.insert("results".into(), Value::Object(by_name));
    flat.insert("summary".into(), json!(Summary::of(cells.iter().copied())));
    Value::Object(flat)
}

/// The numbers of a measured benchmark; of any other, how it ended and why.
fn result(cell: &Cell) -> Value {
    match &cell.outcome {
        Outcome::Measured(metrics) => numbers(metrics),
        other => json!({
            "status": other.name(),
            "error": other.reason().map(|reason| &reason.message),
        }),
    }
}

fn numbers(metrics: &Metrics) -> Value {
    let seconds = |ms: f64| ms * 1e-3;
    let memory = &metrics.memory_mb;
    let used = memory.load_peak.zip(memory.before).map(|(first, before)| first - before).filter(|used| *used >= 0.0);
    let first = metrics.init_ms.first_inference.as_ref();
    let mut flat = Map::new();
    flat.insert("status".into(), json!("success"));
    flat.insert("execution_time".into(), json!(metrics.latency_ms.as_ref().map(|stats| seconds(stats.median))));
    flat.insert("memory_used_mb".into(), json!(used));
    flat.insert("throughput".into(), json!(metrics.throughput_per_s));
    flat.insert("cpu_time".into(), json!(metrics.cpu_ms.as_ref().map(|stats| seconds(stats.median))));
    flat.insert("first_execution".into(), json!(first.map(|stats| seconds(stats.median))));
    for (name, series) in &metrics.series {
        let value = if series.kind == "duration" { series.stats.median * 1e-9 } else { series.stats.median };
        let ours = ["execution_time", "first_execution"].contains(&name.as_str()) && series.kind == "duration";
        // A name that the host gives another meaning: both are kept.
        let free = if flat.contains_key(name) { format!("series.{name}") } else { name.clone() };
        if !ours {
            flat.insert(free, json!(value));
        }
    }
    Value::Object(flat)
}

/// One row for each model, and one for the benchmarks of none.
pub fn csv(run: &Run) -> String {
    let mut text = String::from("Model,Total Benchmarks,Successful Runs,Failed Runs,Success Rate,Timestamp\n");
    for wanted in models(run) {
        let own = functions(run).filter(|cell| model(cell) == wanted);
        let Summary { total_benchmarks, successful_runs, failed_runs, success_rate } = Summary::of(own);
        let rate = success_rate.map(|rate| format!("{rate:.4}")).unwrap_or_default();
        text += &shown::csv::row([
            wanted.unwrap_or_default().to_string(),
            total_benchmarks.to_string(),
            successful_runs.to_string(),
            failed_runs.to_string(),
            rate,
            run.started_at.clone(),
        ]);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use skillbench_record::{FUNCTION, MemoryMetrics, RUN_SCHEMA, Reason, SeriesMetrics};
    use skillbench_stats::summarize;

    fn series(kind: &str, values: &[f64]) -> SeriesMetrics {
        SeriesMetrics {
            unit: "ns".into(),
            kind: kind.into(),
            higher_is_better: None,
            items_per_sample: 1.0,
            rounds: 1,
            stable: true,
            stopped_by: None,
            stats: summarize(values, 1.0).unwrap(),
        }
    }

    fn measured() -> Outcome {
        Outcome::Measured(Box::new(Metrics {
            latency_ms: summarize(&[2.0, 4.0, 9.0], 1.0),
            throughput_per_s: Some(250.0),
            memory_mb: MemoryMetrics { before: Some(4.0), load_peak: Some(5.5), ..MemoryMetrics::default() },
            series: [
                ("execution_time".to_string(), series("duration", &[2e6, 4e6, 9e6])),
                ("part".to_string(), series("duration", &[1e9])),
                ("exponent".to_string(), series("ratio", &[1.25])),
                ("throughput".to_string(), series("rate", &[7.0])),
            ]
            .into(),
            ..Metrics::default()
        }))
    }

    fn run(results: &[(&str, Option<&str>, Outcome)]) -> Run {
        let one = |(id, model, outcome): &(&str, Option<&str>, Outcome)| Cell {
            benchmark: id.to_string(),
            about: model.map(String::from),
            family: FUNCTION.into(),
            outcome: outcome.clone(),
            ..Cell::blank()
        };
        Run {
            schema: RUN_SCHEMA.into(),
            run_id: "it".into(),
            started_at: "2026-01-02T03:04:05Z".into(),
            command: vec![],
            seed: 42,
            environment: crate::environment::probe(),
            left_out: Default::default(),
            cells: results.iter().map(one).collect(),
        }
    }

    fn crashed() -> Outcome {
        Outcome::Crashed(Reason::new("signal", "the worker was killed by SIGSEGV"))
    }

    #[test]
    fn a_measured_benchmark_has_its_numbers_in_seconds_and_null_where_there_is_none() {
        let flat = json(&run(&[("run_a", None, measured())]));
        let result = &flat["results"]["run_a"];
        assert_eq!(result["execution_time"], json!(4e-3));
        assert_eq!((&result["memory_used_mb"], &result["throughput"]), (&json!(1.5), &json!(250.0)));
        assert_eq!((&result["part"], &result["exponent"]), (&json!(1.0), &json!(1.25)));
        assert!(result["cpu_time"].is_null() && result.get("cpu_time").is_some());
        assert!(flat.get("model").is_none() && flat["timestamp"] == "2026-01-02T03:04:05Z");
    }

    #[test]
    fn a_series_under_a_name_of_the_hosts_is_kept_beside_it() {
        let flat = json(&run(&[("run_a", None, measured())]));
        assert_eq!(flat["results"]["run_a"]["series.throughput"], json!(7.0));
        assert!(flat["results"]["run_a"].get("series.execution_time").is_none());
    }

    #[test]
    fn a_failed_benchmark_has_a_status_and_an_error_and_no_number() {
        let flat = json(&run(&[("run_a", None, crashed())]));
        let result = flat["results"]["run_a"].as_object().unwrap();
        assert_eq!(result["status"], "crashed");
        assert_eq!(result["error"], "the worker was killed by SIGSEGV");
        assert_eq!(result.len(), 2);
    }

    #[test]
    fn the_summary_counts_what_was_measured_against_all() {
        let flat = json(&run(&[("run_a", Some("gpt2"), measured()), ("run_b", Some("gpt2"), crashed())]));
        let wanted = json!({"total_benchmarks": 2, "successful_runs": 1, "failed_runs": 1, "success_rate": 0.5});
        assert_eq!((&flat["summary"], &flat["model"]), (&wanted, &json!("gpt2")));
        assert!(json(&run(&[]))["summary"]["success_rate"].is_null());
    }

    #[test]
    fn the_table_has_a_row_for_each_model_and_one_for_the_rest() {
        let run = run(&[
            ("run_a", None, measured()),
            ("run_b", Some("bert-tiny"), measured()),
            ("run_c", Some("bert-tiny"), measured()),
            ("run_d", Some("odd, name"), crashed()),
        ]);
        let wanted = "Model,Total Benchmarks,Successful Runs,Failed Runs,Success Rate,Timestamp\n\
            bert-tiny,2,2,0,1.0000,2026-01-02T03:04:05Z\n\
            \"odd, name\",1,0,1,0.0000,2026-01-02T03:04:05Z\n\
            ,1,1,0,1.0000,2026-01-02T03:04:05Z\n";
        assert_eq!(csv(&run), wanted);
        let models: Vec<_> = json_by_model(&run).into_iter().map(|(model, _)| model.unwrap_or_default()).collect();
        assert_eq!(models, ["bert-tiny", "odd, name", ""]);
    }
}
