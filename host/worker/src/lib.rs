//! Workers: child processes that load plugins. A plugin that crashes, hangs, exits, leaks or floods costs its worker alone.
//!
//! - `protocol`: what is said. `frame`: how it is framed.
//! - `process`: a worker as the host sees it: started, spoken to, ended. `watch`: its time and memory, seen from outside.
//! - `conditions`: what the machine does meanwhile. `over_time`: figures over the time of the measured rounds. `processors`: where threads may run.
//! - `output`: what a worker prints, bounded. `children`: the processes that it started.
//! - `library`: a plugin's library, and what it must still be. [`sandbox`]: what a worker may reach. `keeper`: ends what a plugin started.
//! - `limits`: how long and how large it may be.
//! - `stop`: how it is asked to end. `sys`: what only Unix has.
//! - [`child`]: what runs in a worker. `loader`: how it opens a library; the only `unsafe` here.
//! - `translated`: whether this process runs on the processor that it was built for.
//! - `description`: what a plugin says of itself. `devices`: which of a backend's a target is measured on. [`options`]: its options, held against their schema. [`contents`]: files among them.
//! - [`check`]: the rules of a well-behaved plugin. [`ladder`]: ONNX operators one by one on a backend.
//!   [`fuzz`]: a backend used at random.
//!
//! Not here: which plugins there are, what is measured, and what becomes of it (engine).

pub mod check;
pub mod child;
mod children;
mod conditions;
pub mod contents;
mod description;
mod device_record;
mod devices;
mod failure;
mod folders;
mod frame;
pub mod fuzz;
#[cfg(target_os = "linux")]
mod keeper;
pub mod ladder;
mod library;
mod limits;
#[allow(unsafe_code)] // Loading a library is unsafe, and asking the C library; nothing else here is.
mod loader;
pub mod options;
mod output;
mod over_time;
mod process;
mod processors;
mod protocol;
pub mod sandbox;
mod stop;
mod sys;
mod translated;
mod watch;

pub use conditions::busy_cores;
pub use description::{
    BackendDescription, BenchmarkDescription, CATEGORIES, Description, PluginKind, SkillsetDescription,
};
pub use device_record::{DeviceRecord, DeviceState};
pub use devices::{Chosen, JOINED_BY, choose};
pub use failure::{DIFFERS, Failure, FailureKind, OUT_OF_MEMORY};
pub use frame::{Frames, write_frame};
pub use library::Library;
pub use limits::{Limits, memory_available};
pub use loader::Entry;
pub use loader::c_library::libc_version;
pub use over_time::{OverTime, WORKER_MEMORY, append};
pub use process::{Worker, use_executable};
pub use processors::{processor_list, processors_of};
pub use protocol::{
    BUDGET, CellJob, CellReport, CheckJob, Command, CounterRecord, DeviceTimes, EnergyRecord, Event, FunctionJob,
    FunctionReport, FuzzJob, LadderJob, LoadRecord, ModelPaths, OtherEnergy, PROTOCOL, PluginUse, Policy, Pooling,
    PortRecord, ProfileJob, ReferenceJob, Reply, RoundEnergy, RoundRecord, SeriesRecord, SizeJob, Stage, VerifyJob,
    above_idle, missed_joules, too_coarse,
};
pub use stop::Stop;
pub(crate) use sys::adopt_channel;
pub use sys::{describe_exit, kill_group, monotonic_ns, start_group};
pub use translated::translated_for;
pub use watch::Watched;
