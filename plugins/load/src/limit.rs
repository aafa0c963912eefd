//! What `slo` says: how long requests may take.

use crate::session::Request;
use skillbench_plugin_api::{Error, Result};
use std::time::Duration;

/// What is limited of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// From when it was due to its answer.
    Latency,
    /// From when it was due to its first token.
    FirstToken,
    /// From the first token to the last, by the tokens after the first; a request of one token has none, and keeps every limit.
    PerOutputToken,
}

/// The names of metrics, as MLPerf's rules and vLLM have them.
const METRICS: [(&str, Metric); 3] =
    [("latency", Metric::Latency), ("ttft", Metric::FirstToken), ("tpot", Metric::PerOutputToken)];

/// So many requests of a hundred, and more exactly, take no longer than so much.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit {
    pub metric: Metric,
    /// 99 for p99.
    pub percent: f64,
    pub within_ns: u64,
}

/// Several may stand side by side; no two of them for the same.
const MOST: usize = 6;

impl Limit {
    /// All of "ttft.p99<=200ms,tpot.p99<=30ms".
    ///
    /// # Errors
    /// `InvalidArgument`, with what was expected.
    pub fn all(text: &str) -> Result<Vec<Limit>> {
        let limits: Vec<Limit> = text.split(',').map(Limit::parse).collect::<Result<_>>()?;
        let twice = |(index, limit): (usize, &Limit)| {
            limits[..index].iter().any(|other| (other.metric, other.percent) == (limit.metric, limit.percent))
        };
        if limits.len() > MOST || limits.iter().enumerate().any(twice) {
            let text = format!("option slo: '{text}' has more than {MOST} limits, or two for the same percentile");
            return Err(Error::invalid(text));
        }
        Ok(limits)
    }

    /// Of "latency.p99<=20ms".
    fn parse(text: &str) -> Result<Limit> {
        let wrong = |what: &str| {
            Error::invalid(format!("option slo: {what} in '{text}'; expected a limit such as latency.p99<=20ms"))
        };
        let (left, right) = text.split_once("<=").ok_or_else(|| wrong("there is no '<='"))?;
        let (name, percentile) = left.trim().split_once('.').unwrap_or_default();
        let metric = METRICS.iter().find(|(known, _)| *known == name).map(|(_, metric)| *metric);
        let metric = metric.ok_or_else(|| wrong("the left side is no latency, ttft or tpot, with a percentile,"))?;
        let percentile = percentile.strip_prefix('p').and_then(|digits| digits.parse::<f64>().ok());
        let percent = percentile.filter(|percent| (1.0..=99.9).contains(percent));
        let percent = percent.ok_or_else(|| wrong("the percentile is none of p1 to p99.9"))?;
        let within_ns = duration(right.trim()).ok_or_else(|| wrong("the right side is no time in s, ms or us"))?;
        Ok(Limit { metric, percent, within_ns })
    }

    /// The share of requests that may take longer.
    pub fn allowed(&self) -> f64 {
        (100.0 - self.percent) / 100.0
    }

    /// How long a user may wait for what they see first; nothing of a limit on what comes after.
    pub fn response(&self) -> Duration {
        match self.metric {
            Metric::Latency | Metric::FirstToken => Duration::from_nanos(self.within_ns),
            Metric::PerOutputToken => Duration::ZERO,
        }
    }

    pub fn is_of_tokens(&self) -> bool {
        self.metric != Metric::Latency
    }

    /// Whether a request took no longer. One that was not answered did.
    pub fn holds(&self, request: &Request) -> bool {
        let time = match self.metric {
            Metric::Latency => request.latency(),
            Metric::FirstToken => request.first_token(),
            Metric::PerOutputToken => request.answered().map(|_| request.per_output_token().unwrap_or_default()),
        };
        time.is_some_and(|time| time <= self.within_ns)
    }
}

/// Of "20ms"; at least a nanosecond, at most an hour.
fn duration(text: &str) -> Option<u64> {
    let (number, unit_ns) = [("ms", 1e6), ("us", 1e3), ("µs", 1e3), ("ns", 1.0), ("s", 1e9)]
        .iter()
        .find_map(|(unit, ns)| Some((text.strip_suffix(unit)?.trim(), ns)))?;
    let ns = number.parse::<f64>().ok()? * unit_ns;
    (1.0..=3.6e12).contains(&ns).then_some(ns as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(text: &str) -> Limit {
        Limit::parse(text).unwrap()
    }

    #[test]
    fn a_limit_is_a_percentile_of_a_metric_and_a_time() {
        let first = Limit { metric: Metric::Latency, percent: 99.0, within_ns: 20_000_000 };
        assert_eq!(limit("latency.p99<=20ms"), first);
        assert_eq!(limit(" latency.p50 <= 1.5 s ").within_ns, 1_500_000_000);
        assert_eq!(limit("latency.p99.9<=300us"), Limit { percent: 99.9, within_ns: 300_000, ..first });
        let of_tokens = Limit::all("ttft.p99<=500ms, tpot.p90<=100ms").unwrap();
        let told: Vec<_> = of_tokens.iter().map(|limit| (limit.metric, limit.percent)).collect();
        assert_eq!(told, [(Metric::FirstToken, 99.0), (Metric::PerOutputToken, 90.0)]);
    }

    #[test]
    fn what_is_no_limit_is_refused_with_what_was_expected() {
        for text in [
            "",
            "latency<=20ms",
            "latency.p99<20ms",
            "latency.p99<=20",
            "latency.p0<=1ms",
            "latency.p100<=1ms",
            "latency.p99<=-1ms",
            "latency.p99<=0ms",
            "latency.p99<=infs",
            "itl.p99<=1s",
            "latency.p99<=1ms,",
        ] {
            let told = Limit::all(text).unwrap_err().message;
            assert!(told.contains("latency.p99<=20ms"), "{told}");
        }
        let twice = Limit::all("latency.p99<=1ms,latency.p99<=2ms").unwrap_err().message;
        assert!(twice.contains("two for the same percentile"), "{twice}");
    }

    #[test]
    fn a_request_keeps_a_limit_of_what_it_has_and_none_without_an_answer() {
        const MS: u64 = 1_000_000;
        let answered = Request {
            due: MS,
            issued: 2 * MS,
            served: Some([3 * MS, 41 * MS]),
            first: Some(11 * MS),
            tokens: 4,
            refused: false,
        };
        let holds = |text: &str, request: &Request| limit(text).holds(request);
        assert!(holds("ttft.p99<=10ms", &answered) && !holds("ttft.p99<=9.9ms", &answered));
        assert!(holds("tpot.p99<=10ms", &answered) && !holds("tpot.p99<=9.9ms", &answered));
        assert!(holds("latency.p99<=40ms", &answered) && !holds("latency.p99<=39ms", &answered));
        let one_token = Request { tokens: 1, first: Some(41 * MS), ..answered };
        assert!(holds("tpot.p99<=1ns", &one_token));
        for none in [Request { served: None, first: None, ..answered }, Request { refused: true, ..answered }] {
            assert!(["latency", "ttft", "tpot"].iter().all(|name| !holds(&format!("{name}.p50<=1s"), &none)));
        }
    }
}
