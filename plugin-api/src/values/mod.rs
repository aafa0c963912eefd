//! The values that cross the contract, as a Rust program sees them. Each knows its form in C; none holds a pointer.

mod device;
mod dtype;
mod load;
mod operator;
mod place;
mod placement;
mod port;
mod sensor;
mod series;
mod timing;

pub use device::{Device, DeviceKind};
pub use dtype::DType;
pub use load::{Dim, Load, Options, Source};
pub use operator::Operator;
pub use place::Place;
pub use placement::{Memory, Placement};
pub use port::{Direction, Port};
pub use sensor::{Counter, Energy, Scope};
pub use series::{Round, RoundKind, SeriesInfo, SeriesKind};
pub use timing::Timing;

use crate::raw::SB_UNKNOWN;

/// `None` where the contract says `SB_UNKNOWN`.
fn known(value: u64) -> Option<u64> {
    (value != SB_UNKNOWN).then_some(value)
}

fn or_unknown(value: Option<u64>) -> u64 {
    value.unwrap_or(SB_UNKNOWN)
}
