//! A request becomes a plan, a plan becomes outcomes.
//!
//! - `inventory`: registry and descriptions together: what can be asked for, and why not.
//! - `probe`: a backend's devices, with the evidence. `availability`: the device of each backend of a plan. `choose`: a backend where none is asked for.
//! - `resolve`: a request's names, looked up once. `named`, `select`, `tell_apart`, `grid` and `plan`: what is asked for, what its names and words stand for (`tell_apart`: where two models would have one), the points of the workload, cells. `precheck`: what is refused is found out first; `execute`: cells in order; `measure`: one in its worker; `sizes`: requests of several sizes in one; `checks`: what a cell's outputs are held against; `cross_check`: whose are right; `workarounds`: safe ways around; `backoff`: what cells that failed mean for others. `summarize`: what a worker reported becomes figures; `serving`: those of requests that arrive; `mlperf`: held against LoadGen's rules.
//! - `parallel`: backends side by side, in the lanes that `lanes` lays out; `common`: what all cells share; `relay`: one observer for several lanes.
//! - `interleave`: two targets measured in turns, so that they can be compared; `turns`: whose turn it is.
//! - `profile`: what the operators of a cell's model cost. `phases`: where a cell's time went.
//! - `quiet`: what a cell waits for before it begins. `reserved`: cores that are kept for the thread which issues requests.
//! - `observer`: whoever wants to know how it goes (journal, terminal) is told; nothing is drawn or stored here.

mod availability;
mod backoff;
mod checks;
mod choose;
mod common;
pub(crate) mod cross_check;
mod energy;
mod error;
mod execute;
mod grid;
mod interleave;
mod inventory;
mod lanes;
mod launches;
mod measure;
pub(crate) mod mlperf;
mod named;
mod observer;
mod parallel;
pub mod phases;
mod pins;
mod plan;
mod precheck;
mod prepare;
mod probe;
mod profile;
mod quiet;
mod relay;
pub(crate) mod reserved;
mod resolve;
mod room;
mod samples;
mod select;
pub(crate) mod serving;
mod sizes;
mod summarize;
mod tell_apart;
mod workarounds;

pub(crate) use named::keep_contents;
pub(crate) use samples::{of_series, over_time};
pub(crate) use summarize::{clocks, cpu_per_iteration, interval, measured, rate, series_metrics, stable};

pub use availability::{Availability, availability};
pub use error::RequestError;
pub use execute::execute;
pub use grid::{first_point, inference_points};
pub use interleave::{Interleave, Launch, LaunchRules, Pair};
pub use inventory::{Inventory, Plugin, Rejected};
pub use named::{files_among, own_options};
pub use observer::Observer;
pub use pins::Pins;
pub use plan::{Outline, Plan, PlannedCell, plan};
pub use probe::{Evidence, Probe};
pub use profile::profile;
pub use resolve::{Resolved, resolve};
