//! What hardware is compared by: the latency of a run, the time per token of a generation, or throughput. A cell has one of them that
//! counts.

use super::common::{latency, throughput, time_per_token};
use super::rows::Row;
use super::words::{MeasureWords, words};
use skillbench_charts::{Estimate, number};

pub(super) struct Measure {
    name: &'static str,
    pub of: fn(Row<'_>) -> Estimate,
    /// Of a time less is better.
    pub is_time: bool,
}

/// The first that was measured counts.
const ALL: [Measure; 3] = [
    Measure { name: "latency", of: latency, is_time: true },
    Measure { name: "time-per-token", of: time_per_token, is_time: true },
    Measure { name: "throughput", of: throughput, is_time: false },
];

impl Measure {
    /// The one that all of these rows are compared by; `None`: no figure was measured.
    pub(super) fn of_rows(rows: &[Row<'_>]) -> Option<&'static Measure> {
        ALL.iter().find(|measure| rows.iter().any(|row| (measure.of)(*row).value.is_some()))
    }

    /// "38.9 ms/token"; empty where it was not measured.
    pub(super) fn text(&self, row: Row<'_>) -> String {
        let value = (self.of)(row).value;
        value.map(|value| format!("{}{}", number(value), self.words().short)).unwrap_or_default()
    }

    pub(super) fn words(&self) -> &'static MeasureWords {
        words().measure(self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_measure_has_its_words() {
        ALL.iter().for_each(|measure| assert!(!measure.words().shows.is_empty()));
    }
}
