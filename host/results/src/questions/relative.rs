//! Cells held against the CPU.

use super::latest::{comparable, now, placed};
use super::math::{columns, ratio};
use polars::prelude::*;

/// The hardware that others are held against.
pub const BASELINE: &str = "cpu";

/// What two cells must have in common to be held against each other. A precision that is not known is in common with none.
const SAME: [&str; 5] = ["machine", "model_id", "benchmark", "axes", "precision"];

const TOLD: [&str; 29] = [
    "run",
    "timestamp",
    "cell",
    "machine",
    "hardware",
    "plugin",
    "device_id",
    "device_kind",
    "model_id",
    "family",
    "category",
    "architecture_type",
    "task",
    "parameter_count",
    "benchmark",
    "axes",
    "batch_size",
    "sequence_length",
    "precision",
    "threads",
    "trust",
    "stable",
    "latency_median_ms",
    "latency_ci95_low_ms",
    "latency_ci95_high_ms",
    "throughput_samples_per_sec",
    "share_of_peak_flops",
    "peak_memory_mb",
    "energy_j_per_item",
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
    let rows = now(cells.clone())?.filter(col("trust").is_not_null()).select(columns(TOLD)).with_row_index("row", None);
    let chosen = rows
        .clone()
        .select(columns(["row", "run", "device_kind", "threads"].into_iter().chain(SAME)))
        .join(baseline(cells)?, columns(SAME), columns(SAME), JoinArgs::new(JoinType::Inner))
        .filter(col("run").eq(col("cpu_run")).or(col("cpu_newest")))
        .filter(
            col("device_kind")
                .eq(lit("cpu"))
                .fill_null(lit(false))
                .not()
                .or(col("threads").eq(col("cpu_threads")).fill_null(lit(true))),
        )
        .with_column(col("run").eq(col("cpu_run")).alias("same_run"))
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
    let by_latency = ratio(col("cpu_ms"), col("latency_median_ms"));
    let by_throughput = ratio(col("throughput_samples_per_sec"), col("cpu_per_sec"));
    let by = when(by_latency.clone().is_not_null())
        .then(lit("latency"))
        .when(by_throughput.clone().is_not_null())
        .then(lit("throughput"))
        .otherwise(lit(NULL));
    // A cell is not held within an interval against itself.
    let other = col("run").neq(col("cpu_run")).or(col("hardware").neq(col("cpu_hardware")));
    let end = |of: Expr, over: Expr| when(other.clone()).then(ratio(of, over)).otherwise(lit(NULL));
    Ok(rows
        .join(chosen, columns(["row"]), columns(["row"]), JoinArgs::new(JoinType::Left))
        .sort(["row"], SortMultipleOptions::default())
        .with_columns([
            coalesce(&[by_latency, by_throughput]).alias("speedup"),
            end(col("cpu_low_ms"), col("latency_ci95_high_ms")).alias("speedup_low"),
            end(col("cpu_high_ms"), col("latency_ci95_low_ms")).alias("speedup_high"),
            by.cast(DataType::String).alias("by"),
        ])
        .drop(cols(["row"])))
}

/// As everybody gets it: no option is set, and nothing ran at the same time.
fn is_plain() -> Expr {
    col("options").is_null().and(col("beside").is_null())
}

/// Every measured cell of the CPU, with whether it is the newest of its kind.
fn baseline(cells: DataFrame) -> PolarsResult<LazyFrame> {
    let kind = columns(SAME.into_iter().chain(["threads", "hardware"]));
    let moment = coalesce(&[col("timestamp").cast(DataType::Int64), lit(i64::MIN)]);
    let newest = moment.clone().eq(moment.max().over(kind)?);
    Ok(placed(cells)?.filter(col("plugin").eq(lit(BASELINE)).and(is_plain()).and(comparable())).select(
        columns(SAME)
            .into_iter()
            .chain([
                col("run").alias("cpu_run"),
                col("timestamp").alias("cpu_timestamp"),
                col("hardware").alias("cpu_hardware"),
                col("threads").alias("cpu_threads"),
                col("latency_median_ms").alias("cpu_ms"),
                col("latency_ci95_low_ms").alias("cpu_low_ms"),
                col("latency_ci95_high_ms").alias("cpu_high_ms"),
                col("throughput_samples_per_sec").alias("cpu_per_sec"),
                newest.alias("cpu_newest"),
            ])
            .collect::<Vec<_>>(),
    ))
}
