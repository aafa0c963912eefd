//! How figures grow with the work: with the batch, with the sequence, with the model.

use super::latest::now;
use super::math::{columns, ratio};
use polars::prelude::*;

/// An axis of the workload grid along which cells are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Along {
    Batch,
    Sequence,
}

impl Along {
    fn column(self) -> &'static str {
        match self {
            Along::Batch => "batch_size",
            Along::Sequence => "sequence_length",
        }
    }

    /// Its name in the text of all axes.
    fn name(self) -> &'static str {
        match self {
            Along::Batch => "batch",
            Along::Sequence => "sequence",
        }
    }
}

const KEY: [&str; 10] = [
    "machine",
    "hardware",
    "model_id",
    "family",
    "architecture_type",
    "benchmark",
    "other_axes",
    "precision",
    "threads",
    "trust",
];

/// Measured cells with `point` on the axis, in its order, `other_axes`, and the number of points on their line.
fn lines(cells: DataFrame, along: Along) -> PolarsResult<LazyFrame> {
    let lines = now(cells)?
        .filter(col("trust").is_not_null().and(col(along.column()).is_not_null()))
        .with_columns([other_axes(along).alias("other_axes"), col(along.column()).alias("point")])
        .sort(["point"], SortMultipleOptions::default().with_maintain_order(true))
        .with_column(len().over(columns(KEY))?.cast(DataType::Int64).alias("points"));
    Ok(lines)
}

/// The text of all axes without this one.
fn other_axes(along: Along) -> Expr {
    let others = move |axes: &str| {
        let kept = axes.split(' ').filter(|axis| axis.split_once('=').is_none_or(|(name, _)| name != along.name()));
        kept.collect::<Vec<_>>().join(" ")
    };
    col("axes").map(
        move |axes| {
            let kept: Vec<Option<String>> = axes.str()?.iter().map(|axes| axes.map(others)).collect();
            Ok(Column::new(axes.name().clone(), kept))
        },
        |_, field| Ok(field.clone()),
    )
}

/// The figure at the smallest point of a line that has it.
fn at_smallest(figure: &str) -> PolarsResult<Expr> {
    col(figure).first_non_null().over(columns(KEY))
}

/// Latency and throughput along an axis, each against the smallest measured point of the same hardware, model, benchmark,
/// precision, threads and other axes.
///
/// - `growth`: the point over the smallest.
/// - `latency_ratio`, `throughput_ratio`: the figure over that at the smallest point.
/// - `gain`: how much more is done in the same time, in items or in positions of the sequence: `growth / latency_ratio`; 1 means
///   that time grows as the work does. Without a latency it is the throughput's ratio, times `growth` for a sequence.
/// - `efficiency`: `gain / growth`; 1 is ideal: the larger point takes no longer than the smallest.
///
/// A line of one point has ratios of 1 and says `points` = 1.
///
/// # Errors
/// Polars' own.
pub fn scaling(cells: DataFrame, along: Along) -> PolarsResult<DataFrame> {
    let by_throughput = match along {
        Along::Batch => col("throughput_ratio"),
        Along::Sequence => col("throughput_ratio") * col("growth"),
    };
    let figures = ["latency_median_ms", "latency_ci95_low_ms", "latency_ci95_high_ms", "throughput_samples_per_sec"];
    lines(cells, along)?
        .filter(col("latency_median_ms").is_not_null().or(col("throughput_samples_per_sec").is_not_null()))
        .with_columns([
            ratio(col("point"), at_smallest("point")?).alias("growth"),
            ratio(col("latency_median_ms"), at_smallest("latency_median_ms")?).alias("latency_ratio"),
            ratio(col("throughput_samples_per_sec"), at_smallest("throughput_samples_per_sec")?)
                .alias("throughput_ratio"),
        ])
        .with_column(coalesce(&[ratio(col("growth"), col("latency_ratio")), by_throughput]).alias("gain"))
        .with_column(ratio(col("gain"), col("growth")).alias("efficiency"))
        .select(columns(KEY.into_iter().chain(["axes", "point", "points", "stable"]).chain(figures).chain([
            "growth",
            "latency_ratio",
            "throughput_ratio",
            "gain",
            "efficiency",
        ])))
        .collect()
}

/// Memory along an axis, against the smallest measured point. What a model took that was already there in the pool nobody measured:
/// it is left out.
///
/// # Errors
/// Polars' own.
pub fn memory_scaling(cells: DataFrame, along: Along) -> PolarsResult<DataFrame> {
    lines(cells, along)?
        .filter(col("peak_memory_mb").is_not_null().or(col("memory_usage_mb").is_not_null()))
        .with_columns([
            ratio(col("point"), at_smallest("point")?).alias("growth"),
            ratio(col("peak_memory_mb"), at_smallest("peak_memory_mb")?).alias("peak_ratio"),
            ratio(col("memory_usage_mb"), at_smallest("memory_usage_mb")?).alias("loaded_ratio"),
            (col("peak_memory_mb") - at_smallest("peak_memory_mb")?).alias("peak_more_mb"),
        ])
        .select(columns(KEY.into_iter().chain([
            "axes",
            "point",
            "points",
            "memory_before_mb",
            "memory_usage_mb",
            "peak_memory_mb",
            "device_peak_memory_mb",
            "growth",
            "loaded_ratio",
            "peak_ratio",
            "peak_more_mb",
        ])))
        .collect()
}

/// Memory of each model against its parameters: what loading it took (`model_mb`, loaded less before), how much that is for each
/// parameter, and the highest over the grid.
///
/// # Errors
/// Polars' own.
pub fn memory_by_parameters(cells: DataFrame) -> PolarsResult<DataFrame> {
    let model = || (col("memory_usage_mb") - col("memory_before_mb")).median();
    now(cells)?
        .filter(col("trust").is_not_null().and(col("peak_memory_mb").is_not_null()))
        .group_by_stable(columns([
            "machine",
            "hardware",
            "model_id",
            "family",
            "architecture_type",
            "parameter_count",
            "benchmark",
            "precision",
            "trust",
        ]))
        .agg([
            model().alias("model_mb"),
            col("memory_usage_mb").max(),
            col("peak_memory_mb").max(),
            col("device_peak_memory_mb").max(),
        ])
        .with_column(ratio(col("model_mb") * lit(1_048_576.0), col("parameter_count")).alias("bytes_per_parameter"))
        .sort(["parameter_count"], SortMultipleOptions::default().with_maintain_order(true).with_nulls_last(true))
        .collect()
}
