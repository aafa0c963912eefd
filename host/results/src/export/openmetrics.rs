//! OpenMetrics: each metric a family, each cell a sample of it, at the time of its run; and `skillbench_cell_info`, which says how every cell ended, also
//! of those that have no figure. Times are in seconds and memory in bytes, as the format wants.

use super::key;
use skillbench_record::catalog::{self, Metric};
use skillbench_record::{Cell, Run, Trust, options_text, time};
use std::collections::BTreeSet;
use std::fmt::Write;

/// A name of the catalogue ends in its unit; what the format calls that, and how many of it are one there.
const UNITS: [(&str, &str, &str, f64); 3] =
    [("ms", "_ms", "seconds", 1e3), ("MiB", "_mb", "bytes", 1.0 / 1_048_576.0), ("J", "_j", "joules", 1.0)];

/// How a metric is called there, its unit, where the format has one for it, and how many of the catalogue's are one of those.
fn family(metric: &Metric) -> (String, Option<&'static str>, f64) {
    let known = UNITS.iter().find(|(unit, ..)| *unit == metric.unit);
    match known.and_then(|(_, ending, name, many)| Some((metric.id.strip_suffix(ending)?, name, many))) {
        Some((stem, name, many)) => (format!("skillbench_{stem}_{name}"), Some(name), *many),
        None => (format!("skillbench_{}", metric.id), None, 1.0),
    }
}

/// Of a whole run.
pub fn text(run: &Run) -> String {
    let at = time::moment(&run.started_at).map(|micros| format!(" {}", micros / 1_000_000)).unwrap_or_default();
    let cells = labelled(run);
    let mut text = String::from("# TYPE skillbench_cell info\n# HELP skillbench_cell How each cell ended.\n");
    for (cell, labels) in &cells {
        let mut labels = labels.clone();
        labels.push(("outcome", cell.outcome.name().into()));
        labels.extend(cell.outcome.reason().map(|reason| ("reason_code", reason.code.clone())));
        let _ = writeln!(text, "skillbench_cell_info{{{}}} 1{at}", written(&labels));
    }
    for metric in catalog::metrics() {
        let (name, unit, many) = family(metric);
        let mut samples = String::new();
        for (cell, labels) in cells.iter().filter(|(cell, _)| cell.trust() != Some(Trust::Implausible)) {
            let value = cell.outcome.metrics().and_then(metric.value).filter(|value| value.is_finite());
            if let Some(value) = value {
                let _ = writeln!(samples, "{name}{{{}}} {}{at}", written(labels), value / many);
            }
        }
        if samples.is_empty() {
            continue;
        }
        let _ = writeln!(text, "# TYPE {name} gauge");
        if let Some(unit) = unit {
            let _ = writeln!(text, "# UNIT {name} {unit}");
        }
        let _ = writeln!(text, "# HELP {name} {}.\n{samples}", escaped(metric.label), samples = samples.trim_end());
    }
    text + "# EOF\n"
}

type Labels = Vec<(&'static str, String)>;

/// Every cell with what tells it from others. Of two that are alike the later has its place in the plan.
fn labelled(run: &Run) -> Vec<(&Cell, Labels)> {
    let mut seen = BTreeSet::new();
    let one = |cell| {
        let mut labels = labels(run, cell);
        if !seen.insert(labels.clone()) {
            labels.push(("cell", cell.index.to_string()));
        }
        (cell, labels)
    };
    run.cells.iter().map(one).collect()
}

/// Those that have something to say.
fn labels(run: &Run, cell: &Cell) -> Labels {
    let number = |number: Option<u64>| number.map(|number| number.to_string());
    let point = if cell.is_function() { None } else { Some(key(&cell.axes)) };
    let beside = cell.parallel.as_ref().map(|parallel| parallel.beside.join(", "));
    let all = [
        ("machine", run.environment.hostname.clone()),
        ("model", Some(cell.skill.clone())),
        ("plugin", Some(cell.plugin.clone())),
        ("device", Some(cell.device.clone())),
        ("benchmark", Some(cell.benchmark.clone())),
        ("point", point),
        ("precision", cell.precision().or(cell.precision_requested.as_deref()).map(String::from)),
        ("threads", number(cell.threads)),
        ("workers", number(cell.workers)),
        ("options", options_text(&cell.options)),
        ("beside", beside),
        ("trust", cell.trust().map(|trust| trust.name().to_string())),
    ];
    let said = |(name, value): (_, Option<String>)| Some((name, value.filter(|value| !value.is_empty())?));
    all.into_iter().filter_map(said).collect()
}

fn written(labels: &[(&str, String)]) -> String {
    let one = |(name, value): &(&str, String)| format!("{name}=\"{}\"", escaped(value));
    labels.iter().map(one).collect::<Vec<String>>().join(",")
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
