//! Drawing on paper: shapes, text and groups as SVG; plotters' backend on top of it; frames, axes, rows and legends that
//! the kinds of charts share. Nothing here knows what a chart says.

pub(crate) mod axis;
pub(crate) mod backend;
pub(crate) mod frame;
pub(crate) mod legend;
pub(crate) mod rows;
pub(crate) mod scene;
pub(crate) mod theme;

/// A rectangle in pixels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Area {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

impl Area {
    pub(crate) fn right(self) -> f64 {
        self.x + self.width
    }

    pub(crate) fn bottom(self) -> f64 {
        self.y + self.height
    }

    /// The same without so much at each side.
    pub(crate) fn without(self, left: f64, top: f64, right: f64, bottom: f64) -> Self {
        Self {
            x: self.x + left,
            y: self.y + top,
            width: (self.width - left - right).max(1.0),
            height: (self.height - top - bottom).max(1.0),
        }
    }
}
