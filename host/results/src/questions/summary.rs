//! The table of a run.

use polars::prelude::*;

/// The table of a run: one row for each cell, its key and its main figures, in the order of the plan.
///
/// # Errors
/// Polars' own.
pub fn summary(cells: DataFrame) -> PolarsResult<DataFrame> {
    let key = [
        col("model_id").alias("skill"),
        col("plugin"),
        col("device_id").alias("device"),
        col("benchmark"),
        col("axes"),
        col("precision"),
        col("outcome"),
    ];
    let width = (col("latency_ci95_high_ms") - col("latency_ci95_low_ms")) / lit(2.0);
    let figures = [
        col("latency_median_ms").alias("median_ms"),
        (width / col("latency_median_ms") * lit(100.0)).alias("interval_pct"),
        col("latency_90p_ms").alias("p90_ms"),
        col("cpu_median_ms").alias("cpu_ms"),
        col("throughput_samples_per_sec").alias("per_second"),
        col("speedup_over_sequential").alias("speedup"),
        col("time_to_first_token_ms").alias("first_token_ms"),
        col("time_per_output_token_ms").alias("per_token_ms"),
        col("prefill_tokens_per_sec").alias("prefill_per_s"),
        col("decode_tokens_per_sec").alias("decode_per_s"),
        col("load_ms"),
        col("first_inference_ms").alias("first_ms"),
        col("peak_memory_mb").alias("peak_mb"),
        col("energy_j_per_item").alias("j_per_item"),
        (col("share_of_peak_flops") * lit(100.0)).alias("flops_pct"),
        (col("share_of_peak_bandwidth") * lit(100.0)).alias("bandwidth_pct"),
        (col("peak_float32_per_sec") / lit(1e9)).alias("gflops_float32"),
        (col("peak_float16_per_sec") / lit(1e9)).alias("gflops_float16"),
        (col("peak_bfloat16_per_sec") / lit(1e9)).alias("gflops_bfloat16"),
        (col("peak_int8_per_sec") / lit(1e9)).alias("gops_int8"),
        (col("peak_bytes_per_sec") / lit(1e9)).alias("gb_per_s"),
        col("iterations").alias("n"),
        col("stable"),
        col("emulated"),
        col("verified"),
        col("fixes").alias("fixed"),
        col("reason"),
    ];
    cells.lazy().sort(["cell"], Default::default()).select(key.into_iter().chain(figures).collect::<Vec<_>>()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two cells with every column; what is not set here is null.
    fn cells() -> DataFrame {
        let set = df!(
            "cell" => [1i64, 0],
            "model_id" => ["b", "a"],
            "outcome" => ["failed", "measured"],
            "latency_median_ms" => [None, Some(10.0)],
            "latency_ci95_low_ms" => [None, Some(9.9)],
            "latency_ci95_high_ms" => [None, Some(10.1)],
        )
        .unwrap();
        let none = crate::frames::cells([]).unwrap();
        concat_lf_diagonal([none.lazy(), set.lazy()], UnionArgs::default()).unwrap().collect().unwrap()
    }

    #[test]
    fn the_summary_is_in_the_order_of_the_plan_and_leaves_null_what_was_not_measured() {
        let table = summary(cells()).unwrap();
        let width = table.column("interval_pct").unwrap().f64().unwrap();
        assert!((width.get(0).unwrap() - 1.0).abs() < 1e-9);
        assert_eq!(width.get(1), None);
        assert_eq!(table.column("skill").unwrap().str().unwrap().get(0), Some("a"));
    }
}
