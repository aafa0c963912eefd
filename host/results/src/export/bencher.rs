//! Bencher Metric Format: each cell under its name, each figure under its measure's, with its 95% interval. Times are in nanoseconds, memory in bytes,
//! what happens a second in that, energy in joules. One direction or the other is what is set for a measure there.

use super::tracked;
use serde_json::{Map, Value, json};
use skillbench_record::Run;

/// `None`: nothing of the run may be believed.
pub fn json(run: &Run) -> Option<Value> {
    let mut benchmarks = Map::new();
    for cell in tracked::cells(run) {
        let mut measures = Map::new();
        for figure in cell.figures() {
            let factor = figure.tracked.factor;
            let mut measure = Map::from_iter([("value".to_string(), json!(figure.value * factor))]);
            if let Some([low, high]) = figure.ci95 {
                measure.insert("lower_value".into(), json!(low * factor));
                measure.insert("upper_value".into(), json!(high * factor));
            }
            measures.insert(figure.tracked.measure.clone(), Value::Object(measure));
        }
        if !measures.is_empty() {
            benchmarks.insert(cell.name, Value::Object(measures));
        }
    }
    (!benchmarks.is_empty()).then_some(Value::Object(benchmarks))
}
