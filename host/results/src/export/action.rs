//! The form that `github-action-benchmark` takes of tools it does not know: a list of figures, each with its name, its unit and its 95% interval. It takes
//! lists of which all are better in one direction, so that a run has two: `customSmallerIsBetter`, `customBiggerIsBetter`.

use super::tracked;
use serde_json::{Value, json};
use skillbench_record::catalog::Better;
use skillbench_record::{Cell, Run, shown};

/// `None`: no figure of the run that may be believed is better that way.
pub fn json(run: &Run, better: Better) -> Option<Value> {
    let mut all = vec![];
    for cell in tracked::cells(run) {
        for figure in cell.figures().filter(|figure| figure.metric.better == better) {
            let mut entry = json!({
                "name": format!("{}: {}", cell.name, figure.metric.label),
                "unit": figure.metric.unit,
                "value": figure.value,
                "extra": extra(run, cell.cell),
            });
            if let Some([low, high]) = figure.ci95 {
                entry["range"] = json!(format!("{} to {} (95%)", shown::number(low), shown::number(high)));
            }
            all.push(entry);
        }
    }
    (!all.is_empty()).then_some(Value::Array(all))
}

/// What the figures are worth, and where they are from.
fn extra(run: &Run, cell: &Cell) -> String {
    let trust = cell.trust().map_or("", |trust| trust.name());
    let stable = if cell.stable { "stable" } else { "not stable" };
    format!("trust: {trust}\n{stable}\nrun: {}", run.run_id)
}
