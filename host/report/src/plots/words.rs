//! `words.toml`, typed.

use super::PlotKind;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Words {
    pub axis_batch: String,
    pub axis_sequence: String,
    pub axis_load: String,
    pub axis_time: String,
    pub load_over_time: String,
    pub load_over_time_shows: String,
    pub over_time_shows: String,
    pub axis_parameters: String,
    pub baseline: String,
    pub before: String,
    pub after: String,
    pub faster: String,
    pub slower: String,
    pub same: String,
    pub ideal_batch: String,
    pub ideal_sequence: String,
    pub bytes_per_parameter: String,
    pub unverified: String,
    pub remote: String,
    pub no_cells: String,
    pub none_measured: String,
    pub no_cpu: String,
    pub models: String,
    pub one_model: String,
    pub measured: String,
    pub emulated: String,
    pub without_cpu: String,
    pub missing: String,
    pub points: String,
    pub all_workloads: String,
    pub common_workloads: String,
    pub no_common: String,
    pub no_peak: String,
    pub no_operations: String,
    pub above_peak: String,
    pub no_interval: String,
    pub one_sided: String,
    pub of_bandwidth: String,
    pub no_precision: String,
    pub threads: String,
    pub batch: String,
    pub one_sample: String,
    pub no_pair: String,
    plots: BTreeMap<String, Of>,
    measures: BTreeMap<String, MeasureWords>,
    opportunities: BTreeMap<String, String>,
    phases: BTreeMap<String, String>,
    over_time: BTreeMap<String, String>,
}

/// The words of one kind of plot.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Of {
    pub title: String,
    pub shows: String,
    pub axis: String,
    pub unit: String,
    /// Why there may be nothing to draw.
    pub empty: String,
}

/// The words of what hardware is compared by.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MeasureWords {
    pub shows: String,
    pub unit: String,
    /// Behind a figure.
    pub short: String,
}

impl Words {
    pub(super) fn measure(&self, name: &str) -> &MeasureWords {
        // A test asks for every measure.
        &self.measures[name]
    }

    pub(super) fn of(&self, kind: PlotKind) -> &Of {
        // A test asks for every kind.
        &self.plots[kind.name()]
    }

    /// "1 model", "5 models".
    pub(super) fn models(&self, count: i64) -> String {
        if count == 1 { self.one_model.clone() } else { format!("{count} {}", self.models) }
    }

    /// What a part of a start is called.
    pub(super) fn phase<'a>(&'a self, column: &'a str) -> &'a str {
        self.phases.get(column).map_or(column, String::as_str)
    }

    /// What a figure over time is called; one of a device by its name there.
    pub(super) fn over_time<'a>(&'a self, figure: &'a str) -> &'a str {
        self.over_time.get(figure).map_or(figure, String::as_str)
    }

    /// What an opportunity is called; one that has no words yet, by its name.
    pub(super) fn opportunity<'a>(&'a self, kind: &'a str) -> &'a str {
        self.opportunities.get(kind).map_or(kind, String::as_str)
    }
}

/// What is compiled in. A test reads it, so that a slip in the file cannot ship.
pub(super) fn words() -> &'static Words {
    static WORDS: LazyLock<Words> =
        LazyLock::new(|| toml::from_str(include_str!("words.toml")).expect("plots/words.toml is valid"));
    &WORDS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_plot_has_its_words_and_no_words_are_of_no_kind() {
        PlotKind::ALL.iter().for_each(|kind| assert!(!words().of(*kind).title.is_empty()));
        assert_eq!(words().plots.len(), PlotKind::ALL.len());
    }
}
