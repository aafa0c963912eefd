//! Axes: what they reach over, where their ticks are, and the plane that two of them span. plotters draws them.

use std::ops::Range;

use plotters::chart::{ChartBuilder, LabelAreaPosition};
use plotters::coord::CoordTranslate;
use plotters::coord::cartesian::Cartesian2d;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::coord::types::RangedCoordf64;
use plotters::drawing::IntoDrawingArea;
use plotters::style::{Color, FontDesc, FontFamily, FontStyle, TextStyle};

use super::Area;
use super::backend::{SvgBackend, UNITS, to_plotters};
use super::scene::Scene;
use super::theme::Paint;
use crate::number::tick_labels;
use crate::text;

/// The size of the labels at ticks.
pub(crate) const TICK_TEXT: f64 = 10.0;

/// From where to where values reach.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Domain {
    pub low: f64,
    pub high: f64,
}

impl Domain {
    pub(crate) fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        values.into_iter().filter(|value| value.is_finite()).fold(None, |domain, value| match domain {
            None => Some(Self { low: value, high: value }),
            Some(Self { low, high }) => Some(Self { low: low.min(value), high: high.max(value) }),
        })
    }

    pub(crate) fn with(self, value: f64) -> Self {
        Self { low: self.low.min(value), high: self.high.max(value) }
    }
}

/// An axis with its ticks.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    logarithmic: bool,
    low: f64,
    high: f64,
    ticks: Vec<f64>,
    labels: Vec<String>,
}

impl Axis {
    /// Equal steps, up to about so many of them.
    pub(crate) fn linear(domain: Domain, most_ticks: usize) -> Self {
        let Domain { low, high } = wide_enough(domain);
        let ticks = linear_ticks(low, high, most_ticks.max(2));
        Self { logarithmic: false, low, high, labels: tick_labels(&ticks), ticks }
    }

    /// The same, reaching to a tick at its ends.
    pub(crate) fn to_ticks(domain: Domain, most_ticks: usize) -> Self {
        let axis = Self::linear(domain, most_ticks);
        let [first, second, ..] = axis.ticks[..] else {
            return axis;
        };
        let step = second - first;
        let (from, to) = ((axis.low / step + 1e-6).floor(), (axis.high / step - 1e-6).ceil());
        if !(to - from >= 1.0 && to - from <= 1000.0) {
            return axis;
        }
        let count = (to - from) as i32;
        let ticks: Vec<f64> = (0..=count).map(|index| (from + f64::from(index)) * step).collect();
        Self { logarithmic: false, low: from * step, high: to * step, labels: tick_labels(&ticks), ticks }
    }

    /// Equal ratios. Where a value is not above 0 there is no such axis, and it becomes linear.
    pub(crate) fn logarithmic(domain: Domain, most_ticks: usize) -> Self {
        if domain.low <= 0.0 {
            return Self::to_ticks(domain.with(0.0), most_ticks);
        }
        let (mut low, mut high) = (domain.low.log10(), domain.high.log10());
        if high - low < 0.02 {
            (low, high) = (low - 0.15, high + 0.15);
        }
        let ticks = logarithmic_ticks(low, high, most_ticks.max(2));
        let labels = ticks.iter().map(|tick| crate::number::number(*tick)).collect();
        Self { logarithmic: true, low, high, ticks, labels }
    }

    /// The same axis with ticks at given values.
    pub(crate) fn ticked(mut self, ticks: Vec<(f64, String)>) -> Self {
        (self.ticks, self.labels) = ticks.into_iter().unzip();
        self
    }

    /// Room to the left and right of the values, as a share of the axis.
    pub(crate) fn padded(mut self, share: f64) -> Self {
        let room = share * (self.high - self.low);
        (self.low, self.high) = (self.low - room, self.high + room);
        self
    }

    /// The widest label in pixels.
    pub(crate) fn label_width(&self) -> f64 {
        self.labels.iter().map(|label| text::width(label, TICK_TEXT, false)).fold(0.0, f64::max)
    }

    /// The unit behind the last label, so that no label of the axis itself is needed. Where it has no room there, behind the
    /// last one where it has.
    pub(crate) fn unit_at_end(mut self, unit: &str, width: f64, room_behind: f64) -> Self {
        if unit.is_empty() {
            return self;
        }
        let unit = text::fit_start(unit, 60.0, TICK_TEXT, false);
        let half = |label: &str| text::width(label, TICK_TEXT, false) / 2.0;
        let mut free = width + room_behind;
        for (tick, label) in self.ticks.iter().zip(self.labels.iter_mut()).rev() {
            let place = if self.logarithmic { tick.log10() } else { *tick };
            let middle = (place - self.low) / (self.high - self.low) * width;
            let with_unit = format!("{label} {unit}");
            if middle + half(&with_unit) <= free {
                *label = with_unit;
                break;
            }
            free = middle - half(label) - 4.0;
        }
        self
    }

    /// Where the axis begins: what a value that is too small for it is drawn at.
    pub(crate) fn start(&self) -> f64 {
        if self.logarithmic { 10f64.powf(self.low) } else { self.low }
    }

    /// Where a value is between the ends of the axis, which are 0 and 1.
    pub(crate) fn share(&self, value: f64) -> f64 {
        (self.place(value) - self.low) / (self.high - self.low)
    }

    /// The value at a share of the axis.
    pub(crate) fn value_at(&self, share: f64) -> f64 {
        let place = self.low + share * (self.high - self.low);
        if self.logarithmic { 10f64.powf(place) } else { place }
    }

    fn place(&self, value: f64) -> f64 {
        if self.logarithmic { if value > 0.0 { value.log10() } else { self.low } } else { value }
    }

    fn label(&self, tick: f64) -> String {
        let index = self.ticks.iter().position(|known| *known == tick);
        index.and_then(|index| self.labels.get(index)).cloned().unwrap_or_default()
    }
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        RangedCoordf64::from(self.low..self.high).map(&self.place(*value).clamp(self.low, self.high), limit)
    }

    fn key_points<H: KeyPointHint>(&self, hint: H) -> Vec<f64> {
        // The same lines must not be drawn again as light ones.
        if hint.weight().allow_light_points() { Vec::new() } else { self.ticks.clone() }
    }

    fn range(&self) -> Range<f64> {
        self.start()..if self.logarithmic { 10f64.powf(self.high) } else { self.high }
    }
}

impl ValueFormatter<f64> for Axis {
    fn format_ext(&self, value: &f64) -> String {
        self.label(*value)
    }
}

/// A domain that an axis can be made of: not a point, nor so narrow that its ticks would be one number.
fn wide_enough(Domain { low, high }: Domain) -> Domain {
    let size = low.abs().max(high.abs());
    if high - low > 1e-9 * size && high - low > 1e-290 {
        return Domain { low, high };
    }
    let room = if size > 1e-280 { 0.1 * size } else { 1.0 };
    let (low, high) = (if low == 0.0 { 0.0 } else { low - room }, high + room);
    Domain { low, high }
}

/// plotters knows steps that read well. It compares with fixed small numbers, so it is given a range of about 1 to 10.
fn linear_ticks(low: f64, high: f64, most: usize) -> Vec<f64> {
    let scale = 10f64.powf((high - low).log10().floor());
    let range = RangedCoordf64::from(low / scale..high / scale);
    range.key_points(most).into_iter().map(|tick| if tick.abs() < 1e-9 { 0.0 } else { tick * scale }).collect()
}

/// Powers of ten; with 2 and 5 between them, or some left out, as there is room.
fn logarithmic_ticks(low: f64, high: f64, most: usize) -> Vec<f64> {
    let within = |steps: &[f64], every: usize| -> Vec<f64> {
        let decades = (low.floor() as i32 - 1..=high.ceil() as i32 + 1).step_by(every);
        let all = decades.flat_map(|decade| steps.iter().map(move |step| step * 10f64.powi(decade)));
        all.filter(|tick| (low - 1e-9..=high + 1e-9).contains(&tick.log10())).collect()
    };
    for steps in [&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0][..], &[1.0, 2.0, 5.0], &[1.0, 3.0], &[1.0]] {
        let ticks = within(steps, 1);
        if (2..=most).contains(&ticks.len()) {
            return ticks;
        }
    }
    let all = within(&[1.0], 1);
    if all.len() > most {
        all.iter().copied().step_by(all.len().div_ceil(most)).collect()
    } else {
        linear_ticks(10f64.powf(low), 10f64.powf(high), most)
    }
}

/// Which sides of a plane have labels and lines.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sides {
    pub left: bool,
    pub bottom: bool,
    pub top: bool,
    /// Lines across the plane at the ticks of x.
    pub upright_lines: bool,
    /// Lines across the plane at the ticks of y.
    pub level_lines: bool,
}

/// The area between two axes.
pub(crate) struct Plane {
    pub area: Area,
    x: Axis,
    y: Axis,
    coordinates: Cartesian2d<Axis, Axis>,
}

impl Plane {
    /// Draws the axes around an area, with their labels outside of it, and gives the plane between them.
    pub(crate) fn draw(scene: &mut Scene, area: Area, x: Axis, y: Axis, sides: Sides) -> Self {
        let units = |pixels: f64| (pixels * UNITS).round() as i32;
        let left = if sides.left { y.label_width() + 8.0 } else { 0.0 };
        let (top, bottom) = (if sides.top { 16.0 } else { 0.0 }, if sides.bottom { 16.0 } else { 0.0 });
        let coordinates = Cartesian2d::new(
            x.clone(),
            y.clone(),
            (units(area.x)..units(area.right()), units(area.bottom())..units(area.y)),
        );
        let root = SvgBackend::new(scene).into_drawing_area().shrink(
            (units(area.x - left), units(area.y - top)),
            (units(area.width + left), units(area.height + top + bottom)),
        );
        let chart = ChartBuilder::on(&root)
            .set_label_area_size(LabelAreaPosition::Left, units(left))
            .set_label_area_size(LabelAreaPosition::Top, units(top))
            .set_label_area_size(LabelAreaPosition::Bottom, units(bottom))
            .build_cartesian_2d(x.clone(), y.clone());
        if let Ok(mut chart) = chart {
            let font = FontDesc::new(FontFamily::SansSerif, TICK_TEXT * UNITS, FontStyle::Normal);
            let soft = to_plotters(Paint::Soft);
            let label = TextStyle::from(font).color(&soft);
            let grid = to_plotters(Paint::Grid).stroke_width(UNITS as u32);
            let x_label = |value: &f64| x.label(*value);
            let y_label = |value: &f64| y.label(*value);
            let mut mesh = chart.configure_mesh();
            mesh.x_labels(x.ticks.len().max(1))
                .y_labels(y.ticks.len().max(1))
                .x_max_light_lines(0)
                .y_max_light_lines(0)
                .x_label_formatter(&x_label)
                .y_label_formatter(&y_label)
                .label_style(label)
                .bold_line_style(grid)
                .axis_style(grid)
                .set_all_tick_mark_size(units(2.0));
            if !sides.upright_lines {
                mesh.disable_x_mesh();
            }
            if !sides.level_lines {
                mesh.disable_y_mesh();
            }
            if !sides.left {
                mesh.disable_y_axis();
            }
            // The backend cannot fail: it writes into a string.
            let _ = mesh.draw();
        }
        Self { area, x, y, coordinates }
    }

    /// Where a value is, in pixels.
    pub(crate) fn at(&self, x: f64, y: f64) -> (f64, f64) {
        let (x, y) = self.coordinates.translate(&(x, y));
        (f64::from(x) / UNITS, f64::from(y) / UNITS)
    }

    pub(crate) fn x_axis(&self) -> &Axis {
        &self.x
    }

    pub(crate) fn x(&self, x: f64) -> f64 {
        self.at(x, 0.0).0
    }

    /// The parts of a straight line between two values that lie on the plane, in pixels. Such a line is bent where one axis
    /// has equal ratios.
    pub(crate) fn straight(&self, from: (f64, f64), to: (f64, f64)) -> Vec<[(f64, f64); 2]> {
        let bent = self.x.logarithmic || self.y.logarithmic;
        let pieces = if bent { 32 } else { 1 };
        let (start, end) = (self.x.share(from.0), self.x.share(to.0));
        let point = |piece: i32| {
            let share = f64::from(piece) / f64::from(pieces);
            let across = start + share * (end - start);
            let x = self.x.value_at(across);
            let along = if to.0 == from.0 { share } else { (x - from.0) / (to.0 - from.0) };
            (across, self.y.share(from.1 + along * (to.1 - from.1)))
        };
        let pixels =
            |(x, y): (f64, f64)| (self.area.x + x * self.area.width, self.area.bottom() - y * self.area.height);
        let parts = (0..pieces).filter_map(|piece| clip(point(piece), point(piece + 1)));
        parts.map(|[from, to]| [pixels(from), pixels(to)]).collect()
    }
}

/// The part of a line that lies in the square from 0 to 1.
fn clip(from: (f64, f64), to: (f64, f64)) -> Option<[(f64, f64); 2]> {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
    for (start, step) in [(from.0, dx), (from.1, dy)] {
        if !(start.is_finite() && step.is_finite()) || (step == 0.0 && !(0.0..=1.0).contains(&start)) {
            return None;
        }
        if step != 0.0 {
            let (one, two) = (-start / step, (1.0 - start) / step);
            (enter, leave) = (enter.max(one.min(two)), leave.min(one.max(two)));
        }
    }
    let at = |share: f64| (from.0 + share * dx, from.1 + share * dy);
    (enter < leave).then(|| [at(enter), at(leave)])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn domain(low: f64, high: f64) -> Domain {
        Domain { low, high }
    }

    #[test]
    fn an_axis_reaches_to_its_ticks() {
        let axis = Axis::to_ticks(domain(0.0, 12.5), 6);
        assert_eq!(axis.ticks, [0.0, 5.0, 10.0, 15.0]);
        assert_eq!(axis.share(15.0), 1.0);
        let axis = Axis::to_ticks(domain(-5.0, 5.0), 6);
        assert_eq!((axis.share(axis.ticks[0]), axis.share(axis.ticks[axis.ticks.len() - 1])), (0.0, 1.0));
    }

    #[test]
    fn ratios_get_decades_or_what_is_between_them() {
        assert_eq!(Axis::logarithmic(domain(1.0, 1000.0), 5).labels, ["1", "10", "100", "1000"]);
        assert_eq!(Axis::logarithmic(domain(0.6, 12.0), 6).labels, ["1", "2", "5", "10"]);
        assert!(Axis::logarithmic(domain(1e-30, 1e30), 5).ticks.len() <= 5);
        assert!(Axis::logarithmic(domain(3.0, 3.0), 5).ticks.len() >= 2);
        assert!(!Axis::logarithmic(domain(0.0, 10.0), 5).logarithmic);
    }

    #[test]
    fn every_domain_has_an_axis_with_few_ticks_in_order() {
        let ends = [0.0, 1.0, -1.0, 1e-290, 1e300, -1e300, 1e15, 1e15 + 1.0, 0.1, 0.1 + 1e-12, 7e-9];
        for low in ends {
            for high in ends.into_iter().filter(|high| *high >= low) {
                for axis in [
                    Axis::linear(domain(low, high), 6),
                    Axis::to_ticks(domain(low, high), 6),
                    Axis::logarithmic(domain(low, high), 6),
                ] {
                    assert!(axis.low < axis.high, "{low} to {high}");
                    assert!(axis.ticks.len() <= 10 && axis.ticks.is_sorted(), "{low} to {high}: {:?}", axis.ticks);
                    assert!(axis.share(low).is_finite() && axis.share(high).is_finite());
                }
            }
        }
    }

    #[test]
    fn a_line_is_cut_at_the_edge_of_the_square() {
        assert_eq!(clip((-1.0, 0.5), (2.0, 0.5)), Some([(0.0, 0.5), (1.0, 0.5)]));
        assert_eq!(clip((0.0, 0.0), (2.0, 2.0)), Some([(0.0, 0.0), (1.0, 1.0)]));
        assert_eq!(clip((-1.0, 2.0), (2.0, 2.0)), None);
        assert_eq!(clip((f64::NAN, 0.0), (1.0, 1.0)), None);
    }
}
