//! Models that stand out from the others of their hardware.

use super::latest::HARDWARE;
use super::math::{abs, columns, exp, geometric_mean, ln};
use super::relative::relative;
use super::rules::rules;
use polars::prelude::*;
use skillbench_record::catalog::column;

const GROUP: [&str; 5] = [column::MACHINE, "hardware", column::BENCHMARK, column::PRECISION, "measure"];

/// Models whose figure is far from the middle of those of the same hardware, benchmark and precision. Measured hardware only.
///
/// Two figures of a model do not depend on its size: its speed-up over the CPU, and its share of the measured peak (`measure`). Each
/// is a geometric mean over the grid. `z` is robust: 0.6745 times the distance of its logarithm from the group's median, over the
/// median of all such distances. `outlier` is null where it cannot be told, and `told` says why: too few models, or no spread (more
/// than half of them are equal).
///
/// # Errors
/// Polars' own.
pub fn outlier_models(cells: DataFrame) -> PolarsResult<DataFrame> {
    let rules = &rules().outliers;
    let cells = relative(cells)?.filter(col(column::TRUST).eq(lit(HARDWARE)));
    let measure = |column: &'static str| {
        cells
            .clone()
            .filter(col(column).gt(lit(0.0)))
            .group_by_stable(columns([
                column::MACHINE,
                "hardware",
                column::BENCHMARK,
                column::PRECISION,
                column::MODEL_ID,
                column::FAMILY,
            ]))
            .agg([lit(column).first().alias("measure"), geometric_mean(col(column)).alias("value")])
    };
    let enough = col("models").gt_eq(lit(i64::from(rules.models)));
    let spread = col("mad").gt(lit(1e-12));
    concat([measure("speedup"), measure(column::SHARE_OF_PEAK_FLOPS)], UnionArgs::default())?
        .with_column(ln(col("value")).alias("ln"))
        .with_columns([
            len().over(columns(GROUP))?.cast(DataType::Int64).alias("models"),
            col("ln").median().over(columns(GROUP))?.alias("middle"),
        ])
        .with_column((col("ln") - col("middle")).alias("away"))
        .with_column(abs(col("away")).median().over(columns(GROUP))?.alias("mad"))
        .with_columns([
            exp(col("middle")).alias("group_median"),
            when(enough.clone().and(spread.clone()))
                .then(lit(0.6745) * col("away") / col("mad"))
                .otherwise(lit(NULL))
                .alias("z"),
        ])
        .with_columns([
            abs(col("z")).gt(lit(rules.z)).alias("outlier"),
            when(enough.not())
                .then(lit(format!("fewer than {} models", rules.models)))
                .when(spread.not())
                .then(lit("no spread"))
                .when(col("z").gt(lit(rules.z)))
                .then(lit("above the others"))
                .when(col("z").lt(lit(-rules.z)))
                .then(lit("below the others"))
                .otherwise(lit("among the others"))
                .alias("told"),
        ])
        .select(columns(GROUP.into_iter().chain([
            column::MODEL_ID,
            column::FAMILY,
            "value",
            "group_median",
            "models",
            "z",
            "outlier",
            "told",
        ])))
        .collect()
}
