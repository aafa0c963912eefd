//! Where the wall clock and the CPU's part.

use super::latest::now;
use super::math::{columns, ratio};
use super::rules::rules;
use polars::prelude::*;

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
        .filter(col("trust").is_not_null())
        .filter(col("cpu_median_ms").is_not_null().and(col("latency_median_ms").is_not_null()))
        .with_column(ratio(col("cpu_median_ms"), col("latency_median_ms")).alias("cpu_over_wall"))
        .with_column(ratio(col("cpu_over_wall"), col("threads")).alias("busy"))
        .with_column(direction.cast(DataType::String).alias("direction"))
        .select(columns([
            "machine",
            "hardware",
            "device_kind",
            "model_id",
            "benchmark",
            "axes",
            "precision",
            "trust",
            "threads",
            "latency_median_ms",
            "cpu_median_ms",
            "cpu_over_wall",
            "busy",
            "direction",
        ]))
        .collect()
}
