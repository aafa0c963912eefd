//! A value with its interval, and which values can be drawn at all.

use serde::{Deserialize, Serialize};

/// A value and its 95% interval. What was not measured is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Estimate {
    pub value: Option<f64>,
    pub low: Option<f64>,
    pub high: Option<f64>,
}

impl Estimate {
    /// A value without an interval.
    pub fn of(value: f64) -> Self {
        Self { value: Some(value), low: None, high: None }
    }

    /// A value with its interval.
    pub fn within(value: f64, low: f64, high: f64) -> Self {
        Self { value: Some(value), low: Some(low), high: Some(high) }
    }

    pub(crate) fn value(self) -> Option<f64> {
        drawable(self.value)
    }

    pub(crate) fn interval(self) -> Option<(f64, f64)> {
        self.value()?;
        let (low, high) = (drawable(self.low)?, drawable(self.high)?);
        (low <= high).then_some((low, high))
    }

    /// All that must have room on an axis.
    pub(crate) fn extent(self) -> impl Iterator<Item = f64> {
        let interval = self.interval();
        [self.value(), interval.map(|ends| ends.0), interval.map(|ends| ends.1)].into_iter().flatten()
    }
}

/// A number that has a place on an axis: neither NaN nor infinite, nor so large that differences overflow.
pub(crate) fn drawable(value: Option<f64>) -> Option<f64> {
    let value = value.filter(|value| value.is_finite() && value.abs() <= 1e300)?;
    Some(if value.abs() < 1e-300 { 0.0 } else { value })
}
