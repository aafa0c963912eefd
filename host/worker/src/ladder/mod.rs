//! The operator ladder: ONNX operators one by one, so that a vendor sees what to build next.
//!
//! - `cases`: what there is to run, from `ladder/cases.json`, which is explained beside it.
//! - `rung`: one case on a backend, inside a worker.
//! - `climb`: all of them from outside, where a crash costs one case.
//! - `climbed`: what became of them, by operator. `unlocked`: what operators are worth to models.
//! - `tried`: a backend with all of that, as rows, sentences and JSON.
//!
//! Not here: which models there are, and tables.

mod cases;
mod climb;
mod climbed;
mod rung;
mod tried;
mod unlocked;

pub use cases::{Case, Ladder, ladder};
pub use climb::{climb, places};
use climbed::{Climbed, built, by_operator, climbed};
pub use climbed::{Steps, totals, unknown, wholly_right};
pub(crate) use rung::serve;
pub use tried::Tried;
use unlocked::unlocked;
pub use unlocked::{Next, Unlocked};

use serde::{Deserialize, Serialize};

/// What became of a case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "verdict", content = "how")]
pub enum Rung {
    Right,
    /// The answer is not the right one.
    Wrong(String),
    /// The backend said that it cannot, and why.
    Refused(String),
    /// The process that ran it ended, or had to be ended.
    Crashed(String),
}

impl Rung {
    pub fn name(&self) -> &'static str {
        match self {
            Rung::Right => "right",
            Rung::Wrong(_) => "wrong",
            Rung::Refused(_) => "refused",
            Rung::Crashed(_) => "crashed",
        }
    }
}
