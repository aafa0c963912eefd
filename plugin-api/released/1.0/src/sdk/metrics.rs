//! What a benchmark function returns: named figures of one call.

use crate::{Error, Result, SeriesInfo, SeriesKind};
use std::borrow::Cow;
use std::time::Duration;

/// Names of what the host measures itself, so that no function can report its own: time and memory of a call, and what follows.
pub const HOST_METRICS: [&str; 7] =
    ["execution_time", "first_execution", "cpu_time", "memory_used_mb", "throughput", "status", "error"];

/// Which direction of a figure is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    Lower,
    Higher,
    Neither,
}

/// The figures of one call, beside those that the host measures.
///
/// ```
/// use skillbench_plugin_api::sdk::{Better, Metrics};
///
/// let metrics = Metrics::new()
///     .items(10_000)
///     .bytes("index_size", 3 << 20)
///     .with("hit_rate", 0.97, "", Better::Higher);
/// # let _ = metrics;
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[must_use]
pub struct Metrics {
    items: Option<u64>,
    figures: Vec<Figure>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Figure {
    pub name: Cow<'static, str>,
    pub unit: Cow<'static, str>,
    pub kind: SeriesKind,
    pub better: Better,
    pub value: f64,
}

impl Metrics {
    pub fn new() -> Metrics {
        Metrics::default()
    }

    /// How many rows, tokens, bytes ... this call worked on: the host makes `throughput` of it, with its own clock. The same
    /// number in each call; without it, a call is one item.
    pub fn items(mut self, count: u64) -> Metrics {
        self.items = Some(count);
        self
    }

    /// How long a part of the call took; the whole call is timed by the host.
    pub fn duration(self, name: impl Into<Cow<'static, str>>, time: Duration) -> Metrics {
        self.add(name.into(), "ns".into(), SeriesKind::Duration, Better::Lower, time.as_nanos() as f64)
    }

    /// What the function itself counted; the memory of the whole process is measured by the host.
    pub fn bytes(self, name: impl Into<Cow<'static, str>>, count: u64) -> Metrics {
        self.add(name.into(), "B".into(), SeriesKind::Bytes, Better::Lower, count as f64)
    }

    /// Any other figure. A unit of something per second (`"B/s"`) makes it a rate, no unit at all a ratio.
    pub fn with(
        self,
        name: impl Into<Cow<'static, str>>,
        value: f64,
        unit: impl Into<Cow<'static, str>>,
        better: Better,
    ) -> Metrics {
        let unit = unit.into();
        let kind = match () {
            () if unit.is_empty() => SeriesKind::Ratio,
            () if unit.ends_with("/s") => SeriesKind::Rate,
            () => SeriesKind::Count,
        };
        self.add(name.into(), unit, kind, better, value)
    }

    fn add(
        mut self,
        name: Cow<'static, str>,
        unit: Cow<'static, str>,
        kind: SeriesKind,
        better: Better,
        value: f64,
    ) -> Metrics {
        self.figures.push(Figure { name, unit, kind, better, value });
        self
    }

    pub(super) fn item_count(&self) -> u64 {
        self.items.unwrap_or(1)
    }

    /// Each figure, after a look at the names.
    pub(super) fn figures(&self) -> Result<&[Figure]> {
        for (at, figure) in self.figures.iter().enumerate() {
            let name = &figure.name;
            if HOST_METRICS.contains(&name.as_ref()) {
                return Err(Error::invalid(format!(
                    "the function returns '{name}', which the host measures itself: leave it out, or give it another name \
                     (of `Metrics::items` the host makes a throughput)"
                )));
            }
            if name.is_empty() || self.figures[..at].iter().any(|known| known.name == *name) {
                return Err(Error::invalid(format!(
                    "the function returns two figures named '{name}', or one without a name: a name stands for one figure of a call"
                )));
            }
        }
        Ok(&self.figures)
    }
}

impl Figure {
    pub fn series(&self) -> SeriesInfo {
        SeriesInfo {
            name: self.name.to_string(),
            unit: self.unit.to_string(),
            kind: self.kind,
            higher_is_better: match self.better {
                Better::Lower => Some(false),
                Better::Higher => Some(true),
                Better::Neither => None,
            },
            concurrent: false,
            items_per_sample: 1.0,
        }
    }
}

/// What a benchmark function may return: [`Metrics`], nothing, or a `Result` of either.
#[diagnostic::on_unimplemented(
    message = "a benchmark function returns `Metrics`, `()`, or a `Result` of them, not `{Self}`",
    label = "its error, if it has one, is anything that turns into a `Box<dyn std::error::Error>`"
)]
pub trait IntoMetrics {
    /// # Errors
    /// The function's own.
    fn into_metrics(self) -> Result<Metrics>;
}

impl IntoMetrics for Metrics {
    fn into_metrics(self) -> Result<Metrics> {
        Ok(self)
    }
}

impl IntoMetrics for () {
    fn into_metrics(self) -> Result<Metrics> {
        Ok(Metrics::new())
    }
}

impl<T: IntoMetrics, E: Into<Box<dyn std::error::Error>>> IntoMetrics for Result<T, E> {
    fn into_metrics(self) -> Result<Metrics> {
        let told = |error: E| match error.into().downcast::<Error>() {
            Ok(ours) => *ours,
            Err(other) => Error::internal(with_causes(&*other)),
        };
        self.map_err(told)?.into_metrics()
    }
}

/// An error with what caused it.
fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        text.push_str(&format!(": {next}"));
        cause = next.source();
    }
    text
}
