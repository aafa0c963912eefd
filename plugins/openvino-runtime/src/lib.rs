//! OpenVINO's C interface behind the plugin contract: everything of the openvino backend that needs `unsafe`.
//!
//! - `library`: opening libopenvino_c, and making sure that it is one; `runtime`: the one core of the process, its devices
//!   and their properties;
//! - `graph` and `compiled`: a model as it was read, and as it was compiled; `ports`: inputs and outputs of both;
//! - `model`, `request`, `tensor`: running; the only code that a measured iteration goes through;
//! - `profile`: what operators cost, by OpenVINO's own counts;
//! - `failure`: what OpenVINO says where something goes wrong.
//!
//! Not here: which properties are asked for, what is read back from them, devices as the host sees them, ONNX. Each block of
//! `unsafe` has its reason; to the outside all of it is safe.

mod compiled;
mod failure;
mod graph;
mod library;
mod model;
mod ports;
mod profile;
mod request;
mod runtime;
mod submit;
mod tensor;

pub use compiled::{Compiled, Node};
pub use failure::{Failure, short};
pub use graph::Graph;
pub use model::OvModel;
pub use ports::PortInfo;
pub use request::OvRequest;
pub use runtime::Runtime;
