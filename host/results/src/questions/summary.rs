//! The table of a run.

use super::Added;
use polars::prelude::*;
use skillbench_record::catalog::column;

/// The table of a run: one row for each cell, its key, its main figures, and what benchmarks of plugins `added`, in the order of the plan.
///
/// # Errors
/// Polars' own.
pub fn summary(cells: DataFrame, added: &[Added]) -> PolarsResult<DataFrame> {
    let cells = cells.sort([column::CELL], SortMultipleOptions::default())?;
    let added = added.iter().map(|series| series.column(&cells)).collect::<PolarsResult<Vec<_>>>()?;
    let key = [
        col(column::MODEL_ID).alias("skill"),
        col(column::PARAMETER_COUNT).alias("parameters"),
        col(column::RELATION),
        col(column::PLUGIN),
        col(column::DEVICE_ID).alias("device"),
        col(column::BENCHMARK),
        col(column::AXES),
        col(column::PRECISION),
        col(column::OUTCOME),
    ];
    // Half of an interval over its figure.
    let half = |[value, low, high]: [&str; 3]| (col(high) - col(low)) / lit(2.0) / col(value) * lit(100.0);
    let latency = [column::LATENCY_MEDIAN_MS, column::LATENCY_CI95_LOW_MS, column::LATENCY_CI95_HIGH_MS];
    let first_token = [
        column::TIME_TO_FIRST_TOKEN_MS,
        column::TIME_TO_FIRST_TOKEN_CI95_LOW_MS,
        column::TIME_TO_FIRST_TOKEN_CI95_HIGH_MS,
    ];
    let per_token = [
        column::TIME_PER_OUTPUT_TOKEN_MS,
        column::TIME_PER_OUTPUT_TOKEN_CI95_LOW_MS,
        column::TIME_PER_OUTPUT_TOKEN_CI95_HIGH_MS,
    ];
    let figures = [
        col(column::LATENCY_MEDIAN_MS).alias("median_ms"),
        half(latency).alias("interval_pct"),
        col(column::LATENCY_90P_MS).alias("p90_ms"),
        // Who bears load is held to it.
        when(col(column::SERVICE_MEDIAN_MS).is_not_null())
            .then(col(column::LATENCY_99P_MS))
            .otherwise(lit(NULL))
            .alias("p99_ms"),
        col(column::CPU_MEDIAN_MS).alias("cpu_ms"),
        col(column::THROUGHPUT_SAMPLES_PER_SEC).alias("per_second"),
        col(column::SPEEDUP_OVER_SEQUENTIAL).alias("speedup"),
        col(column::CAPACITY_PER_SEC).alias("capacity_per_s"),
        col(column::CAPACITY_CI95_LOW_PER_SEC).alias("capacity_from_per_s"),
        col(column::CAPACITY_CI95_HIGH_PER_SEC).alias("capacity_to_per_s"),
        col(column::GOODPUT_PER_SEC).alias("goodput_per_s"),
        (col(column::WITHIN_SLO) * lit(100.0)).alias("within_slo_pct"),
        when(col(column::SLO_KEPT).gt(lit(0)))
            .then(lit("yes"))
            .when(col(column::SLO_KEPT).is_not_null())
            .then(lit("no"))
            .otherwise(lit(NULL))
            .alias(column::SLO_KEPT),
        when(col(column::ERROR_RATE).gt(lit(0.0)))
            .then(col(column::ERROR_RATE) * lit(100.0))
            .otherwise(lit(NULL))
            .alias("refused_pct"),
        (col(column::UTILIZATION) * lit(100.0)).alias("utilization_pct"),
        when(col(column::REQUESTS_PER_RUN).gt(lit(1.0)))
            .then(col(column::REQUESTS_PER_RUN))
            .otherwise(lit(NULL))
            .alias(column::REQUESTS_PER_RUN),
        col(column::QUEUE_MEDIAN_MS).alias("queue_ms"),
        col(column::SERVICE_MEDIAN_MS).alias("service_ms"),
        (col(column::LATENESS_99P_MS) * lit(1e3)).alias("late_p99_us"),
        col(column::TTFT_MEDIAN_MS),
        col(column::TTFT_99P_MS),
        col(column::TPOT_MEDIAN_MS),
        col(column::TPOT_99P_MS),
        col(column::OUTPUT_TOKENS_PER_SEC),
        col(column::TIME_TO_FIRST_TOKEN_MS).alias("first_token_ms"),
        half(first_token).alias("first_token_interval_pct"),
        col(column::TIME_PER_OUTPUT_TOKEN_MS).alias("per_token_ms"),
        half(per_token).alias("per_token_interval_pct"),
        col(column::PREFILL_TOKENS_PER_SEC).alias("prefill_per_s"),
        col(column::DECODE_TOKENS_PER_SEC).alias("decode_per_s"),
        col(column::LOAD_MS),
        col(column::FIRST_INFERENCE_MS).alias("first_ms"),
        col(column::PEAK_MEMORY_MB).alias("peak_mb"),
        col(column::ENERGY_J_PER_ITEM).alias("j_per_item"),
        (col(column::SHARE_OF_PEAK_FLOPS) * lit(100.0)).alias("flops_pct"),
        (col(column::SHARE_OF_PEAK_BANDWIDTH) * lit(100.0)).alias("bandwidth_pct"),
        (col(column::PEAK_FLOAT32_PER_SEC) / lit(1e9)).alias("gflops_float32"),
        (col(column::PEAK_FLOAT16_PER_SEC) / lit(1e9)).alias("gflops_float16"),
        (col(column::PEAK_BFLOAT16_PER_SEC) / lit(1e9)).alias("gflops_bfloat16"),
        (col(column::PEAK_INT8_PER_SEC) / lit(1e9)).alias("gops_int8"),
        (col(column::PEAK_BYTES_PER_SEC) / lit(1e9)).alias("gb_per_s"),
        (col(column::PEAK_TO_DEVICE_BYTES_PER_SEC) / lit(1e9)).alias("to_device_gb_per_s"),
        (col(column::PEAK_FROM_DEVICE_BYTES_PER_SEC) / lit(1e9)).alias("from_device_gb_per_s"),
        col(column::HOST_TO_DEVICE_MEDIAN_MS).alias("host_to_device_ms"),
        col(column::DEVICE_MEDIAN_MS).alias("device_ms"),
        col(column::DEVICE_TO_HOST_MEDIAN_MS).alias("device_to_host_ms"),
        col(column::OTHER_CORES),
        col(column::THROTTLED),
        col(column::ITERATIONS).alias("n"),
        col(column::STABLE),
        col(column::EMULATED),
        col(column::VERIFIED),
        col(column::AUDITED),
        col(column::WEAK),
        col(column::IMPLAUSIBLE),
        col(column::FIXES).alias("fixed"),
        col(column::REASON),
    ];
    let mut table = cells.lazy().select(key.into_iter().chain(figures).collect::<Vec<_>>()).collect()?;
    table.hstack_mut(&added)?;
    Ok(table)
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
        let table = summary(cells(), &[]).unwrap();
        let width = table.column("interval_pct").unwrap().f64().unwrap();
        assert!((width.get(0).unwrap() - 1.0).abs() < 1e-9);
        assert_eq!(width.get(1), None);
        assert_eq!(table.column("skill").unwrap().str().unwrap().get(0), Some("a"));
    }
}
