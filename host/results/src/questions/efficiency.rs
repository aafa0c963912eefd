//! What was achieved of what the hardware can do.

use super::latest::now;
use super::math::columns;
use polars::prelude::*;

/// Operations and bytes of a second, and their shares of the peaks that were measured on the same device with as many threads.
/// `nearer_to` is the peak whose share is the larger: what is likelier to hold the cell back. A share is null where no peak was
/// measured, or nobody counted the model's operations.
///
/// # Errors
/// Polars' own.
pub fn efficiency(cells: DataFrame) -> PolarsResult<DataFrame> {
    let (arithmetic, memory) = (col("share_of_peak_flops"), col("share_of_peak_bandwidth"));
    let nearer = when(arithmetic.clone().gt_eq(memory.clone()))
        .then(lit("arithmetic"))
        .when(memory.gt(arithmetic))
        .then(lit("memory"))
        .otherwise(lit(NULL));
    now(cells)?
        .filter(col("trust").is_not_null())
        .filter(col("flops_per_sec").is_not_null().or(col("weight_bytes_per_sec").is_not_null()))
        .with_column(nearer.cast(DataType::String).alias("nearer_to"))
        .select(columns([
            "machine",
            "hardware",
            "model_id",
            "family",
            "architecture_type",
            "benchmark",
            "axes",
            "precision",
            "threads",
            "trust",
            "latency_median_ms",
            "flops_per_sec",
            "share_of_peak_flops",
            "weight_bytes_per_sec",
            "share_of_peak_bandwidth",
            "nearer_to",
        ]))
        .collect()
}

/// The peaks in the data: of each device and number of threads the highest that was measured, in long form (`of`, `per_sec`).
///
/// # Errors
/// Polars' own.
pub fn peaks(cells: DataFrame) -> PolarsResult<DataFrame> {
    let key = ["machine", "hardware", "device_name", "threads", "trust"];
    let peak = |of: &'static str, column: &'static str| -> PolarsResult<LazyFrame> {
        let highest = col(column).max().alias("per_sec");
        Ok(now(cells.clone())?
            .filter(col("trust").is_not_null().and(col(column).is_not_null()))
            .group_by_stable(columns(key))
            .agg([lit(of).first().alias("of"), highest]))
    };
    let all = [
        peak("float32", "peak_float32_per_sec")?,
        peak("float16", "peak_float16_per_sec")?,
        peak("bfloat16", "peak_bfloat16_per_sec")?,
        peak("int8", "peak_int8_per_sec")?,
        peak("bytes", "peak_bytes_per_sec")?,
    ];
    concat(all, UnionArgs::default())?.collect()
}
