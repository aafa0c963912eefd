//! What crosses the `abi_stable` door.
//!
//! Threads and lifetimes are those of `skillbench.h`: an object of a request is used by one thread at a time, every other by any. The
//! data of a tensor that is bound stays until its port is bound again or the request goes.

mod objects;
mod root;
mod values;

pub use objects::{
    Instance, Instance_TO, InstanceBox, Model, Model_TO, ModelBox, Output, Output_TO, OutputBox, Reporter, Reporter_TO,
    ReporterBox, Request, Request_TO, RequestBox, Services, Services_TO, ServicesBox, Target, Target_TO, TargetBox,
};
pub use root::{Root, RootPrefix, RootRef};
pub use values::{
    BackendFacts, BenchmarkFacts, Counter, Device, Dim, ElementType, Energy, Failure, Load, Memory, Operator,
    OptionValue, Placement, Port, Round, Series, SkillsetFacts, TargetFacts, Tensor, Timing,
};
pub(crate) use values::{dims, options, shared_options};

use abi_stable::std_types::RResult;

/// What a function that can fail returns.
pub type Answer<T> = RResult<T, Failure>;
