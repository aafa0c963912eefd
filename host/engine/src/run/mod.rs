//! A request becomes a plan, a plan becomes outcomes.
//!
//! - `inventory`: registry and descriptions together: what can be asked for, and why not.
//! - `request` and `plan`: cells. `execute`: cells in workers. `summarize`: what a worker reported becomes figures.
//! - `observer`: whoever wants to know how it goes (journal, terminal) is told; nothing is drawn or stored here.

mod execute;
mod inventory;
mod observer;
mod plan;
mod prepare;
mod request;
mod summarize;

pub use execute::execute;
pub use inventory::{Inventory, Plugin, Rejected};
pub use observer::Observer;
pub use plan::{Plan, PlannedCell, RequestError, plan};
pub use request::{BackendChoice, OptionChoice, RunRequest};
