//! Predicts latency, throughput and peak memory of a model on hardware where they were not measured.
//!
//! - [`Work`]: what is known of a workload before it is measured. [`Sample`]: what was measured of one.
//! - `law`: the roofline, a sum of terms with few parameters, fitted robustly. `residual`: what it misses, learned.
//! - `intervals`: how far predictions of models that were held out were off.
//! - [`Predictor`]: all of it for one hardware; it answers, or says why there is not enough data.
//! - [`Transfer`]: hardware of which little is measured, from the same backend on other machines.
//! - [`evaluate`]: held-out errors and coverage.
//!
//! Here lives no database, no file and no command line. Who calls it keeps measured hardware apart from what is emulated or was
//! not verified, and one hardware, precision and machine apart from another. A prediction is never a measurement, and says so by
//! its type.

mod evaluate;
mod fitted;
mod intervals;
mod law;
mod linear;
mod predictor;
mod residual;
mod rule;
mod transfer;
mod work;

pub use evaluate::{Evaluation, Method, evaluate};
pub use intervals::least_models;
pub use predictor::{Basis, NotEnough, Prediction, Predictor};
pub use rule::{Rule, rule};
pub use transfer::{Source, Transfer};
pub use work::{Efficiency, Peaks, Quantity, Sample, Work};
