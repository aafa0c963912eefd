//! Charts of rows: names at the left, an axis across, a line of text for what has no value.

use super::Area;
use super::axis::{Axis, Plane, Sides};
use super::scene::{Anchor, Scene, Type};
use crate::text;

const LABEL: f64 = 11.0;
const SUBLABEL: f64 = 9.0;
const HEADING: f64 = 24.0;
const SMALLEST: f64 = 15.0;
/// From so many rows on, the axis is at the top too.
const MANY: usize = 25;

/// What stands at the left of a row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowText<'a> {
    pub label: &'a str,
    pub sublabel: &'a str,
    /// A heading is drawn where it differs from that of the row above.
    pub group: &'a str,
}

impl<'a> RowText<'a> {
    pub(crate) fn of(label: &'a str, sublabel: &'a str, group: &'a str) -> Self {
        Self { label, sublabel, group }
    }
}

pub(crate) struct Rows<'a> {
    texts: Vec<RowText<'a>>,
    natural: f64,
}

/// A row's place: its middle and the height it may use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub middle: f64,
    pub height: f64,
}

impl<'a> Rows<'a> {
    pub(crate) fn new(texts: Vec<RowText<'a>>) -> Self {
        let two_lines = texts.iter().any(|text| !text.sublabel.is_empty());
        Self { texts, natural: if two_lines { 31.0 } else { 22.0 } }
    }

    /// The same with rows of another height.
    pub(crate) fn of_height(self, natural: f64) -> Self {
        Self { natural: self.natural.max(natural), ..self }
    }

    fn headings(&self) -> usize {
        let mut above = "";
        let starts = self.texts.iter().filter(|text| {
            let new = text.group != above && !text.group.is_empty();
            above = text.group;
            new
        });
        starts.count()
    }

    fn around(&self) -> (f64, f64) {
        (if self.texts.len() > MANY { 18.0 } else { 4.0 }, 18.0)
    }

    fn height_with(&self, row: f64) -> f64 {
        let (above, below) = self.around();
        above + below + row * self.texts.len() as f64 + HEADING * self.headings() as f64
    }

    pub(crate) fn natural_height(&self) -> f64 {
        self.height_with(self.natural)
    }

    /// The least height in which rows can still be read.
    pub(crate) fn least_height(&self) -> f64 {
        self.height_with(SMALLEST.max(0.55 * self.natural))
    }

    fn label_width(&self, room: f64) -> f64 {
        let widths = self
            .texts
            .iter()
            .map(|row| text::width(row.label, LABEL, false).max(text::width(row.sublabel, SUBLABEL, false)));
        let widest = widths.fold(0.0, f64::max);
        if widest > 0.0 { (widest + 10.0).min(0.36 * room) } else { 4.0 }
    }

    /// The area across which the axis runs, when `tail` pixels at the right are kept for text.
    pub(crate) fn across(&self, body: Area, tail: f64) -> Area {
        let (above, below) = self.around();
        let left = self.label_width(body.width);
        let right = tail.clamp(12.0, 0.5 * (body.width - left));
        let full = body.without(left, above, right, below);
        let row = self.row_height(body);
        let used = row * self.texts.len() as f64 + HEADING * self.headings() as f64;
        Area { height: used, ..full }
    }

    fn row_height(&self, body: Area) -> f64 {
        let (above, below) = self.around();
        let count = self.texts.len().max(1) as f64;
        let room = body.height - above - below - HEADING * self.headings() as f64;
        (room / count).clamp(SMALLEST.min(self.natural), 1.3 * self.natural)
    }

    /// Draws axis, headings and names, and gives each row's place.
    pub(crate) fn draw(&self, scene: &mut Scene, body: Area, area: Area, x: Axis) -> (Plane, Vec<Place>) {
        let row = self.row_height(body);
        let y = Axis::linear(super::axis::Domain { low: 0.0, high: 1.0 }, 2);
        let sides = Sides { bottom: true, top: self.texts.len() > MANY, upright_lines: true, ..Sides::default() };
        let plane = Plane::draw(scene, area, x, y, sides);
        let room = area.x - body.x - 8.0;
        let mut above = "";
        let mut top = area.y;
        let mut places = Vec::with_capacity(self.texts.len());
        for text in &self.texts {
            if text.group != above && !text.group.is_empty() {
                let heading = text::fit(text.group, body.width, LABEL, true);
                scene.text(body.x, top + HEADING - 7.0, Type::ink(LABEL).bold(), &heading);
                top += HEADING;
            }
            above = text.group;
            let middle = top + row / 2.0;
            let two_lines = !text.sublabel.is_empty() && row >= 24.0;
            let right = area.x - 8.0;
            let label = text::fit(text.label, room, LABEL, false);
            let shift = if two_lines { -5.5 } else { 0.0 };
            scene.text_middle(right, middle + shift, Type::ink(LABEL).at(Anchor::End), &label);
            if two_lines {
                let sublabel = text::fit(text.sublabel, room, SUBLABEL, false);
                scene.text_middle(right, middle + 7.0, Type::soft(SUBLABEL).at(Anchor::End), &sublabel);
            }
            places.push(Place { middle, height: row });
            top += row;
        }
        (plane, places)
    }
}

/// A reason in words where a row has no value.
pub(crate) fn say(scene: &mut Scene, area: Area, right: f64, place: Place, reason: &str) {
    let text = text::fit_start(reason, right - area.x - 6.0, 10.0, false);
    scene.text_middle(area.x + 6.0, place.middle, Type::soft(10.0), &text);
}
