//! `--within`: a limit on what can be measured or predicted of hardware.

use skillbench_record::catalog::{Limit, LimitError};
use skillbench_results::questions::Goal;

pub struct Within {
    pub limit: Limit,
    /// What it is about.
    pub goal: Goal,
}

#[derive(Debug, thiserror::Error)]
pub enum WithinError {
    #[error(transparent)]
    Limit(#[from] LimitError),
    #[error("'{0}': a recommendation knows {known}; hold other metrics with `host run --limit`", known = known())]
    Unknown(String),
}

fn known() -> String {
    Goal::ALL.iter().map(|goal| goal.metric()).collect::<Vec<_>>().join(", ")
}

impl Within {
    /// # Errors
    /// It is no limit, or one on a metric that nothing is ranked by.
    pub fn parse(text: &str) -> Result<Within, WithinError> {
        let limit: Limit = text.parse()?;
        let unknown = || WithinError::Unknown(text.into());
        let metric = limit.known().filter(|_| limit.model().is_none()).ok_or_else(unknown)?;
        let goal = Goal::ALL.iter().find(|goal| goal.metric() == metric.name).ok_or_else(unknown)?;
        Ok(Within { limit, goal: *goal })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_goal_is_a_metric_of_the_catalogue() {
        for goal in &Goal::ALL {
            let within = Within::parse(&format!("{}<=1", goal.metric())).unwrap();
            assert_eq!(within.goal, *goal);
        }
    }

    #[test]
    fn a_limit_on_what_nothing_is_ranked_by_names_what_is() {
        for text in ["latency_ms.p90<=20", "series.acme.x<=2", "bert-tiny:latency_ms<=2"] {
            let error = Within::parse(text).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(error.contains("latency_ms, throughput_per_s"), "{text}: {error}");
        }
    }
}
