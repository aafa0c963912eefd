//! Which colours paper, ink and grid have.

use serde::{Deserialize, Serialize};

use crate::colour::Rgb;
use crate::look::{Inks, Look};

/// Where a chart will be seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Theme {
    /// A file on white.
    Light,
    /// A file on near-black.
    Dark,
    /// Part of an HTML page: ink, grid and paper come from the page's `--ink`, `--ink-soft`, `--grid` and `--ground`, so
    /// that one drawing serves its light and its dark look. Hardware keeps its colours.
    Page,
}

/// What something is painted with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Paint {
    None,
    Ink,
    Soft,
    Grid,
    Ground,
    Of(Rgb),
    /// Stripes in a colour on what lies below.
    Hatch(Rgb),
    /// Stripes in the colour of the grid.
    HatchGrid,
}

#[derive(Clone, Copy)]
pub(crate) struct Palette {
    theme: Theme,
    inks: Inks,
}

impl Palette {
    pub(crate) fn new(look: &Look, theme: Theme) -> Self {
        Self { theme, inks: if theme == Theme::Dark { look.dark() } else { look.light() } }
    }

    pub(crate) fn theme(self) -> Theme {
        self.theme
    }

    /// How a plain paint is written; stripes are the scene's business.
    pub(crate) fn css(self, paint: Paint) -> String {
        let (name, colour) = match paint {
            Paint::None => return "none".to_owned(),
            Paint::Of(colour) | Paint::Hatch(colour) => return colour.to_string(),
            Paint::Ink => ("ink", self.inks.ink),
            Paint::Soft => ("ink-soft", self.inks.soft),
            Paint::Grid | Paint::HatchGrid => ("grid", self.inks.grid),
            Paint::Ground => ("ground", self.inks.ground),
        };
        match self.theme {
            Theme::Page => format!("var(--{name},{colour})"),
            Theme::Light | Theme::Dark => colour.to_string(),
        }
    }
}
