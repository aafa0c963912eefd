//! What to change, with the evidence for it.
//!
//! Each row is one piece of advice that was measured: what it is now, what it would be, and by which factor. Only measured hardware
//! advises, and none of it is worked out from anything but cells in the data. Thresholds: `data/rules.toml`.

use super::latest::{HARDWARE, comparable, now};
use super::math::{columns, ratio};
use super::rules::rules;
use super::scaling::{Along, scaling};
use polars::prelude::*;
use skillbench_record::catalog::column;

const CELL: [&str; 7] =
    [column::MACHINE, "hardware", column::MODEL_ID, column::FAMILY, column::BENCHMARK, column::AXES, column::PRECISION];

/// All there is, of each kind the most worthwhile first. Columns: the cell it is about, `kind`, `from` and `to` (what would change),
/// `now` and `then` in `unit`, `factor`: how much better `then` is.
///
/// | kind | now, then |
/// |---|---|
/// | `larger-batch` | throughput at the smallest batch and at the best one; where there is a latency, with intervals apart |
/// | `other-hardware` | median latency here and on the best hardware at the same precision, with intervals apart |
/// | `first-inference` | the median, and the first inference, which is that much slower: warm up before the first request |
/// | `warm-cache` | compiling with a cold cache and with a warm one |
/// | `concurrency` | one after the other and at once, where the factor is so small that nothing is gained, or something lost |
/// | `unstable` | half the width of the interval, in percent (null: too few samples for one): the figure needs more time or a quieter machine |
/// | `low-peak-share` | the larger of both shares of the peaks, in percent |
///
/// # Errors
/// Polars' own.
pub fn opportunities(cells: DataFrame) -> PolarsResult<DataFrame> {
    let measured = || -> PolarsResult<LazyFrame> { Ok(now(cells.clone())?.filter(comparable())) };
    let all = [
        larger_batch(cells.clone())?,
        other_hardware(measured()?)?,
        first_inference(measured()?),
        warm_cache(measured()?),
        concurrency(measured()?),
        unstable(measured()?),
        low_peak_share(measured()?),
    ];
    concat(all, UnionArgs::default())?
        .with_row_index("place", None)
        .with_column(col("place").min().over([col("kind")])?)
        .sort(
            ["place", "weight"],
            SortMultipleOptions::default()
                .with_order_descending_multi([false, true])
                .with_nulls_last(true)
                .with_maintain_order(true),
        )
        .drop(cols(["place", "weight"]))
        .collect()
}

struct Advice {
    kind: &'static str,
    from: Expr,
    to: Expr,
    now: Expr,
    then: Expr,
    unit: &'static str,
    factor: Expr,
    /// Where it stands among the others of its kind: the largest first.
    weight: Expr,
}

impl Advice {
    fn of(self, cells: LazyFrame) -> LazyFrame {
        let text = |of: Expr, name: &str| of.cast(DataType::String).alias(name);
        let number = |of: Expr, name: &str| of.cast(DataType::Float64).alias(name);
        let told = [
            text(lit(self.kind), "kind"),
            text(self.from, "from"),
            text(self.to, "to"),
            number(self.now, "now"),
            number(self.then, "then"),
            text(lit(self.unit), "unit"),
            number(self.factor, "factor"),
            number(self.weight, "weight"),
        ];
        cells.select(columns(CELL).into_iter().chain(told).collect::<Vec<_>>())
    }
}

fn nothing() -> Expr {
    lit(NULL)
}

fn larger_batch(cells: DataFrame) -> PolarsResult<LazyFrame> {
    let line = [
        column::MACHINE,
        "hardware",
        column::MODEL_ID,
        column::FAMILY,
        column::BENCHMARK,
        "other_axes",
        column::PRECISION,
        column::THREADS,
    ];
    let order = [column::THROUGHPUT_SAMPLES_PER_SEC];
    let at_most = |column: &str| col(column).sort_by(order, SortMultipleOptions::default()).last();
    let per_sec = || col(column::THROUGHPUT_SAMPLES_PER_SEC);
    let names = rules().opportunities.batch_is_no_work.iter();
    let batch_is_work =
        names.map(|name| col(column::BENCHMARK).neq(lit(name.clone()))).reduce(Expr::and).unwrap_or(lit(true));
    // The time of one item, from the ends of the intervals.
    let apart = ratio(col("high"), col("best")).lt(ratio(col("low"), col("smallest"))).fill_null(lit(false));
    let lines = scaling(cells, Along::Batch)?
        .lazy()
        .filter(col(column::TRUST).eq(lit(HARDWARE)).and(per_sec().is_not_null()).and(batch_is_work))
        .group_by_stable(columns(line))
        .agg([
            col(column::AXES).first(),
            col("point").first().alias("smallest"),
            at_most("point").alias("best"),
            per_sec().first().alias("slow"),
            per_sec().max().alias("fast"),
            col(column::LATENCY_MEDIAN_MS).count().alias("latencies"),
            col(column::LATENCY_CI95_LOW_MS).first().alias("low"),
            at_most(column::LATENCY_CI95_HIGH_MS).alias("high"),
        ])
        .with_column(ratio(col("fast"), col("slow")).alias("gained"))
        .filter(col("best").gt(col("smallest")).and(col("gained").gt_eq(lit(rules().opportunities.larger_batch))))
        .filter(col("latencies").eq(lit(0)).or(apart));
    let batch = |point: &str| concat_str([lit("batch"), col(point)], "=", true);
    let advice = Advice {
        kind: "larger-batch",
        from: batch("smallest"),
        to: batch("best"),
        now: col("slow"),
        then: col("fast"),
        unit: "1/s",
        factor: col("gained"),
        weight: col("gained"),
    };
    Ok(advice.of(lines))
}

fn other_hardware(cells: LazyFrame) -> PolarsResult<LazyFrame> {
    let workload = || columns([column::MACHINE, column::MODEL_ID, column::BENCHMARK, column::AXES, column::PRECISION]);
    let best = |column: &str| col(column).first().over(workload());
    let slower = cells
        .filter(col(column::LATENCY_MEDIAN_MS).is_not_null())
        .sort([column::LATENCY_MEDIAN_MS], SortMultipleOptions::default().with_maintain_order(true))
        .with_columns([
            best("hardware")?.alias("best"),
            best(column::LATENCY_MEDIAN_MS)?.alias("best_ms"),
            best(column::LATENCY_CI95_HIGH_MS)?.alias("best_high_ms"),
        ])
        .with_column(ratio(col(column::LATENCY_MEDIAN_MS), col("best_ms")).alias("gained"))
        .filter(col("hardware").neq(col("best")).and(col("gained").gt_eq(lit(rules().opportunities.other_hardware))))
        .filter(col("best_high_ms").lt(col(column::LATENCY_CI95_LOW_MS)));
    let advice = Advice {
        kind: "other-hardware",
        from: col("hardware"),
        to: col("best"),
        now: col(column::LATENCY_MEDIAN_MS),
        then: col("best_ms"),
        unit: "ms",
        factor: col("gained"),
        weight: col("gained"),
    };
    Ok(advice.of(slower))
}

fn first_inference(cells: LazyFrame) -> LazyFrame {
    let factor = || ratio(col(column::FIRST_INFERENCE_MS), col(column::LATENCY_MEDIAN_MS));
    let advice = Advice {
        kind: "first-inference",
        from: nothing(),
        to: nothing(),
        now: col(column::FIRST_INFERENCE_MS),
        then: col(column::LATENCY_MEDIAN_MS),
        unit: "ms",
        factor: factor(),
        weight: factor(),
    };
    advice.of(cells.filter(factor().gt_eq(lit(rules().opportunities.first_inference))))
}

fn warm_cache(cells: LazyFrame) -> LazyFrame {
    let factor = || ratio(col(column::COMPILE_COLD_MS), col(column::COMPILE_WARM_MS));
    let advice = Advice {
        kind: "warm-cache",
        from: lit("cold"),
        to: lit("warm"),
        now: col(column::COMPILE_COLD_MS),
        then: col(column::COMPILE_WARM_MS),
        unit: "ms",
        factor: factor(),
        weight: factor(),
    };
    advice.of(cells.filter(factor().gt_eq(lit(rules().opportunities.warm_cache))))
}

fn concurrency(cells: LazyFrame) -> LazyFrame {
    let factor = || col(column::SPEEDUP_OVER_SEQUENTIAL);
    let advice = Advice {
        kind: "concurrency",
        from: lit("one after the other"),
        to: concat_str([col(column::CONCURRENT_WORKERS), lit("at once")], " ", true),
        now: col(column::SEQUENTIAL_PER_SEC),
        then: col(column::CONCURRENT_PER_SEC),
        unit: "1/s",
        factor: factor(),
        weight: -factor(),
    };
    advice.of(cells.filter(factor().lt(lit(rules().opportunities.concurrency))))
}

fn unstable(cells: LazyFrame) -> LazyFrame {
    let width = || {
        let half = (col(column::LATENCY_CI95_HIGH_MS) - col(column::LATENCY_CI95_LOW_MS)) / lit(2.0);
        ratio(half * lit(100.0), col(column::LATENCY_MEDIAN_MS))
    };
    let advice = Advice {
        kind: "unstable",
        from: nothing(),
        to: nothing(),
        now: width(),
        then: nothing(),
        unit: "%",
        factor: nothing(),
        // Those without an interval are the least certain.
        weight: width().fill_null(lit(f64::MAX)),
    };
    advice.of(cells.filter(col(column::STABLE).not().and(col(column::LATENCY_MEDIAN_MS).is_not_null())))
}

fn low_peak_share(cells: LazyFrame) -> LazyFrame {
    let arithmetic = || col(column::SHARE_OF_PEAK_FLOPS);
    let memory = || col(column::SHARE_OF_PEAK_BANDWIDTH);
    let larger = || when(arithmetic().gt_eq(memory())).then(arithmetic()).otherwise(memory());
    let advice = Advice {
        kind: "low-peak-share",
        from: nothing(),
        to: nothing(),
        now: larger() * lit(100.0),
        then: nothing(),
        unit: "%",
        factor: nothing(),
        weight: -larger(),
    };
    let known = arithmetic().is_not_null().and(memory().is_not_null());
    advice.of(cells.filter(known.and(larger().lt(lit(rules().opportunities.low_peak_share)))))
}
