//! `data/architectures.toml`, typed: which hardware for which architecture.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

#[derive(Debug, Deserialize)]
pub struct Architectures {
    /// Ids of backends, the first that can load a model being taken.
    pub preference: Vec<String>,
    /// Ids of the web platforms.
    pub web: Vec<String>,
    /// The ids of the hardware that each architecture is known to run well on.
    architectures: BTreeMap<String, Vec<String>>,
}

impl Architectures {
    /// Whether an architecture is known, and not known to run well on hardware that is.
    pub fn runs_badly(&self, architecture: &str, backend: &str) -> bool {
        let known = self.preference.iter().any(|id| id == backend);
        known && self.architectures.get(architecture).is_some_and(|well| !well.iter().any(|id| id == backend))
    }

    /// The order in which backends are tried for an architecture.
    pub fn order(&self, architecture: &str) -> Vec<&str> {
        let all = || self.preference.iter().map(String::as_str);
        let (badly, well): (Vec<&str>, Vec<&str>) = all().partition(|id| self.runs_badly(architecture, id));
        [well, badly].concat()
    }
}

/// What is compiled in. A test reads it, so that a slip in the file cannot ship.
pub fn architectures() -> &'static Architectures {
    static ALL: LazyLock<Architectures> = LazyLock::new(|| {
        toml::from_str(include_str!("../data/architectures.toml")).expect("data/architectures.toml is valid")
    });
    &ALL
}

#[cfg(test)]
mod tests {
    use super::architectures;

    #[test]
    fn hardware_that_an_architecture_runs_badly_on_comes_last() {
        assert_eq!(architectures().order("decoder-only"), ["cuda", "rocm", "mps", "cpu", "openvino", "qnn"]);
        assert_eq!(architectures().order("something-new"), architectures().preference);
    }

    #[test]
    fn every_architecture_that_a_model_can_be_classified_as_is_known() {
        let kinds: toml::Table = toml::from_str(include_str!("../../models/data/kinds.toml")).unwrap();
        let kinds = kinds["kind"].as_array().unwrap();
        assert!(!kinds.is_empty());
        for kind in kinds {
            let architecture = kind["architecture"].as_str().unwrap();
            assert!(architectures().architectures.contains_key(architecture), "{architecture}");
        }
    }

    #[test]
    fn nothing_is_said_of_what_is_not_known() {
        assert!(architectures().runs_badly("state-space", "qnn"));
        assert!(!architectures().runs_badly("state-space", "acme"), "a vendor's own backend");
        assert!(!architectures().runs_badly("something-new", "qnn"));
    }
}
