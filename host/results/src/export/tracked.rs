//! `data/tracked.toml`, typed: what services that follow benchmarks over time are given of a run, and the name under which each cell goes on.

use super::key;
use serde::Deserialize;
use skillbench_record::catalog::{self, Metric};
use skillbench_record::{Cell, HardwareLabel, Metrics, Run, Trust, options_text};
use std::collections::BTreeMap;
use std::sync::LazyLock;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Words {
    figure: Vec<Tracked>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Tracked {
    metric: String,
    pub measure: String,
    #[serde(default = "one")]
    pub factor: f64,
    low: Option<String>,
    high: Option<String>,
}

fn one() -> f64 {
    1.0
}

/// What is compiled in. A test reads it, so that a slip in the file cannot ship.
fn words() -> &'static Words {
    static WORDS: LazyLock<Words> =
        LazyLock::new(|| toml::from_str(include_str!("../../data/tracked.toml")).expect("data/tracked.toml is valid"));
    &WORDS
}

/// A figure of a cell, in the catalogue's unit.
pub(super) struct Figure {
    pub tracked: &'static Tracked,
    pub metric: &'static Metric,
    pub value: f64,
    pub ci95: Option<[f64; 2]>,
}

/// A measured cell whose figures may be believed.
pub(super) struct Believed<'r> {
    pub name: String,
    pub cell: &'r Cell,
    metrics: &'r Metrics,
}

/// All of them, in the order of the plan. Of two of one name the later is told apart by its place in it.
pub(super) fn cells(run: &Run) -> impl Iterator<Item = Believed<'_>> {
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    let believed = run.cells.iter().filter(|cell| cell.trust().is_some_and(|trust| trust != Trust::Implausible));
    let measured = believed.filter_map(|cell| Some((cell, cell.outcome.metrics()?)));
    measured.map(move |(cell, metrics)| {
        let name = name(cell);
        let seen = names.entry(name.clone()).or_default();
        *seen += 1;
        let name = if *seen > 1 { format!("{name} (cell {})", cell.index) } else { name };
        Believed { name, cell, metrics }
    })
}

/// All that a figure has to have in common with the one before it, to stand in one line with it: what ran, on what and how, and how far that may be
/// believed. A device that was verified and is no longer goes on under another name.
fn name(cell: &Cell) -> String {
    let trust = match cell.trust() {
        None | Some(Trust::Hardware) => String::new(),
        Some(other) => format!(" [{}]", other.name()),
    };
    let precision = cell.precision().or(cell.precision_requested.as_deref());
    let options = options_text(&cell.options);
    if cell.is_function() {
        let options = options.map(|options| format!(" ({options})")).unwrap_or_default();
        return format!("{}/{}{options}{trust}", cell.plugin, cell.benchmark);
    }
    let beside = cell.parallel.as_ref().map(|parallel| parallel.beside.join(", "));
    let hardware = HardwareLabel {
        plugin: &cell.plugin,
        device: Some(cell.device.as_str()).filter(|device| !device.is_empty()),
        options: options.as_deref(),
        threads: cell.threads,
        workers: cell.workers,
        beside: beside.as_deref().filter(|beside| !beside.is_empty()),
    };
    let parts = [Some(cell.skill.clone()), precision.map(String::from), Some(hardware.to_string())];
    let parts = parts.into_iter().flatten().chain([cell.benchmark.clone(), key(&cell.axes)]);
    parts.collect::<Vec<String>>().join("/") + &trust
}

impl Believed<'_> {
    /// What was measured of it, in the order of the file.
    pub fn figures(&self) -> impl Iterator<Item = Figure> {
        let of = |metric: &Metric| (metric.value)(self.metrics).filter(|value| value.is_finite());
        let bound = move |name: &Option<String>| of(catalog::metric(name.as_deref()?)?);
        words().figure.iter().filter_map(move |tracked| {
            let metric = catalog::metric(&tracked.metric)?;
            let ci95 = bound(&tracked.low).zip(bound(&tracked.high)).map(|(low, high)| [low, high]);
            Some(Figure { tracked, metric, value: of(metric)?, ci95 })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skillbench_record::catalog::Better;
    use std::collections::BTreeSet;

    #[test]
    fn every_figure_is_a_metric_that_can_become_worse_and_its_bounds_are_metrics_in_its_unit() {
        for tracked in &words().figure {
            let metric = catalog::metric(&tracked.metric).unwrap_or_else(|| panic!("{tracked:?}"));
            assert_ne!(metric.better, Better::Neither, "{tracked:?}");
            assert_eq!(tracked.low.is_some(), tracked.high.is_some(), "{tracked:?}");
            for bound in tracked.low.iter().chain(&tracked.high) {
                assert_eq!(catalog::metric(bound).map(|bound| bound.unit), Some(metric.unit), "{bound}");
            }
            assert!(tracked.factor > 0.0 && tracked.measure.len() <= 64, "{tracked:?}");
            assert!(tracked.measure.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'));
        }
        let measures: BTreeSet<&str> = words().figure.iter().map(|tracked| &*tracked.measure).collect();
        assert_eq!(measures.len(), words().figure.len());
    }
}
