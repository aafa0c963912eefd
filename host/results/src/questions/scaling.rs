//! How figures grow with the work: with the batch, with the sequence, with the model.

use super::latest::now;
use super::math::{columns, ratio};
use polars::prelude::*;
use skillbench_record::catalog::column;

/// An axis of the workload grid along which cells are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Along {
    Batch,
    Sequence,
    /// Requests a second, as they were issued.
    Load,
}

impl Along {
    fn column(self) -> &'static str {
        match self {
            Along::Batch => column::BATCH_SIZE,
            Along::Sequence => column::SEQUENCE_LENGTH,
            Along::Load => column::ISSUED_PER_SEC,
        }
    }

    /// Its names in the text of all axes.
    fn names(self) -> &'static [&'static str] {
        match self {
            Along::Batch => &["batch"],
            Along::Sequence => &["sequence"],
            Along::Load => &["rate", "rate_per_hour"],
        }
    }
}

pub(super) const KEY: [&str; 10] = [
    column::MACHINE,
    "hardware",
    column::MODEL_ID,
    column::FAMILY,
    column::ARCHITECTURE_TYPE,
    column::BENCHMARK,
    "other_axes",
    column::PRECISION,
    column::THREADS,
    column::TRUST,
];

/// Measured cells with `point` on the axis, in its order, `other_axes`, and the number of points on their line.
pub(super) fn lines(cells: DataFrame, along: Along) -> PolarsResult<LazyFrame> {
    let lines = now(cells)?
        .filter(col(column::TRUST).is_not_null().and(col(along.column()).is_not_null()))
        .with_columns([other_axes(along).alias("other_axes"), col(along.column()).alias("point")])
        .sort(["point"], SortMultipleOptions::default().with_maintain_order(true))
        .with_column(len().over(columns(KEY))?.cast(DataType::Int64).alias("points"));
    Ok(lines)
}

/// The text of all axes without this one.
fn other_axes(along: Along) -> Expr {
    let others = move |axes: &str| {
        let kept =
            axes.split(' ').filter(|axis| axis.split_once('=').is_none_or(|(name, _)| !along.names().contains(&name)));
        kept.collect::<Vec<_>>().join(" ")
    };
    col(column::AXES).map(
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
///   `gain_low` and `gain_high` are from the ends of both intervals; the smallest point itself has none.
/// - `efficiency`: `gain / growth`; 1 is ideal: the larger point takes no longer than the smallest.
///
/// A line of one point has ratios of 1 and says `points` = 1.
///
/// # Errors
/// Polars' own.
pub fn scaling(cells: DataFrame, along: Along) -> PolarsResult<DataFrame> {
    let by_throughput = match along {
        Along::Batch | Along::Load => col("throughput_ratio"),
        Along::Sequence => col("throughput_ratio") * col("growth"),
    };
    let figures = [
        column::LATENCY_MEDIAN_MS,
        column::LATENCY_CI95_LOW_MS,
        column::LATENCY_CI95_HIGH_MS,
        column::THROUGHPUT_SAMPLES_PER_SEC,
        column::THROUGHPUT_CI95_LOW_PER_SEC,
        column::THROUGHPUT_CI95_HIGH_PER_SEC,
    ];
    let latency = [column::LATENCY_CI95_LOW_MS, column::LATENCY_CI95_HIGH_MS];
    let rate = [column::THROUGHPUT_CI95_LOW_PER_SEC, column::THROUGHPUT_CI95_HIGH_PER_SEC];
    // The lower end of a gain is from the slowest that this point may be and the fastest that the smallest may be.
    let end = |from: usize| -> PolarsResult<Expr> {
        let to = 1 - from;
        let of_work = match along {
            Along::Batch | Along::Load => lit(1.0),
            Along::Sequence => col("growth"),
        };
        let by_latency = col("growth") * ratio(at_smallest(latency[from])?, col(latency[to]));
        let by_throughput = ratio(col(rate[from]), at_smallest(rate[to])?) * of_work;
        let gain = when(col("latency_ratio").is_not_null()).then(by_latency).otherwise(by_throughput);
        Ok(when(col("growth").gt(lit(1.0))).then(gain).otherwise(lit(NULL)))
    };
    lines(cells, along)?
        .filter(col(column::LATENCY_MEDIAN_MS).is_not_null().or(col(column::THROUGHPUT_SAMPLES_PER_SEC).is_not_null()))
        .with_columns([
            ratio(col("point"), at_smallest("point")?).alias("growth"),
            ratio(col(column::LATENCY_MEDIAN_MS), at_smallest(column::LATENCY_MEDIAN_MS)?).alias("latency_ratio"),
            ratio(col(column::THROUGHPUT_SAMPLES_PER_SEC), at_smallest(column::THROUGHPUT_SAMPLES_PER_SEC)?)
                .alias("throughput_ratio"),
        ])
        .with_column(coalesce(&[ratio(col("growth"), col("latency_ratio")), by_throughput]).alias("gain"))
        .with_columns([
            ratio(col("gain"), col("growth")).alias("efficiency"),
            end(0)?.alias("gain_low"),
            end(1)?.alias("gain_high"),
        ])
        .select(columns(
            KEY.into_iter().chain([column::AXES, "point", "points", column::STABLE]).chain(figures).chain([
                "growth",
                "latency_ratio",
                "throughput_ratio",
                "gain",
                "gain_low",
                "gain_high",
                "efficiency",
            ]),
        ))
        .collect()
}

/// Memory along an axis, against the smallest measured point. What a model took that was already there in the pool nobody measured:
/// it is left out.
///
/// # Errors
/// Polars' own.
pub fn memory_scaling(cells: DataFrame, along: Along) -> PolarsResult<DataFrame> {
    lines(cells, along)?
        .filter(col(column::PEAK_MEMORY_MB).is_not_null().or(col(column::MEMORY_USAGE_MB).is_not_null()))
        .with_columns([
            ratio(col("point"), at_smallest("point")?).alias("growth"),
            ratio(col(column::PEAK_MEMORY_MB), at_smallest(column::PEAK_MEMORY_MB)?).alias("peak_ratio"),
            ratio(col(column::MEMORY_USAGE_MB), at_smallest(column::MEMORY_USAGE_MB)?).alias("loaded_ratio"),
            (col(column::PEAK_MEMORY_MB) - at_smallest(column::PEAK_MEMORY_MB)?).alias("peak_more_mb"),
        ])
        .select(columns(KEY.into_iter().chain([
            column::AXES,
            "point",
            "points",
            column::MEMORY_BEFORE_MB,
            column::MEMORY_USAGE_MB,
            column::PEAK_MEMORY_MB,
            column::DEVICE_PEAK_MEMORY_MB,
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
    let model = || (col(column::MEMORY_USAGE_MB) - col(column::MEMORY_BEFORE_MB)).median();
    now(cells)?
        .filter(col(column::TRUST).is_not_null().and(col(column::PEAK_MEMORY_MB).is_not_null()))
        .group_by_stable(columns([
            column::MACHINE,
            "hardware",
            column::MODEL_ID,
            column::FAMILY,
            column::ARCHITECTURE_TYPE,
            column::PARAMETER_COUNT,
            column::BENCHMARK,
            column::PRECISION,
            column::TRUST,
        ]))
        .agg([
            model().alias("model_mb"),
            col(column::MEMORY_USAGE_MB).max(),
            col(column::PEAK_MEMORY_MB).max(),
            col(column::DEVICE_PEAK_MEMORY_MB).max(),
        ])
        .with_column(
            ratio(col("model_mb") * lit(1_048_576.0), col(column::PARAMETER_COUNT)).alias("bytes_per_parameter"),
        )
        .sort([column::PARAMETER_COUNT], SortMultipleOptions::default().with_maintain_order(true).with_nulls_last(true))
        .collect()
}
