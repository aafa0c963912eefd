//! Inputs and outputs of a model.

use crate::raw::*;
use crate::{DType, Error, Result};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Input,
    Output,
}

impl Direction {
    pub(crate) fn to_raw(self) -> i32 {
        match self {
            Direction::Input => SB_INPUT,
            Direction::Output => SB_OUTPUT,
        }
    }

    pub(crate) fn from_raw(raw: i32) -> Result<Direction> {
        match raw {
            SB_INPUT => Ok(Direction::Input),
            SB_OUTPUT => Ok(Direction::Output),
            other => Err(Error::invalid(format!("direction {other} is neither input (0) nor output (1)"))),
        }
    }
}

/// An input or output of a model. In `shape`, `None` is a dynamic dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    pub name: String,
    pub dtype: DType,
    pub shape: Vec<Option<usize>>,
    /// As many as `shape` has; `None` where a dimension has no name.
    pub dim_names: Vec<Option<String>>,
}
