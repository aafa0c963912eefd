//! Questions asked of the cells' frame, each a lazy pipeline with a name.

use polars::prelude::*;

/// The table of a run: one row for each cell, its key and its main figures, in the order of the plan.
///
/// # Errors
/// Polars' own.
pub fn summary(cells: DataFrame) -> PolarsResult<DataFrame> {
    let key = ["skill", "plugin", "device", "benchmark", "axes", "precision", "outcome"].map(col);
    let figures = [
        col("latency_ms_median").alias("median_ms"),
        ((col("latency_ms_ci_high") - col("latency_ms_ci_low")) / lit(2.0) / col("latency_ms_median") * lit(100.0))
            .alias("interval_pct"),
        col("latency_ms_p90").alias("p90_ms"),
        col("cpu_ms_median").alias("cpu_ms"),
        col("throughput_per_s").alias("per_second"),
        col("speedup"),
        col("first_token_ms"),
        col("per_token_ms"),
        col("prefill_tokens_per_s").alias("prefill_per_s"),
        col("decode_tokens_per_s").alias("decode_per_s"),
        col("load_ms"),
        col("first_inference_ms").alias("first_ms"),
        col("memory_mb_peak").alias("peak_mb"),
        col("energy_j_per_item").alias("j_per_item"),
        (col("share_of_peak_flops") * lit(100.0)).alias("flops_pct"),
        (col("share_of_peak_bandwidth") * lit(100.0)).alias("bandwidth_pct"),
        (col("peak_float32_per_s") / lit(1e9)).alias("gflops_float32"),
        (col("peak_float16_per_s") / lit(1e9)).alias("gflops_float16"),
        (col("peak_bfloat16_per_s") / lit(1e9)).alias("gflops_bfloat16"),
        (col("peak_int8_per_s") / lit(1e9)).alias("gops_int8"),
        (col("peak_bytes_per_s") / lit(1e9)).alias("gb_per_s"),
        col("samples").alias("n"),
        col("stable"),
        col("emulated"),
        col("verified"),
        col("fixed"),
        col("reason"),
    ];
    cells.lazy().sort(["cell"], Default::default()).select(key.into_iter().chain(figures).collect::<Vec<_>>()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells() -> DataFrame {
        df!(
            "cell" => [1i64, 0],
            "skill" => ["b", "a"],
            "plugin" => ["rten", "rten"],
            "device" => ["cpu", "cpu"],
            "benchmark" => ["inference", "inference"],
            "axes" => ["batch=1", "batch=1"],
            "precision" => [None, Some("float32")],
            "outcome" => ["failed", "measured"],
            "reason" => [Some("broken"), None],
            "latency_ms_median" => [None, Some(10.0)],
            "latency_ms_ci_low" => [None, Some(9.9)],
            "latency_ms_ci_high" => [None, Some(10.1)],
            "latency_ms_p90" => [None::<f64>, None],
            "cpu_ms_median" => [None, Some(9.0)],
            "throughput_per_s" => [None, Some(100.0)],
            "speedup" => [None::<f64>, None],
            "first_token_ms" => [None::<f64>, None],
            "per_token_ms" => [None::<f64>, None],
            "prefill_tokens_per_s" => [None::<f64>, None],
            "decode_tokens_per_s" => [None::<f64>, None],
            "load_ms" => [None, Some(1.0)],
            "first_inference_ms" => [None, Some(12.0)],
            "memory_mb_peak" => [None, Some(64.0)],
            "energy_j_per_item" => [None::<f64>, None],
            "share_of_peak_flops" => [None, Some(0.25)],
            "share_of_peak_bandwidth" => [None::<f64>, None],
            "peak_float32_per_s" => [None::<f64>, None],
            "peak_float16_per_s" => [None::<f64>, None],
            "peak_bfloat16_per_s" => [None::<f64>, None],
            "peak_int8_per_s" => [None::<f64>, None],
            "peak_bytes_per_s" => [None::<f64>, None],
            "samples" => [None, Some(64i64)],
            "stable" => [false, true],
            "emulated" => [false, false],
            "verified" => [None, Some("yes")],
            "fixed" => [None::<&str>, None],
        )
        .unwrap()
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
