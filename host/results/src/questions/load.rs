//! How hardware bears load: what became of requests at each rate, and the largest rate that keeps a limit.

use super::latest::now;
use super::math::columns;
use super::scaling::{Along, KEY, lines};
use polars::prelude::*;
use skillbench_record::catalog::column;

/// Measured cells of requests that arrived at a rate, in the order of it: `point` is the rate at which they were issued, `other_axes` those
/// without it. Where the target refused requests there is no latency, and `error_rate` says how many it refused.
///
/// # Errors
/// Polars' own.
pub fn latency_by_load(cells: DataFrame) -> PolarsResult<DataFrame> {
    let figures = [
        column::LATENCY_MEDIAN_MS,
        column::LATENCY_99P_MS,
        column::QUEUE_MEDIAN_MS,
        column::SERVICE_MEDIAN_MS,
        column::REQUESTS_PER_RUN,
        column::UTILIZATION,
        column::WITHIN_SLO,
        column::ERROR_RATE,
        column::GOODPUT_PER_SEC,
        column::ENERGY_J_PER_ITEM,
    ];
    lines(cells, Along::Load)?
        .filter(col(column::LATENCY_MEDIAN_MS).is_not_null().or(col(column::ERROR_RATE).gt(lit(0.0))))
        .select(columns(KEY.into_iter().chain([column::OPTIONS, column::AXES, "point", column::STABLE]).chain(figures)))
        .collect()
}

/// Measured cells with the largest rate of requests that keeps their limit, and its interval; `options` has the limit.
///
/// # Errors
/// Polars' own.
pub fn capacities(cells: DataFrame) -> PolarsResult<DataFrame> {
    let key = KEY.into_iter().filter(|name| *name != "other_axes");
    let figures = [column::CAPACITY_PER_SEC, column::CAPACITY_CI95_LOW_PER_SEC, column::CAPACITY_CI95_HIGH_PER_SEC];
    now(cells)?
        .filter(col(column::TRUST).is_not_null().and(col(column::CAPACITY_PER_SEC).is_not_null()))
        .select(columns(key.chain([column::PLUGIN, column::OPTIONS, column::AXES, column::STABLE]).chain(figures)))
        .collect()
}
