//! What colours, markers and stripes stand for, where they are not named beside the data.

use super::scene::{Scene, Style, Type};
use super::theme::Paint;
use crate::marker::Marker;
use crate::text;

const SIZE: f64 = 10.0;
const LINE: f64 = 17.0;
const SWATCH: f64 = 16.0;
const GAP: f64 = 14.0;

/// How an entry looks.
#[derive(Clone, Debug)]
pub(crate) enum Swatch {
    Box(Style),
    Line { style: Style, marker: Option<(Marker, Style)> },
    Point(Marker, Style),
}

#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub swatch: Swatch,
    pub text: String,
}

impl Entry {
    pub(crate) fn filled(fill: Paint, text: &str) -> Self {
        Self { swatch: Swatch::Box(Style::fill(fill).outlined(Paint::Soft, 0.5)), text: text.to_owned() }
    }

    fn width(&self, room: f64) -> f64 {
        (SWATCH + 5.0 + text::width(&text::fit(&self.text, room * 0.6, SIZE, false), SIZE, false)).min(room)
    }
}

/// Entries in lines, as they fit.
pub(crate) struct Legend {
    entries: Vec<Entry>,
}

impl Legend {
    pub(crate) fn new(entries: Vec<Entry>) -> Self {
        Self { entries }
    }

    fn places(&self, room: f64) -> Vec<(f64, f64)> {
        let (mut x, mut y) = (0.0, 0.0);
        let mut places = Vec::with_capacity(self.entries.len());
        for entry in &self.entries {
            let width = entry.width(room);
            if x > 0.0 && x + width > room {
                (x, y) = (0.0, y + LINE);
            }
            places.push((x, y));
            x += width + GAP;
        }
        places
    }

    /// The height in so much width, with the gap below; nothing for a legend without entries.
    pub(crate) fn height(&self, room: f64) -> f64 {
        self.places(room).last().map_or(0.0, |(_, y)| y + LINE + 5.0)
    }

    pub(crate) fn draw(&self, scene: &mut Scene, left: f64, top: f64, room: f64) {
        for (entry, (x, y)) in self.entries.iter().zip(self.places(room)) {
            let (x, middle) = (left + x, top + y + LINE / 2.0);
            match &entry.swatch {
                Swatch::Box(style) => scene.rect(x + 2.0, middle - 5.0, SWATCH - 4.0, 10.0, *style),
                Swatch::Line { style, marker } => {
                    scene.line(&[(x, middle), (x + SWATCH, middle)], *style);
                    if let Some((marker, style)) = marker {
                        scene.marker(*marker, x + SWATCH / 2.0, middle, 3.4, *style);
                    }
                }
                Swatch::Point(marker, style) => scene.marker(*marker, x + SWATCH / 2.0, middle, 4.2, *style),
            }
            let label = text::fit(&entry.text, room * 0.6, SIZE, false);
            scene.text_middle(x + SWATCH + 5.0, middle, Type::ink(SIZE), &label);
        }
    }
}
