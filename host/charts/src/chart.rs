//! A chart of any kind, and how it becomes a drawing.

use serde::{Deserialize, Serialize};

use crate::draw::Area;
use crate::draw::frame::Frame;
use crate::draw::scene::{Scene, Type};
use crate::draw::theme::{Palette, Theme};
use crate::kinds::{Bars, Distribution, HeatMap, Lines, Pairs, Scatter, Stacked, Trend};
use crate::look::Look;
use crate::words::words;

/// What every chart says around its data.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Head {
    pub title: String,
    /// Whoever shows the drawing has the title as a heading: it is told, and not drawn.
    pub titled: bool,
    /// What is measured, in which unit, and which direction is better.
    pub subtitle: String,
    /// Where the figures are from.
    pub source: String,
    /// Begins all ids in the drawing. Without it they begin with a hash of the drawing, which keeps different charts of
    /// one page apart.
    pub id: Option<String>,
}

/// Width and height in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Size {
    pub width: u32,
    pub height: u32,
}

/// The description of a chart. `kind` says which one in the serialized form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Chart {
    Bars(Bars),
    Lines(Lines),
    Trend(Trend),
    HeatMap(HeatMap),
    Distribution(Distribution),
    Stacked(Stacked),
    Scatter(Scatter),
    Pairs(Pairs),
}

/// What each kind tells of itself, and how it draws.
pub(crate) trait Kind {
    fn head(&self) -> &Head;
    /// Nothing to draw at all, not even a row with a reason.
    fn is_empty(&self) -> bool;
    /// The height its body wants in so much width.
    fn natural_height(&self, width: f64) -> f64;
    /// The least height in which its body can be read.
    fn least_height(&self, width: f64) -> f64;
    fn draw(&self, scene: &mut Scene, look: &Look, body: Area);
}

/// Narrower than this nothing can be read: it is drawn so wide and shown smaller.
const NARROWEST: f64 = 320.0;
/// A drawing is laid out smaller than it is shown by as much: its smallest letters, of nine units, are twelve pixels high.
const ENLARGED: f64 = 12.0 / 9.0;
const NO_DATA_HEIGHT: f64 = 70.0;

impl Chart {
    fn kind(&self) -> &dyn Kind {
        match self {
            Self::Bars(chart) => chart,
            Self::Lines(chart) => chart,
            Self::Trend(chart) => chart,
            Self::HeatMap(chart) => chart,
            Self::Distribution(chart) => chart,
            Self::Stacked(chart) => chart,
            Self::Scatter(chart) => chart,
            Self::Pairs(chart) => chart,
        }
    }

    /// Title, subtitle and source.
    pub fn head(&self) -> &Head {
        self.kind().head()
    }

    /// The same, to be changed: a page has headings of its own.
    pub fn head_mut(&mut self) -> &mut Head {
        match self {
            Self::Bars(chart) => &mut chart.head,
            Self::Lines(chart) => &mut chart.head,
            Self::Trend(chart) => &mut chart.head,
            Self::HeatMap(chart) => &mut chart.head,
            Self::Distribution(chart) => &mut chart.head,
            Self::Stacked(chart) => &mut chart.head,
            Self::Scatter(chart) => &mut chart.head,
            Self::Pairs(chart) => &mut chart.head,
        }
    }

    /// Whether there is nothing to draw. Such a chart says so in words.
    pub fn is_empty(&self) -> bool {
        self.kind().is_empty()
    }

    /// The size at which all of it can be read well: charts of rows grow with their rows.
    pub fn natural_size(&self, width: u32) -> Size {
        let kind = self.kind();
        let drawn = (f64::from(width) / ENLARGED).max(NARROWEST);
        let body = if kind.is_empty() { NO_DATA_HEIGHT } else { kind.natural_height(Frame::body_width(drawn)) };
        let height = Frame::new(kind.head(), drawn).height() + body;
        // A chart that is drawn wider than it is shown gets lower by as much.
        Size { width, height: (height * f64::from(width) / drawn).ceil() as u32 }
    }

    /// The drawing. A size that is too small to read anything in shows the whole chart smaller.
    pub fn svg(&self, look: &Look, size: Size, theme: Theme) -> String {
        let kind = self.kind();
        let empty = kind.is_empty();
        let mut width = (f64::from(size.width.max(1)) / ENLARGED).max(NARROWEST);
        let mut height = f64::from(size.height.max(1)) * width / f64::from(size.width.max(1));
        let frame = Frame::new(kind.head(), width);
        let least = if empty { NO_DATA_HEIGHT } else { kind.least_height(Frame::body_width(width)) };
        height = height.max(frame.height() + least).min(1e6);
        width = width.min(1e6);

        let mut scene = Scene::new(Palette::new(look, theme), width, height);
        let body = frame.draw(&mut scene, height);
        if empty {
            scene.text(body.x, body.y + 24.0, Type::soft(12.0), &words().no_data);
        } else {
            kind.draw(&mut scene, look, body);
        }
        let head = kind.head();
        let description = if empty { format!("{} {}", head.subtitle, words().no_data) } else { head.subtitle.clone() };
        scene.finish(&head.title, description.trim(), head.id.as_deref(), (size.width.max(1), size.height.max(1)))
    }
}
