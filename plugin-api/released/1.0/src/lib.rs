//! The skillbench plugin contract in Rust.
//!
//! - [`raw`]: the mirror of `include/skillbench.h`, nothing else.
//! - [`sdk`]: what a plugin written in Rust implements: [`sdk::Backend`], [`sdk::Skillset`], [`sdk::Benchmark`], and
//!   [`export_plugin!`], which turns them into the C table. A plugin contains no `unsafe` for it.
//! - [`client`]: the other side: a loaded plugin's tables behind safe types. The worker uses it, and so does a benchmark
//!   to run the model it measures.
//! - [`host_tables`]: what the worker hands to plugins (services of the host, the target, the reporter) as C tables.
//!
//! The other modules hold the values that cross the contract. No foreign crate is used. Not here: the other door of a Rust plugin
//! (`plugin-api/stable`), loading libraries, registries, processes, policy.

mod abi_size;

pub mod client;
mod error;
pub mod host_tables;
pub mod raw;
pub mod sdk;
mod tensor;
mod text;
mod values;

pub use error::{Code, Error, Result, Why};
pub use tensor::{Element, HostTensor, OwnedTensor};
pub use values::{
    Counter, DType, Device, DeviceKind, Dim, Direction, Energy, Load, Memory, Operator, Options, Placement, Port,
    Round, RoundKind, Scope, SeriesInfo, SeriesKind, Source, Timing,
};

/// The header a plugin in C or C++ is compiled with.
pub const HEADER: &str = include_str!("../include/skillbench.h");
