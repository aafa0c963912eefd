//! Workers: child processes that load plugins. A plugin that crashes, hangs, exits, leaks or floods costs its worker alone.
//!
//! - `protocol`: what is said. `frame`: how it is framed.
//! - `process`: a worker as the host sees it: started, spoken to, watched (time, memory), ended.
//! - `output`: what a worker prints, bounded.
//! - `limits`: how long and how large it may be.
//! - `sys`: what only Unix has.
//! - [`child`]: what runs in a worker.

pub mod child;
mod failure;
mod frame;
mod limits;
mod output;
mod process;
mod protocol;
mod sys;

pub use failure::{Failure, FailureKind};
pub use frame::{Frames, write_frame};
pub use limits::Limits;
pub use process::{Stop, Watched, Worker, use_executable};
pub use protocol::{
    CellJob, CellReport, CheckJob, Command, CounterRecord, DeviceRecord, EnergyRecord, Event, FunctionJob,
    FunctionReport, LoadRecord, ModelPaths, PROTOCOL, PluginUse, Policy, Pooling, PortRecord, ProfileJob, Reply,
    RoundRecord, SeriesRecord, Stage, VerifyJob,
};
pub(crate) use sys::{adopt_channel, describe_exit, kill_group, monotonic_ns, start};
