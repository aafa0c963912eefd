//! The engine of the skillbench host: everything between a request and its outcomes.
//!
//! - [`audit`]: what inputs of timed runs are made from.
//! - [`alert`]: findings, told to a file, a command or a webhook.
//! - [`registry`]: which plugins there are, and why others are not.
//! - [`skill`]: skills that can be measured: found by name, and built once.
//! - [`bench`](mod@bench): benchmarks that need no target: found, run, and their flat result.
//! - [`run`]: a request becomes a plan, a plan becomes outcomes.
//! - [`suite`]: runs that are written down in files.
//! - [`schedule`]: when a suite is run again, as cron and systemd take it. [`lock`]: one benchmark at a time on a machine.
//! - [`quoted`]: texts as words of a shell's line and of a unit's.
//! - [`compare`]: whether one of two things is slower, and how sure that is.
//! - [`built`]: what this program was built from.
//! - [`cores`]: which cores there are, and binding work to them.
//!
//! Not here: what a model is (models), the processes that load plugins (worker), data frames, files of results, drawing, the command line.

pub mod alert;
pub mod architectures;
pub mod audit;
pub mod bench;
pub mod built;
pub mod compare;
pub mod cores;
pub mod describe;
pub mod environment;
pub mod lock;
pub mod peaks;
pub mod quoted;
pub mod registry;
pub mod run;
pub mod runtime;
pub mod schedule;
pub mod skill;
pub mod suite;
