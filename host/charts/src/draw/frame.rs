//! What is around every chart: title, what is measured, where the figures are from.

use super::Area;
use super::scene::{Scene, Type};
use crate::chart::Head;
use crate::text;

const MARGIN: f64 = 14.0;
const TITLE: f64 = 15.0;
const SUBTITLE: f64 = 11.0;
const SOURCE: f64 = 9.0;

/// Lines of text above and below the body.
pub(crate) struct Frame {
    title: Vec<String>,
    subtitle: Vec<String>,
    source: Vec<String>,
    width: f64,
}

impl Frame {
    pub(crate) fn new(head: &Head, width: f64) -> Self {
        let room = width - 2.0 * MARGIN;
        Self {
            title: if head.titled { vec![] } else { text::wrap(&head.title, room, TITLE, true, 2) },
            subtitle: text::wrap(&head.subtitle, room, SUBTITLE, false, 3),
            source: text::wrap(&head.source, room, SOURCE, false, 2),
            width,
        }
    }

    fn above(&self) -> f64 {
        let (title, subtitle) = (self.title.len() as f64, self.subtitle.len() as f64);
        let gap = if title + subtitle > 0.0 { 10.0 } else { 0.0 };
        MARGIN + 19.0 * title + 15.0 * subtitle + gap
    }

    fn below(&self) -> f64 {
        let source = self.source.len() as f64;
        if source > 0.0 { 12.0 * source + 8.0 + 0.6 * MARGIN } else { MARGIN }
    }

    /// The height of all that is not the body.
    pub(crate) fn height(&self) -> f64 {
        self.above() + self.below()
    }

    pub(crate) fn body_width(width: f64) -> f64 {
        width - 2.0 * MARGIN
    }

    /// Draws the lines, and gives what is left between them.
    pub(crate) fn draw(&self, scene: &mut Scene, height: f64) -> Area {
        let mut y = MARGIN;
        for line in &self.title {
            scene.text(MARGIN, y + TITLE - 2.0, Type::ink(TITLE).bold(), line);
            y += 19.0;
        }
        for line in &self.subtitle {
            scene.text(MARGIN, y + SUBTITLE, Type::soft(SUBTITLE), line);
            y += 15.0;
        }
        for (index, line) in self.source.iter().rev().enumerate() {
            scene.text(MARGIN, height - 0.6 * MARGIN - 12.0 * index as f64, Type::soft(SOURCE), line);
        }
        let (top, bottom) = (self.above(), self.below());
        Area { x: MARGIN, y: top, width: Self::body_width(self.width), height: (height - top - bottom).max(1.0) }
    }
}
