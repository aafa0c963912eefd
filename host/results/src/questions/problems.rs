//! What went wrong, and what was done about it.

use super::latest::now;
use super::math::columns;
use polars::prelude::*;

/// Every cell that was not measured, those of one hardware with the same outcome and reason as one row: how many (`cells`), of which
/// models and benchmarks. The most frequent come first.
///
/// # Errors
/// Polars' own.
pub fn problems(cells: DataFrame) -> PolarsResult<DataFrame> {
    now(cells)?
        .filter(col("outcome").neq(lit("measured")))
        .group_by_stable(columns(["machine", "hardware", "outcome", "reason_code", "reason"]))
        .agg(counted())
        .sort(["cells"], most_first())
        .collect()
}

/// Every cell that was not measured, one row each, with its outcome and reason.
///
/// # Errors
/// Polars' own.
pub fn not_measured(cells: DataFrame) -> PolarsResult<DataFrame> {
    now(cells)?
        .filter(col("outcome").neq(lit("measured")))
        .select(columns([
            "machine",
            "hardware",
            "model_id",
            "family",
            "architecture_type",
            "benchmark",
            "axes",
            "batch_size",
            "sequence_length",
            "precision_requested",
            "emulated",
            "outcome",
            "reason_code",
            "reason",
        ]))
        .collect()
}

/// Ways around that were taken so that cells could be measured at all, each with how many cells it served.
///
/// # Errors
/// Polars' own.
pub fn fixes(cells: DataFrame) -> PolarsResult<DataFrame> {
    now(cells)?
        .filter(col("fixes").is_not_null())
        .group_by_stable(columns(["machine", "hardware", "fixes"]))
        .agg(
            counted()
                .into_iter()
                .chain([col("outcome").eq(lit("measured")).sum().cast(DataType::Int64).alias("measured")])
                .collect::<Vec<_>>(),
        )
        .sort(["cells"], most_first())
        .collect()
}

fn counted() -> Vec<Expr> {
    let names = |column: &str| col(column).drop_nulls().unique_stable().str().join(", ", true);
    vec![
        len().cast(DataType::Int64).alias("cells"),
        col("model_id").n_unique().cast(DataType::Int64).alias("models"),
        names("model_id").alias("model_ids"),
        names("benchmark").alias("benchmarks"),
    ]
}

fn most_first() -> SortMultipleOptions {
    SortMultipleOptions::default().with_order_descending(true).with_maintain_order(true)
}
