//! Ten million samples of 800 series to grouped percentiles. Run by a person: `cargo bench --workspace --bench samples`.

use polars::prelude::*;
use skillbench_results::questions;
use std::time::Instant;

const CELLS: usize = 400;
const SERIES: [&str; 2] = ["latency", "concurrent"];
const SAMPLES: usize = 10_000_000;

/// Samples in the order in which files have them: cell by cell, series by series.
fn samples() -> PolarsResult<DataFrame> {
    let each = SAMPLES / CELLS / SERIES.len();
    let place = |index: usize| (index / each / SERIES.len(), SERIES[index / each % SERIES.len()]);
    let mut state = 42u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let columns = vec![
        Column::new("run".into(), vec!["20260131-120000-00001"; SAMPLES]),
        Column::new("cell".into(), (0..SAMPLES).map(|index| place(index).0 as i64).collect::<Vec<_>>()),
        Column::new("series".into(), (0..SAMPLES).map(|index| place(index).1).collect::<Vec<_>>()),
        Column::new("unit".into(), vec!["ms"; SAMPLES]),
        Column::new("round".into(), (0..SAMPLES).map(|index| (index % each / 25) as i64).collect::<Vec<_>>()),
        Column::new("value".into(), (0..SAMPLES).map(|_| 1.0 - random().ln()).collect::<Vec<_>>()),
    ];
    DataFrame::new(SAMPLES, columns)
}

fn main() -> PolarsResult<()> {
    let samples = samples()?;
    for _ in 0..3 {
        let started = Instant::now();
        let found = questions::quantiles(samples.clone())?;
        eprintln!(
            "{} samples of {} series to percentiles: {:.2} s",
            SAMPLES,
            found.height(),
            started.elapsed().as_secs_f64()
        );
    }
    let interleaved =
        samples.clone().lazy().sort(["round"], SortMultipleOptions::default().with_maintain_order(true)).collect()?;
    let started = Instant::now();
    let found = questions::quantiles(interleaved)?;
    eprintln!("the same, round by round, of {} series: {:.2} s", found.height(), started.elapsed().as_secs_f64());
    let started = Instant::now();
    let found = questions::histogram(samples)?;
    eprintln!("the same to {} bins: {:.2} s", found.height(), started.elapsed().as_secs_f64());
    Ok(())
}
