//! What of a comparison is worth an alert: a confirmed difference for the worse, beyond the limit where there is one.

use skillbench_engine::alert::{Alert, CellName, Figures, Kind};
use skillbench_record::subject;
use skillbench_stats::compare::{ComparedCell, ComparedMetric, Comparison, Gate, gate};

pub fn alerts(comparison: &Comparison, most: Option<f64>) -> Vec<Alert> {
    let broken = |metric: &&ComparedMetric| match most {
        Some(most) => gate(&metric.metric, &metric.evidence, metric.verdict, most) == Gate::Broken,
        None => metric.verdict.is_worse(),
    };
    let of = |cell: &ComparedCell| -> Vec<Alert> {
        cell.metrics.iter().filter(broken).map(|metric| alert(comparison, cell, metric)).collect()
    };
    comparison.cells.iter().flat_map(of).collect()
}

fn alert(comparison: &Comparison, cell: &ComparedCell, metric: &ComparedMetric) -> Alert {
    let after = &cell.after;
    let name = CellName {
        plugin: after.plugin.clone(),
        device: after.device.clone().unwrap_or_default(),
        model: cell.model.clone(),
        benchmark: cell.benchmark.clone(),
        axes: cell.axes.to_string(),
        precision: after.precision.clone(),
        threads: after.threads.map(|n| n as i64),
        options: after.options.clone(),
        trust: after.trust.map(|trust| trust.name().to_string()).unwrap_or_default(),
    };
    let evidence = &metric.evidence;
    let figures = Figures {
        metric: metric.metric.name.clone(),
        unit: metric.metric.unit.clone(),
        before: Some(evidence.before),
        before_n: Some(evidence.rounds),
        after: Some(evidence.after),
        after_n: Some(evidence.rounds),
        ratio: Some(evidence.ratio),
        ratio_interval: evidence.interval,
        p: evidence.p,
        ..Figures::default()
    };
    let axes = if cell.axes.is_empty() { String::new() } else { format!(" {}", cell.axes) };
    let message = format!(
        "{}{axes}: {} is {} than in {}: {:.4} {unit} against {:.4} {unit}, ratio {:.3} ({})",
        subject(&cell.model, &after.plugin, &cell.benchmark),
        metric.metric.name,
        metric.verdict.name(),
        comparison.before.name,
        evidence.after,
        evidence.before,
        evidence.ratio,
        metric.reason,
        unit = metric.metric.unit,
    );
    let run = metric.run.as_deref().or(comparison.after.run.as_deref()).unwrap_or(&comparison.id);
    Alert::new(Kind::Regression, &comparison.after.machine, name, figures, run, &message)
}
