//! Where a cell was measured that had others beside it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A cell of a run with `--parallel`, in its lane.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ParallelRecord {
    /// From 1.
    pub lane: u64,
    /// The processors that the threads of its worker were bound to.
    pub cores: Vec<usize>,
    /// Whose cells ran in other lanes at some time of this one; empty: it had the machine to itself.
    pub beside: Vec<String>,
}
