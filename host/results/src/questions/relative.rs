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

/// A figure that the CPU's is held against, with the ends of its interval where it has one, and what `by` calls it.
struct Figure {
    by: &'static str,
    value: &'static str,
    interval: [&'static str; 2],
    less_is_better: bool,
}

/// The first that both cells have counts.
const FIGURES: [Figure; 3] = [
    Figure {
        by: "latency",
        value: column::LATENCY_MEDIAN_MS,
        interval: [column::LATENCY_CI95_LOW_MS, column::LATENCY_CI95_HIGH_MS],
        less_is_better: true,
    },
    Figure {
        by: "time per token",
        value: column::TIME_PER_OUTPUT_TOKEN_MS,
        interval: [column::TIME_PER_OUTPUT_TOKEN_CI95_LOW_MS, column::TIME_PER_OUTPUT_TOKEN_CI95_HIGH_MS],
        less_is_better: true,
    },
    Figure {
        by: "throughput",
        value: column::THROUGHPUT_SAMPLES_PER_SEC,
        interval: [column::THROUGHPUT_CI95_LOW_PER_SEC, column::THROUGHPUT_CI95_HIGH_PER_SEC],
        less_is_better: false,
    },
];

impl Figure {
    fn columns(&self) -> [&'static str; 3] {
        [self.value, self.interval[0], self.interval[1]]
    }

    /// A column of the CPU's cell.
    fn of_cpu(column: &str) -> Expr {
        col(Figure::name_of_cpu(column))
    }

    fn name_of_cpu(column: &str) -> String {
        format!("cpu_{column}")
    }

    /// How many times as good as the CPU, and the ends of that.
    fn ratios(&self) -> [Expr; 3] {
        let [low, high] = self.interval;
        let pairs = [(self.value, self.value), (low, high), (high, low)];
        pairs.map(|(one, other)| match self.less_is_better {
            true => ratio(Figure::of_cpu(one), col(other)),
            false => ratio(col(one), Figure::of_cpu(other)),
        })
    }
}

fn all_columns() -> impl Iterator<Item = &'static str> {
    FIGURES.iter().flat_map(Figure::columns)
}

/// What is told of each cell beside the figures.
const TOLD: [&str; 25] = [
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
/// `speedup` is the CPU's median latency over the cell's (`by` says `latency`), of a generation its median time per token over the
/// cell's (`time per token`), and where a benchmark has neither, the cell's throughput over the CPU's (`throughput`). `speedup_low`
/// and `speedup_high` are from the ends of both intervals.
/// Emulated, unverified and remote cells have a ratio too: `trust` keeps them apart.
///
/// # Errors
/// Polars' own.
pub fn relative_to_cpu(cells: DataFrame) -> PolarsResult<DataFrame> {
    relative(cells)?.collect()
}

pub(super) fn relative(cells: DataFrame) -> PolarsResult<LazyFrame> {
    let rows = now(cells.clone())?
        .filter(col(column::TRUST).is_not_null())
        .select(columns(TOLD.into_iter().chain(all_columns())))
        .with_row_index("row", None);
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
        .select(
            columns(["row", "cpu_run", "cpu_hardware", "cpu_threads"])
                .into_iter()
                .chain(all_columns().map(Figure::of_cpu))
                .collect::<Vec<_>>(),
        );
    let by = FIGURES.iter().rev().fold(lit(NULL).cast(DataType::String), |otherwise, figure| {
        let [value, ..] = figure.ratios();
        when(value.is_not_null()).then(lit(figure.by)).otherwise(otherwise)
    });
    // A cell is not held within an interval against itself.
    let other = col(column::RUN).neq(col("cpu_run")).or(col("hardware").neq(col("cpu_hardware")));
    // Ends are those of the figure that counts.
    let of = |place: usize| {
        let counts = |figure: &Figure| col("by").eq(lit(figure.by)).fill_null(lit(false));
        FIGURES.iter().rev().fold(lit(NULL).cast(DataType::Float64), |otherwise, figure| {
            when(counts(figure)).then(figure.ratios()[place].clone()).otherwise(otherwise)
        })
    };
    let end = |place: usize| when(other.clone()).then(of(place)).otherwise(lit(NULL));
    Ok(rows
        .join(chosen, columns(["row"]), columns(["row"]), in_order(JoinType::Left))
        .sort(["row"], SortMultipleOptions::default())
        .with_column(by.alias("by"))
        .with_columns([of(0).alias("speedup"), end(1).alias("speedup_low"), end(2).alias("speedup_high")])
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
                newest.alias("cpu_newest"),
            ])
            .chain(all_columns().map(|column| col(column).alias(Figure::name_of_cpu(column))))
            .collect::<Vec<_>>(),
    ))
}
