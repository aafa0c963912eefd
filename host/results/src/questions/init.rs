//! From nothing to the first result.

use super::latest::now;
use super::math::columns;
use polars::prelude::*;

/// The phases before the measured rounds, in the order in which they pass: loading the plugin's library, opening the backend, reading
/// and compiling the model, what is left of loading it (`load_rest_ms`), the first inference. `total_ms` is their sum, from `load_ms`,
/// and null where a part of it is. `compile_warm_ms` is beside them: the same compile with a warm cache. Each is a median of its own,
/// so that the rest may come out below 0: then it is null.
///
/// # Errors
/// Polars' own.
pub fn init_phases(cells: DataFrame) -> PolarsResult<DataFrame> {
    let parts = col("read_ms").fill_null(lit(0.0)) + col("compile_cold_ms").fill_null(lit(0.0));
    let told = col("read_ms").is_not_null().or(col("compile_cold_ms").is_not_null());
    let rest = col("load_ms") - parts;
    let known = rest.clone().gt_eq(lit(0.0)).and(told);
    now(cells)?
        .filter(col("trust").is_not_null())
        .filter(col("load_ms").is_not_null().or(col("first_inference_ms").is_not_null()))
        .with_columns([
            when(known).then(rest).otherwise(lit(NULL)).alias("load_rest_ms"),
            (col("import_ms") + col("instantiate_ms") + col("load_ms") + col("first_inference_ms")).alias("total_ms"),
        ])
        .select(columns([
            "machine",
            "hardware",
            "model_id",
            "family",
            "architecture_type",
            "benchmark",
            "axes",
            "precision",
            "trust",
            "import_ms",
            "instantiate_ms",
            "read_ms",
            "compile_cold_ms",
            "load_rest_ms",
            "load_ms",
            "first_inference_ms",
            "total_ms",
            "compile_warm_ms",
            "latency_median_ms",
        ]))
        .collect()
}
