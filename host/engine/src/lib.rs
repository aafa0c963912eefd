//! The engine of the skillbench host: everything between a request and its outcomes.
//!
//! - [`alert`]: findings, told to a file, a command or a webhook.
//! - [`registry`]: which plugins there are, and why others are not.
//! - [`worker`]: the child processes that load plugins, seen from the host; [`worker::child`] is what runs in them.
//! - [`skill`]: models: descriptions, building, dimensions, inputs.
//! - [`bench`](mod@bench): benchmarks that need no target: found, run, and their flat result.
//! - [`user_models`]: user models.
//! - [`run`]: a request becomes a plan, a plan becomes outcomes.
//! - [`suite`]: runs that are written down in files.
//! - [`schedule`]: when a suite is run again, as cron and systemd take it. [`lock`]: one benchmark at a time on a machine.
//! - [`check`]: the rules of a well-behaved plugin.
//! - [`compare`]: whether one of two things is slower, and how sure that is.
//! - [`cores`]: which cores there are, and binding work to them.
//!
//! `unsafe` lives in `loader` alone. Not here: data frames, files of results, drawing, the command line.

pub mod alert;
pub mod architectures;
pub mod bench;
pub mod check;
pub mod compare;
pub mod cores;
pub mod defaults;
pub mod describe;
pub mod environment;
#[allow(unsafe_code)] // Loading a library is unsafe, and nothing else here is.
mod loader;
pub mod lock;
pub mod options;
pub mod paths;
pub mod peaks;
pub mod registry;
pub mod run;
pub mod runtime;
pub mod schedule;
pub mod skill;
pub mod suite;
pub mod user_models;
pub mod worker;
