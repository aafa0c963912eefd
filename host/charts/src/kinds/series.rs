//! Lines through points, against any x: what `Lines` and `Trend` share.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::shared::{interval, names_hardware, point_style, state, title};
use crate::attributes::Attributes;
use crate::draw::Area;
use crate::draw::axis::{Axis, Domain, Plane, Sides};
use crate::draw::legend::{Entry, Legend, Swatch};
use crate::draw::scene::{Anchor, Scene, Style, Type};
use crate::draw::theme::Paint;
use crate::estimate::{Estimate, drawable};
use crate::look::Look;
use crate::marker::Marker;
use crate::number::{in_words, in_words_with};
use crate::text;
use crate::words::words;

/// One line: a target's values against x.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Series {
    pub name: String,
    pub hardware: String,
    /// Chooses the marker.
    pub architecture: String,
    pub emulated: bool,
    /// Not measured: hollow, dashed, and called so. Its intervals are those of predictions.
    pub predicted: bool,
    pub points: Vec<Point>,
    /// Why there are no points.
    pub note: String,
    pub attributes: Attributes,
}

/// A value at an x; without a value the line has a gap there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Point {
    pub x: f64,
    #[serde(flatten)]
    pub estimate: Estimate,
}

/// A line to compare with, such as the ideal or a roof.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Guide {
    pub label: String,
    pub points: Vec<(f64, f64)>,
}

impl Series {
    fn called(&self, names: &[&str], what: &str) -> String {
        let title = title(names, what, self.emulated);
        if self.predicted { format!("{title} ({})", words().predicted) } else { title }
    }

    fn in_words(&self, estimate: Estimate, unit: &str) -> String {
        let interval = if self.predicted { &words().predicted_interval } else { &words().interval };
        in_words_with(estimate, unit, interval)
    }
}

const LABEL: f64 = 10.0;
const LABEL_STEP: f64 = 13.0;
/// Titles for each point are worth their bytes up to so many points in a chart.
const TITLED_POINTS: usize = 400;
/// More points than this in a line touch each other; so it has no markers, and a band in place of whiskers.
const SINGLE_POINTS: usize = 40;

/// How the lines of a series look: colour by hardware, marker by architecture, dashes where both are the same.
struct Pen {
    colour: Paint,
    line: Style,
    marker: Marker,
    point: Style,
}

pub(super) struct Plot<'a> {
    pub series: &'a [Series],
    pub guides: &'a [Guide],
    pub x_label: &'a str,
    pub y_label: &'a str,
    pub unit: &'a str,
    pub y: Axis,
    /// How an x is said in a title.
    pub say_x: &'a dyn Fn(f64) -> String,
    pub is_x: &'a dyn Fn(f64) -> bool,
}

impl Plot<'_> {
    fn points<'s>(&'s self, series: &'s Series) -> Vec<(f64, Estimate)> {
        let known = series.points.iter().filter(|point| (self.is_x)(point.x));
        let mut points: Vec<(f64, Estimate)> = known.map(|point| (point.x, point.estimate)).collect();
        points.sort_by(|one, two| one.0.total_cmp(&two.0));
        points
    }

    fn drawn(&self) -> usize {
        self.series.iter().filter(|series| self.points(series).iter().any(|(_, y)| y.value().is_some())).count()
    }

    /// Names at the ends of the lines where they have room there; a legend above otherwise.
    fn names_at_ends(&self, height: f64) -> bool {
        let drawn = self.drawn();
        drawn == self.series.len() && drawn as f64 * LABEL_STEP <= (height - 60.0).min(170.0)
    }

    fn pens(&self, look: &Look) -> Vec<Pen> {
        let mut seen: HashMap<(&str, &str), usize> = HashMap::new();
        let pens = self.series.iter().map(|series| {
            let index = seen.entry((&series.hardware, &series.architecture)).or_default();
            let dash = match (series.emulated, series.predicted) {
                (true, _) => "1.5 2.5",
                (_, true) => "2 4",
                _ => ["", "7 3", "7 2 2 2", "3 2", "11 3"][*index % 5],
            };
            *index += 1;
            let colour = Paint::Of(look.colour(&series.hardware));
            Pen {
                colour,
                line: Style::line(colour, 1.8).dash(dash),
                marker: look.marker(&series.architecture),
                point: point_style(look, &series.hardware, series.emulated || series.predicted),
            }
        });
        pens.collect()
    }

    fn legend(&self, look: &Look, height: f64) -> Legend {
        if self.names_at_ends(height) {
            return Legend::new(Vec::new());
        }
        let entries = self.series.iter().zip(self.pens(look)).map(|(series, pen)| {
            let some = self.points(series).iter().any(|(_, y)| y.value().is_some());
            let why = if series.note.is_empty() { &words().not_measured } else { &series.note };
            Entry {
                swatch: Swatch::Line { style: pen.line, marker: Some((pen.marker, pen.point)) },
                text: if some { self.name(series) } else { format!("{}: {why}", self.name(series)) },
            }
        });
        Legend::new(entries.collect())
    }

    /// The name, with the hardware where there are several and the name does not say it.
    fn name(&self, series: &Series) -> String {
        let several = self.series.iter().any(|other| other.hardware != self.series[0].hardware);
        let told = !several || names_hardware(&series.name, &series.hardware);
        series.called(&[&series.name, if told { "" } else { &series.hardware }], "")
    }

    /// What the legend and the lines need.
    pub(super) fn natural_height(&self, look: &Look, width: f64) -> f64 {
        let plot = (0.5 * width).clamp(220.0, 360.0);
        plot + self.legend(look, plot).height(width)
    }

    pub(super) fn least_height(&self, look: &Look, width: f64) -> f64 {
        170.0 + self.legend(look, 170.0).height(width)
    }

    /// Draws all of it, with the x axis that fits the width it gets.
    pub(super) fn draw(&self, scene: &mut Scene, look: &Look, body: Area, x: &dyn Fn(f64) -> Axis) -> Plane {
        let legend = self.legend(look, body.height);
        legend.draw(scene, body.x, body.y, body.width);
        let body = body.without(0.0, legend.height(body.width), 0.0, 0.0);
        let at_ends = self.names_at_ends(body.height);
        let widest = self.series.iter().map(|series| text::width(&self.name(series), LABEL, false)).fold(0.0, f64::max);
        let names = if at_ends { (widest + 22.0).min(0.3 * body.width) } else { 10.0 };
        let left = self.y.label_width() + 8.0;
        let above = if self.y_label.is_empty() { 6.0 } else { 20.0 };
        let below = if self.x_label.is_empty() { 18.0 } else { 32.0 };
        let area = body.without(left, above, names, below);
        let sides = Sides { left: true, bottom: true, level_lines: true, ..Sides::default() };
        let plane = Plane::draw(scene, area, x(area.width), self.y.clone(), sides);
        let y_label = text::fit_start(self.y_label, body.width, LABEL, false);
        scene.text(body.x, body.y + 10.0, Type::soft(LABEL), &y_label);
        let x_label = text::fit_start(self.x_label, area.width, LABEL, false);
        scene.text(area.x + area.width / 2.0, body.bottom() - 2.0, Type::soft(LABEL).at(Anchor::Middle), &x_label);
        for guide in self.guides {
            draw_guide(scene, &plane, guide);
        }
        let few = self.series.iter().map(|series| series.points.len()).sum::<usize>() <= TITLED_POINTS;
        let pens = self.pens(look);
        let labels = if at_ends { self.label_places(&plane) } else { vec![None; self.series.len()] };
        for ((series, pen), label) in self.series.iter().zip(&pens).zip(labels) {
            self.draw_series(scene, &plane, (series, pen, label), few, body.right());
        }
        plane
    }

    /// Draws a line, its points, and its name at `label` where that stands beside the plane.
    fn draw_series(
        &self,
        scene: &mut Scene,
        plane: &Plane,
        (series, pen, label): (&Series, &Pen, Option<f64>),
        titled: bool,
        right: f64,
    ) {
        let points = self.points(series);
        let values: Vec<String> = points
            .iter()
            .filter(|(_, y)| y.value().is_some())
            .take(8)
            .map(|(x, y)| {
                format!("{} {}", (self.say_x)(*x), in_words(Estimate { low: None, high: None, ..*y }, self.unit))
            })
            .collect();
        let some = !values.is_empty();
        let what = if some {
            let more = if points.len() > 8 { "; …" } else { "" };
            format!("{}{more}", values.join("; "))
        } else if series.note.is_empty() {
            words().not_measured.clone()
        } else {
            series.note.clone()
        };
        let own = [
            ("hardware", series.hardware.as_str()),
            ("architecture", series.architecture.as_str()),
            ("state", if some && series.predicted { "predicted" } else { state(some, series.emulated) }),
        ];
        let told = names_hardware(&series.name, &series.hardware);
        let title_of = |what: &str| series.called(&[&series.name, if told { "" } else { &series.hardware }], what);
        scene.mark("mark series", &own, &series.attributes, &title_of(&what), |scene| {
            let single = points.len() <= SINGLE_POINTS;
            for run in points.split(|(_, y)| y.value().is_none()) {
                draw_run(scene, plane, run, pen, single);
            }
            for (x, estimate) in &points {
                let Some(value) = estimate.value() else { continue };
                let alone = is_alone(&points, *x);
                if !(single || alone) {
                    continue;
                }
                let (px, py) = plane.at(*x, value);
                if titled {
                    let what = format!("{}, {}", (self.say_x)(*x), series.in_words(*estimate, self.unit));
                    scene.mark("point", &[], &Attributes::default(), &title_of(&what), |scene| {
                        scene.marker(pen.marker, px, py, 3.4, pen.point);
                    });
                } else {
                    scene.marker(pen.marker, px, py, 3.4, pen.point);
                }
            }
            if let (Some(y), Some((from_x, from_y))) = (label, self.end(plane, series)) {
                let left = plane.area.right() + 8.0;
                if is_early(plane, from_x) {
                    let name = text::fit(&self.name(series), right - from_x - 18.0, LABEL, false);
                    scene.marker(pen.marker, from_x + 11.0, from_y - 8.0, 3.0, pen.point);
                    return scene.text_middle(from_x + 18.0, from_y - 8.0, Type::ink(LABEL).rim(), &name);
                }
                if (from_y - y).abs() > 3.0 || left - from_x > 20.0 {
                    scene.line(&[(from_x + 4.0, from_y), (left, y)], Style::line(pen.colour, 0.7).opacity(0.6));
                }
                scene.marker(pen.marker, left + 4.0, y, 3.0, pen.point);
                let name = text::fit(&self.name(series), right - left - 12.0, LABEL, false);
                scene.text_middle(left + 12.0, y, Type::ink(LABEL), &name);
            }
        });
    }

    /// Where the last value of a series is.
    fn end(&self, plane: &Plane, series: &Series) -> Option<(f64, f64)> {
        self.points(series).iter().rev().find_map(|(x, y)| Some(plane.at(*x, y.value()?)))
    }

    /// Where the names of the lines stand so that none covers another.
    fn label_places(&self, plane: &Plane) -> Vec<Option<f64>> {
        let ends: Vec<Option<(f64, f64)>> = self.series.iter().map(|series| self.end(plane, series)).collect();
        let wanted: Vec<Option<f64>> = ends.iter().map(|end| end.map(|(_, y)| y)).collect();
        let at_the_right = |index: &usize| ends[*index].is_some_and(|(x, _)| !is_early(plane, x));
        let mut order: Vec<usize> = (0..wanted.len()).filter(at_the_right).collect();
        order.sort_by(|one, two| wanted[*one].unwrap_or(0.0).total_cmp(&wanted[*two].unwrap_or(0.0)));
        let mut places = wanted;
        let mut floor = plane.area.y;
        for index in &order {
            let place = places[*index].unwrap_or(0.0).max(floor);
            places[*index] = Some(place);
            floor = place + LABEL_STEP;
        }
        let mut ceiling = plane.area.bottom() + 4.0;
        for index in order.iter().rev() {
            let place = places[*index].unwrap_or(0.0).min(ceiling);
            places[*index] = Some(place);
            ceiling = place - LABEL_STEP;
        }
        places
    }
}

/// Whether a line ends so far from the right that its name is better beside its end.
fn is_early(plane: &Plane, x: f64) -> bool {
    plane.area.right() - x > 60.0
}

fn is_alone(points: &[(f64, Estimate)], x: f64) -> bool {
    let Some(index) = points.iter().position(|(known, _)| *known == x) else {
        return true;
    };
    let has = |index: Option<usize>| {
        index.and_then(|index| points.get(index)).is_some_and(|(_, estimate)| estimate.value().is_some())
    };
    !has(index.checked_sub(1)) && !has(Some(index + 1))
}

fn draw_run(scene: &mut Scene, plane: &Plane, run: &[(f64, Estimate)], pen: &Pen, single: bool) {
    let edge = |end: fn((f64, f64)) -> f64| -> Vec<(f64, f64)> {
        run.iter().filter_map(|(x, y)| Some(plane.at(*x, end(y.interval()?)))).collect()
    };
    let (lows, mut highs) = (edge(|ends| ends.0), edge(|ends| ends.1));
    if single {
        for (low, high) in lows.iter().zip(&highs) {
            interval(scene, *low, *high, Style::line(pen.colour, 1.0).opacity(0.7));
        }
    } else {
        highs.reverse();
        let band: Vec<_> = lows.into_iter().chain(highs).collect();
        scene.polygon(&band, Style::fill(pen.colour).opacity(0.18));
    }
    let line: Vec<_> = run.iter().filter_map(|(x, y)| Some(plane.at(*x, y.value()?))).collect();
    scene.line(&line, pen.line);
}

/// A dashed line with its name where it ends; gives the place of the name: left, top, right, bottom.
pub(super) fn draw_guide(scene: &mut Scene, plane: &Plane, guide: &Guide) -> Option<[f64; 4]> {
    let known = guide.points.iter().filter_map(|(x, y)| Some((drawable(Some(*x))?, drawable(Some(*y))?)));
    let points: Vec<(f64, f64)> = known.collect();
    let parts: Vec<_> = points.windows(2).flat_map(|ends| plane.straight(ends[0], ends[1])).collect();
    let mut path: Vec<(f64, f64)> = Vec::new();
    let style = Style::line(Paint::Soft, 1.0).dash("4 3");
    for [from, to] in &parts {
        if path.last().is_some_and(|(x, y)| (x - from.0).abs() > 0.2 || (y - from.1).abs() > 0.2) {
            scene.line(&path, style);
            path.clear();
        }
        if path.is_empty() {
            path.push(*from);
        }
        path.push(*to);
    }
    scene.line(&path, style);
    // Above the line, and above the plane where it leaves through its top.
    let [_, (x, y)] = parts.last()?;
    let label = text::fit(&guide.label, 0.4 * plane.area.width, 9.0, false);
    let width = text::width(&label, 9.0, false);
    let y = if *y < plane.area.y + 14.0 { plane.area.y - 5.0 } else { y - 6.0 };
    let right = x.clamp(plane.area.x + width, plane.area.right().max(plane.area.x + width));
    scene.text(right, y, Type::soft(9.0).at(Anchor::End).rim(), &label);
    Some([right - width, y - 9.0, right, y + 2.0])
}

/// All values of series that must have room on the y axis.
pub(super) fn y_domain<'a>(series: &'a [Series], is_x: &dyn Fn(f64) -> bool) -> Option<Domain> {
    let points = series.iter().flat_map(|series: &'a Series| &series.points).filter(|point| is_x(point.x));
    Domain::of(points.flat_map(|point| point.estimate.extent()).collect::<Vec<_>>())
}

/// All x at which something is drawn, once each and in order.
pub(super) fn xs(series: &[Series], is_x: &dyn Fn(f64) -> bool) -> Vec<f64> {
    let points = series.iter().flat_map(|series| &series.points);
    let drawn = points.filter(|point| point.estimate.value().is_some() && is_x(point.x));
    let mut xs: Vec<f64> = drawn.map(|point| point.x).collect();
    xs.sort_by(f64::total_cmp);
    xs.dedup();
    xs
}
