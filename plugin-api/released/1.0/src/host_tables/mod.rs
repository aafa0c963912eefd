//! What the worker hands to plugins, as C tables: services are traits, and each table is one blanket implementation.

mod host;
mod reporter;
mod target;
mod watched;

pub use host::{HostServices, HostTable};
pub use reporter::{ReporterServices, ReporterTable};
pub use target::{TargetParts, TargetServices, TargetTable};
pub use watched::{Touch, WatchedTarget};
