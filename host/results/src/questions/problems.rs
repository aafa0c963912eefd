//! What went wrong, and what was done about it.

use super::latest::now;
use super::math::columns;
use polars::prelude::*;
use skillbench_record::catalog::column;

/// Every cell that was not measured, those of one hardware with the same outcome and reason as one row: how many (`cells`), of which
/// models and benchmarks. The most frequent come first.
///
/// # Errors
/// Polars' own.
pub fn problems(cells: DataFrame) -> PolarsResult<DataFrame> {
    now(cells)?
        .filter(col(column::OUTCOME).neq(lit("measured")))
        .group_by_stable(columns([column::MACHINE, "hardware", column::OUTCOME, column::REASON_CODE, column::REASON]))
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
        .filter(col(column::OUTCOME).neq(lit("measured")))
        .select(columns([
            column::MACHINE,
            "hardware",
            column::MODEL_ID,
            column::FAMILY,
            column::ARCHITECTURE_TYPE,
            column::BENCHMARK,
            column::AXES,
            column::BATCH_SIZE,
            column::SEQUENCE_LENGTH,
            column::PRECISION_REQUESTED,
            column::OPTIONS,
            column::EMULATED,
            column::OUTCOME,
            column::REASON_CODE,
            column::REASON,
        ]))
        .collect()
}

/// Ways around that were taken so that cells could be measured at all, each with how many cells it served.
///
/// # Errors
/// Polars' own.
pub fn fixes(cells: DataFrame) -> PolarsResult<DataFrame> {
    now(cells)?
        .filter(col(column::FIXES).is_not_null())
        .group_by_stable(columns([column::MACHINE, "hardware", column::FIXES]))
        .agg(
            counted()
                .into_iter()
                .chain([col(column::OUTCOME).eq(lit("measured")).sum().cast(DataType::Int64).alias("measured")])
                .collect::<Vec<_>>(),
        )
        .sort(["cells"], most_first())
        .collect()
}

fn counted() -> Vec<Expr> {
    let names = |column: &str| col(column).drop_nulls().unique_stable().str().join(", ", true);
    vec![
        len().cast(DataType::Int64).alias("cells"),
        col(column::MODEL_ID).n_unique().cast(DataType::Int64).alias("models"),
        names(column::MODEL_ID).alias("model_ids"),
        names(column::BENCHMARK).alias("benchmarks"),
    ]
}

fn most_first() -> SortMultipleOptions {
    SortMultipleOptions::default().with_order_descending(true).with_maintain_order(true)
}
