//! From nothing to the first result.

use super::latest::now;
use super::math::columns;
use polars::prelude::*;
use skillbench_record::catalog::column;

/// The phases before the measured rounds, in the order in which they pass: loading the plugin's library, opening the backend, reading
/// and compiling the model, what is left of loading it (`load_rest_ms`), the first inference. `total_ms` is their sum, from `load_ms`,
/// and null where a part of it is. `compile_warm_ms` is beside them: the same compile with a warm cache. Each is a median of its own,
/// so that the rest may come out below 0: then it is null.
///
/// # Errors
/// Polars' own.
pub fn init_phases(cells: DataFrame) -> PolarsResult<DataFrame> {
    let parts = col(column::READ_MS).fill_null(lit(0.0)) + col(column::COMPILE_COLD_MS).fill_null(lit(0.0));
    let told = col(column::READ_MS).is_not_null().or(col(column::COMPILE_COLD_MS).is_not_null());
    let rest = col(column::LOAD_MS) - parts;
    let known = rest.clone().gt_eq(lit(0.0)).and(told);
    now(cells)?
        .filter(col(column::TRUST).is_not_null())
        .filter(col(column::LOAD_MS).is_not_null().or(col(column::FIRST_INFERENCE_MS).is_not_null()))
        .with_columns([
            when(known).then(rest).otherwise(lit(NULL)).alias("load_rest_ms"),
            (col(column::IMPORT_MS)
                + col(column::INSTANTIATE_MS)
                + col(column::LOAD_MS)
                + col(column::FIRST_INFERENCE_MS))
            .alias("total_ms"),
        ])
        .select(columns([
            column::MACHINE,
            "hardware",
            column::MODEL_ID,
            column::FAMILY,
            column::ARCHITECTURE_TYPE,
            column::BENCHMARK,
            column::AXES,
            column::PRECISION,
            column::TRUST,
            column::IMPORT_MS,
            column::INSTANTIATE_MS,
            column::READ_MS,
            column::COMPILE_COLD_MS,
            "load_rest_ms",
            column::LOAD_MS,
            column::FIRST_INFERENCE_MS,
            "total_ms",
            column::COMPILE_WARM_MS,
            column::LATENCY_MEDIAN_MS,
        ]))
        .collect()
}
