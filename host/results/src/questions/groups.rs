//! Groups of models and of hardware.
//!
//! Different models are never averaged in milliseconds: what a group has is the geometric mean of its models' speed-ups over the
//! CPU, each model being one value, however many points of the grid it was measured at. Emulated and unverified cells form rows
//! of their own.

use super::latest::HARDWARE;
use super::math::in_order;
use super::math::{columns, end_of_mean, geometric_mean};
use super::relative::relative;
use super::rules::rules;
use polars::prelude::*;
use skillbench_record::catalog::column;

/// What rows of one group have in common beside the group.
const BESIDE: [&str; 5] = [column::MACHINE, "hardware", column::BENCHMARK, column::PRECISION, column::TRUST];

/// One row for each model, hardware, benchmark and precision: the range of its figures over the grid. Raw figures stand here
/// because they are one model's.
///
/// # Errors
/// Polars' own.
pub fn by_model(cells: DataFrame) -> PolarsResult<DataFrame> {
    let key = [
        column::MODEL_ID,
        column::FAMILY,
        column::CATEGORY,
        column::ARCHITECTURE_TYPE,
        column::TASK,
        column::PARAMETER_COUNT,
    ];
    relative(cells)?
        .group_by_stable(columns(key.into_iter().chain(BESIDE)))
        .agg([
            len().cast(DataType::Int64).alias("cells"),
            col(column::STABLE).not().sum().cast(DataType::Int64).alias("unstable"),
            col(column::LATENCY_MEDIAN_MS).min().alias("latency_least_ms"),
            col(column::LATENCY_MEDIAN_MS).max().alias("latency_most_ms"),
            col(column::THROUGHPUT_SAMPLES_PER_SEC).max().alias("throughput_most_per_sec"),
            col(column::PEAK_MEMORY_MB).max(),
            col(column::ENERGY_J_PER_ITEM).min().alias("energy_least_j_per_item"),
            col("speedup").count().cast(DataType::Int64).alias("cells_used"),
            col("speedup").null_count().cast(DataType::Int64).alias("cells_without_cpu"),
            geometric_mean(col("speedup")).alias("speedup"),
            end_of_mean(col("speedup_low"), col("speedup")).alias("speedup_low"),
            end_of_mean(col("speedup_high"), col("speedup")).alias("speedup_high"),
            col("speedup").min().alias("speedup_least"),
            col("speedup").max().alias("speedup_most"),
        ])
        .collect()
}

/// Embedding, vision, audio ...
///
/// # Errors
/// Polars' own.
pub fn by_family(cells: DataFrame) -> PolarsResult<DataFrame> {
    grouped(relative(cells)?, &[column::FAMILY])
}

/// Text encoders, video, diffusion ...
///
/// # Errors
/// Polars' own.
pub fn by_category(cells: DataFrame) -> PolarsResult<DataFrame> {
    grouped(relative(cells)?, &[column::CATEGORY])
}

/// Encoder-only, vision, state-space ...
///
/// # Errors
/// Polars' own.
pub fn by_architecture(cells: DataFrame) -> PolarsResult<DataFrame> {
    grouped(relative(cells)?, &[column::ARCHITECTURE_TYPE])
}

/// Fill-mask, image-classification ...
///
/// # Errors
/// Polars' own.
pub fn by_task(cells: DataFrame) -> PolarsResult<DataFrame> {
    grouped(relative(cells)?, &[column::TASK])
}

/// All models of a hardware.
///
/// # Errors
/// Polars' own.
pub fn by_hardware(cells: DataFrame) -> PolarsResult<DataFrame> {
    grouped(relative(cells)?, &[])
}

/// Tiny, small, base, large, by the bounds of `data/rules.toml`. Models whose parameters nobody counted have a null of their own.
///
/// # Errors
/// Polars' own.
pub fn by_size(cells: DataFrame) -> PolarsResult<DataFrame> {
    grouped(relative(cells)?.with_column(size().alias("size")), &["size"])
}

/// The group of a model by its parameters.
pub fn size() -> Expr {
    let parameters = || col(column::PARAMETER_COUNT);
    let name = |name: &str| lit(name.to_string());
    let ungrouped = lit(NULL).cast(DataType::String);
    let grouped = rules().size.iter().rev().fold(ungrouped, |larger, size| match size.parameters {
        None => name(&size.name),
        Some(most) => when(parameters().lt_eq(lit(most))).then(name(&size.name)).otherwise(larger),
    });
    when(parameters().is_not_null()).then(grouped).otherwise(lit(NULL))
}

fn grouped(cells: LazyFrame, group: &[&str]) -> PolarsResult<DataFrame> {
    let key = || group.iter().copied().chain(BESIDE);
    cells
        .group_by_stable(columns(key().chain([column::MODEL_ID])))
        .agg([
            len().alias("cells"),
            col(column::STABLE).not().sum().alias("unstable"),
            geometric_mean(col("speedup")).alias("speedup"),
            end_of_mean(col("speedup_low"), col("speedup")).alias("speedup_low"),
            end_of_mean(col("speedup_high"), col("speedup")).alias("speedup_high"),
            col(column::SHARE_OF_PEAK_FLOPS).max(),
        ])
        .group_by_stable(columns(key()))
        .agg([
            len().cast(DataType::Int64).alias("models"),
            col("cells").sum().cast(DataType::Int64),
            col("unstable").sum().cast(DataType::Int64),
            col("speedup").count().cast(DataType::Int64).alias("models_used"),
            col("speedup").null_count().cast(DataType::Int64).alias("models_without_cpu"),
            geometric_mean(col("speedup")).alias("speedup"),
            end_of_mean(col("speedup_low"), col("speedup")).alias("speedup_low"),
            end_of_mean(col("speedup_high"), col("speedup")).alias("speedup_high"),
            col("speedup").min().alias("speedup_least"),
            col("speedup").max().alias("speedup_most"),
            col(column::MODEL_ID).sort_by(["speedup"], highest_first()).first().alias("fastest_model"),
            col(column::SHARE_OF_PEAK_FLOPS).max().alias("share_of_peak_flops_most"),
        ])
        .with_column(
            when(col("speedup").is_null()).then(lit(NULL)).otherwise(col("fastest_model")).alias("fastest_model"),
        )
        .collect()
}

fn highest_first() -> SortMultipleOptions {
    SortMultipleOptions::default().with_order_descending(true).with_nulls_last(true)
}

/// The speed-up of each hardware over the CPU as geometric means, with what they leave out.
///
/// A workload is a model at a point of the grid; the workloads of a benchmark and precision are those that the CPU was measured at.
/// Each model is one value: the geometric mean over its workloads.
///
/// - `speedup_all`: over the models this hardware has (`models_used`); `models_missing` is how many of the CPU's it has none of,
///   `workloads_missing` the same of workloads. Hardware that fails on what it is slow at looks better here than it is.
/// - `speedup_common`: over the workloads that all measured hardware in the data has (`models_common`), so that it compares like
///   with like; null where there are none, and for what is emulated or unverified, which is never asked to be common.
///
/// # Errors
/// Polars' own.
pub fn speedups(cells: DataFrame) -> PolarsResult<DataFrame> {
    let set = || columns([column::MACHINE, column::BENCHMARK, column::PRECISION]);
    let of = || columns([column::MACHINE, "hardware", column::BENCHMARK, column::PRECISION, column::TRUST]);
    let workload = || columns([column::MACHINE, column::BENCHMARK, column::PRECISION, column::MODEL_ID, column::AXES]);
    // One value for each workload and hardware: of several with other threads, the best.
    let ratios = relative(cells)?
        .filter(col("speedup").is_not_null())
        .group_by_stable(columns([
            column::MACHINE,
            "hardware",
            column::BENCHMARK,
            column::PRECISION,
            column::TRUST,
            column::MODEL_ID,
            column::AXES,
        ]))
        .agg([
            col("speedup").max(),
            col("speedup_low").sort_by(["speedup"], highest_first()).first(),
            col("speedup_high").sort_by(["speedup"], highest_first()).first(),
        ]);
    let comparable = || ratios.clone().filter(col(column::TRUST).eq(lit(HARDWARE)));
    let wholes = comparable().group_by(set()).agg([
        col(column::MODEL_ID).n_unique().cast(DataType::Int64).alias("models_in_all"),
        as_struct(columns([column::MODEL_ID, column::AXES])).n_unique().cast(DataType::Int64).alias("workloads_in_all"),
        col("hardware").n_unique().alias("hardware_in_all"),
    ]);
    let common = comparable()
        .group_by(workload())
        .agg([col("hardware").n_unique().alias("on")])
        .join(wholes.clone(), set(), set(), in_order(JoinType::Left))
        .select(
            workload().into_iter().chain([col("on").eq(col("hardware_in_all")).alias("common")]).collect::<Vec<_>>(),
        );
    let shared = || col("common").and(col(column::TRUST).eq(lit(HARDWARE))).fill_null(lit(false));
    let of_common = |name: &str| col(name).filter(shared());
    ratios
        .clone()
        .join(common, workload(), workload(), in_order(JoinType::Left))
        .group_by_stable(of().into_iter().chain([col(column::MODEL_ID)]).collect::<Vec<_>>())
        .agg([
            len().alias("workloads"),
            geometric_mean(of_common("speedup")).alias("common"),
            end_of_mean(of_common("speedup_low"), of_common("speedup")).alias("common_low"),
            end_of_mean(of_common("speedup_high"), of_common("speedup")).alias("common_high"),
            geometric_mean(col("speedup")).alias("all"),
            end_of_mean(col("speedup_low"), col("speedup")).alias("all_low"),
            end_of_mean(col("speedup_high"), col("speedup")).alias("all_high"),
        ])
        .group_by_stable(of())
        .agg([
            len().cast(DataType::Int64).alias("models_used"),
            col("workloads").sum().cast(DataType::Int64).alias("workloads_used"),
            geometric_mean(col("all")).alias("speedup_all"),
            end_of_mean(col("all_low"), col("all")).alias("speedup_all_low"),
            end_of_mean(col("all_high"), col("all")).alias("speedup_all_high"),
            col("common").count().cast(DataType::Int64).alias("models_common"),
            geometric_mean(col("common")).alias("speedup_common"),
            end_of_mean(col("common_low"), col("common")).alias("speedup_common_low"),
            end_of_mean(col("common_high"), col("common")).alias("speedup_common_high"),
        ])
        .join(wholes, set(), set(), in_order(JoinType::Left))
        .with_columns([
            (col("models_in_all") - col("models_used")).alias("models_missing"),
            (col("workloads_in_all") - col("workloads_used")).alias("workloads_missing"),
        ])
        .select(columns([
            column::MACHINE,
            "hardware",
            column::BENCHMARK,
            column::PRECISION,
            column::TRUST,
            "models_used",
            "models_missing",
            "workloads_used",
            "workloads_missing",
            "speedup_all",
            "speedup_all_low",
            "speedup_all_high",
            "models_common",
            "speedup_common",
            "speedup_common_low",
            "speedup_common_high",
        ]))
        .collect()
}
