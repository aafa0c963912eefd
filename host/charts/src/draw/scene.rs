//! The writer of SVG: shapes, text, groups with titles, stripes.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::theme::{Paint, Palette, Theme};
use crate::attributes::Attributes;
use crate::hash;
use crate::marker::Marker;
use crate::text::escape;

/// The size of text that does not say its own.
pub(crate) const TEXT: f64 = 11.0;

/// Stands for the prefix of ids until all is drawn. No text can hold it, for escaping takes control characters out.
const PREFIX: char = '\u{1}';

/// How a shape is filled and outlined.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Style {
    pub fill: Paint,
    pub stroke: Paint,
    pub width: f64,
    pub opacity: f64,
    pub dash: &'static str,
}

impl Style {
    pub(crate) fn fill(fill: Paint) -> Self {
        Self { fill, stroke: Paint::None, width: 1.0, opacity: 1.0, dash: "" }
    }

    pub(crate) fn line(stroke: Paint, width: f64) -> Self {
        Self { fill: Paint::None, stroke, width, opacity: 1.0, dash: "" }
    }

    pub(crate) fn outlined(self, stroke: Paint, width: f64) -> Self {
        Self { stroke, width, ..self }
    }

    pub(crate) fn opacity(self, opacity: f64) -> Self {
        Self { opacity, ..self }
    }

    pub(crate) fn dash(self, dash: &'static str) -> Self {
        Self { dash, ..self }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// How text stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Type {
    pub size: f64,
    pub paint: Paint,
    pub anchor: Anchor,
    pub bold: bool,
    /// Turned to be read from below.
    pub upward: bool,
    /// With a rim in the colour of the paper, to be read where lines cross it.
    pub rim: bool,
}

impl Type {
    pub(crate) fn ink(size: f64) -> Self {
        Self { size, paint: Paint::Ink, anchor: Anchor::Start, bold: false, upward: false, rim: false }
    }

    pub(crate) fn soft(size: f64) -> Self {
        Self { paint: Paint::Soft, ..Self::ink(size) }
    }

    pub(crate) fn at(self, anchor: Anchor) -> Self {
        Self { anchor, ..self }
    }

    pub(crate) fn bold(self) -> Self {
        Self { bold: true, ..self }
    }

    pub(crate) fn upward(self) -> Self {
        Self { upward: true, ..self }
    }

    pub(crate) fn rim(self) -> Self {
        Self { rim: true, ..self }
    }

    pub(crate) fn paint(self, paint: Paint) -> Self {
        Self { paint, ..self }
    }
}

pub(crate) struct Scene {
    palette: Palette,
    width: f64,
    height: f64,
    body: String,
    hatches: BTreeMap<Paint, usize>,
    /// Lines of one style that follow each other are written as one path.
    pending: Option<(Style, String)>,
}

impl Scene {
    pub(crate) fn new(palette: Palette, width: f64, height: f64) -> Self {
        Self { palette, width, height, body: String::new(), hatches: BTreeMap::new(), pending: None }
    }

    pub(crate) fn size(&self) -> (f64, f64) {
        (self.width, self.height)
    }

    /// A group that a page can find: its class, its attributes, and the title that a pointer shows.
    pub(crate) fn mark(
        &mut self,
        class: &str,
        own: &[(&str, &str)],
        given: &Attributes,
        title: &str,
        draw: impl FnOnce(&mut Self),
    ) {
        self.flush();
        let _ = write!(self.body, "<g class=\"{class}\"");
        for (name, value) in own.iter().filter(|(_, value)| !value.is_empty()) {
            let _ = write!(self.body, " data-{name}=\"{}\"", escape(value));
        }
        for (name, value) in given.iter().filter(|(name, _)| own.iter().all(|(taken, _)| taken != name)) {
            let _ = write!(self.body, " data-{name}=\"{}\"", escape(value));
        }
        let _ = write!(self.body, "><title>{}</title>", escape(title));
        draw(self);
        self.flush();
        self.body.push_str("</g>");
    }

    pub(crate) fn rect(&mut self, x: f64, y: f64, width: f64, height: f64, style: Style) {
        let (width, height) = (width.max(0.0), height.max(0.0));
        let shape = format!("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"", px(x), px(y), px(width), px(height));
        self.shape(shape, style);
    }

    pub(crate) fn circle(&mut self, x: f64, y: f64, radius: f64, style: Style) {
        self.shape(format!("<circle cx=\"{}\" cy=\"{}\" r=\"{}\"", px(x), px(y), px(radius)), style);
    }

    /// A line through points; several of one style in a row become one path.
    pub(crate) fn line(&mut self, points: &[(f64, f64)], style: Style) {
        if points.len() < 2 {
            return;
        }
        if self.pending.as_ref().is_none_or(|(pending, _)| *pending != style) {
            self.flush();
            self.pending = Some((style, String::new()));
        }
        if let Some((_, path)) = &mut self.pending {
            path.push_str(&path_of(points));
        }
    }

    pub(crate) fn polygon(&mut self, points: &[(f64, f64)], style: Style) {
        if points.len() > 2 {
            self.shape(format!("<path d=\"{}Z\"", path_of(points)), style);
        }
    }

    pub(crate) fn marker(&mut self, marker: Marker, x: f64, y: f64, radius: f64, style: Style) {
        match marker.corners(radius) {
            None => self.circle(x, y, radius, style),
            Some(corners) => {
                let points: Vec<_> = corners.into_iter().map(|(dx, dy)| (x + dx, y + dy)).collect();
                self.polygon(&points, style);
            }
        }
    }

    /// Text with its baseline at `y`.
    pub(crate) fn text(&mut self, x: f64, y: f64, style: Type, text: &str) {
        if text.is_empty() {
            return;
        }
        self.flush();
        let _ = write!(self.body, "<text x=\"{}\" y=\"{}\"", px(x), px(y));
        if (style.size - TEXT).abs() > 0.01 {
            let _ = write!(self.body, " font-size=\"{}\"", px(style.size));
        }
        if style.paint != Paint::Ink {
            let _ = write!(self.body, " fill=\"{}\"", self.palette.css(style.paint));
        }
        match style.anchor {
            Anchor::Start => {}
            Anchor::Middle => self.body.push_str(" text-anchor=\"middle\""),
            Anchor::End => self.body.push_str(" text-anchor=\"end\""),
        }
        if style.bold {
            self.body.push_str(" font-weight=\"700\"");
        }
        if style.rim {
            let ground = self.palette.css(Paint::Ground);
            let _ = write!(self.body, " stroke=\"{ground}\" stroke-width=\"3\" paint-order=\"stroke\"");
        }
        if style.upward {
            let _ = write!(self.body, " transform=\"rotate(-90 {} {})\"", px(x), px(y));
        }
        let _ = write!(self.body, ">{}</text>", escape(text));
    }

    /// Text with its middle at `y`.
    pub(crate) fn text_middle(&mut self, x: f64, y: f64, style: Type, text: &str) {
        if style.upward {
            self.text(x + 0.36 * style.size, y, style, text);
        } else {
            self.text(x, y + 0.36 * style.size, style, text);
        }
    }

    /// The whole drawing, shown `shown` pixels wide and high.
    pub(crate) fn finish(mut self, title: &str, description: &str, id: Option<&str>, shown: (u32, u32)) -> String {
        self.flush();
        let palette = self.palette;
        let font = match palette.theme() {
            Theme::Page => "var(--chart-font,&quot;DejaVu Sans&quot;,Verdana,sans-serif)",
            Theme::Light | Theme::Dark => "DejaVu Sans,Verdana,sans-serif",
        };
        let theme = match palette.theme() {
            Theme::Light => "light",
            Theme::Dark => "dark",
            Theme::Page => "page",
        };
        let mut out = String::with_capacity(self.body.len() + 1024);
        let _ = write!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" role=\"img\" data-theme=\"{theme}\" \
             aria-labelledby=\"{PREFIX}t {PREFIX}d\" width=\"{}\" height=\"{}\" viewBox=\"0 0 {} {}\" \
             font-family='{font}' font-size=\"{}\" fill=\"{}\"><title id=\"{PREFIX}t\">{}</title><desc id=\"{PREFIX}d\">{}</desc>",
            shown.0,
            shown.1,
            px(self.width),
            px(self.height),
            px(TEXT),
            palette.css(Paint::Ink),
            escape(title),
            escape(description),
        );
        if !self.hatches.is_empty() {
            out.push_str("<defs>");
            for (paint, index) in &self.hatches {
                let _ = write!(
                    out,
                    "<pattern id=\"{PREFIX}h{index}\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\" \
                     patternTransform=\"rotate(45)\"><path d=\"M1 0V5\" stroke=\"{}\" stroke-width=\"2\"/></pattern>",
                    palette.css(*paint)
                );
            }
            out.push_str("</defs>");
        }
        if palette.theme() != Theme::Page {
            let _ = write!(out, "<rect width=\"100%\" height=\"100%\" fill=\"{}\"/>", palette.css(Paint::Ground));
        }
        out.push_str(&self.body);
        out.push_str("</svg>");
        let prefix = match id {
            Some(id) => format!("{}-", identifier(id)),
            None => format!("c{:x}-", hash::of(&out)),
        };
        out.replace(PREFIX, &prefix)
    }

    fn shape(&mut self, shape: String, style: Style) {
        self.flush();
        self.body.push_str(&shape);
        self.paint(style);
        self.body.push_str("/>");
    }

    fn flush(&mut self) {
        if let Some((style, path)) = self.pending.take() {
            let _ = write!(self.body, "<path d=\"{path}\"");
            self.paint(style);
            self.body.push_str("/>");
        }
    }

    fn paint(&mut self, style: Style) {
        let fill = self.css(style.fill);
        let _ = write!(self.body, " fill=\"{fill}\"");
        if style.stroke != Paint::None {
            let stroke = self.css(style.stroke);
            let _ = write!(self.body, " stroke=\"{stroke}\"");
            if style.width != 1.0 {
                let _ = write!(self.body, " stroke-width=\"{}\"", two(style.width));
            }
            if !style.dash.is_empty() {
                let _ = write!(self.body, " stroke-dasharray=\"{}\"", style.dash);
            }
        }
        if style.opacity < 1.0 {
            let _ = write!(self.body, " opacity=\"{}\"", two(style.opacity));
        }
    }

    fn css(&mut self, paint: Paint) -> String {
        if !matches!(paint, Paint::Hatch(_) | Paint::HatchGrid) {
            return self.palette.css(paint);
        }
        let next = self.hatches.len();
        let index = *self.hatches.entry(paint).or_insert(next);
        format!("url(#{PREFIX}h{index})")
    }
}

/// A coordinate with one decimal.
fn px(value: f64) -> String {
    let tenths = (value.clamp(-1e7, 1e7) * 10.0).round() as i64;
    let (sign, size) = (if tenths < 0 { "-" } else { "" }, tenths.unsigned_abs());
    if size % 10 == 0 { format!("{sign}{}", size / 10) } else { format!("{sign}{}.{}", size / 10, size % 10) }
}

fn two(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn path_of(points: &[(f64, f64)]) -> String {
    let mut path = String::new();
    let mut last: Option<(String, String)> = None;
    for (x, y) in points {
        let (x, y) = (px(*x), px(*y));
        match &last {
            None => {
                let _ = write!(path, "M{x} {y}");
            }
            Some((before_x, before_y)) if *before_x == x && *before_y == y => {}
            Some((before_x, _)) if *before_x == x => {
                let _ = write!(path, "V{y}");
            }
            Some((_, before_y)) if *before_y == y => {
                let _ = write!(path, "H{x}");
            }
            Some(_) => {
                let _ = write!(path, "L{x} {y}");
            }
        }
        last = Some((x, y));
    }
    path
}

/// An id that can be used in `url(#…)`: what is none is replaced, and told apart by a hash of the whole.
fn identifier(id: &str) -> String {
    let plain: String =
        id.chars().filter(|character| character.is_ascii_alphanumeric() || "-_".contains(*character)).collect();
    let starts_right = plain.starts_with(|first: char| first.is_ascii_alphabetic());
    if plain == id && starts_right { plain } else { format!("c{:x}{plain}", hash::of(id)) }
}
