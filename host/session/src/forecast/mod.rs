//! What predictions and recommendations stand on.
//!
//! - `cells`: the cells of the inference benchmark that count now, and the peaks of the hardware.

mod cells;

pub use cells::{Cells, MeasuredCell, Place, Tried};
