//! ONNX Runtime behind the plugin contract, for every backend that is one of its execution providers.
//!
//! A backend implements [`Provider`] (which provider, which of its devices, which of its options), and hands its loads to an
//! [`Engine`]. Everything else is here, once:
//! - `backend`: a whole backend out of a provider;
//! - `library`: finding libonnxruntime and opening it; `runtime`: the one environment of the process;
//! - `append`: providers that ONNX Runtime lists no devices of;
//! - `settings`: the options all these backends share; `engine` and `session`: from a load to a session;
//! - `adapt`, `rewrite`: a graph in other operators, for a provider that lacks some;
//! - `graph`, `products`, `executed`, `assignment`, `ports`: what is read back: types, kernels, placement of nodes, ports;
//! - `model`, `request`, `value`: running; the only code that a measured iteration goes through, with `binding` where values
//!   stay in a device's memory between runs, and `transfer` where copies to it and back are told apart,
//!   in turns (`turn`); `memory`: tensors there;
//! - `profile`: what operators cost, by the session's own profile;
//! - `process`: variables and libraries that a provider wants to find in its process;
//! - `errors`: ONNX Runtime's errors, as the contract tells them.
//!
//! Not here: what is particular to a vendor, and implicit loading of ONNX Runtime (`ort` panics where it is missing).
//! `unsafe` is allowed, with its reason: below the safe crate lies a C API that is called directly where it counts.

mod adapt;
mod append;
mod assignment;
mod backend;
mod binding;
mod engine;
mod errors;
mod executed;
mod graph;
mod library;
mod memory;
mod model;
mod ports;
pub mod process;
mod products;
mod profile;
mod provider;
mod request;
mod rewrite;
mod runtime;
mod session;
mod settings;
mod shapes;
mod submit;
mod transfer;
mod turn;
mod value;

pub use backend::{OFFERS, OrtBackend, OrtProvider};
pub use engine::Engine;
pub use graph::Arithmetic;
pub use library::{find_library, find_provider};
pub use model::OrtModel;
pub use provider::{Configuration, Hardware, NamedMemory, Provider};
pub use request::OrtRequest;
pub use runtime::Runtime;
pub use settings::Settings;
