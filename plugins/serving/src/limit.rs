//! What `slo` says: how long requests may take.

use skillbench_plugin_api::{Error, Result};

/// So many requests of a hundred, and more exactly, take no longer than so much.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit {
    /// 99 for p99.
    pub percent: f64,
    pub within_ns: u64,
}

impl Limit {
    /// Of "latency.p99<=20ms".
    ///
    /// # Errors
    /// `InvalidArgument`, with what was expected.
    pub fn parse(text: &str) -> Result<Limit> {
        let wrong = |what: &str| {
            Error::invalid(format!("option slo: {what} in '{text}'; expected a limit such as latency.p99<=20ms"))
        };
        let (left, right) = text.split_once("<=").ok_or_else(|| wrong("there is no '<='"))?;
        let percentile = match left.trim().split_once('.') {
            Some(("latency", percentile)) => percentile.strip_prefix('p'),
            _ => None,
        };
        let percentile = percentile.and_then(|digits| digits.parse::<f64>().ok());
        let percent = percentile.filter(|percent| (1.0..=99.9).contains(percent));
        let percent = percent.ok_or_else(|| wrong("the left side is no latency.p1 to latency.p99.9"))?;
        let within_ns = duration(right.trim()).ok_or_else(|| wrong("the right side is no time in s, ms or us"))?;
        Ok(Limit { percent, within_ns })
    }

    /// The share of requests that may take longer.
    pub fn allowed(&self) -> f64 {
        (100.0 - self.percent) / 100.0
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

    #[test]
    fn a_limit_is_a_percentile_of_latency_and_a_time() {
        let limit = |text| Limit::parse(text).unwrap();
        assert_eq!(limit("latency.p99<=20ms"), Limit { percent: 99.0, within_ns: 20_000_000 });
        assert_eq!(limit("latency.p50 <= 1.5 s").within_ns, 1_500_000_000);
        assert_eq!(limit("latency.p99.9<=300us"), Limit { percent: 99.9, within_ns: 300_000 });
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
            "ttft.p99<=1s",
            "latency.p99<=1ms,latency.p50<=1ms",
        ] {
            let told = Limit::parse(text).unwrap_err().message;
            assert!(told.contains("latency.p99<=20ms"), "{told}");
        }
    }
}
