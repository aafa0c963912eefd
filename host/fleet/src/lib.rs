//! One run over many machines: a submitter lays cells out for the machines of a fleet, agents measure them there, and a collector keeps what
//! they send as the runs of those machines. Messages go over NATS JetStream, which this crate alone knows.
//!
//! - [`form`]: the messages, and their [`schema`]. [`names`]: the subjects they have. [`seal`]: who signed them.
//! - [`courier`]: what carries them, in a dozen calls; `courier::nats` is JetStream, `courier::memory` a deterministic one for tests.
//! - [`keys`]: who may do what in a fleet. [`server`]: the program that carries the messages, and its configuration.
//! - [`place`]: which machine measures what. [`plan`]: a request on those machines. [`class`]: devices that are alike. [`spread`]: models dealt out over a class.
//!   [`failover`]: what a machine that is gone left undone.
//!   [`peers`]: which machine of a class is slow. [`submit`]: a submission and its jobs. [`collect`]: its outcomes become runs.
//! - [`files`]: what lies on the server beside messages. [`own`]: the files of a submitter that a submission is measured with.
//!   [`offer`]: plugin packages for machines.
//! - [`agent`]: a machine at work. [`lease`]: what was begun there, and how often in vain.
//! - [`launch`]: what starts agents on a cluster, as a service or over ssh.
//! - [`status`]: how far a submission is. [`verify`]: whether journals and server say the same.
//!
//! The rules that hold everywhere: a submission's head is stored before any of its jobs (I1), an outcome before the end of its lot (I2), and a
//! job leaves the queue after the end of its lot is stored, with its submission, or with what is moved to another machine (I3). What is stored under a subject is stored once: the
//! server refuses a second. So nothing is lost where any process is killed, and nothing counts twice.
//!
//! Not here: how a cell is measured (engine), how a run is kept (session, store), printing and grammar (host).

pub mod agent;
pub mod class;
pub mod collect;
pub mod courier;
pub mod failover;
pub mod files;
pub mod form;
pub mod keys;
pub mod launch;
pub mod lease;
pub mod names;
pub mod offer;
pub mod own;
pub mod peers;
pub mod place;
pub mod plan;
pub mod schema;
pub mod seal;
pub mod server;
pub mod spread;
pub mod status;
pub mod submit;
pub mod verify;

pub use courier::{Courier, CourierError};
