//! Lines against a number: batch size, sequence length, workers.

use serde::{Deserialize, Serialize};

use super::series::{Guide, Plot, Series, xs, y_domain};
use super::shared::thinned;
use crate::chart::{Head, Kind};
use crate::draw::Area;
use crate::draw::axis::{Axis, Domain};
use crate::draw::scene::Scene;
use crate::estimate::drawable;
use crate::look::Look;
use crate::number::number;

/// Series against x, with ticks at the x that exist.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Lines {
    pub head: Head,
    /// What x is, such as "batch size".
    pub x_label: String,
    /// What y is, with its unit, such as "latency, ms".
    pub y_label: String,
    /// The unit of y in titles.
    pub unit: String,
    pub x_scale: XScale,
    /// Equal ratios on y; where a value is not above 0 the axis stays linear.
    pub y_log: bool,
    pub series: Vec<Series>,
    /// What would be ideal, such as a throughput that grows with the batch.
    pub ideal: Option<Guide>,
}

/// Equal steps or equal ratios on x.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum XScale {
    Linear,
    /// As batch sizes grow: each doubling takes the same room. Where an x is not above 0 the axis stays linear.
    #[default]
    Log2,
}

fn is_x(x: f64) -> bool {
    drawable(Some(x)).is_some()
}

impl Lines {
    fn plot(&self) -> Plot<'_> {
        let seen = y_domain(&self.series, &is_x);
        let domain = seen.unwrap_or(Domain { low: 0.0, high: 1.0 });
        let y = if self.y_log && domain.low > 0.0 {
            Axis::logarithmic(domain, 6)
        } else {
            Axis::to_ticks(
                if domain.low == domain.high && domain.low == 0.0 {
                    Domain { low: 0.0, high: 1.0 }
                } else {
                    domain.with(0.0)
                },
                6,
            )
        };
        Plot {
            series: &self.series,
            guides: self.ideal.as_slice(),
            x_label: &self.x_label,
            y_label: &self.y_label,
            unit: &self.unit,
            y,
            say_x: &|_| String::new(),
            is_x: &is_x,
        }
    }

    fn x_axis(&self, width: f64) -> Axis {
        let xs = xs(&self.series, &is_x);
        let domain = Domain::of(xs.iter().copied()).unwrap_or(Domain { low: 0.0, high: 1.0 });
        let axis = if self.x_scale == XScale::Log2 && domain.low > 0.0 {
            Axis::logarithmic(domain, 6)
        } else {
            Axis::linear(domain, 6)
        };
        let axis = axis.padded(0.03);
        let labels = xs.into_iter().map(|x| (x, number(x))).collect();
        let ticks = thinned(labels, |x| width * axis.share(x));
        axis.ticked(ticks)
    }
}

impl Kind for Lines {
    fn head(&self) -> &Head {
        &self.head
    }

    fn is_empty(&self) -> bool {
        y_domain(&self.series, &is_x).is_none()
    }

    fn natural_height(&self, width: f64) -> f64 {
        self.plot().natural_height(&Look::default(), width)
    }

    fn least_height(&self, width: f64) -> f64 {
        self.plot().least_height(&Look::default(), width)
    }

    fn draw(&self, scene: &mut Scene, look: &Look, body: Area) {
        let say_x =
            |x: f64| if self.x_label.is_empty() { number(x) } else { format!("{} {}", self.x_label, number(x)) };
        let plot = Plot { say_x: &say_x, ..self.plot() };
        plot.draw(scene, look, body, &|width| self.x_axis(width));
    }
}
