//! `data/rules.toml`, typed.

use serde::Deserialize;
use std::sync::LazyLock;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    pub compare: CompareRules,
    pub trend: TrendRules,
    pub peers: PeerRules,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CompareRules {
    pub launches: u64,
    pub most_launches: u64,
    pub searches: u64,
    pub interval: f64,
    pub pairs: u64,
    pub round_ms: f64,
    pub budget_s: f64,
    pub least_rounds: u64,
    pub significance: f64,
    pub effect: f64,
    pub assumed_interleaved: f64,
    pub assumed_apart: f64,
    pub assumed_memory: f64,
    pub noise_comparisons: u64,
    pub noise_models: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrendRules {
    pub seed: u64,
    pub nearby_runs: usize,
    pub clock_slack_s: i64,
    pub rules: crate::e_divisive::Rules,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PeerRules {
    pub significance: f64,
    pub effect: f64,
}

/// What is compiled in. A test reads it, so that a slip in the file cannot ship.
pub fn rules() -> &'static Rules {
    static RULES: LazyLock<Rules> =
        LazyLock::new(|| toml::from_str(include_str!("../data/rules.toml")).expect("data/rules.toml is valid"));
    &RULES
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_rules_can_be_read() {
        assert!(super::rules().compare.least_rounds > 1);
    }
}
