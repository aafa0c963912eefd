//! The best hardware for a model, and for an architecture.

use super::latest::{comparable, now};
use super::math::{columns, geometric_mean, ratio};
use polars::prelude::*;
use skillbench_record::catalog::column;

/// What is meant by the best.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// The lowest median latency.
    Latency,
    /// The highest throughput.
    Throughput,
    /// The least energy for each item.
    Energy,
    /// The lowest peak of the resident set.
    Memory,
}

impl Goal {
    pub const ALL: [Goal; 4] = [Goal::Latency, Goal::Throughput, Goal::Energy, Goal::Memory];

    /// The metric that is ranked by.
    pub fn metric(self) -> &'static str {
        match self {
            Goal::Latency => "latency_ms",
            Goal::Throughput => "throughput_per_s",
            Goal::Energy => column::ENERGY_J_PER_ITEM,
            Goal::Memory => "memory_mb",
        }
    }

    pub fn unit(self) -> &'static str {
        skillbench_record::catalog::metric(self.metric()).map_or("", |metric| metric.unit)
    }

    fn figure(self) -> &'static str {
        match self {
            Goal::Latency => column::LATENCY_MEDIAN_MS,
            Goal::Throughput => column::THROUGHPUT_SAMPLES_PER_SEC,
            Goal::Energy => column::ENERGY_J_PER_ITEM,
            Goal::Memory => column::PEAK_MEMORY_MB,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Goal::Latency => "latency",
            Goal::Throughput => "throughput",
            Goal::Energy => "energy",
            Goal::Memory => "memory",
        }
    }

    fn best_first(self) -> SortMultipleOptions {
        SortMultipleOptions::default().with_order_descending(self == Goal::Throughput).with_maintain_order(true)
    }

    /// Above 1 where the first is better.
    fn better(self, first: Expr, second: Expr) -> Expr {
        match self {
            Goal::Latency | Goal::Energy | Goal::Memory => ratio(second, first),
            Goal::Throughput => ratio(first, second),
        }
    }
}

const WORKLOAD: [&str; 7] = [
    column::MACHINE,
    column::MODEL_ID,
    column::FAMILY,
    column::ARCHITECTURE_TYPE,
    column::BENCHMARK,
    column::AXES,
    column::PRECISION,
];

/// Measured hardware on each workload, the best first; of several cells of one hardware, the best.
fn ranked(cells: DataFrame, goal: Goal) -> PolarsResult<LazyFrame> {
    let workload = || columns(WORKLOAD);
    let hardware = workload().into_iter().chain([col("hardware")]).collect();
    Ok(now(cells)?
        .filter(comparable().and(col(goal.figure()).is_not_null()))
        .sort([goal.figure()], goal.best_first())
        .unique_stable_generic(Some(hardware), UniqueKeepStrategy::First)
        .with_column(len().over(workload())?.cast(DataType::Int64).alias("compared")))
}

/// For each model, benchmark, point of the grid and precision the best of the measured hardware, and how far ahead of the second
/// it is (`ahead`, above 1). `clear` says whether both intervals are apart; null where there is no second, or no interval. With one
/// hardware there is nothing to choose from, which `compared` = 1 says.
///
/// # Errors
/// Polars' own.
pub fn optimal_per_model(cells: DataFrame, goal: Goal) -> PolarsResult<DataFrame> {
    let at = |column: &str, place: i64| col(column).get(lit(place), true);
    let clear = match goal {
        Goal::Latency => col("best_high_ms").lt(col("second_low_ms")),
        Goal::Throughput | Goal::Energy | Goal::Memory => lit(NULL).cast(DataType::Boolean),
    };
    ranked(cells, goal)?
        .group_by_stable(columns(WORKLOAD.into_iter().chain(["compared"])))
        .agg([
            lit(goal.name()).first().alias("goal"),
            at("hardware", 0).alias("best"),
            at(goal.figure(), 0).alias("best_figure"),
            at(column::LATENCY_CI95_HIGH_MS, 0).alias("best_high_ms"),
            at("hardware", 1).alias("second"),
            at(goal.figure(), 1).alias("second_figure"),
            at(column::LATENCY_CI95_LOW_MS, 1).alias("second_low_ms"),
        ])
        .with_columns([goal.better(col("best_figure"), col("second_figure")).alias("ahead"), clear.alias("clear")])
        .drop(cols(["best_high_ms", "second_low_ms"]))
        .collect()
}

/// How measured hardware does on the workloads of each architecture, the best first.
///
/// `share_of_best` is the geometric mean of its figure against the best on the same workload (1: always the best), each model being
/// one value, over the workloads that all hardware of the architecture has (`workloads_common`); null where there are none. `wins`
/// counts workloads on which it was the best of two or more, `workloads_missing` those that others have and it has not.
///
/// # Errors
/// Polars' own.
pub fn optimal_per_architecture(cells: DataFrame, goal: Goal) -> PolarsResult<DataFrame> {
    let group = || columns([column::MACHINE, column::ARCHITECTURE_TYPE, column::BENCHMARK, column::PRECISION]);
    let best = col(goal.figure()).first().over(columns(WORKLOAD))?;
    let all = ranked(cells, goal)?
        .with_columns([
            goal.better(col(goal.figure()), best.clone()).alias("share"),
            col("hardware")
                .eq(col("hardware").first().over(columns(WORKLOAD))?)
                .and(col("compared").gt(lit(1)))
                .alias("won"),
            col("hardware").n_unique().over(group())?.cast(DataType::Int64).alias("hardware_in_all"),
            as_struct(columns([column::MODEL_ID, column::AXES]))
                .n_unique()
                .over(group())?
                .cast(DataType::Int64)
                .alias("workloads_in_all"),
        ])
        .with_column(col("compared").eq(col("hardware_in_all")).alias("common"));
    all.group_by_stable(columns([
        column::MACHINE,
        column::ARCHITECTURE_TYPE,
        column::BENCHMARK,
        column::PRECISION,
        "hardware",
        "workloads_in_all",
        column::MODEL_ID,
    ]))
    .agg([
        len().alias("workloads"),
        col("common").sum().alias("common"),
        col("won").sum().alias("won"),
        geometric_mean(col("share").filter(col("common"))).alias("share"),
    ])
    .group_by_stable(columns([
        column::MACHINE,
        column::ARCHITECTURE_TYPE,
        column::BENCHMARK,
        column::PRECISION,
        "hardware",
        "workloads_in_all",
    ]))
    .agg([
        lit(goal.name()).first().alias("goal"),
        len().cast(DataType::Int64).alias("models"),
        col("workloads").sum().cast(DataType::Int64),
        col("won").sum().cast(DataType::Int64).alias("wins"),
        col("common").sum().cast(DataType::Int64).alias("workloads_common"),
        geometric_mean(col("share")).alias("share_of_best"),
    ])
    .with_column((col("workloads_in_all") - col("workloads")).alias("workloads_missing"))
    .drop(cols(["workloads_in_all"]))
    .sort(
        [column::MACHINE, column::ARCHITECTURE_TYPE, column::BENCHMARK, column::PRECISION, "share_of_best"],
        SortMultipleOptions::default()
            .with_order_descending_multi([false, false, false, false, true])
            .with_nulls_last(true)
            .with_maintain_order(true),
    )
    .collect()
}
