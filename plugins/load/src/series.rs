//! The series of the benchmark: what is told of requests, and of the trials of a search.

use crate::limit::Limit;
use crate::options::{Asked, Load, Of};
use crate::search::Trial;
use crate::session::{Request, Served};
use skillbench_plugin_api::sdk::{Reporter, Series};
use skillbench_plugin_api::{Result, SeriesInfo, SeriesKind};
use std::cell::Cell;

/// No series is given more figures of one session: of longer ones, one of several.
pub const MOST: usize = 100_000;
/// After so many sessions half as many, and so on: the host keeps no more than twice what these have.
const HALVED_AFTER: usize = 5;

/// How many figures of a session are handed over, by how many sessions there were before.
fn most(sessions: usize) -> usize {
    MOST.checked_shr((sessions / HALVED_AFTER) as u32).unwrap_or_default()
}

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
    generator: Series,
    /// How many were handed over.
    sessions: Cell<usize>,
    of_tokens: Option<OfTokens>,
    /// Of requests that arrive: where all are there at once, a latency says how many there were.
    arriving: Option<Arriving>,
}

/// Times of tokens, each by the formulas of those who count so (docs/serving.md).
struct OfTokens {
    tokens: Series,
    /// Of requests that arrive: of others they would say how many there were.
    arriving: Option<OfArriving>,
    /// Of the tokens after the first.
    tpot: Series,
    itl: Series,
    kept_by_backend: Series,
}

struct OfArriving {
    /// From when a request was due to its first token, and from when it was issued.
    ttft: Series,
    ttft_from_issue: Series,
    /// From when it was issued, by all its tokens.
    tpot_of_all: Series,
}

struct Arriving {
    /// When each was due, as if sessions came one right after the other; how long those that are over took.
    due: Series,
    over: Cell<u64>,
    latency: Series,
    lateness: Series,
    queue: Series,
    rate: Series,
    within: Option<Within>,
}

/// Where there are limits.
struct Within {
    share: Series,
    /// Of each limit, how many requests were over it.
    over: Vec<Series>,
    refused: Series,
}

impl OfRequests {
    /// `of`: what requests ask for.
    pub fn announce(reporter: &Reporter, asked: &Asked, of: Of) -> Result<OfRequests> {
        let time = |name| reporter.series(&times(name, asked.items));
        let plain = |name: &str, unit, kind| reporter.series(&figure(name, unit, kind, None));
        let arrive = asked.load != Load::Offline;
        let over_each = |reporter: &Reporter, limits: &[Limit]| {
            let allowed: Vec<f64> = limits.iter().map(Limit::allowed).collect();
            reporter.figures(plain("slo.allowed", "", SeriesKind::Ratio)?, &allowed)?;
            let over = |limit| plain(&format!("slo.over.{limit}"), "requests", SeriesKind::Count);
            (0..limits.len()).map(over).collect::<Result<Vec<Series>>>()
        };
        let within = || {
            Ok(Within {
                share: reporter.series(&figure("within_slo", "", SeriesKind::Ratio, Some(true)))?,
                over: over_each(reporter, &asked.limits)?,
                refused: reporter.series(&figure("refused", "requests", SeriesKind::Count, Some(false)))?,
            })
        };
        let arriving = || {
            Ok(Arriving {
                due: time("due")?,
                over: Cell::new(0),
                latency: time("latency")?,
                lateness: time("lateness")?,
                queue: time("queue")?,
                rate: plain("issued_per_s", "requests/s", SeriesKind::Rate)?,
                within: (!asked.limits.is_empty()).then(within).transpose()?,
            })
        };
        let of_arriving = || {
            Ok(OfArriving {
                ttft: time("ttft")?,
                ttft_from_issue: time("ttft.from_issue")?,
                tpot_of_all: time("tpot.of_all")?,
            })
        };
        let of_tokens = || {
            Ok(OfTokens {
                tokens: plain("tokens", "tokens", SeriesKind::Count)?,
                arriving: arrive.then(of_arriving).transpose()?,
                tpot: time("tpot")?,
                itl: time("itl")?,
                kept_by_backend: plain("cache_kept_by_backend", "yes", SeriesKind::Count)?,
            })
        };
        Ok(OfRequests {
            service: time("service")?,
            requests: plain("requests", "requests", SeriesKind::Count)?,
            batch: plain("requests_per_run", "requests", SeriesKind::Count)?,
            utilization: plain("utilization", "", SeriesKind::Ratio)?,
            generator: reporter.series(&times("generator.cpu", 1.0))?,
            sessions: Cell::new(0),
            of_tokens: (of == Of::Tokens).then(of_tokens).transpose()?,
            arriving: arrive.then(arriving).transpose()?,
        })
    }

    /// Whether the backend keeps the cache of sequences; `None`: there is no cache.
    pub fn hand_over_keeper(&self, reporter: &Reporter, by_backend: Option<bool>) -> Result<()> {
        let series = self.of_tokens.as_ref().map(|series| series.kept_by_backend);
        let Some((series, by_backend)) = series.zip(by_backend) else { return Ok(()) };
        reporter.single(series, f64::from(u8::from(by_backend)))
    }

    pub fn hand_over(&self, reporter: &Reporter, served: &Served, workers: usize, limits: &[Limit]) -> Result<()> {
        let all = served.requests.len();
        let most = most(self.sessions.replace(self.sessions.get() + 1));
        let step = |of: usize| of.div_ceil(most.max(1)).max(1);
        let each = served.requests.iter().step_by(step(all)).take(most);
        // The clock shows nothing shorter than its own step.
        let of = |time: &dyn Fn(&Request) -> Option<u64>| -> Vec<f64> {
            each.clone().filter_map(time).map(|time| time.max(1) as f64).collect()
        };
        let service = |request: &Request| request.answered().map(|[from, end]| end.saturating_sub(from));
        reporter.figures(self.service, &of(&service))?;
        reporter.single(self.requests, all as f64)?;
        served.requests_per_run().map_or(Ok(()), |requests| reporter.single(self.batch, requests))?;
        reporter.single(self.utilization, served.utilization(workers))?;
        if let Some(time) = served.generator {
            reporter.single(self.generator, time.as_nanos().max(1) as f64)?;
        }
        if let Some(series) = &self.of_tokens {
            let answered = served.requests.iter().filter(|request| request.answered().is_some());
            reporter.single(series.tokens, answered.map(|request| request.tokens as f64).sum())?;
            reporter.figures(series.tpot, &of(&Request::per_output_token))?;
            let gaps = served.gaps.iter().step_by(step(served.gaps.len())).take(most);
            reporter.figures(series.itl, &gaps.map(|gap| *gap as f64).collect::<Vec<f64>>())?;
            if let Some(series) = &series.arriving {
                reporter.figures(series.ttft, &of(&Request::first_token))?;
                let from_issue =
                    |request: &Request| Some(request.answered().and(request.first)?.saturating_sub(request.issued));
                reporter.figures(series.ttft_from_issue, &of(&from_issue))?;
                let of_all = |request: &Request| {
                    request.answered()?[1].saturating_sub(request.issued).checked_div(request.tokens as u64)
                };
                reporter.figures(series.tpot_of_all, &of(&of_all))?;
            }
        }
        let (Some(series), Some(last)) = (&self.arriving, served.requests.last()) else { return Ok(()) };
        reporter.figures(series.due, &of(&|request| Some(series.over.get() + request.due)))?;
        series.over.set(series.over.get() + served.wall.as_nanos() as u64);
        reporter.figures(series.latency, &of(&Request::latency))?;
        reporter.figures(series.lateness, &of(&|request| Some(request.lateness())))?;
        reporter.figures(series.queue, &of(&|request| Some(request.served?[0].saturating_sub(request.issued))))?;
        reporter.single(series.rate, all as f64 / (last.issued.max(1) as f64 * 1e-9))?;
        let Some(Within { share, over, refused }) = &series.within else { return Ok(()) };
        for (series, limit) in over.iter().zip(limits) {
            reporter.single(*series, served.over(limit) as f64)?;
        }
        reporter.single(*refused, served.refused() as f64)?;
        reporter.single(*share, (all - served.over_any(limits)) as f64 / all.max(1) as f64)
    }
}

/// Of the trials of a search, one figure of each.
pub struct OfTrials {
    per_s: Series,
    requests: Series,
    over: Series,
    /// Of each limit, where there are several.
    over_each: Vec<Series>,
    refused: Series,
    given_up: Series,
    stay_of_length: Series,
    /// How many were void, and played again.
    void: Series,
    utilization: Series,
    batch: Series,
    lateness: Series,
    /// How many there will be.
    trials: usize,
}

impl OfTrials {
    pub fn announce(reporter: &Reporter, limits: &[Limit], trials: u32) -> Result<OfTrials> {
        let plain = |name: &str, unit, kind| reporter.series(&figure(name, unit, kind, None));
        let allowed: Vec<f64> = limits.iter().map(Limit::allowed).collect();
        reporter.figures(plain("trial.allowed", "", SeriesKind::Ratio)?, &allowed)?;
        let several = if limits.len() > 1 { limits.len() } else { 0 };
        let over = |limit| plain(&format!("trial.over.{limit}"), "requests", SeriesKind::Count);
        Ok(OfTrials {
            per_s: plain("trial.per_s", "requests/s", SeriesKind::Rate)?,
            requests: plain("trial.requests", "requests", SeriesKind::Count)?,
            over: plain("trial.over", "requests", SeriesKind::Count)?,
            over_each: (0..several).map(over).collect::<Result<_>>()?,
            refused: plain("trial.refused", "requests", SeriesKind::Count)?,
            given_up: plain("trial.given_up", "yes", SeriesKind::Count)?,
            stay_of_length: plain("trial.stay_of_length", "", SeriesKind::Ratio)?,
            void: plain("trial.void", "trials", SeriesKind::Count)?,
            utilization: plain("trial.utilization", "", SeriesKind::Ratio)?,
            batch: plain("trial.requests_per_run", "requests", SeriesKind::Count)?,
            lateness: reporter.series(&times("lateness", 1.0))?,
            trials: trials as usize,
        })
    }

    /// How many trials were void in all, and how long requests may stay beside a trial's length.
    pub fn hand_over_all(&self, reporter: &Reporter, void: u32, stay_of_length: f64) -> Result<()> {
        reporter.single(self.stay_of_length, stay_of_length)?;
        reporter.single(self.void, f64::from(void))
    }

    pub fn hand_over(&self, reporter: &Reporter, trial: &Trial, served: &Served, workers: usize) -> Result<()> {
        reporter.single(self.per_s, trial.per_s)?;
        reporter.single(self.requests, trial.requests as f64)?;
        reporter.single(self.over, trial.over_any as f64)?;
        let each = self.over_each.iter().zip(&trial.over);
        each.into_iter().try_for_each(|(series, over)| reporter.single(*series, *over as f64))?;
        reporter.single(self.refused, served.refused() as f64)?;
        reporter.single(self.given_up, f64::from(u8::from(trial.given_up)))?;
        reporter.single(self.utilization, served.utilization(workers))?;
        // Each trial has a figure, so that they stand side by side; 0: it had no run.
        reporter.single(self.batch, served.requests_per_run().unwrap_or_default())?;
        let step = (served.requests.len() * self.trials).div_ceil(MOST).max(1);
        let late = served.requests.iter().step_by(step).map(|request| request.lateness().max(1) as f64);
        reporter.figures(self.lateness, &late.collect::<Vec<f64>>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn however_many_sessions_there_are_the_host_is_given_no_more_figures_than_it_keeps() {
        assert_eq!([0, 4, 5, 10, 1_000_000].map(most), [MOST, MOST, MOST / 2, MOST / 4, 0]);
        assert!((0..1_000_000).map(most).sum::<usize>() < 1_000_000);
    }
}
