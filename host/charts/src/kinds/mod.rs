//! The kinds of charts, one a file: each is a description, and how it is drawn.

mod bars;
mod distribution;
mod heat_map;
mod heat_scale;
mod lines;
mod pairs;
mod scatter;
mod series;
mod shared;
mod stacked;
mod trend;

pub use bars::{Bar, Bars, Reference};
pub use distribution::{Arrangement, Bins, Distribution};
pub use heat_map::{Cell, CellState, CellValue, Heading, HeatMap};
pub use lines::{Lines, XScale};
pub use pairs::{Pair, Pairs};
pub use scatter::{Dot, Scatter};
pub use series::{Guide, Point, Series};
pub use stacked::{Part, Stack, Stacked};
pub use trend::{Change, Trend};
