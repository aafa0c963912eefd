//! What a plugin written in Rust implements.
//!
//! Implement [`Backend`] (with its [`Model`] and [`Request`]), [`Skillset`] or [`Benchmark`], or write plain functions that
//! return [`Metrics`], and list them in [`export_plugin!`](crate::export_plugin). Every `extern "C"` function, every pointer and every size is the SDK's
//! business: a panic becomes an error, a `Result` fills the caller's `sb_error`.

mod backend;
mod backend_table;
mod benchmark;
mod export;
mod extensions;
mod function;
mod host;
mod metrics;
mod offers;
pub mod onnx;
mod processor;
mod request_table;
mod skillset;
mod submit;
mod target;

pub use crate::tensor::Bound;
pub use backend::{Backend, Bindings, Counters, Model, Power, Profile, Request};
pub use backend_table::BackendTable;
pub(crate) use backend_table::read_dims;
pub use benchmark::{Benchmark, Context, Reporter, Series, benchmark_table};
pub use export::{Exports, terminated};
pub use function::{Function, FunctionBenchmark, FunctionDetails, is_function_name};
pub use host::{Clock, Host, Level};
pub use metrics::{Better, HOST_METRICS, IntoMetrics, Metrics};
pub use offers::Offers;
pub use processor::processor;
pub use skillset::{Skillset, SkillsetTable};
pub use submit::{Cancel, Done};
pub use target::{Target, TargetModel};
