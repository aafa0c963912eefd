//! The matrix as the file that other tools read. Keys that they do not know stand beside those that they do.

use super::rule::rule;
use super::{Entry, Matrix, Speedup};
use serde_json::{Map, Value, json};

/// The whole file.
pub fn json(matrix: &Matrix) -> Value {
    let families: Map<String, Value> = matrix
        .families
        .iter()
        .map(|family| {
            let models: Map<String, Value> = family
                .models
                .iter()
                .map(|model| {
                    let entries = entries(&model.entries, true);
                    let (parameters, relation) = (model.parameters, &model.relation);
                    let value =
                        json!({"hardware_compatibility": entries, "parameters": parameters, "relation": relation});
                    (model.id.clone(), value)
                })
                .collect();
            let mut value = Map::new();
            value.insert("hardware_compatibility".into(), entries(&family.entries, false));
            if !models.is_empty() {
                value.insert("models".into(), Value::Object(models));
            }
            (family.name.clone(), Value::Object(value))
        })
        .collect();
    json!({
        "timestamp": matrix.timestamp,
        "hardware_types": matrix.hardware,
        "model_families": families,
        "rule": published(),
    })
}

/// The rule, for whoever reads the file alone.
fn published() -> Value {
    let rule = rule();
    let bounds = rule.ratings.iter().map(|rating| {
        json!({"performance_rating": rating.name, "speedup_at_least": rating.at_least, "meaning": rating.meaning})
    });
    json!({"baseline": rule.baseline, "benchmark": rule.benchmark, "ratings": bounds.collect::<Vec<_>>()})
}

fn entries(entries: &[Entry], of_model: bool) -> Value {
    Value::Object(entries.iter().map(|one| (one.hardware.clone(), Value::Object(entry(one, of_model)))).collect())
}

fn entry(entry: &Entry, of_model: bool) -> Map<String, Value> {
    let speedups: Vec<&Speedup> = entry.speedup.iter().chain(&entry.others).collect();
    let mut value = Map::new();
    let mut put = |name: &str, what: Value| drop(value.insert(name.into(), what));
    put("compatible", json!(entry.compatible));
    put("performance_rating", json!(entry.rating));
    // Those of a model stand among its family's, by its name; a file of many runs would be twice as long otherwise.
    if !of_model {
        put("benchmark_results", json!(entry.history));
    }
    put("status", json!(entry.status));
    put("reason", json!(entry.reason));
    put("next_step", json!(entry.next));
    put("emulated", json!(entry.emulated));
    put("verified", json!(entry.verified));
    put("speedup_over_cpu", json!(entry.speedup.as_ref().map(|speedup| speedup.value)));
    put("precision", json!(entry.speedup.as_ref().map(|speedup| &speedup.precision)));
    put("speedups", json!(speedups));
    match of_model {
        true => put("failures", json!(entry.failures)),
        false => put("models", json!(entry.models)),
    }
    value
}
