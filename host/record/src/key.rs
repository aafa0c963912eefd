//! What makes two measurements the same measurement.
//!
//! Everything in a [`CellKey`] was chosen by somebody: two cells that differ in any of it are different things, and are never
//! compared, ranked or drawn as one without a word. What a change of the same measurement may come from (versions and hashes of
//! plugin, engine, driver, benchmark, and the environment) is provenance and stands beside the key, in [`crate::Run`].

use crate::hash::sha256_text;
use crate::{Axes, Cell, Run};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt;

/// The key of a cell.
///
/// A dimension that is added later must be left out of the digest at its default, so that what is stored keeps its key.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CellKey {
    /// See [`crate::Environment::machine_id`]. Where nothing tells the machine, its run is a machine of its own.
    pub machine: String,
    pub plugin: String,
    /// Empty: the cell did not come so far.
    pub device: String,
    pub model: String,
    /// What identifies the model's content; empty: nobody recorded it.
    pub content: String,
    /// What was asked for; `None`: the graph's own.
    pub precision_asked: Option<String>,
    /// What ran; `None`: the model was not loaded, or the engine cannot tell.
    pub precision: Option<String>,
    pub benchmark: String,
    pub axes: Axes,
    pub threads: Option<u64>,
    /// Requests at once.
    pub workers: Option<u64>,
    /// Those that differ from the plugin's defaults.
    pub options: BTreeMap<String, String>,
    /// Backends whose cells ran at the same time.
    pub beside: Vec<String>,
}

/// So many hexadecimal digits of the hash: 128 bits.
const DIGITS: usize = 32;

impl CellKey {
    /// By which measurements are the same: what ran counts, whatever it was asked for as.
    pub fn digest(&self) -> String {
        let precision = self.precision.as_ref().or(self.precision_asked.as_ref());
        self.digest_with(&[("device", &self.device), ("precision", precision.map_or("", String::as_str))])
    }

    /// By which tries are the same: what was asked for counts, since a cell that failed may not have reached a device or a precision.
    pub fn attempt_digest(&self) -> String {
        self.digest_with(&[("precision_asked", self.precision_asked.as_deref().unwrap_or_default())])
    }

    fn digest_with(&self, more: &[(&str, &str)]) -> String {
        // Maps of JSON keep the order in which they are filled here, and what is empty is left out.
        let mut known = Map::new();
        let mut add = |name: &str, value: Value| {
            let is_empty = match &value {
                Value::String(text) => text.is_empty(),
                Value::Array(list) => list.is_empty(),
                Value::Object(map) => map.is_empty(),
                other => other.is_null(),
            };
            if !is_empty {
                known.insert(name.into(), value);
            }
        };
        add("machine", self.machine.as_str().into());
        add("plugin", self.plugin.as_str().into());
        add("model", self.model.as_str().into());
        add("content", self.content.as_str().into());
        add("benchmark", self.benchmark.as_str().into());
        add("axes", self.axes.iter().map(|(name, size)| (name.clone(), Value::from(*size))).collect());
        add("threads", self.threads.into());
        add("workers", self.workers.into());
        add("options", self.options.iter().map(|(name, value)| (name.clone(), Value::from(value.clone()))).collect());
        add("beside", self.beside.iter().cloned().map(Value::from).collect());
        more.iter().for_each(|(name, value)| add(name, (*value).into()));
        sha256_text(&Value::Object(known).to_string())[..DIGITS].into()
    }

    /// The options as one text, "cache=off graph_optimization=disable"; `None`: those that everybody gets.
    pub fn options_text(&self) -> Option<String> {
        options_text(&self.options)
    }
}

/// "cache=off graph_optimization=disable"; `None` of none.
pub fn options_text(options: &BTreeMap<String, String>) -> Option<String> {
    let all: Vec<String> = options.iter().map(|(name, value)| format!("{name}={value}")).collect();
    (!all.is_empty()).then(|| all.join(" "))
}

/// What was measured: "bert-tiny on cpu, inference"; of a function of no model "run_sort of examples".
pub fn subject(model: &str, on: &str, benchmark: &str) -> String {
    match model {
        "" => format!("{benchmark} of {on}"),
        model => format!("{model} on {on}, {benchmark}"),
    }
}

impl fmt::Display for CellKey {
    /// "bert-tiny on cpu:cpu, inference, batch=1 sequence=32, float32, 2 threads, cache=off, beside rten".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let device = if self.device.is_empty() { String::new() } else { format!(":{}", self.device) };
        f.write_str(&subject(&self.model, &format!("{}{device}", self.plugin), &self.benchmark))?;
        if !self.axes.is_empty() {
            write!(f, ", {}", self.axes)?;
        }
        match (&self.precision_asked, &self.precision) {
            (Some(asked), Some(ran)) if asked != ran => write!(f, ", {ran} (asked for {asked})")?,
            (asked, ran) => ran.iter().chain(asked).take(1).try_for_each(|precision| write!(f, ", {precision}"))?,
        }
        self.threads.iter().try_for_each(|n| write!(f, ", {n} threads"))?;
        self.workers.iter().try_for_each(|n| write!(f, ", {n} at once"))?;
        self.options_text().iter().try_for_each(|options| write!(f, ", {options}"))?;
        match self.beside.is_empty() {
            true => Ok(()),
            false => write!(f, ", beside {}", self.beside.join(", ")),
        }
    }
}

impl Cell {
    /// The key of this cell in its run.
    pub fn key(&self, run: &Run) -> CellKey {
        let mut beside = self.beside().to_vec();
        beside.sort_unstable();
        CellKey {
            machine: run.environment.machine_id().unwrap_or_else(|| run.run_id.clone()),
            plugin: self.plugin.clone(),
            device: self.device.clone(),
            model: self.skill.clone(),
            content: run.environment.models.get(&self.skill).cloned().unwrap_or_default(),
            precision_asked: self.precision_requested.clone(),
            precision: self.precision().map(String::from),
            benchmark: self.benchmark.clone(),
            axes: self.axes.clone(),
            threads: self.threads,
            workers: self.workers,
            options: self.options.clone(),
            beside,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> CellKey {
        CellKey {
            machine: "here".into(),
            plugin: "cpu".into(),
            device: "cpu".into(),
            model: "bert-tiny".into(),
            precision: Some("float32".into()),
            benchmark: "inference".into(),
            axes: "batch=1 sequence=32".parse().unwrap(),
            threads: Some(2),
            ..CellKey::default()
        }
    }

    #[test]
    fn a_digest_stays_what_it_was_when_it_was_released() {
        assert_eq!(key().digest(), "2b04879c32e0197b9bf2dd4641e788da");
        assert_eq!(key().attempt_digest(), "33ce46d804c8f923a59fdf08e45524be");
    }

    #[test]
    fn every_dimension_makes_another_measurement() {
        let options = BTreeMap::from([("cache".to_string(), "off".to_string())]);
        let others = [
            CellKey { machine: "there".into(), ..key() },
            CellKey { plugin: "rten".into(), ..key() },
            CellKey { device: "GPU".into(), ..key() },
            CellKey { model: "vit".into(), ..key() },
            CellKey { content: "abc".into(), ..key() },
            CellKey { precision: Some("float16".into()), ..key() },
            CellKey { benchmark: "throughput-load".into(), ..key() },
            CellKey { axes: Axes::new(), ..key() },
            CellKey { threads: Some(1), ..key() },
            CellKey { workers: Some(4), ..key() },
            CellKey { options, ..key() },
            CellKey { beside: vec!["rten".into()], ..key() },
        ];
        let digests: std::collections::BTreeSet<String> = others.iter().map(CellKey::digest).collect();
        assert_eq!(digests.len(), others.len());
        assert!(!digests.contains(&key().digest()));
    }

    #[test]
    fn a_precision_that_was_asked_for_and_one_that_was_left_to_the_graph_are_one_measurement_and_two_tries() {
        let asked = CellKey { precision_asked: Some("float32".into()), ..key() };
        assert_eq!(asked.digest(), key().digest());
        assert_ne!(asked.attempt_digest(), key().attempt_digest());
    }

    #[test]
    fn a_try_that_did_not_reach_its_device_is_the_same_try() {
        let failed = CellKey { device: String::new(), precision: None, ..key() };
        assert_eq!(failed.attempt_digest(), key().attempt_digest());
    }

    #[test]
    fn a_key_reads_like_a_sentence() {
        let options = BTreeMap::from([("cache".to_string(), "off".to_string())]);
        let full = CellKey { precision_asked: Some("int8".into()), options, beside: vec!["rten".into()], ..key() };
        assert_eq!(
            full.to_string(),
            "bert-tiny on cpu:cpu, inference, batch=1 sequence=32, float32 (asked for int8), 2 threads, cache=off, beside rten"
        );
    }
}
