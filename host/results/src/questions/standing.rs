//! Which cells may be held against which others.
//!
//! Every question takes a cell's *standing* as part of its key, so that what is emulated or was not verified stands beside the
//! measured hardware and never goes into its figures:
//!
//! - `hardware`: measured, not emulated, and its outputs agreed with another engine, or with the same one in another process;
//! - `emulated`: measured on an emulated device, verified or not;
//! - `unverified`: measured, but its outputs were held against nothing (`finite only`, `off`, not reached);
//! - null: not measured.
//!
//! Of a cell that was measured more than once, questions of how things are take the newest row ([`latest`]).

use super::math::columns;
use polars::prelude::*;

pub const HARDWARE: &str = "hardware";
pub const EMULATED: &str = "emulated";
pub const UNVERIFIED: &str = "unverified";

/// The standing of a cell.
pub fn standing() -> Expr {
    let checked =
        col("verified").str().starts_with(lit("yes")).or(col("verified").eq(lit("itself"))).fill_null(lit(false));
    when(col("outcome").neq(lit("measured")))
        .then(lit(NULL))
        .when(col("emulated").fill_null(lit(false)))
        .then(lit(EMULATED))
        .when(checked)
        .then(lit(HARDWARE))
        .otherwise(lit(UNVERIFIED))
        .cast(DataType::String)
}

/// Whether a cell is measured hardware whose outputs were checked: what may be ranked.
pub fn comparable() -> Expr {
    standing().eq(lit(HARDWARE)).fill_null(lit(false))
}

/// What hardware is called: the backend, and its device where several of one backend are in the data.
pub fn hardware() -> PolarsResult<Expr> {
    let several = col("device_id").drop_nulls().n_unique().over([col("plugin")])?.gt(lit(1));
    let named = concat_str([col("plugin"), col("device_id")], ":", true);
    Ok(when(several).then(named).otherwise(col("plugin")))
}

/// The machine: its name and its processor. Where it has no name, a run is a machine of its own.
pub fn machine() -> Expr {
    let named = concat_str([col("hostname"), col("cpu_model")], ", ", true);
    when(col("hostname").is_not_null()).then(named).otherwise(col("run"))
}

/// The cells with `machine`, `hardware` and `standing`.
pub fn placed(cells: DataFrame) -> PolarsResult<LazyFrame> {
    let added = [machine().alias("machine"), hardware()?.alias("hardware"), standing().alias("standing")];
    Ok(cells.lazy().with_columns(added))
}

/// Of each cell the newest row, whatever its outcome, in the order of time and plan.
pub fn latest(cells: LazyFrame) -> PolarsResult<LazyFrame> {
    let cell = ["plugin", "model_id", "benchmark", "axes", "precision_requested", "threads"];
    // A cell that did not come so far as to have a device is one of the backend's first.
    let first = col("device_id").drop_nulls().first().over([col("plugin")])?;
    let device = coalesce(&[col("device_id"), first]);
    let key = columns(cell).into_iter().chain([machine(), device]).collect();
    Ok(cells
        .sort(["timestamp", "run", "cell"], SortMultipleOptions::default().with_maintain_order(true))
        .unique_stable_generic(Some(key), UniqueKeepStrategy::Last))
}

/// The newest rows of the cells, placed.
pub(super) fn now(cells: DataFrame) -> PolarsResult<LazyFrame> {
    latest(placed(cells)?)
}
