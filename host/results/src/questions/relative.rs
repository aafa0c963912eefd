//! Cells held against the CPU.

use super::latest::{comparable, now, placed};
use super::math::in_order;
use super::math::{columns, ratio};
use polars::prelude::*;
use skillbench_record::catalog::column;

/// The hardware that others are held against.
pub const BASELINE: &str = "cpu";

/// What two cells must have in common to be held against each other. A precision that is not known is in common with none.
const SAME: [&str; 5] = [column::MACHINE, column::MODEL_ID, column::BENCHMARK, column::AXES, column::PRECISION];

const TOLD: [&str; 29] = [
    column::RUN,
    column::TIMESTAMP,
    column::CELL,
    column::MACHINE,
    "hardware",
    column::PLUGIN,
    column::DEVICE_ID,
    column::DEVICE_KIND,
    column::MODEL_ID,
    column::FAMILY,
    column::CATEGORY,
    column::ARCHITECTURE_TYPE,
    column::TASK,
    column::PARAMETER_COUNT,
    column::BENCHMARK,
    column::AXES,
    column::BATCH_SIZE,
    column::SEQUENCE_LENGTH,
    column::PRECISION,
    column::THREADS,
    column::TRUST,
    column::STABLE,
    column::LATENCY_MEDIAN_MS,
    column::LATENCY_CI95_LOW_MS,
    column::LATENCY_CI95_HIGH_MS,
    column::THROUGHPUT_SAMPLES_PER_SEC,
    column::SHARE_OF_PEAK_FLOPS,
    column::PEAK_MEMORY_MB,
    column::ENERGY_J_PER_ITEM,
];

/// Every measured cell beside that of the CPU: `speedup` above 1 is faster than the CPU.
///
/// The CPU's cell has no options set and ran alone; it is measured hardware of the same machine, model, benchmark, axes and precision; of the same run if there is one,
/// otherwise the newest. A backend that runs on the CPU itself, where both say how many threads they had, is held against as many;
/// any other device against the CPU's cell with the most. Null where there is none.
///
/// `speedup` is the CPU's median latency over the cell's (`by` says `latency`), with `speedup_low` and `speedup_high` from the
/// ends of both intervals; where a benchmark has no latency it is the cell's throughput over the CPU's (`throughput`).
/// Emulated and unverified cells have a ratio too: `trust` keeps them apart.
///
/// # Errors
/// Polars' own.
pub fn relative_to_cpu(cells: DataFrame) -> PolarsResult<DataFrame> {
    relative(cells)?.collect()
}

pub(super) fn relative(cells: DataFrame) -> PolarsResult<LazyFrame> {
    let rows =
        now(cells.clone())?.filter(col(column::TRUST).is_not_null()).select(columns(TOLD)).with_row_index("row", None);
    let chosen = rows
        .clone()
        .select(columns(["row", column::RUN, column::DEVICE_KIND, column::THREADS].into_iter().chain(SAME)))
        .join(baseline(cells)?, columns(SAME), columns(SAME), in_order(JoinType::Inner))
        .filter(col(column::RUN).eq(col("cpu_run")).or(col("cpu_newest")))
        .filter(
            col(column::DEVICE_KIND)
                .eq(lit("cpu"))
                .fill_null(lit(false))
                .not()
                .or(col(column::THREADS).eq(col("cpu_threads")).fill_null(lit(true))),
        )
        .with_column(col(column::RUN).eq(col("cpu_run")).alias("same_run"))
        .sort(
            ["same_run", "cpu_timestamp", "cpu_threads", "cpu_hardware"],
            SortMultipleOptions::default()
                .with_order_descending_multi([true, true, true, false])
                .with_maintain_order(true),
        )
        .unique_stable_generic(Some(columns(["row"])), UniqueKeepStrategy::First)
        .select(columns([
            "row",
            "cpu_run",
            "cpu_hardware",
            "cpu_threads",
            "cpu_ms",
            "cpu_low_ms",
            "cpu_high_ms",
            "cpu_per_sec",
        ]));
    let by_latency = ratio(col("cpu_ms"), col(column::LATENCY_MEDIAN_MS));
    let by_throughput = ratio(col(column::THROUGHPUT_SAMPLES_PER_SEC), col("cpu_per_sec"));
    let by = when(by_latency.clone().is_not_null())
        .then(lit("latency"))
        .when(by_throughput.clone().is_not_null())
        .then(lit("throughput"))
        .otherwise(lit(NULL));
    // A cell is not held within an interval against itself.
    let other = col(column::RUN).neq(col("cpu_run")).or(col("hardware").neq(col("cpu_hardware")));
    let end = |of: Expr, over: Expr| when(other.clone()).then(ratio(of, over)).otherwise(lit(NULL));
    Ok(rows
        .join(chosen, columns(["row"]), columns(["row"]), in_order(JoinType::Left))
        .sort(["row"], SortMultipleOptions::default())
        .with_columns([
            coalesce(&[by_latency, by_throughput]).alias("speedup"),
            end(col("cpu_low_ms"), col(column::LATENCY_CI95_HIGH_MS)).alias("speedup_low"),
            end(col("cpu_high_ms"), col(column::LATENCY_CI95_LOW_MS)).alias("speedup_high"),
            by.cast(DataType::String).alias("by"),
        ])
        .drop(cols(["row"])))
}

/// As everybody gets it: no option is set, and nothing ran at the same time.
fn is_plain() -> Expr {
    col(column::OPTIONS).is_null().and(col(column::BESIDE).is_null())
}

/// Every measured cell of the CPU, with whether it is the newest of its kind.
fn baseline(cells: DataFrame) -> PolarsResult<LazyFrame> {
    let kind = columns(SAME.into_iter().chain([column::THREADS, "hardware"]));
    let moment = coalesce(&[col(column::TIMESTAMP).cast(DataType::Int64), lit(i64::MIN)]);
    let newest = moment.clone().eq(moment.max().over(kind)?);
    Ok(placed(cells)?.filter(col(column::PLUGIN).eq(lit(BASELINE)).and(is_plain()).and(comparable())).select(
        columns(SAME)
            .into_iter()
            .chain([
                col(column::RUN).alias("cpu_run"),
                col(column::TIMESTAMP).alias("cpu_timestamp"),
                col("hardware").alias("cpu_hardware"),
                col(column::THREADS).alias("cpu_threads"),
                col(column::LATENCY_MEDIAN_MS).alias("cpu_ms"),
                col(column::LATENCY_CI95_LOW_MS).alias("cpu_low_ms"),
                col(column::LATENCY_CI95_HIGH_MS).alias("cpu_high_ms"),
                col(column::THROUGHPUT_SAMPLES_PER_SEC).alias("cpu_per_sec"),
                newest.alias("cpu_newest"),
            ])
            .collect::<Vec<_>>(),
    ))
}
