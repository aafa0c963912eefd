//! What was achieved of what the hardware can do.

use super::latest::now;
use super::math::columns;
use polars::prelude::*;
use skillbench_record::catalog::column;

/// Operations and bytes of a second, and their shares of the peaks that were measured on the same device with as many threads.
/// `nearer_to` is the peak whose share is the larger: what is likelier to hold the cell back. A share is null where no peak was
/// measured, or nobody counted the model's operations.
///
/// # Errors
/// Polars' own.
pub fn efficiency(cells: DataFrame) -> PolarsResult<DataFrame> {
    let (arithmetic, memory) = (col(column::SHARE_OF_PEAK_FLOPS), col(column::SHARE_OF_PEAK_BANDWIDTH));
    let nearer = when(arithmetic.clone().gt_eq(memory.clone()))
        .then(lit("arithmetic"))
        .when(memory.gt(arithmetic))
        .then(lit("memory"))
        .otherwise(lit(NULL));
    now(cells)?
        .filter(col(column::TRUST).is_not_null())
        .filter(col(column::FLOPS_PER_SEC).is_not_null().or(col(column::WEIGHT_BYTES_PER_SEC).is_not_null()))
        .with_column(nearer.cast(DataType::String).alias("nearer_to"))
        .select(columns([
            column::MACHINE,
            "hardware",
            column::MODEL_ID,
            column::FAMILY,
            column::ARCHITECTURE_TYPE,
            column::BENCHMARK,
            column::AXES,
            column::PRECISION,
            column::THREADS,
            column::TRUST,
            column::LATENCY_MEDIAN_MS,
            column::FLOPS_PER_SEC,
            column::SHARE_OF_PEAK_FLOPS,
            column::WEIGHT_BYTES_PER_SEC,
            column::SHARE_OF_PEAK_BANDWIDTH,
            "nearer_to",
        ]))
        .collect()
}

/// The peaks in the data: of each device and number of threads the highest that was measured, in long form (`of`, `per_sec`).
///
/// # Errors
/// Polars' own.
pub fn peaks(cells: DataFrame) -> PolarsResult<DataFrame> {
    let key = [column::MACHINE, "hardware", column::DEVICE_NAME, column::THREADS, column::TRUST];
    let peak = |of: &'static str, column: &'static str| -> PolarsResult<LazyFrame> {
        let highest = col(column).max().alias("per_sec");
        Ok(now(cells.clone())?
            .filter(col(column::TRUST).is_not_null().and(col(column).is_not_null()))
            .group_by_stable(columns(key))
            .agg([lit(of).first().alias("of"), highest]))
    };
    let all = [
        peak("float32", column::PEAK_FLOAT32_PER_SEC)?,
        peak("float16", column::PEAK_FLOAT16_PER_SEC)?,
        peak("bfloat16", column::PEAK_BFLOAT16_PER_SEC)?,
        peak("int8", column::PEAK_INT8_PER_SEC)?,
        peak("bytes", column::PEAK_BYTES_PER_SEC)?,
    ];
    concat(all, UnionArgs::default())?.collect()
}
