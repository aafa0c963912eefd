//! Charts: typed descriptions in, SVG text or PNG bytes out.
//!
//! Here live the kinds of charts ([`Chart`]), the colours and markers they share ([`Look`]) and the drawing. Here live no
//! runs, no data frames and no files, and nothing is computed but where things stand on the paper.
//!
//! A value that is not there is `None` and is drawn as a gap or told in words, never as 0. An emulated mark is hatched or
//! hollow and says so in its title. Every mark is a group of the class `mark` with `data-` attributes and a `<title>`.

mod attributes;
mod chart;
mod colour;
mod draw;
mod error;
mod estimate;
mod hash;
mod kinds;
mod look;
mod marker;
mod number;
mod png;
#[cfg(test)]
mod sweep;
mod text;
mod words;

pub use attributes::Attributes;
pub use chart::{Chart, Head, Size};
pub use colour::Rgb;
pub use draw::theme::Theme;
pub use error::ChartError;
pub use estimate::Estimate;
pub use kinds::*;
pub use look::Look;
pub use marker::Marker;
pub use number::number;
pub use png::png;
