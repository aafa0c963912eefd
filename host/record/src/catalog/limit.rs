//! Figures that have to be kept: `latency_ms.p90<=20`, or for short `20ms`.

use super::{Better, Metric, metric, metrics, plugin_metrics};
use crate::suggest::nearest;
use crate::{Cell, Metrics};
use serde_json::Value;
use std::fmt;
use std::str::FromStr;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    AtMost,
    Below,
    AtLeast,
    Above,
}

/// What a limit is about.
#[derive(Clone, Debug, PartialEq)]
enum Figure {
    Known(&'static Metric),
    /// What a plugin adds, "series.acme.x" or "counters.acme.x".
    OfPlugin(String),
    /// Another figure of a known set of samples: "init_ms.load.p90".
    Path(Vec<String>),
}

/// A metric, and where it has to lie; of one model, or of all.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    model: Option<String>,
    /// As it was typed.
    name: String,
    figure: Figure,
    order: Order,
    value: f64,
}

#[derive(Debug, thiserror::Error)]
#[error(
    "limit '{text}': {why}; expected [NAME:]METRIC<=VALUE, such as latency_ms.p90<=20 or bert-tiny:throughput_per_s>=100, or for short 20ms, 512MB, 2J or 100/s"
)]
pub struct LimitError {
    text: String,
    why: String,
}

/// What became of a limit on one cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Checked {
    Kept(f64),
    Broken(f64),
    /// The cell has no such figure: too few samples for a percentile, no sensor, or not measured.
    Unknown(String),
}

/// What a value with a unit bounds, where no metric is named, and how large the unit is in that of the metric. Longer units come
/// first: "ms" ends in "s".
const UNITS: [(&str, &str, f64); 10] = [
    ("ms", "latency_ms", 1.0),
    ("/s", "throughput_per_s", 1.0),
    ("s", "latency_ms", 1e3),
    ("GiB", "memory_mb", 1024.0),
    ("GB", "memory_mb", 1024.0),
    ("MiB", "memory_mb", 1.0),
    ("MB", "memory_mb", 1.0),
    ("mJ", ENERGY, 1e-3),
    ("kJ", ENERGY, 1e3),
    ("J", ENERGY, 1.0),
];

const ENERGY: &str = "energy_j_per_item";

impl FromStr for Limit {
    type Err = LimitError;

    fn from_str(text: &str) -> Result<Limit, LimitError> {
        let wrong = |why: &str| LimitError { text: text.into(), why: why.into() };
        let orders = [("<=", Order::AtMost), (">=", Order::AtLeast), ("<", Order::Below), (">", Order::Above)];
        let found = orders.iter().find_map(|(sign, order)| Some((text.split_once(sign)?, *order)));
        let Some(((name, value), order)) = found else {
            return short(text).ok_or_else(|| wrong("there is none of <=, >=, < and > in it"));
        };
        let value = value.trim().parse::<f64>().ok().filter(|value| value.is_finite());
        let value = value.ok_or_else(|| wrong("what it is held against is no number"))?;
        let (model, name) = match name.rsplit_once(':') {
            Some((model, name)) => (Some(model.trim().to_string()), name.trim()),
            None => (None, name.trim()),
        };
        if name.split('.').any(str::is_empty) || model.as_ref().is_some_and(String::is_empty) {
            return Err(wrong("a name is missing"));
        }
        let figure = figure(name).map_err(|why| wrong(&why))?;
        Ok(Limit { model, name: name.into(), figure, order, value })
    }
}

/// "20ms" is `latency_ms<=20`.
fn short(text: &str) -> Option<Limit> {
    let (value, name, scale) =
        UNITS.iter().find_map(|(unit, name, scale)| Some((text.strip_suffix(unit)?, *name, *scale)))?;
    let value = value.trim().parse::<f64>().ok().filter(|value| value.is_finite() && *value > 0.0)?;
    let known = metric(name)?;
    let order = if known.better == Better::Higher { Order::AtLeast } else { Order::AtMost };
    Some(Limit { model: None, name: name.into(), figure: Figure::Known(known), order, value: value * scale })
}

/// What a name means. One that no cell can have would be unknown for ever.
///
/// # Errors
/// What is there in its place.
fn figure(name: &str) -> Result<Figure, String> {
    let name = if name == "energy_j" { ENERGY } else { name };
    if let Some(known) = metric(name) {
        return Ok(Figure::Known(known));
    }
    if name.starts_with("series.") || name.starts_with("counters.") {
        return Ok(Figure::OfPlugin(name.into()));
    }
    let path: Vec<String> = name.split('.').map(String::from).collect();
    match sample_figures().contains(&path.last().map_or("", String::as_str)) && is_of_samples(&path) {
        true => Ok(Figure::Path(path)),
        false => {
            let names: Vec<&str> = metrics().iter().map(|metric| metric.name).collect();
            let near = nearest(name, names.iter().copied());
            let near = if near.is_empty() { names } else { near };
            Err(format!("there is no figure '{name}' among {}", near.join(", ")))
        }
    }
}

/// The figures that every set of samples has.
fn sample_figures() -> [&'static str; 10] {
    ["n", "min", "mean", "median", "p90", "p95", "p99", "max", "std", "mad"]
}

/// Whether the set of samples that a path leads to is one of which the catalogue has a figure.
fn is_of_samples(path: &[String]) -> bool {
    let set = path[..path.len() - 1].join(".");
    metrics().iter().any(|metric| {
        metric.path.rsplit_once('.').is_some_and(|(parent, figure)| parent == set && sample_figures().contains(&figure))
    })
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(model) = &self.model {
            write!(f, "{model}:")?;
        }
        let order = match self.order {
            Order::AtMost => "<=",
            Order::Below => "<",
            Order::AtLeast => ">=",
            Order::Above => ">",
        };
        write!(f, "{}{order}{}", self.name, self.value)
    }
}

impl Limit {
    /// "latency_ms.p90", as it was typed.
    pub fn metric(&self) -> String {
        self.name.clone()
    }

    pub fn value(&self) -> f64 {
        self.value
    }

    /// The metric of the catalogue that it is about; `None`: one that a plugin adds, or another figure of a set of samples.
    pub fn known(&self) -> Option<&'static Metric> {
        if let Figure::Known(metric) = self.figure { Some(metric) } else { None }
    }

    /// The one model that it is about; `None`: all of them.
    pub fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    /// Whether it is about this cell: of the model that it names, or of the function.
    pub fn is_about(&self, cell: &Cell) -> bool {
        let name = if cell.is_function() { &cell.benchmark } else { &cell.skill };
        self.model.as_ref().is_none_or(|model| model == name)
    }

    pub fn check(&self, cell: &Cell) -> Checked {
        let Some(metrics) = cell.outcome.metrics() else {
            return Checked::Unknown(format!("the cell is {}", cell.outcome.name()));
        };
        let Some(value) = self.figure.of(metrics) else {
            let last = self.name.rsplit('.').next().unwrap_or_default();
            return Checked::Unknown(match last.strip_prefix('p').is_some_and(|n| n.parse::<f64>().is_ok()) {
                true => format!("{} needs more samples; raise --iterations", self.name),
                false => format!("{} was not measured here", self.name),
            });
        };
        if self.holds(value) { Checked::Kept(value) } else { Checked::Broken(value) }
    }

    /// Whether a figure between these ends keeps it; `None`: it may or may not.
    pub fn holds_between(&self, low: f64, high: f64) -> Option<bool> {
        let at_low = self.holds(low);
        (at_low == self.holds(high)).then_some(at_low)
    }

    fn holds(&self, value: f64) -> bool {
        match self.order {
            Order::AtMost => value <= self.value,
            Order::Below => value < self.value,
            Order::AtLeast => value >= self.value,
            Order::Above => value > self.value,
        }
    }
}

impl Figure {
    fn of(&self, metrics: &Metrics) -> Option<f64> {
        match self {
            Figure::Known(known) => (known.value)(metrics),
            Figure::Path(path) => {
                let all = serde_json::to_value(metrics).ok()?;
                path.iter().try_fold(&all, |at: &Value, name| at.get(name))?.as_f64()
            }
            Figure::OfPlugin(name) => of_plugin(metrics, name),
        }
    }
}

/// "series.acme.x" is its median, "series.acme.x.max" the most of it; a counter has its mean in place of a median.
fn of_plugin(metrics: &Metrics, name: &str) -> Option<f64> {
    if let Some(path) = name.strip_prefix("series.") {
        if let Some(series) = metrics.series.get(path) {
            return Some(series.stats.median);
        }
        let (series, figure) = path.rsplit_once('.')?;
        let series = metrics.series.get(series).or_else(|| metrics.series.get(series.strip_suffix(".stats")?))?;
        return serde_json::to_value(&series.stats).ok()?.get(figure)?.as_f64();
    }
    let path = name.strip_prefix("counters.")?;
    if let Some(counter) = plugin_metrics(metrics).find(|metric| metric.source == "counter" && metric.name == path) {
        return Some(counter.mean);
    }
    let (counter, figure) = path.rsplit_once('.')?;
    serde_json::to_value(metrics.counters.get(counter)?).ok()?.get(figure)?.as_f64()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Outcome, Reason, SeriesMetrics, Stats};

    fn cell(outcome: Outcome) -> Cell {
        Cell { skill: "bert-tiny".into(), outcome, ..Cell::blank() }
    }

    fn measured(samples: usize) -> Cell {
        let stats = Stats {
            n: samples as u64,
            min: 1.0,
            mean: 2.0,
            median: 2.0,
            p90: None,
            p95: None,
            p99: None,
            max: 3.0,
            std: None,
            mad: 1.0,
            ci95: None,
            outliers: 0,
        };
        let series = SeriesMetrics {
            unit: "1".into(),
            kind: "figure".into(),
            higher_is_better: None,
            items_per_sample: 1.0,
            rounds: 1,
            stable: true,
            stopped_by: None,
            stats: stats.clone(),
        };
        let metrics = Metrics {
            latency_ms: Some(stats),
            throughput_per_s: Some(50.0),
            series: [("acme.cycles".to_string(), series)].into(),
            ..Metrics::default()
        };
        cell(Outcome::Measured(Box::new(metrics)))
    }

    fn limit(text: &str) -> Limit {
        text.parse().unwrap()
    }

    #[test]
    fn a_limit_is_kept_or_broken_by_the_figure_it_names() {
        let cell = measured(3);
        assert_eq!(limit("latency_ms.median<=2").check(&cell), Checked::Kept(2.0));
        assert_eq!(limit("latency_ms.median<2").check(&cell), Checked::Broken(2.0));
        assert_eq!(limit("throughput_per_s >= 60").check(&cell), Checked::Broken(50.0));
        assert_eq!(limit("throughput_per_s>49").check(&cell), Checked::Kept(50.0));
    }

    #[test]
    fn a_figure_that_is_not_there_is_unknown_and_not_kept() {
        let few = limit("latency_ms.p90<=1e9").check(&measured(3));
        assert!(matches!(&few, Checked::Unknown(why) if why.contains("more samples")), "{few:?}");
        assert!(matches!(limit("memory_mb.peak<=1").check(&measured(3)), Checked::Unknown(_)));
        let failed = cell(Outcome::Failed(Reason::new("load", "no")));
        assert_eq!(limit("latency_ms.median<=2").check(&failed), Checked::Unknown("the cell is failed".into()));
    }

    #[test]
    fn a_metric_that_a_plugin_adds_has_limits_too() {
        let cell = measured(3);
        assert_eq!(limit("series.acme.cycles<=2").check(&cell), Checked::Kept(2.0));
        assert_eq!(limit("series.acme.cycles.max<3").check(&cell), Checked::Broken(3.0));
        assert!(matches!(limit("series.acme.stalls<=2").check(&cell), Checked::Unknown(_)));
    }

    #[test]
    fn a_limit_takes_every_name_of_a_metric() {
        for name in ["latency_ms", "latency_ms.median", "latency_median_ms"] {
            assert_eq!(limit(&format!("{name}<=2")).check(&measured(3)), Checked::Kept(2.0), "{name}");
        }
        limit("init_ms.load.p90<=20");
    }

    #[test]
    fn a_value_with_a_unit_is_a_limit_of_the_metric_that_has_it() {
        for (short, long) in [
            ("20ms", "latency_ms<=20"),
            ("0.5 s", "latency_ms<=500"),
            ("2GB", "memory_mb<=2048"),
            ("100/s", "throughput_per_s>=100"),
            ("5mJ", "energy_j_per_item<=0.005"),
        ] {
            assert_eq!(limit(short).to_string(), long);
        }
        for text in ["20", "ms", "-1ms", "infs", ""] {
            assert!(text.parse::<Limit>().unwrap_err().to_string().contains("20ms"), "{text}");
        }
    }

    #[test]
    fn a_limit_inside_of_an_interval_is_neither_kept_nor_broken() {
        assert_eq!(limit("20ms").holds_between(10.0, 15.0), Some(true));
        assert_eq!(limit("20ms").holds_between(21.0, 25.0), Some(false));
        assert_eq!(limit("20ms").holds_between(15.0, 25.0), None);
        assert_eq!(limit("100/s").holds_between(120.0, 150.0), Some(true));
    }

    #[test]
    fn a_limit_may_be_about_one_model() {
        assert!(limit("bert-tiny:latency_ms.p90<=20").is_about(&measured(3)));
        assert!(!limit("resnet-18:latency_ms.p90<=20").is_about(&measured(3)));
        assert_eq!(limit("bert-tiny:latency_ms.p90<=20").to_string(), "bert-tiny:latency_ms.p90<=20");
    }

    #[test]
    fn a_limit_that_says_nothing_is_refused_with_what_was_expected() {
        for (text, why) in [
            ("latency_ms", "none of"),
            ("latency_ms<=fast", "no number"),
            ("latency_ms..p90<=2", "name is missing"),
            (":latency_ms<=2", "name is missing"),
            ("latencyms.p90<=2", "no figure 'latencyms.p90'"),
            ("latency_ms.medain<=2", "no figure 'latency_ms.medain'"),
            ("latency_ms.p9<=2", "no figure 'latency_ms.p9'"),
            ("init_ms<=2", "no figure"),
            ("latency_ms.p90<=inf", "no number"),
        ] {
            let told = text.parse::<Limit>().unwrap_err().to_string();
            assert!(told.contains(why) && told.contains("latency_ms.p90<=20"), "{told}");
        }
    }
}
