//! How values are spread: bins with median, quartiles and p90, one series below the other or laid over each other.

use serde::{Deserialize, Serialize};

use super::shared::{area_style, hardware_legend, state, title, value_axis};
use crate::attributes::Attributes;
use crate::chart::{Head, Kind};
use crate::draw::Area;
use crate::draw::axis::{Axis, Domain, Plane, Sides};
use crate::draw::legend::{Entry, Legend, Swatch};
use crate::draw::rows::{Place, RowText, Rows, say};
use crate::draw::scene::{Scene, Style, Type};
use crate::draw::theme::Paint;
use crate::estimate::drawable;
use crate::look::Look;
use crate::number::{number, with_unit};
use crate::text;
use crate::words::words;

/// Distributions over one axis.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Distribution {
    pub head: Head,
    pub unit: String,
    /// Equal ratios; where a value is not above 0 the axis stays linear.
    pub log: bool,
    pub arrangement: Arrangement,
    pub series: Vec<Bins>,
}

/// How several distributions stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arrangement {
    /// One below the other, each as high as its highest bin.
    #[default]
    Rows,
    /// Outlines over each other, of equal areas.
    Overlaid,
}

/// One distribution: how many values lie between each edge and the next.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Bins {
    pub label: String,
    pub sublabel: String,
    pub group: String,
    pub hardware: String,
    pub emulated: bool,
    /// One more than there are counts, each above the one before.
    pub edges: Vec<f64>,
    pub counts: Vec<u64>,
    pub q1: Option<f64>,
    pub median: Option<f64>,
    pub q3: Option<f64>,
    pub p90: Option<f64>,
    /// Values beyond the bins, or those counted as outliers.
    pub outliers: Option<u64>,
    /// Why there are no bins, or what to know about them.
    pub note: String,
    pub attributes: Attributes,
}

const ROW: f64 = 50.0;

/// A bin: where it begins and ends, and how high it is.
type Step = (f64, f64, f64);

impl Bins {
    fn are_drawable(&self) -> bool {
        self.edges.len() == self.counts.len() + 1
            && self.edges.iter().all(|edge| drawable(Some(*edge)).is_some())
            && self.edges.windows(2).all(|pair| pair[0] < pair[1])
            && self.counts.iter().any(|count| *count > 0)
    }

    fn marks(&self) -> impl Iterator<Item = f64> {
        [self.q1, self.median, self.q3, self.p90].into_iter().filter_map(drawable)
    }

    fn reach(&self) -> impl Iterator<Item = f64> {
        let edges = if self.are_drawable() { self.edges.as_slice() } else { &[] };
        edges.iter().copied().chain(self.marks())
    }

    /// Bins with heights such that their areas on the axis are as their counts.
    fn steps(&self, axis: &Axis) -> Vec<Step> {
        if !self.are_drawable() {
            return Vec::new();
        }
        let total: f64 = self.counts.iter().map(|count| *count as f64).sum();
        let bins = self.edges.windows(2).zip(&self.counts).map(|(edges, count)| {
            let width = (axis.share(edges[1]) - axis.share(edges[0])).max(1e-9);
            (edges[0], edges[1], *count as f64 / total / width)
        });
        bins.collect()
    }

    fn describe(&self, unit: &str) -> String {
        let mut out = Vec::new();
        if let Some(median) = drawable(self.median) {
            out.push(format!("{} {}", words().median, with_unit(median, unit)));
        }
        if let (Some(q1), Some(q3)) = (drawable(self.q1), drawable(self.q3)) {
            out.push(format!("{} {} {} {}", words().quartiles, number(q1), words().to, number(q3)));
        }
        if let Some(p90) = drawable(self.p90) {
            out.push(format!("{} {}", words().p90, with_unit(p90, unit)));
        }
        if self.are_drawable() {
            out.push(format!("{} {}", number(self.counts.iter().map(|count| *count as f64).sum()), words().samples));
        }
        if let Some(outliers) = self.outliers {
            out.push(format!("{} {}", number(outliers as f64), words().outliers));
        }
        if !self.note.is_empty() {
            out.push(self.note.clone());
        } else if !self.are_drawable() {
            out.push(words().no_bins.clone());
        }
        out.join("; ")
    }

    /// What stands at the right of a row.
    fn figures(&self) -> [String; 2] {
        let median = drawable(self.median).map(|value| format!("{} {}", words().median, number(value)));
        let p90 = drawable(self.p90).map(|value| format!("{} {}", words().p90, number(value)));
        let outliers = self.outliers.map(|count| format!("{} {}", number(count as f64), words().outliers));
        let bins = (!self.are_drawable()).then(|| words().no_bins.clone());
        let emulated = self.emulated.then(|| words().emulated.clone());
        let second: Vec<String> = [p90, outliers, bins, emulated].into_iter().flatten().collect();
        [median.unwrap_or_default(), second.join(", ")]
    }
}

impl Distribution {
    fn rows(&self) -> Rows<'_> {
        Rows::new(self.series.iter().map(|bins| RowText::of(&bins.label, &bins.sublabel, &bins.group)).collect())
            .of_height(ROW)
    }

    fn overlaid(&self) -> bool {
        self.arrangement == Arrangement::Overlaid
    }

    fn legend(&self, look: &Look) -> Legend {
        if !self.overlaid() {
            let drawn = self.series.iter().filter(|bins| bins.are_drawable());
            return hardware_legend(
                look,
                drawn
                    .map(|bins| (bins.hardware.as_str(), bins.emulated, [bins.label.as_str(), bins.sublabel.as_str()])),
            );
        }
        let entries = self.series.iter().zip(self.dashes()).map(|(bins, dash)| Entry {
            swatch: Swatch::Line { style: outline(look, bins).dash(dash), marker: None },
            text: if bins.are_drawable() {
                title(&[&bins.label, &bins.sublabel], "", bins.emulated)
            } else {
                title(
                    &[&bins.label, &bins.sublabel],
                    if bins.note.is_empty() { &words().no_bins } else { &bins.note },
                    bins.emulated,
                )
            },
        });
        Legend::new(entries.collect())
    }

    /// Dashes tell apart what has one colour.
    fn dashes(&self) -> Vec<&'static str> {
        let same = |index: usize| {
            let own = &self.series[index];
            self.series[..index]
                .iter()
                .filter(|other| other.hardware == own.hardware && other.emulated == own.emulated)
                .count()
        };
        let dash = |index: usize| {
            if self.series[index].emulated { "1.5 2.5" } else { ["", "7 3", "7 2 2 2", "3 2", "11 3"][same(index) % 5] }
        };
        (0..self.series.len()).map(dash).collect()
    }

    fn mark(&self, scene: &mut Scene, bins: &Bins, draw: impl FnOnce(&mut Scene)) {
        let title = title(&[&bins.label, &bins.sublabel, &bins.hardware], &bins.describe(&self.unit), bins.emulated);
        let own = [("hardware", bins.hardware.as_str()), ("state", state(bins.are_drawable(), bins.emulated))];
        scene.mark("mark", &own, &bins.attributes, &title, draw);
    }

    fn draw_row(&self, scene: &mut Scene, look: &Look, plane: &Plane, place: Place, bins: &Bins, right: f64) {
        if !bins.are_drawable() && bins.marks().next().is_none() {
            let reason = if bins.note.is_empty() { &words().no_bins } else { &bins.note };
            return say(scene, plane.area, right, place, reason);
        }
        let base = place.middle + 0.26 * place.height;
        let room = 0.7 * place.height;
        let steps = bins.steps(plane.x_axis());
        let highest = steps.iter().map(|step| step.2).fold(0.0, f64::max);
        let style = area_style(look, &bins.hardware, bins.emulated);
        if highest > 0.0 {
            let points = staircase(&steps, |x| plane.x(x), |y| base - room * y / highest);
            scene.polygon(&points, style.opacity(if bins.emulated { 1.0 } else { 0.75 }));
        }
        let below = base + 0.1 * place.height;
        if let (Some(q1), Some(q3)) = (drawable(bins.q1), drawable(bins.q3)) {
            scene.line(&[(plane.x(q1), below), (plane.x(q3), below)], Style::line(Paint::Ink, 3.0));
        }
        if let Some(median) = drawable(bins.median) {
            let x = plane.x(median);
            scene.line(&[(x, base - room), (x, below + 3.5)], Style::line(Paint::Ink, 1.2));
        }
        if let Some(p90) = drawable(bins.p90) {
            let x = plane.x(p90);
            scene.line(&[(x, base - room), (x, below + 3.5)], Style::line(Paint::Ink, 1.0).dash("2 2"));
        }
        let left = plane.area.right() + 8.0;
        let [first, second] = bins.figures();
        let first = text::fit_start(&first, right - left, 10.0, false);
        let second = text::fit_start(&second, right - left, 9.0, false);
        scene.text_middle(left, place.middle - 6.0, Type::ink(10.0), &first);
        scene.text_middle(left, place.middle + 7.0, Type::soft(9.0), &second);
    }

    fn draw_overlaid(&self, scene: &mut Scene, look: &Look, area: Area, axis: Axis) {
        let y = Axis::linear(Domain { low: 0.0, high: 1.0 }, 2);
        let sides = Sides { bottom: true, upright_lines: true, ..Sides::default() };
        let plane = Plane::draw(scene, area, axis.clone(), y, sides);
        let all: Vec<Vec<Step>> = self.series.iter().map(|bins| bins.steps(&axis)).collect();
        let highest = all.iter().flatten().map(|step| step.2).fold(0.0, f64::max);
        for ((bins, steps), dash) in self.series.iter().zip(&all).zip(self.dashes()) {
            let style = outline(look, bins).dash(dash);
            self.mark(scene, bins, |scene| {
                if highest > 0.0 && !steps.is_empty() {
                    let points = staircase(steps, |x| plane.x(x), |y| area.bottom() - 0.97 * area.height * y / highest);
                    scene.polygon(&points, Style::fill(style.stroke).opacity(0.08));
                    scene.line(&points, style);
                }
                if let Some(median) = drawable(bins.median) {
                    let x = plane.x(median);
                    scene.line(&[(x, area.bottom()), (x, area.bottom() - 9.0)], Style::line(style.stroke, 3.0));
                }
            });
        }
    }
}

fn outline(look: &Look, bins: &Bins) -> Style {
    Style::line(Paint::Of(look.colour(&bins.hardware)), 1.6)
}

/// The outline of bins, from the base up and back to it.
fn staircase(steps: &[Step], x: impl Fn(f64) -> f64, y: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
    let (Some(first), Some(last)) = (steps.first(), steps.last()) else {
        return Vec::new();
    };
    let mut points = vec![(x(first.0), y(0.0))];
    for (from, to, height) in steps {
        points.extend([(x(*from), y(*height)), (x(*to), y(*height))]);
    }
    points.push((x(last.1), y(0.0)));
    points
}

impl Kind for Distribution {
    fn head(&self) -> &Head {
        &self.head
    }

    fn is_empty(&self) -> bool {
        self.series.is_empty()
    }

    fn natural_height(&self, width: f64) -> f64 {
        let legend = self.legend(&Look::default()).height(width);
        legend + if self.overlaid() { (0.42 * width).clamp(200.0, 320.0) } else { self.rows().natural_height() }
    }

    fn least_height(&self, width: f64) -> f64 {
        let legend = self.legend(&Look::default()).height(width);
        legend + if self.overlaid() { 140.0 } else { self.rows().least_height() }
    }

    fn draw(&self, scene: &mut Scene, look: &Look, body: Area) {
        let legend = self.legend(look);
        legend.draw(scene, body.x, body.y, body.width);
        let body = body.without(0.0, legend.height(body.width), 0.0, 0.0);
        let seen = Domain::of(self.series.iter().flat_map(Bins::reach)).unwrap_or(Domain { low: 0.0, high: 1.0 });
        let logarithmic = self.log && seen.low > 0.0;
        if self.overlaid() {
            let area = body.without(4.0, 6.0, 10.0, 20.0);
            let axis = value_axis(seen, logarithmic, area, body, &self.unit, 0.02);
            return self.draw_overlaid(scene, look, area, axis);
        }
        let rows = self.rows();
        let figures = self.series.iter().flat_map(|bins| {
            let [first, second] = bins.figures();
            [text::width(&first, 10.0, false), text::width(&second, 9.0, false)]
        });
        let tail = figures.fold(0.0, f64::max) + 10.0;
        let area = rows.across(body, tail.min(0.3 * body.width));
        let axis = value_axis(seen, logarithmic, area, body, &self.unit, 0.02);
        let (plane, places) = rows.draw(scene, body, area, axis);
        for (bins, place) in self.series.iter().zip(places) {
            self.mark(scene, bins, |scene| self.draw_row(scene, look, &plane, place, bins, body.right()));
        }
    }
}
