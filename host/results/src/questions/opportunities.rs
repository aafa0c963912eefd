//! What to change, with the evidence for it.
//!
//! Each row is one piece of advice that was measured: what it is now, what it would be, and by which factor. Only measured hardware
//! advises, and none of it is worked out from anything but cells in the data. Thresholds: `data/rules.toml`.

use super::latest::{HARDWARE, comparable, now};
use super::math::{columns, ratio};
use super::rules::rules;
use super::scaling::{Along, scaling};
use polars::prelude::*;

const CELL: [&str; 7] = ["machine", "hardware", "model_id", "family", "benchmark", "axes", "precision"];

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
    let line = ["machine", "hardware", "model_id", "family", "benchmark", "other_axes", "precision", "threads"];
    let order = ["throughput_samples_per_sec"];
    let at_most = |column: &str| col(column).sort_by(order, SortMultipleOptions::default()).last();
    let per_sec = || col("throughput_samples_per_sec");
    let names = rules().opportunities.batch_is_no_work.iter();
    let batch_is_work =
        names.map(|name| col("benchmark").neq(lit(name.clone()))).reduce(Expr::and).unwrap_or(lit(true));
    // The time of one item, from the ends of the intervals.
    let apart = ratio(col("high"), col("best")).lt(ratio(col("low"), col("smallest"))).fill_null(lit(false));
    let lines = scaling(cells, Along::Batch)?
        .lazy()
        .filter(col("trust").eq(lit(HARDWARE)).and(per_sec().is_not_null()).and(batch_is_work))
        .group_by_stable(columns(line))
        .agg([
            col("axes").first(),
            col("point").first().alias("smallest"),
            at_most("point").alias("best"),
            per_sec().first().alias("slow"),
            per_sec().max().alias("fast"),
            col("latency_median_ms").count().alias("latencies"),
            col("latency_ci95_low_ms").first().alias("low"),
            at_most("latency_ci95_high_ms").alias("high"),
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
    let workload = || columns(["machine", "model_id", "benchmark", "axes", "precision"]);
    let best = |column: &str| col(column).first().over(workload());
    let slower = cells
        .filter(col("latency_median_ms").is_not_null())
        .sort(["latency_median_ms"], SortMultipleOptions::default().with_maintain_order(true))
        .with_columns([
            best("hardware")?.alias("best"),
            best("latency_median_ms")?.alias("best_ms"),
            best("latency_ci95_high_ms")?.alias("best_high_ms"),
        ])
        .with_column(ratio(col("latency_median_ms"), col("best_ms")).alias("gained"))
        .filter(col("hardware").neq(col("best")).and(col("gained").gt_eq(lit(rules().opportunities.other_hardware))))
        .filter(col("best_high_ms").lt(col("latency_ci95_low_ms")));
    let advice = Advice {
        kind: "other-hardware",
        from: col("hardware"),
        to: col("best"),
        now: col("latency_median_ms"),
        then: col("best_ms"),
        unit: "ms",
        factor: col("gained"),
        weight: col("gained"),
    };
    Ok(advice.of(slower))
}

fn first_inference(cells: LazyFrame) -> LazyFrame {
    let factor = || ratio(col("first_inference_ms"), col("latency_median_ms"));
    let advice = Advice {
        kind: "first-inference",
        from: nothing(),
        to: nothing(),
        now: col("first_inference_ms"),
        then: col("latency_median_ms"),
        unit: "ms",
        factor: factor(),
        weight: factor(),
    };
    advice.of(cells.filter(factor().gt_eq(lit(rules().opportunities.first_inference))))
}

fn warm_cache(cells: LazyFrame) -> LazyFrame {
    let factor = || ratio(col("compile_cold_ms"), col("compile_warm_ms"));
    let advice = Advice {
        kind: "warm-cache",
        from: lit("cold"),
        to: lit("warm"),
        now: col("compile_cold_ms"),
        then: col("compile_warm_ms"),
        unit: "ms",
        factor: factor(),
        weight: factor(),
    };
    advice.of(cells.filter(factor().gt_eq(lit(rules().opportunities.warm_cache))))
}

fn concurrency(cells: LazyFrame) -> LazyFrame {
    let factor = || col("speedup_over_sequential");
    let advice = Advice {
        kind: "concurrency",
        from: lit("one after the other"),
        to: concat_str([col("concurrent_workers"), lit("at once")], " ", true),
        now: col("sequential_per_sec"),
        then: col("concurrent_per_sec"),
        unit: "1/s",
        factor: factor(),
        weight: -factor(),
    };
    advice.of(cells.filter(factor().lt(lit(rules().opportunities.concurrency))))
}

fn unstable(cells: LazyFrame) -> LazyFrame {
    let width = || {
        let half = (col("latency_ci95_high_ms") - col("latency_ci95_low_ms")) / lit(2.0);
        ratio(half * lit(100.0), col("latency_median_ms"))
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
    advice.of(cells.filter(col("stable").not().and(col("latency_median_ms").is_not_null())))
}

fn low_peak_share(cells: LazyFrame) -> LazyFrame {
    let arithmetic = || col("share_of_peak_flops");
    let memory = || col("share_of_peak_bandwidth");
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
