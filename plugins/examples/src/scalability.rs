//! Scalability. One call measures several sizes and returns a figure for each, and what they say together. A function may time
//! parts of itself; the host holds them against the time of the whole.

use crate::numbers::numbers;
use skillbench_plugin_api::sdk::{Better, Metrics};
use std::hint::black_box;
use std::time::{Duration, Instant};

pub const SIZES: [usize; 3] = [100, 1_000, 10_000];

/// As many numbers are sorted of each size: 1,000 lists of 100, 10 of 10,000.
const NUMBERS: usize = 100_000;

/// Sorts lists of 100, 1,000 and 10,000 numbers. `size_N` is the median time of a list; `exponent` is the power of its length by which
/// that time grows: 1 for twice the time of twice the numbers, a little more for a sort.
pub fn run_scalability() -> Metrics {
    let mut metrics = Metrics::new();
    let mut points = vec![];
    for size in SIZES {
        let time = sort(size);
        points.push((size as f64, time.as_secs_f64()));
        metrics = metrics.duration(format!("size_{size}"), time);
    }
    metrics.with("exponent", exponent(&points), "", Better::Lower)
}

/// The median time of sorting a list: what else the machine does in between meets some lists, not most. Making them is not timed.
fn sort(size: usize) -> Duration {
    let all: Vec<u64> = numbers(size as u64).take(NUMBERS).collect();
    let mut lists: Vec<Vec<u64>> = all.chunks_exact(size).map(<[u64]>::to_vec).collect();
    let timed = |list: &mut Vec<u64>| {
        let start = Instant::now();
        list.sort_unstable();
        start.elapsed()
    };
    let mut times: Vec<Duration> = lists.iter_mut().map(timed).collect();
    black_box(lists);
    times.sort();
    times[times.len() / 2]
}

/// The slope of the straight line that fits the logarithms best.
pub fn exponent(points: &[(f64, f64)]) -> f64 {
    let logarithms: Vec<(f64, f64)> = points.iter().map(|(size, time)| (size.ln(), time.ln())).collect();
    let n = logarithms.len() as f64;
    let (mean_x, mean_y) = logarithms.iter().fold((0.0, 0.0), |(x, y), point| (x + point.0 / n, y + point.1 / n));
    let both: f64 = logarithms.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    let square: f64 = logarithms.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
    both / square
}
