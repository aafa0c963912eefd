//! Rounds by turns: one of the sequential series, one of the concurrent one, so that a machine that gets warmer or busier
//! does so for both.

use skillbench_plugin_api::sdk::{Reporter, Series};
use skillbench_plugin_api::{Result, SeriesInfo};
use std::time::Duration;

/// Does all the work of a sample, and says how long it took.
pub type Sample<'a> = &'a mut dyn FnMut() -> Result<Duration>;

/// Measures until both series have enough. `items` is how many inferences or models a sample of either stands for.
pub fn take<'a>(reporter: &Reporter, items: f64, sequential: Sample<'a>, concurrent: Sample<'a>) -> Result<()> {
    let series = |name| reporter.series(&SeriesInfo::duration(name, items));
    let mut open = vec![(series("sequential")?, sequential), (series("concurrent")?, concurrent)];
    while !open.is_empty() {
        let mut still_open = Vec::new();
        for (series, sample) in open {
            if round(reporter, series, sample)? {
                still_open.push((series, sample));
            }
        }
        open = still_open;
    }
    Ok(())
}

/// `false`: the host has enough of this series.
fn round(reporter: &Reporter, series: Series, sample: Sample<'_>) -> Result<bool> {
    let Some(round) = reporter.next_round(series) else { return Ok(false) };
    for _ in 0..round.settle {
        sample()?;
    }
    let values = (0..round.iterations).map(|_| Ok(sample()?.as_nanos() as f64)).collect::<Result<Vec<f64>>>()?;
    reporter.samples(series, &round, &values)?;
    Ok(true)
}
