//! What runs where.

use super::latest::{EMULATED, HARDWARE, IMPLAUSIBLE, REMOTE, UNVERIFIED, now};
use super::math::columns;
use super::math::in_order;
use polars::prelude::*;
use skillbench_record::catalog::column;

/// How a cell may end other than measured, as in the column `outcome`.
const NOT_MEASURED: [&str; 7] = ["failed", "crashed", "timed-out", "wrong", "unavailable", "unsupported", "skipped"];

/// For each model and each hardware of the data on a machine, how many cells ended how: `measured` (on hardware, verified), `emulated`,
/// `unverified`, `remote`, and a column for each other outcome. `state` is the furthest that was reached, in this order: measured, remote,
/// emulated, unverified, failed (also crashed, timed out, wrong), unsupported, unavailable, skipped, and `not-tried` for a pair without any
/// cell. `reason` is that of a cell in that state.
///
/// # Errors
/// Polars' own.
pub fn compatibility(cells: DataFrame) -> PolarsResult<DataFrame> {
    let cells = now(cells)?;
    let counts = cells.clone().group_by_stable(columns([column::MACHINE, column::MODEL_ID, "hardware"])).agg(
        [
            trust_is("measured", HARDWARE),
            trust_is(REMOTE, REMOTE),
            trust_is(column::EMULATED, EMULATED),
            trust_is("unverified", UNVERIFIED),
            trust_is(column::IMPLAUSIBLE, IMPLAUSIBLE),
            reason_of(&["failed", "crashed", "timed-out", "wrong"]).alias("why_failed"),
            reason_of(&["unsupported"]).alias("why_unsupported"),
            reason_of(&["unavailable"]).alias("why_unavailable"),
            reason_of(&["skipped"]).alias("why_skipped"),
        ]
        .into_iter()
        .chain(
            NOT_MEASURED.map(|name| col(column::OUTCOME).eq(lit(name)).sum().cast(DataType::Int64).alias(column(name))),
        )
        .collect::<Vec<_>>(),
    );
    let models = cells
        .clone()
        .filter(col(column::MODEL_ID).is_not_null())
        .group_by_stable(columns([column::MACHINE, column::MODEL_ID]))
        .agg([
            col(column::FAMILY).first_non_null(),
            col(column::CATEGORY).first_non_null(),
            col(column::ARCHITECTURE_TYPE).first_non_null(),
        ]);
    let hardware = cells
        .filter(col("hardware").is_not_null())
        .group_by_stable(columns([column::MACHINE, "hardware"]))
        .agg([len().alias("cells")])
        .drop(cols(["cells"]));
    let pair = || columns([column::MACHINE, column::MODEL_ID, "hardware"]);
    let (count, failed) = (
        ["measured", REMOTE, column::EMULATED, "unverified", column::IMPLAUSIBLE]
            .into_iter()
            .chain(NOT_MEASURED.map(column))
            .collect::<Vec<_>>(),
        col("failed") + col("crashed") + col("timed_out") + col("wrong"),
    );
    let (some, word) = (|of: Expr| of.gt(lit(0i64)), |name: &'static str| lit(name));
    let state = when(some(col("measured")))
        .then(word("measured"))
        .when(some(col(REMOTE)))
        .then(word(REMOTE))
        .when(some(col(column::EMULATED)))
        .then(word(column::EMULATED))
        .when(some(col("unverified")))
        .then(word("unverified"))
        .when(some(col(column::IMPLAUSIBLE)))
        .then(word(column::IMPLAUSIBLE))
        .when(some(failed))
        .then(word("failed"))
        .when(some(col("unsupported")))
        .then(word("unsupported"))
        .when(some(col("unavailable")))
        .then(word("unavailable"))
        .when(some(col("skipped")))
        .then(word("skipped"))
        .otherwise(word("not-tried"));
    let is = |name: &'static str| col("state").eq(lit(name));
    let reason = when(is("failed"))
        .then(col("why_failed"))
        .when(is("unsupported"))
        .then(col("why_unsupported"))
        .when(is("unavailable"))
        .then(col("why_unavailable"))
        .when(is("skipped"))
        .then(col("why_skipped"))
        .otherwise(lit(NULL));
    models
        .join(hardware, columns([column::MACHINE]), columns([column::MACHINE]), in_order(JoinType::Inner))
        .join(counts, pair(), pair(), in_order(JoinType::Left))
        .with_columns(count.iter().map(|name| col(*name).fill_null(lit(0i64))).collect::<Vec<_>>())
        .with_column(state.alias("state"))
        .with_column(reason.cast(DataType::String).alias(column::REASON))
        .select(columns(
            [
                column::MACHINE,
                column::MODEL_ID,
                column::FAMILY,
                column::CATEGORY,
                column::ARCHITECTURE_TYPE,
                "hardware",
                "state",
            ]
            .into_iter()
            .chain(count)
            .chain([column::REASON]),
        ))
        .collect()
}

/// The name of an outcome as a column.
fn column(outcome: &'static str) -> &'static str {
    if outcome == "timed-out" { "timed_out" } else { outcome }
}

fn trust_is(column: &'static str, standing: &'static str) -> Expr {
    col(column::TRUST).eq(lit(standing)).sum().cast(DataType::Int64).alias(column)
}

fn reason_of(outcomes: &[&'static str]) -> Expr {
    let any = outcomes.iter().map(|name| col(column::OUTCOME).eq(lit(*name))).reduce(Expr::or).unwrap_or(lit(false));
    col(column::REASON).filter(any).first()
}
