//! The same cells at different times.

use super::latest::{latest, placed};
use super::math::{columns, ratio};
use polars::prelude::*;

const KEY: [&str; 9] =
    ["machine", "hardware", "model_id", "family", "architecture_type", "benchmark", "axes", "precision", "trust"];

/// Every measured cell in the order of time: one line for each machine, hardware, model, benchmark, axes, precision and threads, with
/// what may explain a step beside it: the versions of plugin, engine and driver.
///
/// # Errors
/// Polars' own.
pub fn trend(cells: DataFrame) -> PolarsResult<DataFrame> {
    placed(cells)?
        .filter(col("trust").is_not_null())
        .sort(["timestamp", "run", "cell"], SortMultipleOptions::default().with_maintain_order(true))
        .select(columns(KEY.into_iter().chain([
            "threads",
            "run",
            "timestamp",
            "latency_median_ms",
            "latency_ci95_low_ms",
            "latency_ci95_high_ms",
            "throughput_samples_per_sec",
            "peak_memory_mb",
            "stable",
            "plugin_version",
            "engine",
            "driver_version",
        ])))
        .collect()
}

/// Two sets of cells side by side. `faster` above 1: after is faster (median latency before over after; where a benchmark has none,
/// throughput after over before). `clear` says that both intervals are apart, which is no verdict yet: two runs one after the other
/// differ by themselves. What only one side has is null on the other. The newest row of each cell counts.
///
/// # Errors
/// Polars' own.
pub fn before_after(before: DataFrame, after: DataFrame) -> PolarsResult<DataFrame> {
    let key = || columns(KEY.into_iter().chain(["threads"]));
    let figures =
        ["run", "latency_median_ms", "latency_ci95_low_ms", "latency_ci95_high_ms", "throughput_samples_per_sec"];
    let side = |cells: LazyFrame, name: &'static str| {
        let measured =
            cells.filter(col("trust").is_not_null()).unique_stable_generic(Some(key()), UniqueKeepStrategy::Last);
        measured.select(
            key()
                .into_iter()
                .chain(figures.map(|figure| col(figure).alias(format!("{figure}_{name}"))))
                .collect::<Vec<_>>(),
        )
    };
    // Both sides are placed together, so that hardware has one name.
    let both = concat(
        [before.lazy().with_column(lit("before").alias("side")), after.lazy().with_column(lit("after").alias("side"))],
        UnionArgs::default(),
    )?;
    let both = placed(both.collect()?)?;
    let of = |name: &'static str| -> PolarsResult<LazyFrame> {
        Ok(side(latest(both.clone().filter(col("side").eq(lit(name))).collect()?)?.lazy(), name))
    };
    let args = JoinArgs { nulls_equal: true, coalesce: JoinCoalesce::CoalesceColumns, ..JoinArgs::new(JoinType::Full) };
    let by_latency = ratio(col("latency_median_ms_before"), col("latency_median_ms_after"));
    let by_throughput = ratio(col("throughput_samples_per_sec_after"), col("throughput_samples_per_sec_before"));
    let apart = col("latency_ci95_high_ms_after")
        .lt(col("latency_ci95_low_ms_before"))
        .or(col("latency_ci95_low_ms_after").gt(col("latency_ci95_high_ms_before")));
    of("before")?
        .join(of("after")?, key(), key(), args)
        .with_columns([coalesce(&[by_latency, by_throughput]).alias("faster"), apart.alias("clear")])
        .sort(KEY, SortMultipleOptions::default().with_maintain_order(true))
        .collect()
}
