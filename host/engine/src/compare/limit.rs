//! Figures that have to be kept: `latency_ms.p90<=20`.

use crate::document::{Cell, EfficiencyMetrics, EnergyMetrics, GenerationMetrics, InitMetrics, MemoryMetrics, Metrics};
use crate::stats::summarize;
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

/// A figure of `metrics` in `run.json`, by its path, and where it has to lie; of one model, or of all.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    model: Option<String>,
    path: Vec<String>,
    order: Order,
    value: f64,
}

#[derive(Debug, thiserror::Error)]
#[error(
    "limit '{text}': {why}; expected [MODEL:]METRIC<=VALUE, such as latency_ms.p90<=20 or bert-tiny:throughput_per_s>=100"
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

impl FromStr for Limit {
    type Err = LimitError;

    fn from_str(text: &str) -> Result<Limit, LimitError> {
        let wrong = |why: &str| LimitError { text: text.into(), why: why.into() };
        let orders = [("<=", Order::AtMost), (">=", Order::AtLeast), ("<", Order::Below), (">", Order::Above)];
        let found = orders.iter().find_map(|(sign, order)| Some((text.split_once(sign)?, *order)));
        let ((name, value), order) = found.ok_or_else(|| wrong("there is none of <=, >=, < and > in it"))?;
        let value = value.trim().parse::<f64>().ok().filter(|value| value.is_finite());
        let value = value.ok_or_else(|| wrong("what it is held against is no number"))?;
        let (model, metric) = match name.rsplit_once(':') {
            Some((model, metric)) => (Some(model.trim().to_string()), metric),
            None => (None, name),
        };
        let path: Vec<String> = metric.trim().split('.').map(String::from).collect();
        if path.iter().any(String::is_empty) || model.as_ref().is_some_and(String::is_empty) {
            return Err(wrong("a name is missing"));
        }
        known(&path).map_err(|why| wrong(&why))?;
        Ok(Limit { model, path, order, value })
    }
}

/// Whether a cell can have such a figure: one that none can have would be unknown for ever.
///
/// # Errors
/// What is there in its place.
fn known(path: &[String]) -> Result<(), String> {
    let example = example();
    let mut at = &example;
    for name in path {
        // Series and counters have names of their own.
        if at.as_object().is_some_and(serde_json::Map::is_empty) {
            return Ok(());
        }
        at = at.get(name).ok_or_else(|| format!("there is no figure '{name}' among {}", names(at)))?;
    }
    match at.is_number() {
        true => Ok(()),
        false => Err(format!("{} has several figures: {}", path.join("."), names(at))),
    }
}

fn names(of: &Value) -> String {
    let all: Vec<&str> = of.as_object().into_iter().flat_map(|map| map.keys().map(String::as_str)).collect();
    all.join(", ")
}

/// The metrics of a cell that has all of them.
fn example() -> Value {
    let samples: Vec<f64> = (1..1_000).map(f64::from).collect();
    let stats = || summarize(&samples, 1.0);
    let energy =
        EnergyMetrics { source: String::new(), scope: String::new(), joules: 1.0, seconds: 1.0, idle_watts: 1.0 };
    let metrics = Metrics {
        latency_ms: stats(),
        cpu_ms: stats(),
        throughput_per_s: Some(1.0),
        sequential_per_s: Some(1.0),
        concurrent_per_s: Some(1.0),
        concurrent_workers: Some(1),
        speedup_over_sequential: Some(1.0),
        init_ms: InitMetrics {
            import: stats(),
            instantiate: stats(),
            load: stats(),
            read: stats(),
            compile_cold: stats(),
            compile_warm: stats(),
            first_inference: stats(),
        },
        memory_mb: MemoryMetrics {
            before: Some(1.0),
            loaded: Some(1.0),
            peak: Some(1.0),
            average: Some(1.0),
            device_peak: Some(1.0),
        },
        energy_j_per_item: Some(1.0),
        energy: Some(energy),
        generation: Some(GenerationMetrics {
            time_to_first_token_ms: stats(),
            time_per_output_token_ms: stats(),
            time_per_output_token_formula: String::new(),
            inter_token_ms: stats(),
            end_to_end_ms: stats(),
            prefill_tokens_per_s: Some(1.0),
            decode_tokens_per_s: Some(1.0),
            cache_kept_by_backend: Some(true),
        }),
        efficiency: Some(EfficiencyMetrics {
            flops_per_s: Some(1.0),
            share_of_peak_flops: Some(1.0),
            weight_bytes_per_s: Some(1.0),
            share_of_peak_bandwidth: Some(1.0),
            peaks_run: None,
        }),
        ..Metrics::default()
    };
    serde_json::to_value(metrics).unwrap_or_default()
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
        write!(f, "{}{order}{}", self.path.join("."), self.value)
    }
}

impl Limit {
    /// "latency_ms.p90".
    pub fn metric(&self) -> String {
        self.path.join(".")
    }

    pub fn value(&self) -> f64 {
        self.value
    }

    /// Whether it is about this cell.
    pub fn is_about(&self, cell: &Cell) -> bool {
        self.model.as_ref().is_none_or(|model| *model == cell.skill)
    }

    pub fn check(&self, cell: &Cell) -> Checked {
        let Some(metrics) = cell.outcome.metrics() else {
            return Checked::Unknown(format!("the cell is {}", cell.outcome.name()));
        };
        let metrics = serde_json::to_value(metrics).unwrap_or_default();
        let found = self.path.iter().try_fold(&metrics, |at: &Value, name| at.get(name));
        match found.and_then(Value::as_f64) {
            None => Checked::Unknown(match self.path.last() {
                Some(name) if name.starts_with('p') && name[1..].parse::<f64>().is_ok() => {
                    format!("{} needs more samples; raise --iterations", self.path.join("."))
                }
                _ => format!("{} was not measured here", self.path.join(".")),
            }),
            Some(value) => {
                let kept = match self.order {
                    Order::AtMost => value <= self.value,
                    Order::Below => value < self.value,
                    Order::AtLeast => value >= self.value,
                    Order::Above => value > self.value,
                };
                if kept { Checked::Kept(value) } else { Checked::Broken(value) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Outcome, Reason};

    fn cell(outcome: Outcome) -> Cell {
        Cell { skill: "bert-tiny".into(), outcome, ..Cell::blank() }
    }

    fn measured(samples: usize) -> Cell {
        let values: Vec<f64> = (1..=samples).map(|n| n as f64).collect();
        let metrics =
            Metrics { latency_ms: summarize(&values, 1.0), throughput_per_s: Some(50.0), ..Metrics::default() };
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
            ("latencyms.p90<=2", "no figure 'latencyms'"),
            ("latency_ms.medain<=2", "no figure 'medain'"),
            ("latency_ms.p9<=2", "no figure 'p9'"),
            ("latency_ms<=2", "several figures"),
            ("latency_ms.p90<=inf", "no number"),
        ] {
            let told = text.parse::<Limit>().unwrap_err().to_string();
            assert!(told.contains(why) && told.contains("latency_ms.p90<=20"), "{told}");
        }
    }
}
