//! Horizontal bars, ranked or in groups, with 95% intervals.

use serde::{Deserialize, Serialize};

use super::shared::{area_style, from_zero, hardware_legend, interval, state, tail, title, value_axis};
use crate::attributes::Attributes;
use crate::chart::{Head, Kind};
use crate::draw::Area;
use crate::draw::axis::{Domain, Plane};
use crate::draw::legend::Legend;
use crate::draw::rows::{Place, RowText, Rows, say};
use crate::draw::scene::{Anchor, Scene, Style, Type};
use crate::draw::theme::Paint;
use crate::estimate::{Estimate, drawable};
use crate::look::Look;
use crate::number::{in_words, number};
use crate::text;
use crate::words::words;

/// Bars from top to bottom in the order given.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Bars {
    pub head: Head,
    pub unit: String,
    /// Equal ratios instead of equal steps. Bars become points, for there is no 0 to begin at; where a value is not above 0
    /// the axis stays linear.
    pub log: bool,
    pub reference: Option<Reference>,
    pub bars: Vec<Bar>,
}

/// A line to compare with, such as "cpu = 1".
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reference {
    pub value: f64,
    pub label: String,
}

/// One row.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Bar {
    pub label: String,
    /// A second, smaller line under the label.
    pub sublabel: String,
    /// Bars of one group that follow each other stand under its name.
    pub group: String,
    /// Without a value the row says `note`.
    pub estimate: Estimate,
    pub hardware: String,
    pub emulated: bool,
    /// Why there is no value, or what to know about it.
    pub note: String,
    pub attributes: Attributes,
}

const VALUE: f64 = 10.0;
const NOTE: f64 = 9.0;

impl Bars {
    fn rows(&self) -> Rows<'_> {
        Rows::new(self.bars.iter().map(|bar| RowText::of(&bar.label, &bar.sublabel, &bar.group)).collect())
    }

    fn reference(&self) -> Option<(f64, &str)> {
        let reference = self.reference.as_ref()?;
        Some((drawable(Some(reference.value))?, &reference.label))
    }

    fn legend(&self, look: &Look) -> Legend {
        let drawn = self.bars.iter().filter(|bar| bar.estimate.value().is_some());
        hardware_legend(
            look,
            drawn.map(|bar| (bar.hardware.as_str(), bar.emulated, [bar.label.as_str(), bar.sublabel.as_str()])),
        )
    }

    fn above(&self, look: &Look, width: f64) -> (f64, f64) {
        let legend = self.legend(look);
        (legend.height(width), if self.reference().is_some() { 12.0 } else { 0.0 })
    }

    fn height_around(&self, width: f64) -> f64 {
        let (legend, reference) = self.above(&Look::default(), width);
        legend + reference
    }

    fn draw_bar(&self, scene: &mut Scene, look: &Look, plane: &Plane, place: Place, bar: &Bar, axis: (f64, bool, f64)) {
        let (start, logarithmic, right) = axis;
        let Some(value) = bar.estimate.value() else {
            let reason = if bar.note.is_empty() { &words().not_measured } else { &bar.note };
            return say(scene, plane.area, right, place, reason);
        };
        let style = area_style(look, &bar.hardware, bar.emulated);
        let (from, to) = (plane.x(start), plane.x(value));
        let thick = (0.62 * place.height).min(15.0);
        if logarithmic {
            // No stem: its length would say nothing. A dotted line across leads the eye from label to point.
            let across = [(plane.area.x, place.middle), (plane.area.right(), place.middle)];
            scene.line(&across, Style::line(Paint::Grid, 1.0).dash("1 3"));
            scene.circle(to, place.middle, 4.5, style);
        } else {
            scene.rect(from.min(to), place.middle - thick / 2.0, (to - from).abs(), thick, style);
        }
        let mut end = to.max(from);
        if let Some((low, high)) = bar.estimate.interval() {
            let (low, high) = (plane.x(low), plane.x(high));
            interval(scene, (low, place.middle), (high, place.middle), Style::line(Paint::Ink, 1.0));
            end = end.max(high);
        }
        let text = number(value);
        // Where a line to compare with may cross the text, it gets a rim.
        let ink = |style: Type| if self.reference.is_some() { style.rim() } else { style };
        scene.text_middle(end + 6.0, place.middle, ink(Type::ink(VALUE)), &text);
        let after = end + 12.0 + text::width(&text, VALUE, false);
        let note = text::fit_start(&self.note_of(bar), right - after, NOTE, false);
        scene.text_middle(after, place.middle, ink(Type::soft(NOTE)), &note);
    }

    fn note_of(&self, bar: &Bar) -> String {
        match (bar.emulated, bar.note.is_empty()) {
            (true, true) => words().emulated.clone(),
            (true, false) => format!("{}, {}", words().emulated, bar.note),
            (false, _) => bar.note.clone(),
        }
    }
}

impl Kind for Bars {
    fn head(&self) -> &Head {
        &self.head
    }

    fn is_empty(&self) -> bool {
        self.bars.is_empty()
    }

    fn natural_height(&self, width: f64) -> f64 {
        self.rows().natural_height() + self.height_around(width)
    }

    fn least_height(&self, width: f64) -> f64 {
        self.rows().least_height() + self.height_around(width)
    }

    fn draw(&self, scene: &mut Scene, look: &Look, body: Area) {
        let legend = self.legend(look);
        legend.draw(scene, body.x, body.y, body.width);
        let (legend_height, reference_height) = self.above(look, body.width);
        let body = body.without(0.0, legend_height + reference_height, 0.0, 0.0);

        let values =
            self.bars.iter().flat_map(|bar| bar.estimate.extent()).chain(self.reference().map(|(value, _)| value));
        let seen = Domain::of(values);
        let logarithmic = self.log && seen.is_some_and(|domain| domain.low > 0.0);
        let domain = match seen {
            // A point at the very start of the axis would look like none.
            Some(domain) if logarithmic => domain.with(domain.low / 1.25),
            _ => from_zero(seen),
        };
        let rows = self.rows();
        let bare = rows.across(body, 0.0);
        let ends: Vec<(f64, f64)> = self
            .bars
            .iter()
            .filter_map(|bar| {
                let value = bar.estimate.value()?;
                let note = text::width(&self.note_of(bar), NOTE, false).min(0.25 * bare.width);
                let end = bar.estimate.interval().map_or(value, |(_, high)| high.max(value)).max(domain.low.max(0.0));
                Some((
                    end,
                    14.0 + text::width(&number(value), VALUE, false) + note + if note > 0.0 { 6.0 } else { 0.0 },
                ))
            })
            .collect();
        let right = body.right();
        let area = rows.across(body, tail(right - bare.x, domain, logarithmic, &ends));
        let axis = value_axis(domain, logarithmic, area, body, &self.unit, 0.0);
        let start = if logarithmic { axis.start() } else { 0.0 };
        let (plane, places) = rows.draw(scene, body, area, axis);
        if let Some((value, label)) = self.reference() {
            let x = plane.x(value);
            scene.line(&[(x, area.y - 3.0), (x, area.bottom())], Style::line(Paint::Soft, 1.0).dash("3 2"));
            let label = text::fit(label, 0.5 * body.width, NOTE, false);
            let half = text::width(&label, NOTE, false) / 2.0;
            let middle = x.clamp(body.x + half, (right - half).max(body.x + half));
            scene.text(middle, body.y - 1.0, Type::soft(NOTE).at(Anchor::Middle), &label);
        }
        for (bar, place) in self.bars.iter().zip(places) {
            let what = match bar.estimate.value() {
                Some(_) if bar.note.is_empty() => in_words(bar.estimate, &self.unit),
                Some(_) => format!("{}, {}", in_words(bar.estimate, &self.unit), bar.note),
                None if bar.note.is_empty() => words().not_measured.clone(),
                None => bar.note.clone(),
            };
            let title = title(&[&bar.label, &bar.sublabel, &bar.hardware], &what, bar.emulated);
            let own =
                [("hardware", bar.hardware.as_str()), ("state", state(bar.estimate.value().is_some(), bar.emulated))];
            scene.mark("mark", &own, &bar.attributes, &title, |scene| {
                self.draw_bar(scene, look, &plane, place, bar, (start, logarithmic, right));
            });
        }
    }
}
