//! Where the wall clock and the CPU's part.

use super::latest::now;
use super::math::{columns, ratio};
use super::rules::rules;
use polars::prelude::*;
use skillbench_record::catalog::column;

/// The CPU time of a run over its wall time (`cpu_over_wall`: how many processors worked), and over its threads (`busy`).
///
/// `direction` is `waits` where much less ran than there were threads: other work on the machine, a part that is not parallel, or a
/// device that does the work while the processor waits (`device_kind` tells). It is `exceeds` where more ran than was given, so that
/// the time of one run hides work of others. Thresholds: `data/rules.toml`. Null where both agree, or the number of threads is not
/// known.
///
/// # Errors
/// Polars' own.
pub fn clocks(cells: DataFrame) -> PolarsResult<DataFrame> {
    let rules = &rules().clocks;
    let direction = when(col("busy").lt(lit(rules.waits)))
        .then(lit("waits"))
        .when(col("busy").gt(lit(rules.exceeds)))
        .then(lit("exceeds"))
        .otherwise(lit(NULL));
    now(cells)?
        .filter(col(column::TRUST).is_not_null())
        .filter(col(column::CPU_MEDIAN_MS).is_not_null().and(col(column::LATENCY_MEDIAN_MS).is_not_null()))
        .with_column(ratio(col(column::CPU_MEDIAN_MS), col(column::LATENCY_MEDIAN_MS)).alias("cpu_over_wall"))
        .with_column(ratio(col("cpu_over_wall"), col(column::THREADS)).alias("busy"))
        .with_column(direction.cast(DataType::String).alias("direction"))
        .select(columns([
            column::MACHINE,
            "hardware",
            column::DEVICE_KIND,
            column::MODEL_ID,
            column::BENCHMARK,
            column::AXES,
            column::PRECISION,
            column::TRUST,
            column::THREADS,
            column::LATENCY_MEDIAN_MS,
            column::CPU_MEDIAN_MS,
            "cpu_over_wall",
            "busy",
            "direction",
        ]))
        .collect()
}
