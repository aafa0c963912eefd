//! Points of two numbers: efficiency, memory against size, one time against another.

use serde::{Deserialize, Serialize};

use super::series::{Guide, draw_guide};
use super::shared::{point_style, state, ticks_in, title};
use crate::attributes::Attributes;
use crate::chart::{Head, Kind};
use crate::draw::Area;
use crate::draw::axis::{Axis, Domain, Plane, Sides};
use crate::draw::legend::{Entry, Legend, Swatch};
use crate::draw::scene::{Anchor, Scene, Style, Type};
use crate::draw::theme::Paint;
use crate::estimate::drawable;
use crate::look::Look;
use crate::marker::Marker;
use crate::number::number;
use crate::text;
use crate::words::words;

/// Points, with lines to compare them with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Scatter {
    pub head: Head,
    /// What x is, with its unit.
    pub x_label: String,
    pub y_label: String,
    /// Equal ratios; where a value is not above 0 the axis stays linear.
    pub x_log: bool,
    pub y_log: bool,
    pub dots: Vec<Dot>,
    /// Names the line on which x and y are equal, and draws it.
    pub diagonal: Option<String>,
    /// Such as the roof of what hardware can do.
    pub guides: Vec<Guide>,
}

/// One point; without an x or a y it is counted below the chart, not drawn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Dot {
    pub x: Option<f64>,
    pub y: Option<f64>,
    pub label: String,
    pub hardware: String,
    pub architecture: String,
    pub emulated: bool,
    pub attributes: Attributes,
}

impl Dot {
    fn at(&self) -> Option<(f64, f64)> {
        Some((drawable(self.x)?, drawable(self.y)?))
    }
}

const LABEL: f64 = 9.0;
const RADIUS: f64 = 4.2;

impl Scatter {
    fn legend(&self, look: &Look) -> Legend {
        let mut entries: Vec<(String, Entry)> = Vec::new();
        let mut add = |text: String, swatch: Swatch| {
            if entries.iter().all(|(known, _)| *known != text) {
                entries.push((text.clone(), Entry { swatch, text }));
            }
        };
        for dot in self.dots.iter().filter(|dot| !dot.hardware.is_empty()) {
            let text = title(&[&dot.hardware], "", dot.emulated);
            add(text, Swatch::Point(Marker::Circle, point_style(look, &dot.hardware, dot.emulated)));
        }
        for dot in self.dots.iter().filter(|dot| !dot.architecture.is_empty()) {
            let style = Style::fill(Paint::None).outlined(Paint::Soft, 1.2);
            add(dot.architecture.clone(), Swatch::Point(look.marker(&dot.architecture), style));
        }
        let missing = self.dots.iter().filter(|dot| dot.at().is_none()).count();
        if missing > 0 {
            let style = Style::fill(Paint::None).outlined(Paint::Grid, 1.0);
            add(format!("{missing} {}", words().not_measured), Swatch::Box(style));
        }
        Legend::new(entries.into_iter().map(|(_, entry)| entry).collect())
    }

    /// Reaches over the points, and over a roof that is not far above them.
    fn y_domain(&self, places: &[(f64, f64)]) -> Option<Domain> {
        let x = Domain::of(places.iter().map(|place| place.0))?;
        let y = Domain::of(places.iter().map(|place| place.1))?;
        let far = if self.y_log { 5.0 } else { 1.5 };
        let guides = self.guides.iter().flat_map(|guide| &guide.points);
        let near =
            guides.filter(|(across, up)| (x.low..=x.high).contains(across) && *up > y.high && *up <= far * y.high);
        Some(near.fold(y, |domain, (_, up)| domain.with(*up)))
    }

    fn axis(&self, logarithmic: bool, values: Option<Domain>, ticks: usize) -> Axis {
        let domain = values.unwrap_or(Domain { low: 0.0, high: 1.0 });
        if logarithmic && domain.low > 0.0 {
            return Axis::logarithmic(domain, ticks).padded(0.05);
        }
        let zero = domain.low == 0.0 && domain.high == 0.0;
        Axis::to_ticks(if zero { Domain { low: 0.0, high: 1.0 } } else { domain.with(0.0) }, ticks).padded(0.02)
    }

    /// Names beside the points, where there is room for them.
    fn labels(&self, plane: &Plane, mut taken: Vec<[f64; 4]>) -> Vec<Option<Name>> {
        let places: Vec<Option<(f64, f64)>> =
            self.dots.iter().map(|dot| dot.at().map(|(x, y)| plane.at(x, y))).collect();
        taken.extend(places.iter().flatten().map(|(x, y)| [x - RADIUS, y - RADIUS, x + RADIUS, y + RADIUS]));
        let area = plane.area;
        let inside = |own: &[f64; 4]| {
            own[0] >= area.x && own[2] <= area.right() + 2.0 && own[1] >= area.y - 4.0 && own[3] <= area.bottom()
        };
        let names = self.dots.iter().zip(places).enumerate().map(|(index, (dot, place))| {
            // Where this many points are, names are for the pointer.
            let (x, y) = place.filter(|_| index < 150 && !dot.label.is_empty())?;
            let text = text::fit(&dot.label, 150.0, LABEL, false);
            let width = text::width(&text, LABEL, false);
            let choices = [
                (x + 7.0, y, Anchor::Start, x + 7.0),
                (x - 7.0, y, Anchor::End, x - 7.0 - width),
                (x, y - 10.0, Anchor::Middle, x - width / 2.0),
                (x, y + 10.0, Anchor::Middle, x - width / 2.0),
            ];
            choices.into_iter().find_map(|(x, y, anchor, left)| {
                let own = [left, y - 5.0, left + width, y + 5.0];
                let free =
                    |other: &[f64; 4]| own[2] < other[0] || other[2] < own[0] || own[3] < other[1] || other[3] < own[1];
                if !inside(&own) || !taken.iter().all(free) {
                    return None;
                }
                taken.push(own);
                Some(Name { x, y, anchor, text: text.clone() })
            })
        });
        names.collect()
    }
}

/// A name and where it stands.
struct Name {
    x: f64,
    y: f64,
    anchor: Anchor,
    text: String,
}

impl Kind for Scatter {
    fn head(&self) -> &Head {
        &self.head
    }

    fn is_empty(&self) -> bool {
        self.dots.iter().all(|dot| dot.at().is_none())
    }

    fn natural_height(&self, width: f64) -> f64 {
        (0.55 * width).clamp(260.0, 460.0) + self.legend(&Look::default()).height(width)
    }

    fn least_height(&self, width: f64) -> f64 {
        180.0 + self.legend(&Look::default()).height(width)
    }

    fn draw(&self, scene: &mut Scene, look: &Look, body: Area) {
        let legend = self.legend(look);
        legend.draw(scene, body.x, body.y, body.width);
        let body = body.without(0.0, legend.height(body.width), 0.0, 0.0);
        let places: Vec<(f64, f64)> = self.dots.iter().filter_map(Dot::at).collect();
        let y = self.axis(self.y_log, self.y_domain(&places), 6);
        let area = body.without(y.label_width() + 8.0, 20.0, 12.0, 32.0);
        let x = self.axis(self.x_log, Domain::of(places.iter().map(|place| place.0)), ticks_in(area.width));
        let ends = [x.value_at(0.0).max(y.value_at(0.0)), x.value_at(1.0).min(y.value_at(1.0))];
        let sides = Sides { left: true, bottom: true, level_lines: true, upright_lines: true, ..Sides::default() };
        let plane = Plane::draw(scene, area, x, y, sides);
        let y_label = text::fit_start(&self.y_label, body.width, 10.0, false);
        scene.text(body.x, body.y + 10.0, Type::soft(10.0), &y_label);
        let x_label = text::fit_start(&self.x_label, area.width, 10.0, false);
        scene.text(area.x + area.width / 2.0, body.bottom() - 2.0, Type::soft(10.0).at(Anchor::Middle), &x_label);
        let mut taken = Vec::new();
        if let Some(label) = &self.diagonal {
            let points = ends.map(|end| (end, end)).to_vec();
            taken.extend(draw_guide(scene, &plane, &Guide { label: label.clone(), points }));
        }
        taken.extend(self.guides.iter().filter_map(|guide| draw_guide(scene, &plane, guide)));
        for (dot, name) in self.dots.iter().zip(self.labels(&plane, taken)) {
            let Some((x, y)) = dot.at() else { continue };
            let (px, py) = plane.at(x, y);
            let what = format!("{} {}; {} {}", self.x_label, number(x), self.y_label, number(y));
            let title = title(&[&dot.label, &dot.hardware, &dot.architecture], &what, dot.emulated);
            let own = [
                ("hardware", dot.hardware.as_str()),
                ("architecture", dot.architecture.as_str()),
                ("state", state(true, dot.emulated)),
            ];
            scene.mark("mark", &own, &dot.attributes, &title, |scene| {
                let style = point_style(look, &dot.hardware, dot.emulated);
                scene.marker(look.marker(&dot.architecture), px, py, RADIUS, style);
                if let Some(name) = name {
                    scene.text_middle(name.x, name.y, Type::soft(LABEL).at(name.anchor).rim(), &name.text);
                }
            });
        }
    }
}
