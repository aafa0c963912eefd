//! `data/rules.toml`, typed: the bounds and thresholds that questions go by.

use serde::Deserialize;
use std::sync::LazyLock;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    pub size: Vec<Size>,
    pub outliers: Outliers,
    pub clocks: Clocks,
    pub opportunities: Opportunities,
    pub report: Report,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// Of a database with more cells a report has those that count now.
    pub most_cells: u64,
}

/// A group of models by their size.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Size {
    pub name: String,
    /// The most parameters; the last group has no bound.
    pub parameters: Option<i64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outliers {
    pub models: u32,
    pub z: f64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clocks {
    pub waits: f64,
    pub exceeds: f64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Opportunities {
    pub batch_is_no_work: Vec<String>,
    pub larger_batch: f64,
    pub other_hardware: f64,
    pub first_inference: f64,
    pub warm_cache: f64,
    pub concurrency: f64,
    pub low_peak_share: f64,
}

/// What is compiled in. A test reads it, so that a slip in the file cannot ship.
pub fn rules() -> &'static Rules {
    static RULES: LazyLock<Rules> =
        LazyLock::new(|| toml::from_str(include_str!("../../data/rules.toml")).expect("data/rules.toml is valid"));
    &RULES
}

#[cfg(test)]
mod tests {
    use super::rules;

    #[test]
    fn sizes_grow_and_only_the_last_has_no_bound() {
        let bounds: Vec<Option<i64>> = rules().size.iter().map(|size| size.parameters).collect();
        let (last, others) = bounds.split_last().unwrap();
        assert_eq!(*last, None);
        assert!(others.iter().all(Option::is_some) && others.is_sorted());
    }
}
