//! The series of the benchmark: what is told of requests, and of the trials of a search.

use crate::limit::Limit;
use crate::search::Trial;
use crate::session::{self, Served};
use skillbench_plugin_api::sdk::{Reporter, Series};
use skillbench_plugin_api::{Result, SeriesInfo, SeriesKind};

/// No series is given more figures of one session: of longer ones, one of several.
pub const MOST: usize = 100_000;

pub fn figure(name: &str, unit: &str, kind: SeriesKind, higher_is_better: Option<bool>) -> SeriesInfo {
    SeriesInfo { name: name.into(), unit: unit.into(), kind, higher_is_better, concurrent: true, items_per_sample: 1.0 }
}

/// Times of requests, which overlap.
fn times(name: &str, items: f64) -> SeriesInfo {
    SeriesInfo { concurrent: true, ..SeriesInfo::duration(name, items) }
}

/// Of requests, and of the sessions that they were in.
pub struct OfRequests {
    service: Series,
    requests: Series,
    batch: Series,
    utilization: Series,
    /// Of requests that arrive: where all are there at once, a latency says how many there were.
    arriving: Option<Arriving>,
}

struct Arriving {
    latency: Series,
    lateness: Series,
    queue: Series,
    rate: Series,
    within: Option<Within>,
}

/// Where there is a limit.
struct Within {
    share: Series,
    refused: Series,
    limit: Limit,
}

impl OfRequests {
    /// `arrive`: whether requests come one by one.
    pub fn announce(reporter: &Reporter, items: f64, arrive: bool, limit: Option<Limit>) -> Result<OfRequests> {
        let time = |name| reporter.series(&times(name, items));
        let plain = |name, unit, kind| reporter.series(&figure(name, unit, kind, None));
        let within = |limit| {
            Ok(Within {
                share: reporter.series(&figure("within_slo", "", SeriesKind::Ratio, Some(true)))?,
                refused: reporter.series(&figure("refused", "requests", SeriesKind::Count, Some(false)))?,
                limit,
            })
        };
        let arriving = || {
            Ok(Arriving {
                latency: time("latency")?,
                lateness: time("lateness")?,
                queue: time("queue")?,
                rate: plain("issued_per_s", "requests/s", SeriesKind::Rate)?,
                within: limit.map(within).transpose()?,
            })
        };
        Ok(OfRequests {
            service: time("service")?,
            requests: plain("requests", "requests", SeriesKind::Count)?,
            batch: plain("requests_per_run", "requests", SeriesKind::Count)?,
            utilization: plain("utilization", "", SeriesKind::Ratio)?,
            arriving: arrive.then(arriving).transpose()?,
        })
    }

    pub fn hand_over(&self, reporter: &Reporter, served: &Served, workers: usize) -> Result<()> {
        let all = served.requests.len();
        let times = |of: &dyn Fn(&session::Request, [u64; 2]) -> u64| -> Vec<f64> {
            let step = all.div_ceil(MOST).max(1);
            let each = served.requests.iter().step_by(step).filter_map(|request| Some((request, request.answered()?)));
            // The clock shows nothing shorter than its own step.
            each.map(|(request, served)| of(request, served).max(1) as f64).collect()
        };
        reporter.figures(self.service, &times(&|_, [from, end]| end.saturating_sub(from)))?;
        reporter.single(self.requests, all as f64)?;
        reporter.single(self.batch, served.requests_per_run())?;
        reporter.single(self.utilization, served.utilization(workers))?;
        let (Some(of), Some(last)) = (&self.arriving, served.requests.last()) else { return Ok(()) };
        reporter.figures(of.latency, &times(&|request, [_, end]| end.saturating_sub(request.due)))?;
        let step = all.div_ceil(MOST).max(1);
        let each = served.requests.iter().step_by(step);
        let late: Vec<f64> = each.clone().map(|request| request.lateness().max(1) as f64).collect();
        reporter.figures(of.lateness, &late)?;
        let waited = each.filter_map(|request| Some(request.served?[0].saturating_sub(request.issued).max(1) as f64));
        reporter.figures(of.queue, &waited.collect::<Vec<f64>>())?;
        reporter.single(of.rate, all as f64 / (last.issued.max(1) as f64 * 1e-9))?;
        match &of.within {
            None => Ok(()),
            Some(Within { share, refused, limit }) => {
                reporter.single(*refused, served.refused() as f64)?;
                reporter.single(*share, (all - served.over(limit.within_ns)) as f64 / all.max(1) as f64)
            }
        }
    }
}

/// Of the trials of a search, one figure of each.
pub struct OfTrials {
    per_s: Series,
    requests: Series,
    over: Series,
    refused: Series,
    given_up: Series,
    /// How many were void, and played again.
    void: Series,
    utilization: Series,
    batch: Series,
    lateness: Series,
    /// How many there will be.
    trials: usize,
}

impl OfTrials {
    pub fn announce(reporter: &Reporter, limit: Limit, trials: u32) -> Result<OfTrials> {
        let plain = |name, unit, kind| reporter.series(&figure(name, unit, kind, None));
        reporter.single(plain("trial.allowed", "", SeriesKind::Ratio)?, limit.allowed())?;
        Ok(OfTrials {
            per_s: plain("trial.per_s", "requests/s", SeriesKind::Rate)?,
            requests: plain("trial.requests", "requests", SeriesKind::Count)?,
            over: plain("trial.over", "requests", SeriesKind::Count)?,
            refused: plain("trial.refused", "requests", SeriesKind::Count)?,
            given_up: plain("trial.given_up", "yes", SeriesKind::Count)?,
            void: plain("trial.void", "trials", SeriesKind::Count)?,
            utilization: plain("trial.utilization", "", SeriesKind::Ratio)?,
            batch: plain("trial.requests_per_run", "requests", SeriesKind::Count)?,
            lateness: reporter.series(&times("lateness", 1.0))?,
            trials: trials as usize,
        })
    }

    /// How many trials were void in all.
    pub fn hand_over_void(&self, reporter: &Reporter, void: u32) -> Result<()> {
        reporter.single(self.void, f64::from(void))
    }

    pub fn hand_over(&self, reporter: &Reporter, trial: &Trial, served: &Served, workers: usize) -> Result<()> {
        reporter.single(self.per_s, trial.per_s)?;
        reporter.single(self.requests, trial.requests as f64)?;
        reporter.single(self.over, trial.over as f64)?;
        reporter.single(self.refused, served.refused() as f64)?;
        reporter.single(self.given_up, f64::from(u8::from(trial.given_up)))?;
        reporter.single(self.utilization, served.utilization(workers))?;
        reporter.single(self.batch, served.requests_per_run())?;
        let step = (served.requests.len() * self.trials).div_ceil(MOST).max(1);
        let late = served.requests.iter().step_by(step).map(|request| request.lateness().max(1) as f64);
        reporter.figures(self.lateness, &late.collect::<Vec<f64>>())
    }
}
