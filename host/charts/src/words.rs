//! The words that charts say by themselves, from `data/words.toml`.

use std::sync::LazyLock;

use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Words {
    pub no_data: String,
    pub emulated: String,
    pub interval: String,
    pub predicted: String,
    pub predicted_interval: String,
    pub to: String,
    pub failed: String,
    pub unavailable: String,
    pub unsupported: String,
    pub not_run: String,
    pub not_measured: String,
    pub total: String,
    pub without: String,
    pub median: String,
    pub p90: String,
    pub quartiles: String,
    pub outliers: String,
    pub samples: String,
    pub no_bins: String,
}

static WORDS: LazyLock<Words> =
    LazyLock::new(|| toml::from_str(include_str!("../data/words.toml")).expect("words.toml is part of the crate"));

pub(crate) fn words() -> &'static Words {
    &WORDS
}
