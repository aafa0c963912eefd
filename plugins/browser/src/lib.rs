//! ONNX models in a real browser, for every backend that runs there: one warm browser per opened backend, a page in it with
//! ONNX Runtime Web, and a link between the two.
//!
//! A backend names its [`Accelerator`]s and hands its loads to a [`BrowserEngine`]. Everything else is here, once:
//! - `settings`: the options these backends share, and finding the browser and ONNX Runtime Web;
//! - `launch`, `account`, `staging`: the safest way to run it here: another user in place of root, its own sandbox;
//! - `process`, `guard`, `profile`: the browser as a process that never outlives its worker, and leaves no folder;
//! - `pipe`, `devtools`: the browser's own protocol, over a pipe: opening the page, and learning what became of it;
//! - `server`: the page and the files it needs, on loopback and below a secret; `link`: messages to the page, each with a
//!   deadline; `steady`: streams that a stopped process does not break;
//! - `browser`: all of these as one warm browser, that is lost as a whole;
//! - `tab`: a page of someone else's, for the tests of those who write pages;
//! - `graph`, `check`, `assignment`: what a file says of itself, what a device computes in, and where nodes went;
//! - `engine`, `model`, `request`: loading and running; `device`, `ports`, `errors`: what comes of it, as the contract tells it;
//! - `page/`: what runs in the browser.
//!
//! Not here: what one backend's devices are called, and an async runtime.

mod accelerator;
mod account;
mod assignment;
mod browser;
mod check;
mod device;
mod devtools;
mod dtypes;
mod engine;
mod errors;
mod graph;
mod guard;
mod launch;
mod link;
mod model;
mod pipe;
mod ports;
mod process;
mod profile;
mod request;
mod server;
mod settings;
mod staging;
mod steady;
mod tab;

pub use accelerator::Accelerator;
pub use engine::BrowserEngine;
pub use model::BrowserModel;
pub use request::BrowserRequest;
pub use settings::Settings;
pub use tab::Tab;
