//! `host trend`: which histories, and what becomes of what is found.

use super::{AlertArgs, Stored};
use clap::Args;
use skillbench_record::time::moment;
use skillbench_record::time::now_utc;
use std::path::PathBuf;

#[derive(Args)]
pub struct TrendArgs {
    #[command(flatten)]
    pub stored: Stored,
    /// Only these models
    #[arg(long, aliases = ["models", "model-id"], value_delimiter = ',', num_args = 1.., value_name = "MODEL")]
    pub model: Vec<String>,
    /// Only these backends
    #[arg(long, aliases = ["hardware", "device"], value_delimiter = ',', num_args = 1.., value_name = "PLUGIN")]
    pub plugin: Vec<String>,
    /// Only these benchmarks
    #[arg(long, value_delimiter = ',', num_args = 1.., value_name = "BENCHMARK")]
    pub bench: Vec<String>,
    /// Only cells that meet this SQL condition: family = 'vision' AND batch_size = 1
    #[arg(long = "where", value_name = "SQL")]
    pub condition: Option<String>,
    /// Metrics: latency_ms, throughput_per_s, memory_mb ...; `--metric list` lists them
    /// [default: latency, or throughput where there is no latency]
    #[arg(long, value_delimiter = ',', num_args = 1.., value_name = "METRIC")]
    pub metric: Vec<String>,
    /// Only changes since this date or age: 2026-01-31, 30d, 30
    #[arg(long, value_name = "WHEN", value_parser = since)]
    pub since: Option<i64>,
    /// Exit with 1 if the newest figures of a history are worse than those before
    #[arg(long)]
    pub fail_on_change: bool,
    /// Write to this file
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub alert: AlertArgs,
}

/// A moment, in microseconds since 1970-01-01.
fn since(text: &str) -> Result<i64, String> {
    const DAY: f64 = 86_400e6;
    let date = moment(text).or_else(|| moment(&format!("{text}T00:00:00Z")));
    let days = || text.strip_suffix('d').unwrap_or(text).parse::<f64>().ok().filter(|days| (0.0..=1e6).contains(days));
    let ago = || Some(moment(&now_utc())? - (days()? * DAY) as i64);
    date.or_else(ago).ok_or_else(|| "expected a date such as 2026-01-31, or days such as 30d".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_and_days_are_moments_and_nothing_else_is() {
        assert_eq!(since("1970-01-02"), Ok(86_400_000_000));
        assert_eq!(since("1970-01-02T00:00:01Z"), Ok(86_401_000_000));
        let (one, same) = (since("2d").unwrap(), since("2").unwrap());
        assert!((one - same).abs() <= 2_000_000);
        assert!(since("1d").unwrap() - one >= 86_398_000_000);
        for text in ["", "yesterday", "-1", "2026-13-01", "3w", "NaN"] {
            assert!(since(text).is_err(), "{text}");
        }
    }
}
