//! Before and after: two values per row, with their intervals and the ratio in words.

use serde::{Deserialize, Serialize};

use super::shared::{area_style, from_zero, hardware_entries, interval, state, title, value_axis};
use crate::attributes::Attributes;
use crate::chart::{Head, Kind};
use crate::draw::Area;
use crate::draw::axis::{Domain, Plane};
use crate::draw::legend::{Entry, Legend, Swatch};
use crate::draw::rows::{Place, RowText, Rows, say};
use crate::draw::scene::{Anchor, Scene, Style, Type};
use crate::draw::theme::Paint;
use crate::estimate::Estimate;
use crate::look::Look;
use crate::marker::Marker;
use crate::number::in_words;
use crate::text;
use crate::words::words;

/// Pairs from top to bottom in the order given. The first value is a ring, the second a full point.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Pairs {
    pub head: Head,
    pub unit: String,
    pub log: bool,
    /// What the first values are, such as "before" or a run's name.
    pub before: String,
    pub after: String,
    pub pairs: Vec<Pair>,
}

/// One row.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Pair {
    pub label: String,
    pub sublabel: String,
    pub group: String,
    pub before: Estimate,
    pub after: Estimate,
    /// The ratio of both in words, such as "1.3× slower".
    pub ratio: String,
    pub hardware: String,
    pub emulated: bool,
    /// Why a value is missing, or what to know about it.
    pub note: String,
    pub attributes: Attributes,
}

const VALUE: f64 = 10.0;

impl Pairs {
    fn rows(&self) -> Rows<'_> {
        Rows::new(self.pairs.iter().map(|pair| RowText::of(&pair.label, &pair.sublabel, &pair.group)).collect())
    }

    fn legend(&self, look: &Look) -> Legend {
        let (ring, full) = styles(Paint::Soft);
        let point = |style, text: &str| Entry { swatch: Swatch::Point(Marker::Circle, style), text: text.to_owned() };
        let mut entries = vec![point(ring, &self.before), point(full, &self.after)];
        let marks = self.pairs.iter();
        entries.extend(hardware_entries(
            look,
            marks.map(|pair| (pair.hardware.as_str(), pair.emulated, [pair.label.as_str(), pair.sublabel.as_str()])),
        ));
        Legend::new(entries)
    }

    fn legend_height(&self, width: f64) -> f64 {
        self.legend(&Look::default()).height(width)
    }

    fn remark(&self, pair: &Pair) -> String {
        let emulated = if pair.emulated { words().emulated.as_str() } else { "" };
        let missing = match (pair.before.value(), pair.after.value()) {
            (None, Some(_)) if pair.note.is_empty() => format!("{}: {}", self.before, words().not_measured),
            (Some(_), None) if pair.note.is_empty() => format!("{}: {}", self.after, words().not_measured),
            _ => String::new(),
        };
        let parts = [pair.ratio.as_str(), missing.as_str(), emulated, pair.note.as_str()];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
    }

    fn draw_pair(&self, scene: &mut Scene, look: &Look, plane: &Plane, place: Place, pair: &Pair, right: f64) {
        let remark = self.remark(pair);
        let (before, after) = (pair.before.value(), pair.after.value());
        if before.is_none() && after.is_none() {
            let reason = if pair.note.is_empty() { &words().not_measured } else { &pair.note };
            return say(scene, plane.area, right, place, reason);
        }
        let colour = Paint::Of(look.colour(&pair.hardware));
        let (ring, mut full) = styles(colour);
        if pair.emulated {
            full = area_style(look, &pair.hardware, true);
        }
        let y = place.middle;
        if let (Some(before), Some(after)) = (before, after) {
            let dash = if pair.emulated { "2 2" } else { "" };
            scene.line(&[(plane.x(before), y), (plane.x(after), y)], Style::line(colour, 2.0).dash(dash));
        }
        for (estimate, shift, style) in [(pair.before, -4.5, ring), (pair.after, 4.5, full)] {
            let Some(value) = estimate.value() else { continue };
            if let Some((low, high)) = estimate.interval() {
                let line = Style::line(Paint::Soft, 1.0);
                interval(scene, (plane.x(low), y + shift), (plane.x(high), y + shift), line);
            }
            scene.circle(plane.x(value), y, 4.2, style);
        }
        let room = right - plane.area.right() - 10.0;
        let text = text::fit_start(&remark, room, VALUE, false);
        scene.text_middle(right, y, Type::ink(VALUE).at(Anchor::End), &text);
    }
}

fn styles(colour: Paint) -> (Style, Style) {
    (Style::fill(Paint::Ground).outlined(colour, 1.8), Style::fill(colour).outlined(Paint::Ground, 0.7))
}

impl Kind for Pairs {
    fn head(&self) -> &Head {
        &self.head
    }

    fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    fn natural_height(&self, width: f64) -> f64 {
        self.rows().natural_height() + self.legend_height(width)
    }

    fn least_height(&self, width: f64) -> f64 {
        self.rows().least_height() + self.legend_height(width)
    }

    fn draw(&self, scene: &mut Scene, look: &Look, body: Area) {
        let legend = self.legend(look);
        legend.draw(scene, body.x, body.y, body.width);
        let body = body.without(0.0, legend.height(body.width), 0.0, 0.0);
        let values = self.pairs.iter().flat_map(|pair| pair.before.extent().chain(pair.after.extent()));
        let seen = Domain::of(values);
        let logarithmic = self.log && seen.is_some_and(|domain| domain.low > 0.0);
        let domain = if logarithmic { seen.unwrap_or(Domain { low: 1.0, high: 10.0 }) } else { from_zero(seen) };
        let rows = self.rows();
        let widest = self.pairs.iter().map(|pair| text::width(&self.remark(pair), VALUE, false)).fold(0.0, f64::max);
        let bare = rows.across(body, 0.0);
        let area = rows.across(body, (widest + 16.0).min(0.34 * bare.width));
        let axis = value_axis(domain, logarithmic, area, body, &self.unit, 0.02);
        let (plane, places) = rows.draw(scene, body, area, axis);
        for (pair, place) in self.pairs.iter().zip(places) {
            let measured = pair.before.value().is_some() && pair.after.value().is_some();
            let mut what = format!(
                "{} {}; {} {}",
                self.before,
                in_words(pair.before, &self.unit),
                self.after,
                in_words(pair.after, &self.unit)
            );
            for more in [&pair.ratio, &pair.note] {
                if !more.is_empty() {
                    what = format!("{what}; {more}");
                }
            }
            let title = title(&[&pair.label, &pair.sublabel, &pair.hardware], &what, pair.emulated);
            let own = [("hardware", pair.hardware.as_str()), ("state", state(measured, pair.emulated))];
            scene.mark("mark", &own, &pair.attributes, &title, |scene| {
                self.draw_pair(scene, look, &plane, place, pair, body.right());
            });
        }
    }
}
