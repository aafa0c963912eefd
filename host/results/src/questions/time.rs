//! The same cells at different times.

use super::latest::{latest, placed};
use super::math::{columns, ratio};
use polars::prelude::*;
use skillbench_record::catalog::column;

const KEY: [&str; 9] = [
    column::MACHINE,
    "hardware",
    column::MODEL_ID,
    column::FAMILY,
    column::ARCHITECTURE_TYPE,
    column::BENCHMARK,
    column::AXES,
    column::PRECISION,
    column::TRUST,
];

/// Every measured cell in the order of time: one line for each machine, hardware, model, benchmark, axes, precision and threads, with
/// what may explain a step beside it: the versions of plugin, engine and driver.
///
/// # Errors
/// Polars' own.
pub fn trend(cells: DataFrame) -> PolarsResult<DataFrame> {
    placed(cells)?
        .filter(col(column::TRUST).is_not_null())
        .sort([column::TIMESTAMP, column::RUN, column::CELL], SortMultipleOptions::default().with_maintain_order(true))
        .select(columns(KEY.into_iter().chain([
            column::THREADS,
            column::RUN,
            column::TIMESTAMP,
            column::LATENCY_MEDIAN_MS,
            column::LATENCY_CI95_LOW_MS,
            column::LATENCY_CI95_HIGH_MS,
            column::THROUGHPUT_SAMPLES_PER_SEC,
            column::PEAK_MEMORY_MB,
            column::STABLE,
            column::PLUGIN_VERSION,
            column::ENGINE,
            column::DRIVER_VERSION,
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
    let key = || columns(KEY.into_iter().chain([column::THREADS]));
    let figures = [
        column::RUN,
        column::LATENCY_MEDIAN_MS,
        column::LATENCY_CI95_LOW_MS,
        column::LATENCY_CI95_HIGH_MS,
        column::THROUGHPUT_SAMPLES_PER_SEC,
    ];
    let side = |cells: LazyFrame, name: &'static str| {
        let measured =
            cells.filter(col(column::TRUST).is_not_null()).unique_stable_generic(Some(key()), UniqueKeepStrategy::Last);
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
