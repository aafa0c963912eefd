//! `data/predict.toml`, typed.

use serde::Deserialize;
use std::sync::LazyLock;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    pub level: f64,
    pub widest: f64,
    pub beyond: f64,
    pub machines: MachinesRule,
    pub evaluation: EvaluationRule,
    pub law: LawRule,
    pub residual: ResidualRule,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MachinesRule {
    pub level: f64,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvaluationRule {
    pub models: usize,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LawRule {
    pub reach: f64,
    pub huber: f64,
    pub usual: f64,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResidualRule {
    pub models: usize,
    pub ridge: f64,
}

/// What is compiled in. A test reads it, so that a slip in the file cannot ship.
pub fn rule() -> &'static Rule {
    static RULE: LazyLock<Rule> =
        LazyLock::new(|| toml::from_str(include_str!("../data/predict.toml")).expect("data/predict.toml is valid"));
    &RULE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rule_is_one_that_can_be_followed() {
        let rule = rule();
        assert!(rule.level > 0.5 && rule.level < 1.0);
        assert!(rule.machines.level > 0.5 && rule.machines.level < 1.0);
        assert!(rule.widest > 1.0 && rule.evaluation.models > 0 && rule.beyond >= 1.0);
        assert!(rule.law.reach > 0.0 && rule.law.huber > 0.0 && rule.law.usual > 0.0);
        assert!(rule.residual.models >= 2 && rule.residual.ridge > 0.0);
    }
}
