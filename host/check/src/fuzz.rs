//! `skillbench-check fuzz`: a backend used at random.

use crate::cli::FuzzArgs;
use crate::exit::{Done, Exit};

pub fn fuzz(_: &FuzzArgs) -> Done {
    Ok(Exit::Good)
}
