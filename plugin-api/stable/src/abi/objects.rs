//! The objects that cross: each is a trait behind a table of functions that `abi_stable` checks.
#![allow(non_local_definitions, reason = "what `sabi_trait` of abi_stable 0.11 expands to")]

use super::{
    Answer, Counter, Device, Dim, ElementType, Energy, Load, Memory, Operator, Placement, Port, Round, Series,
    TargetFacts, Tensor, Timing,
};
use abi_stable::sabi_trait;
use abi_stable::std_types::{RBox, ROption, RSlice, RStr, RVec};

pub type ServicesBox = Services_TO<'static, RBox<()>>;
pub type InstanceBox = Instance_TO<'static, RBox<()>>;
pub type ModelBox = Model_TO<'static, RBox<()>>;
pub type RequestBox = Request_TO<'static, RBox<()>>;
pub type OutputBox = Output_TO<'static, RBox<()>>;
pub type TargetBox = Target_TO<'static, RBox<()>>;
pub type ReporterBox = Reporter_TO<'static, RBox<()>>;

/// What the worker gives every plugin.
#[sabi_trait]
pub trait Services: Send + Sync {
    /// `SB_LOG_*`, and the text.
    fn log(&self, level: i32, message: RStr<'_>);
    fn phase(&self, name: RStr<'_>, fraction: f64);
    fn evidence(&self, what: RStr<'_>, found: RStr<'_>);
    fn now_ns(&self) -> ROption<u64>;
    #[sabi(last_prefix_field)]
    fn stopping(&self) -> bool;
}

/// A backend's opened runtime and its devices.
#[sabi_trait]
pub trait Instance: Send + Sync {
    fn devices(&self) -> Answer<RVec<Device>>;
    fn supports(&self, load: Load) -> Answer<()>;
    fn load(&self, load: Load) -> Answer<ModelBox>;
    fn memory(&self, device: u32) -> Answer<Memory>;
    /// `RNone`: no sensor for this device.
    fn energy(&self, device: u32) -> Answer<ROption<Energy>>;
    fn counters(&self, device: u32) -> Answer<RVec<Counter>>;
    /// Whether its models record their operators where the load asks for it.
    #[sabi(last_prefix_field)]
    fn profiles(&self) -> bool;
}

/// A loaded model.
#[sabi_trait]
pub trait Model: Send + Sync {
    fn inputs(&self) -> Answer<RVec<Port>>;
    fn outputs(&self) -> Answer<RVec<Port>>;
    fn placement(&self) -> Answer<Placement>;
    fn request(&self) -> Answer<RequestBox>;
    fn begin_profile(&self) -> Answer<()>;
    #[sabi(last_prefix_field)]
    fn end_profile(&self) -> Answer<RVec<Operator>>;
}

/// One lane of work on a model.
#[sabi_trait]
pub trait Request: Send {
    fn bind_input(&mut self, index: u32, tensor: Tensor<'_>) -> Answer<()>;
    /// `RNone`: the engine allocates.
    fn bind_output(&mut self, index: u32, tensor: ROption<Tensor<'_>>) -> Answer<()>;
    fn alias(&mut self, output: u32, input: u32) -> Answer<()>;
    fn reset(&mut self) -> Answer<()>;
    fn run(&mut self) -> Answer<Timing>;
    fn output(&mut self, index: u32) -> Answer<OutputBox>;
    /// Of a target's model: binds every input, filled by the skill's rules.
    fn prepare(&mut self, variant: u64) -> Answer<()>;
    /// Of a target's model, after a run on variant 0: holds the outputs against the reference.
    #[sabi(last_prefix_field)]
    fn verify(&mut self) -> Answer<()>;
}

/// An output that was given away: a dense tensor in host memory. Dropped before its model.
#[sabi_trait]
pub trait Output: Send + Sync {
    fn element(&self) -> ElementType;
    fn shape(&self) -> RVec<i64>;
    #[sabi(last_prefix_field)]
    fn bytes(&self) -> RSlice<'_, u8>;
}

/// What a benchmark measures.
#[sabi_trait]
pub trait Target: Send + Sync {
    fn facts(&self) -> Answer<TargetFacts>;
    #[sabi(last_prefix_field)]
    fn load(&self, part: RStr<'_>, dims: RVec<Dim>) -> Answer<ModelBox>;
}

/// Takes samples, and says which rounds to run.
#[sabi_trait]
pub trait Reporter: Send + Sync {
    fn series(&self, series: Series) -> Answer<u32>;
    fn next_round(&self, series: u32) -> ROption<Round>;
    /// Round 0: figures that need no round.
    fn samples(&self, series: u32, round: u64, values: RSlice<'_, f64>) -> Answer<()>;
    #[sabi(last_prefix_field)]
    fn attach(&self, name: RStr<'_>, bytes: RSlice<'_, u8>);
}
