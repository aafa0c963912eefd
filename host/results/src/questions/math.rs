//! What the pipelines need of arithmetic beyond what the lean build of the data frames brings.

use polars::prelude::*;

/// A join whose rows are in the order of its left side, then of its right. Without that they come as the threads end.
pub(crate) fn in_order(how: JoinType) -> JoinArgs {
    JoinArgs { maintain_order: MaintainOrderJoin::LeftRight, ..JoinArgs::new(how) }
}

fn each(of: Expr, function: fn(f64) -> Option<f64>) -> Expr {
    of.cast(DataType::Float64).map(
        move |column| Ok(column.f64()?.apply(|value| value.and_then(function)).into_column()),
        |_, field| Ok(Field::new(field.name().clone(), DataType::Float64)),
    )
}

/// The natural logarithm; of nothing and of what is not above 0, nothing.
pub(super) fn ln(of: Expr) -> Expr {
    each(of, |value| Some(value.ln()).filter(|ln| ln.is_finite()))
}

pub(super) fn exp(of: Expr) -> Expr {
    each(of, |value| Some(value.exp()))
}

pub(super) fn abs(of: Expr) -> Expr {
    each(of, |value| Some(value.abs()))
}

/// The geometric mean of what is there; of nothing, nothing. What is missing counts nowhere: say beside it how much that is.
pub(super) fn geometric_mean(of: Expr) -> Expr {
    exp(ln(of).mean())
}

/// One end of the interval of a geometric mean: that of the same ends of all it is made of, which is wider than chance would have it.
/// Nothing where one of them has no interval.
pub(super) fn end_of_mean(end: Expr, of: Expr) -> Expr {
    when(end.clone().count().eq(of.count())).then(geometric_mean(end)).otherwise(lit(NULL))
}

/// Nothing in place of a quotient by 0 and of one that is no number.
pub(super) fn ratio(of: Expr, over: Expr) -> Expr {
    each(of.cast(DataType::Float64) / over.cast(DataType::Float64), |value| {
        Some(value).filter(|ratio| ratio.is_finite())
    })
}

pub(super) fn columns<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<Expr> {
    names.into_iter().map(col).collect()
}
