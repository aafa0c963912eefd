//! How samples are distributed. The frame of samples is that of [`crate::frames::samples`].

use super::math::{columns, ratio};
use super::standing::placed;
use polars::prelude::*;
use skillbench_engine::stats::percentile;

const SERIES: [&str; 3] = ["run", "cell", "series"];

/// What is told of a series, in this order.
const FIGURES: [&str; 9] = ["n", "min", "q1", "median", "q3", "p90", "p95", "p99", "max"];

/// The bins of a histogram, at least and at most.
const BINS: (f64, f64) = (8.0, 60.0);

/// Of each series of each cell: `n`, `min`, `q1`, `median`, `q3`, `p90`, `p95`, `p99`, `max`, in the series' `unit`.
///
/// Percentiles go by the rule of the cells' figures: one is null where the samples do not suffice for it. Quartiles are between
/// samples, as the median is. Values that are no numbers count nowhere.
///
/// # Errors
/// Polars' own.
pub fn quantiles(samples: DataFrame) -> PolarsResult<DataFrame> {
    let figure = |(at, name): (usize, &&'static str)| col("value").list().get(lit(at as i64), true).alias(*name);
    let mut told = columns(SERIES.into_iter().chain(["unit"]));
    told.extend(FIGURES.iter().enumerate().map(figure));
    samples
        .lazy()
        .group_by_stable(columns(SERIES))
        .agg([
            col("unit").first(),
            col("value").apply_with_fmt_str(
                |values| Ok(Column::new(values.name().clone(), figures(&values)?)),
                |_, field| Ok(Field::new(field.name().clone(), DataType::Float64)),
                "figures",
            ),
        ])
        .select(told)
        .with_column(col("n").cast(DataType::Int64))
        .collect()
}

/// [`FIGURES`] of the values.
fn figures(values: &Column) -> PolarsResult<[Option<f64>; 9]> {
    let mut values: Vec<f64> = values.f64()?.iter().flatten().filter(|value| value.is_finite()).collect();
    values.sort_unstable_by(f64::total_cmp);
    let n = values.len();
    let between = |share: f64| {
        let place = share * n.checked_sub(1)? as f64;
        let (low, high) = (values[place.floor() as usize], values[place.ceil() as usize]);
        Some(low + (high - low) * place.fract())
    };
    let at = |p: f64| percentile(&values, p);
    Ok([
        Some(n as f64),
        values.first().copied(),
        between(0.25),
        between(0.5),
        between(0.75),
        at(0.9),
        at(0.95),
        at(0.99),
        values.last().copied(),
    ])
}

/// Of each series the bins of a histogram: `bin`, `low`, `high`, `count`, and how many samples are beyond them all, `beyond`.
///
/// Bins are equally wide, by the rule of Freedman and Diaconis, between the quartiles and three times their distance: a few slow
/// samples would otherwise press all others into one bin. Empty bins are left out.
///
/// # Errors
/// Polars' own.
pub fn histogram(samples: DataFrame) -> PolarsResult<DataFrame> {
    let reach = || lit(3.0) * (col("q3") - col("q1"));
    let width = lit(2.0) * (col("q3") - col("q1")) / col("n").cast(DataType::Float64).pow(lit(1.0 / 3.0));
    let count = ratio(col("to") - col("from"), width).fill_null(lit(BINS.0));
    let bounds = quantiles(samples.clone())?
        .lazy()
        .filter(col("n").gt(lit(0i64)))
        .with_columns([
            larger(col("min"), col("q1") - reach()).alias("from"),
            smaller(col("max"), col("q3") + reach()).alias("to"),
        ])
        .with_column(smaller(larger(count, lit(BINS.0)), lit(BINS.1)).cast(DataType::Int64).alias("bins"))
        .select(columns(SERIES.into_iter().chain(["unit", "n", "from", "to", "bins"])));
    let width = (col("to") - col("from")) / col("bins").cast(DataType::Float64);
    let place = ratio(col("value") - col("from"), col("width")).fill_null(lit(0.0)).cast(DataType::Int64);
    // The highest value is in the last bin.
    let bin = when(place.clone().gt_eq(col("bins"))).then(col("bins") - lit(1i64)).otherwise(place);
    let edge = |of: Expr| col("from") + of.cast(DataType::Float64) * col("width");
    samples
        .lazy()
        .select(columns(SERIES.into_iter().chain(["value"])))
        .join(
            bounds,
            columns(SERIES),
            columns(SERIES),
            JoinArgs { nulls_equal: true, ..JoinArgs::new(JoinType::Inner) },
        )
        .filter(col("value").gt_eq(col("from")).and(col("value").lt_eq(col("to"))))
        .with_column(width.alias("width"))
        .with_column(bin.alias("bin"))
        .group_by(columns(SERIES.into_iter().chain(["unit", "n", "from", "width", "bin"])))
        .agg([len().cast(DataType::Int64).alias("count")])
        .with_columns([
            edge(col("bin")).alias("low"),
            edge(col("bin") + lit(1i64)).alias("high"),
            (col("n") - col("count").sum().over(columns(SERIES))?).alias("beyond"),
        ])
        .sort(SERIES.into_iter().chain(["bin"]).collect::<Vec<_>>(), SortMultipleOptions::default())
        .select(columns(SERIES.into_iter().chain(["unit", "bin", "low", "high", "count", "n", "beyond"])))
        .collect()
}

fn larger(one: Expr, other: Expr) -> Expr {
    when(one.clone().gt(other.clone())).then(one).otherwise(other)
}

fn smaller(one: Expr, other: Expr) -> Expr {
    when(one.clone().lt(other.clone())).then(one).otherwise(other)
}

/// What the cells of a frame of [`quantiles`] or [`histogram`] are: their key and standing, beside it. Samples of cells that are not
/// measured, or not in the data, are left out.
///
/// # Errors
/// Polars' own.
pub fn of_cells(samples: DataFrame, cells: DataFrame) -> PolarsResult<DataFrame> {
    let told = [
        "run",
        "cell",
        "machine",
        "hardware",
        "model_id",
        "family",
        "architecture_type",
        "benchmark",
        "axes",
        "precision",
        "standing",
    ];
    let known = placed(cells)?.filter(col("standing").is_not_null()).select(columns(told));
    let key = || columns(["run", "cell"]);
    samples.lazy().join(known, key(), key(), JoinArgs::new(JoinType::Inner)).collect()
}
