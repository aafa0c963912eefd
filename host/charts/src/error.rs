//! What can go wrong, and what to do about it.

use thiserror::Error;

/// Why a chart could not be described, or a picture not be made of it.
#[derive(Debug, Error)]
pub enum ChartError {
    /// A colour that is not written as `#rrggbb`.
    #[error("the colour {colour:?} of {id:?} is not a colour: write it as #rrggbb, such as #1f77b4")]
    Colour { id: String, colour: String },
    /// A name that cannot be an attribute of a mark.
    #[error(
        "{name:?} cannot name an attribute of a mark: use a lower-case letter, then letters, digits and hyphens, 40 at most"
    )]
    Attribute { name: String },
    /// A drawing for a page was to become a picture.
    #[error(
        "a chart drawn with Theme::Page takes its colours from the page around it: draw it with Theme::Light or Theme::Dark first"
    )]
    PageTheme,
    /// The text is not an SVG drawing.
    #[error("the text is no SVG drawing that can be made into a PNG: {0}")]
    Svg(String),
    /// The picture would be empty or too large.
    #[error(
        "a PNG of {width} × {height} pixels cannot be made: choose a scale that keeps it between 1 and {most} pixels in all"
    )]
    PictureSize { width: f64, height: f64, most: u64 },
    /// The picture could not be encoded.
    #[error("the picture could not be written as PNG: {0}; try a smaller scale")]
    Encode(String),
}
