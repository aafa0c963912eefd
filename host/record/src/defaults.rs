//! `data/defaults.toml`, typed.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

#[derive(Debug, Deserialize)]
pub struct Defaults {
    pub run: RunDefaults,
    pub grid: GridDefaults,
    pub profile: ProfileDefaults,
    pub token_limit: TokenLimit,
    pub tolerance: BTreeMap<String, f64>,
    pub models: ModelDefaults,
    pub reference: Reference,
    pub cache: CacheDefaults,
    pub fixes: WorkaroundDefaults,
    pub alert: AlertDefaults,
    pub schedule: ScheduleDefaults,
    pub update: UpdateDefaults,
}

#[derive(Debug, Deserialize)]
pub struct ModelDefaults {
    pub float32_below: u64,
    pub largest_of_a_set_mb: u64,
}

#[derive(Debug, Deserialize)]
pub struct RunDefaults {
    pub models: Vec<String>,
    pub benchmarks: Vec<String>,
    pub batch_sizes: Vec<i64>,
    pub sequence_lengths: Vec<i64>,
    pub warmup: u64,
    pub warmup_limit_s: f64,
    pub timeout_s: f64,
    pub budget_s: f64,
    /// Of a benchmark that takes a budget as an option, since it lays its sessions out by it.
    pub load_budget_s: f64,
    /// The same, where it searches the largest load that keeps a limit.
    pub search_budget_s: f64,
    pub interval: f64,
    pub rate_interval: f64,
    pub launches: u64,
    pub cold_starts: usize,
    pub startups: usize,
    pub seed: u64,
}

#[derive(Debug, Deserialize)]
pub struct GridDefaults {
    pub batch_sizes: Vec<i64>,
    pub sequence_lengths: Vec<i64>,
    pub prompt_lengths: Vec<i64>,
    pub new_tokens: Vec<i64>,
    pub axes: BTreeMap<String, i64>,
    pub rates: BTreeMap<String, f64>,
}

#[derive(Debug, Deserialize)]
pub struct ProfileDefaults {
    pub warmup: u64,
    pub runs: u64,
    pub nodes: usize,
}

#[derive(Debug, Deserialize)]
pub struct TokenLimit {
    pub limit: i64,
    pub architectures: Vec<String>,
}

#[derive(Debug, Deserialize)]
pub struct Reference {
    pub plugin: String,
    pub others: Vec<String>,
}

#[derive(Debug, Deserialize)]
pub struct CacheDefaults {
    pub models_gb: f64,
}

#[derive(Debug, Deserialize)]
pub struct WorkaroundDefaults {
    pub lowest_opset: i64,
}

#[derive(Debug, Deserialize)]
pub struct AlertDefaults {
    pub webhook_s: f64,
    pub webhook_pause_s: f64,
    pub command_s: f64,
}

#[derive(Debug, Deserialize)]
pub struct ScheduleDefaults {
    pub hour: u8,
    pub minute: u8,
    pub day_of_week: u8,
    pub day_of_month: u8,
    pub variables: Vec<String>,
}

#[derive(Debug, Deserialize)]
pub struct UpdateDefaults {
    pub older_than_days: f64,
}

/// The defaults that are compiled in. A test reads them, so that a slip in the file cannot ship.
pub fn defaults() -> &'static Defaults {
    static DEFAULTS: LazyLock<Defaults> =
        LazyLock::new(|| toml::from_str(include_str!("../data/defaults.toml")).expect("data/defaults.toml is valid"));
    &DEFAULTS
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_defaults_can_be_read() {
        assert!(super::defaults().tolerance.contains_key("float32"));
    }
}
