//! Models behind a server that somebody runs, over HTTP: the backend `endpoint`, by the Open Inference Protocol (KServe v2), and the benchmark `openai`. The figures
//! are those of the service as this machine sees it, and never ranked beside hardware that is here.
//!
//! Read it in the order of the work:
//! - `settings`: the options, and the address;
//! - `client`: HTTP over one connection; `failure`: what goes wrong there, in words;
//! - `protocol`: what the server says of itself and of its models, and how types are called;
//! - `backend`: opening, and finding the served model that is the graph;
//! - `model` and `request`: ports, and one request with its answer;
//! - `encode` and `decode`: tensors as JSON or as bytes; `numbers`: what JSON has of one;
//! - `openai`: text and embeddings by OpenAI's HTTP, which carries no tensors.
//!
//! Not here: retries and redirects, because either would be part of a figure without being told; `unsafe`; and checking outputs,
//! which is the host's.

#![deny(unsafe_code)]

mod backend;
mod client;
mod decode;
mod encode;
mod failure;
mod model;
mod numbers;
mod openai;
mod protocol;
mod request;
mod settings;

pub use backend::EndpointBackend;
pub use openai::{OpenAi, Streams};

skillbench_plugin_api::export_plugin! {
    id: "endpoint",
    name: "Model servers",
    vendor: "skillbench",
    backend: EndpointBackend,
    benchmarks: [OpenAi],
}
