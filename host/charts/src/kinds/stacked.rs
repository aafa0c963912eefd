//! Horizontal stacks of named parts: the phases of a start, the memory of a model.

use serde::{Deserialize, Serialize};

use super::shared::{from_zero, state, tail, title, value_axis};
use crate::attributes::Attributes;
use crate::chart::{Head, Kind};
use crate::draw::Area;
use crate::draw::axis::{Domain, Plane};
use crate::draw::legend::{Entry, Legend};
use crate::draw::rows::{Place, RowText, Rows, say};
use crate::draw::scene::{Scene, Style, Type};
use crate::draw::theme::Paint;
use crate::estimate::drawable;
use crate::look::Look;
use crate::number::{number, with_unit};
use crate::text;
use crate::words::words;

use super::shared::area_style;

/// Stacks from top to bottom in the order given. A part of one name has one colour in the whole chart.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Stacked {
    pub head: Head,
    pub unit: String,
    pub stacks: Vec<Stack>,
}

/// One row.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Stack {
    pub label: String,
    pub sublabel: String,
    pub group: String,
    pub hardware: String,
    pub emulated: bool,
    pub parts: Vec<Part>,
    /// Why there is no part, or what to know about them.
    pub note: String,
    pub attributes: Attributes,
}

/// A part of a stack; one that was not measured has no value, and the total says so.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Part {
    pub name: String,
    pub value: Option<f64>,
}

const VALUE: f64 = 10.0;

impl Stack {
    fn drawn(&self) -> impl Iterator<Item = (&str, f64)> {
        self.parts.iter().filter_map(|part| Some((part.name.as_str(), drawable(part.value)?)))
    }

    /// What was not measured of a stack that has other parts.
    fn missing(&self) -> Vec<&str> {
        self.parts.iter().filter(|part| drawable(part.value).is_none()).map(|part| part.name.as_str()).collect()
    }

    /// How far it reaches to both sides of 0.
    fn reach(&self) -> (f64, f64) {
        self.drawn().fold((0.0, 0.0), |(down, up), (_, value)| (down + value.min(0.0), up + value.max(0.0)))
    }

    fn total(&self, unit: &str) -> String {
        let (down, up) = self.reach();
        let missing = self.missing();
        let total = with_unit(down + up, unit);
        if missing.is_empty() { total } else { format!("{total} {} {}", words().without, missing.join(", ")) }
    }
}

impl Stacked {
    fn rows(&self) -> Rows<'_> {
        Rows::new(self.stacks.iter().map(|stack| RowText::of(&stack.label, &stack.sublabel, &stack.group)).collect())
    }

    fn names(&self) -> Vec<&str> {
        let mut names = Vec::new();
        for part in self.stacks.iter().flat_map(|stack| &stack.parts) {
            if !names.contains(&part.name.as_str()) {
                names.push(part.name.as_str());
            }
        }
        names
    }

    fn legend(&self, look: &Look) -> Legend {
        let entries = self.names().into_iter().enumerate();
        Legend::new(entries.map(|(index, name)| Entry::filled(Paint::Of(look.part(index)), name)).collect())
    }

    fn draw_stack(&self, scene: &mut Scene, look: &Look, plane: &Plane, place: Place, stack: &Stack, right: f64) {
        let names = self.names();
        let thick = (0.62 * place.height).min(15.0);
        let top = place.middle - thick / 2.0;
        let swatch = area_style(look, &stack.hardware, stack.emulated);
        if !stack.hardware.is_empty() {
            scene.rect(plane.area.x - 5.0, top, 4.0, thick, swatch);
        }
        if stack.drawn().next().is_none() {
            let reason = if stack.note.is_empty() { &words().not_measured } else { &stack.note };
            return say(scene, plane.area, right, place, reason);
        }
        let (mut down, mut up) = (0.0, 0.0);
        for (name, value) in stack.drawn() {
            let start = if value < 0.0 { &mut down } else { &mut up };
            let (from, to) = (plane.x(*start), plane.x(*start + value));
            *start += value;
            let index = names.iter().position(|known| *known == name).unwrap_or(0);
            let colour = look.part(index);
            let style = Style::fill(Paint::Of(colour)).outlined(Paint::Ground, 0.7);
            scene.rect(from.min(to), top, (to - from).abs(), thick, style);
            let label = number(value);
            if text::width(&label, 9.0, false) + 6.0 < (to - from).abs() && thick > 9.0 {
                let ink = Type::ink(9.0).paint(Paint::Of(colour.legible_ink())).at(crate::draw::scene::Anchor::Middle);
                scene.text_middle((from + to) / 2.0, place.middle, ink, &label);
            }
        }
        let mut text = stack.total("");
        for more in [if stack.emulated { words().emulated.as_str() } else { "" }, stack.note.as_str()] {
            if !more.is_empty() {
                text = format!("{text}, {more}");
            }
        }
        let end = plane.x(up) + 6.0;
        scene.text_middle(end, place.middle, Type::ink(VALUE), &text::fit_start(&text, right - end, VALUE, false));
    }
}

impl Kind for Stacked {
    fn head(&self) -> &Head {
        &self.head
    }

    fn is_empty(&self) -> bool {
        self.stacks.is_empty()
    }

    fn natural_height(&self, width: f64) -> f64 {
        self.rows().natural_height() + self.legend(&Look::default()).height(width)
    }

    fn least_height(&self, width: f64) -> f64 {
        self.rows().least_height() + self.legend(&Look::default()).height(width)
    }

    fn draw(&self, scene: &mut Scene, look: &Look, body: Area) {
        let legend = self.legend(look);
        legend.draw(scene, body.x, body.y, body.width);
        let body = body.without(0.0, legend.height(body.width), 0.0, 0.0);
        let reaches = self.stacks.iter().filter(|stack| stack.drawn().next().is_some()).map(Stack::reach);
        let domain = from_zero(Domain::of(reaches.flat_map(|(down, up)| [down, up])));
        let rows = self.rows();
        let bare = rows.across(body, 0.0);
        let ends: Vec<(f64, f64)> = self
            .stacks
            .iter()
            .map(|stack| (stack.reach().1, 14.0 + text::width(&stack.total(""), VALUE, false).min(0.3 * bare.width)))
            .collect();
        let area = rows.across(body, tail(body.right() - bare.x, domain, false, &ends));
        let (plane, places) = rows.draw(scene, body, area, value_axis(domain, false, area, body, &self.unit, 0.0));
        for (stack, place) in self.stacks.iter().zip(places) {
            let measured = stack.drawn().next().is_some();
            let mut told: Vec<String> = stack
                .parts
                .iter()
                .map(|part| match drawable(part.value) {
                    Some(value) => format!("{} {}", part.name, with_unit(value, &self.unit)),
                    None => format!("{} {}", part.name, words().not_measured),
                })
                .collect();
            if measured {
                told.insert(0, format!("{} {}", words().total, stack.total(&self.unit)));
            }
            if !stack.note.is_empty() {
                told.push(stack.note.clone());
            }
            let title = title(&[&stack.label, &stack.sublabel, &stack.hardware], &told.join("; "), stack.emulated);
            let own = [("hardware", stack.hardware.as_str()), ("state", state(measured, stack.emulated))];
            scene.mark("mark", &own, &stack.attributes, &title, |scene| {
                self.draw_stack(scene, look, &plane, place, stack, body.right());
            });
        }
    }
}
