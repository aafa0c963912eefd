//! How samples are distributed. The frame of samples is that of [`crate::frames::samples`].

use super::latest::placed;
use super::math::columns;
use super::math::in_order;
use polars::prelude::*;
use polars::series::IsSorted;
use skillbench_record::catalog::column;
use skillbench_stats::percentile;
use std::cmp::Ordering;

const SERIES: [&str; 3] = [column::RUN, column::CELL, "series"];

/// What is told of a series, in this order.
const FIGURES: [&str; 9] = ["n", "min", "q1", "median", "q3", "p90", "p95", "p99", "max"];

/// The bins of a histogram, at least and at most.
const BINS: (usize, usize) = (8, 60);

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
    each_series(samples, figures)?.lazy().select(told).with_column(col("n").cast(DataType::Int64)).collect()
}

/// Of each series the bins of a histogram: `bin`, `low`, `high`, `count`, and how many of its `n` samples are beyond them all,
/// `beyond`.
///
/// Bins are equally wide, by the rule of Freedman and Diaconis, and reach no further beyond the quartiles than three times their
/// distance: a few slow samples would otherwise press all others into one bin. Empty bins are left out.
///
/// # Errors
/// Polars' own.
pub fn histogram(samples: DataFrame) -> PolarsResult<DataFrame> {
    let all = each_series(samples, bins)?;
    let mut of = vec![];
    let (mut bin, mut low, mut high, mut count, mut n, mut beyond) = (vec![], vec![], vec![], vec![], vec![], vec![]);
    for (series, found) in all.column("value")?.list()?.series_iter().enumerate() {
        let Some(found) = found else { continue };
        let found: Vec<f64> = found.f64()?.iter().flatten().collect();
        let [from, width, samples, counts @ ..] = found.as_slice() else { continue };
        let outside = samples - counts.iter().sum::<f64>();
        for (place, counted) in counts.iter().enumerate().filter(|(_, counted)| **counted > 0.0) {
            of.push(series as IdxSize);
            bin.push(place as i64);
            low.push(from + width * place as f64);
            high.push(from + width * (place + 1) as f64);
            count.push(*counted as i64);
            n.push(*samples as i64);
            beyond.push(outside as i64);
        }
    }
    let mut found = all.select(SERIES.into_iter().chain(["unit"]))?.take(&IdxCa::from_vec("of".into(), of))?;
    found.hstack_mut(&[
        Column::new("bin".into(), bin),
        Column::new("low".into(), low),
        Column::new("high".into(), high),
        Column::new("count".into(), count),
        Column::new("n".into(), n),
        Column::new("beyond".into(), beyond),
    ])?;
    Ok(found)
}

/// What the cells of a frame of [`quantiles`] or [`histogram`] are: their key and standing, beside it. Samples of cells that are not
/// measured, or not in the data, are left out.
///
/// # Errors
/// Polars' own.
pub fn of_cells(samples: DataFrame, cells: DataFrame) -> PolarsResult<DataFrame> {
    let told = [
        column::RUN,
        column::CELL,
        column::MACHINE,
        "hardware",
        column::MODEL_ID,
        column::FAMILY,
        column::ARCHITECTURE_TYPE,
        column::BENCHMARK,
        column::AXES,
        column::OPTIONS,
        column::PRECISION,
        column::TRUST,
    ];
    let known = placed(cells)?.filter(col(column::TRUST).is_not_null()).select(columns(told));
    let key = || columns([column::RUN, column::CELL]);
    samples.lazy().join(known, key(), key(), in_order(JoinType::Inner)).collect()
}

/// One row for each series, in the order in which they begin: its key, its unit and, as the list `value`, what a function makes of its
/// sorted values.
fn each_series(samples: DataFrame, function: fn(&[f64]) -> Vec<Option<f64>>) -> PolarsResult<DataFrame> {
    let of_sorted = move |values: Column| {
        let mut sorted: Vec<f64> = values.f64()?.iter().flatten().filter(|value| value.is_finite()).collect();
        // All of them are numbers, and this is twice as fast as the total order.
        sorted.sort_unstable_by(|one, other| one.partial_cmp(other).unwrap_or(Ordering::Equal));
        Ok(Column::new(values.name().clone(), function(&sorted)))
    };
    let (keys, places) = series(samples.clone())?;
    let value = samples.column("value")?.cast(&DataType::Float64)?;
    let found = DataFrame::new(samples.height(), vec![places, value])?
        .lazy()
        .group_by([col("place")])
        .agg([col("value").apply_with_fmt_str(
            of_sorted,
            |_, field| Ok(Field::new(field.name().clone(), DataType::Float64)),
            "of_sorted",
        )])
        .sort(["place"], SortMultipleOptions::default())
        .select([col("value")])
        .collect()?;
    keys.hstack(found.columns())
}

/// The series there are, and for each sample the place of its own among them.
///
/// Samples of a series stand together, so that the texts of its key are grouped once for each such block and not once for each
/// sample, which takes a tenth of the time.
fn series(samples: DataFrame) -> PolarsResult<(DataFrame, Column)> {
    let before = |name: &str| match name {
        column::CELL => col(name).shift_and_fill(lit(1), lit(-1i64)),
        _ => col(name).shift(lit(1)),
    };
    let begins =
        SERIES.map(|name| col(name).neq_missing(before(name))).into_iter().reduce(Expr::or).unwrap_or(lit(true));
    let begins = samples.clone().lazy().select([begins.alias("begins")]).collect()?;
    let begins = begins.column("begins")?;
    let blocks = samples.select(SERIES.into_iter().chain(["unit"]))?.filter(begins.bool()?)?;
    let keys =
        blocks.clone().lazy().unique_stable_generic(Some(columns(SERIES)), UniqueKeepStrategy::First).collect()?;
    let place = (col("begins").cast(IDX_DTYPE).cum_sum(false) - lit(1)).cast(IDX_DTYPE).alias("place");
    let block = DataFrame::new(samples.height(), vec![begins.clone()])?.lazy().select([place]).collect()?;
    let mut block = block.column("place")?.clone();
    if keys.height() == blocks.height() {
        block.set_sorted_flag(IsSorted::Ascending);
        return Ok((keys, block));
    }
    let args = JoinArgs { nulls_equal: true, maintain_order: MaintainOrderJoin::Left, ..JoinArgs::new(JoinType::Left) };
    let place_of_block = blocks
        .lazy()
        .select(columns(SERIES))
        .join(keys.clone().lazy().with_row_index("place", None), columns(SERIES), columns(SERIES), args)
        .select([col("place")])
        .collect()?;
    let places = place_of_block.column("place")?.take(block.idx()?)?;
    Ok((keys, places))
}

/// [`FIGURES`] of sorted values.
fn figures(sorted: &[f64]) -> Vec<Option<f64>> {
    let at = |p: f64| percentile(sorted, p);
    vec![
        Some(sorted.len() as f64),
        sorted.first().copied(),
        between(sorted, 0.25),
        between(sorted, 0.5),
        between(sorted, 0.75),
        at(0.9),
        at(0.95),
        at(0.99),
        sorted.last().copied(),
    ]
}

/// A quantile of sorted values, by linear interpolation.
pub(super) fn between(sorted: &[f64], share: f64) -> Option<f64> {
    let place = share * sorted.len().checked_sub(1)? as f64;
    let (low, high) = (sorted.get(place.floor() as usize)?, sorted.get(place.ceil() as usize)?);
    Some(low + (high - low) * place.fract())
}

/// The bins of sorted values: where they begin, how wide one is, how many values there are, and how many are in each.
fn bins(sorted: &[f64]) -> Vec<Option<f64>> {
    let (Some(q1), Some(q3)) = (between(sorted, 0.25), between(sorted, 0.75)) else { return vec![] };
    let reach = 3.0 * (q3 - q1);
    let inside: Vec<f64> = sorted.iter().copied().filter(|value| (q1 - reach..=q3 + reach).contains(value)).collect();
    let (Some(from), Some(to)) = (inside.first(), inside.last()) else { return vec![] };
    let wished = 2.0 * (q3 - q1) / (sorted.len() as f64).cbrt();
    let count = if wished > 0.0 { ((to - from) / wished).ceil() as usize } else { 1 }.clamp(BINS.0, BINS.1);
    let width = (to - from) / count as f64;
    let mut counts = vec![0.0; count];
    for value in inside.iter().filter(|value| value.is_finite()) {
        let place = if width > 0.0 { ((value - from) / width) as usize } else { 0 };
        counts[place.min(count - 1)] += 1.0;
    }
    [*from, width, sorted.len() as f64].into_iter().chain(counts).map(Some).collect()
}
