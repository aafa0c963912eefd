//! A request becomes a plan, a plan becomes outcomes.
//!
//! - `inventory`: registry and descriptions together: what can be asked for, and why not.
//! - `look`: a backend's devices, with the evidence. `choose`: a backend where none is asked for.
//! - `request` and `plan`: cells. `execute`: cells in workers; `fallen`: what cells that failed mean for others. `summarize`: what a worker reported becomes figures.
//! - `observer`: whoever wants to know how it goes (journal, terminal) is told; nothing is drawn or stored here.

mod choose;
mod execute;
mod fallen;
mod inventory;
mod look;
mod observer;
mod plan;
mod prepare;
mod request;
mod summarize;

pub use choose::choose;
pub use execute::execute;
pub use inventory::{Inventory, Plugin, Rejected};
pub use look::{Evidence, Look};
pub use observer::Observer;
pub use plan::{Plan, PlannedCell, RequestError, first_point, plan};
pub use request::{BackendChoice, OptionChoice, RunRequest};
