//! What a capacity is of. Hardware bears another load otherwise, so that only capacities of the same are held against each other.

use crate::{Axes, options_text};
use std::collections::BTreeMap;

/// The option that has the limits.
pub const SLO: &str = "slo";

/// Options of a load, with the flag of those that have one. All others are the hardware's.
const OPTIONS: [(&str, Option<&str>); 5] =
    [("arrivals", Some("--arrivals")), ("lengths", None), ("sizes", None), (PROMPT, None), (TOKENS, None)];

/// The only one that a search has is `server`, whether or not it was said.
const SCENARIO: &str = "scenario";
const OF_A_SEARCH: &str = "server";

/// What else says how requests come.
const OF_REQUESTS: [&str; 5] = [SLO, SCENARIO, "think_ms", "over_time", "mlperf"];

/// What a load has that was asked for, as axes or options, and no search does.
const RATES: [&str; 4] = ["rate", "rate_per_hour", "users", "trace"];

const BATCH: &str = "batch";
const PROMPT: &str = "prompt";
const TOKENS: &str = "new_tokens";
const WAIT: &str = "batch_wait_us";

/// Axes that have a flag of their own.
const FLAGS: [(&str, &str); 4] = [
    (BATCH, "--batch-sizes"),
    ("sequence", "--sequence-lengths"),
    (PROMPT, "--prompt-lengths"),
    (TOKENS, "--new-tokens"),
];

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Load {
    pub benchmark: String,
    /// "latency.p99<=20ms", in the order of their names.
    pub limits: String,
    /// What a request asks for: lengths, and of items how many.
    pub request: Axes,
    /// What else was said of the load: how requests come, and whether they are alike.
    pub more: BTreeMap<String, String>,
}

/// Limits as they are compared: each once, in order, without spaces.
pub fn limits(text: &str) -> String {
    let text: String = text.split_whitespace().collect();
    let mut each: Vec<&str> = text.split(',').filter(|limit| !limit.is_empty()).collect();
    each.sort_unstable();
    each.dedup();
    each.join(",")
}

impl Load {
    /// The load of a search, and the options that are the hardware's. `None` of what was no search.
    pub fn searched(benchmark: &str, axes: &Axes, options: &str) -> Option<(Load, Option<String>)> {
        let mut options = read(options);
        if RATES.iter().any(|rate| axes.contains_key(*rate) || options.contains_key(*rate)) {
            return None;
        }
        let limits = limits(&options.remove(SLO)?);
        options.remove(SCENARIO);
        let waits = axes.contains_key(WAIT) || options.contains_key(WAIT);
        let request = request(axes, waits);
        let is_load = |name: &str| OPTIONS.iter().any(|(known, _)| *known == name);
        let (more, others): (BTreeMap<_, _>, BTreeMap<_, _>) = options.into_iter().partition(|(name, _)| is_load(name));
        let load = Load { benchmark: benchmark.into(), limits, request, more };
        Some((load, options_text(&others)))
    }

    /// Tokens that each request makes. `None`: it makes none, or not each as many.
    pub fn tokens(&self) -> Option<f64> {
        let is_even = self.more.get("lengths").is_none_or(|lengths| lengths == "fixed");
        let given = self.more.get(TOKENS).and_then(|tokens| tokens.parse().ok());
        given.or_else(|| self.request.get(TOKENS).copied()).filter(|tokens| is_even && *tokens > 0).map(|n| n as f64)
    }

    /// Items of each request.
    pub fn items(&self) -> i64 {
        self.request.get(BATCH).copied().unwrap_or(1)
    }

    /// The limits, with what else was said.
    pub fn describe(&self) -> String {
        options_text(&self.more).map_or_else(|| self.limits.clone(), |more| format!("{} ({more})", self.limits))
    }

    /// What `host run` takes to search the same.
    pub fn as_arguments(&self) -> String {
        // Of a generation all others follow from these.
        let is_asked = |axis: &str| !self.request.contains_key(TOKENS) || [PROMPT, TOKENS].contains(&axis);
        let axes = self.request.iter().filter(|(axis, _)| is_asked(axis)).map(|(axis, value)| {
            match FLAGS.iter().find(|(known, _)| known == axis) {
                Some((_, flag)) => format!("{flag} {value}"),
                None => format!("--dim {axis}={value}"),
            }
        });
        let more = self.more.iter().map(|(name, value)| {
            match OPTIONS.iter().find(|(known, _)| known == name).and_then(|(_, flag)| *flag) {
                Some(flag) => format!("{flag} {value}"),
                None => format!("--option {name}={value}"),
            }
        });
        let all: Vec<String> = [format!("--slo \"{}\"", self.limits)].into_iter().chain(axes).chain(more).collect();
        all.join(" ")
    }
}

/// The options of a cell that say how requests come, which no backend has; whatever else is set.
pub fn of_requests(options: Option<&str>) -> BTreeMap<String, String> {
    let mut options = read(options.unwrap_or_default());
    options.retain(|name, _| {
        OPTIONS.iter().any(|(known, _)| known == name)
            || RATES.contains(&name.as_str())
            || OF_REQUESTS.contains(&name.as_str())
    });
    if options.get(SCENARIO).is_some_and(|scenario| scenario == OF_A_SEARCH) {
        options.remove(SCENARIO);
    }
    options.entry(SLO.into()).and_modify(|text| *text = limits(text));
    options
}

/// A batch is what a request asks for only where each request is one: not where they wait for each other, nor of sequences side by side.
fn request(axes: &Axes, waits: bool) -> Axes {
    let mut request = axes.clone();
    request.remove(WAIT);
    if axes.contains_key(TOKENS) {
        request.remove(BATCH);
    } else if waits {
        request.insert(BATCH.into(), 1);
    }
    request
}

/// Options by name, out of [`options_text`]. A word that no name begins belongs to the value before it: limits may have spaces.
fn read(text: &str) -> BTreeMap<String, String> {
    let mut all: Vec<(String, String)> = vec![];
    for word in text.split(' ') {
        let is_name = |name: &str| {
            name.starts_with(|first: char| first.is_ascii_alphabetic())
                && name.chars().all(|char| char.is_ascii_alphanumeric() || "_-.:".contains(char))
        };
        match (word.split_once('=').filter(|(name, _)| is_name(name)), all.last_mut()) {
            (Some((name, value)), _) => all.push((name.into(), value.into())),
            (None, Some((_, value))) => *value += &format!(" {word}"),
            (None, None) => {}
        }
    }
    all.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axes(text: &str) -> Axes {
        text.parse().unwrap()
    }

    #[test]
    fn limits_are_the_same_in_any_order_and_with_any_spaces() {
        assert_eq!(limits("tpot.p99 <= 50ms, ttft.p99<=1s"), limits("ttft.p99<=1s,tpot.p99<=50ms"));
        assert_ne!(limits("latency.p99<=20ms"), limits("latency.p90<=20ms"));
    }

    #[test]
    fn options_with_spaces_in_them_are_read_whole() {
        let found = read("cache=off slo=latency.p99 <= 20ms, latency.p50<=1ms threads=2");
        assert_eq!(found["slo"], "latency.p99 <= 20ms, latency.p50<=1ms");
        assert_eq!((found["cache"].as_str(), found["threads"].as_str(), found.len()), ("off", "2", 3));
    }

    #[test]
    fn how_requests_come_is_known_among_other_options() {
        let of = |text: &str| options_text(&of_requests(Some(text))).unwrap_or_default();
        let found = of("arrivals=gamma:0.5 cache=off slo=tpot.p99 <= 1s, ttft.p99<=2s threads=2 users=3");
        assert_eq!(found, "arrivals=gamma:0.5 slo=tpot.p99<=1s,ttft.p99<=2s users=3");
        assert_eq!((of("cache=off"), of_requests(None).len()), (String::new(), 0));
    }

    #[test]
    fn only_a_search_has_a_capacity() {
        let searched = |axes: &str, options: &str| Load::searched("serving", &axes.parse().unwrap(), options);
        let (load, hardware) = searched("batch=1", "arrivals=constant slo=latency.p99<=20ms threads=2").unwrap();
        assert_eq!(
            (load.describe().as_str(), hardware.as_deref()),
            ("latency.p99<=20ms (arrivals=constant)", Some("threads=2"))
        );
        let (mixed, hardware) = searched("batch=1", "sizes=sequence:8,64 slo=latency.p99<=20ms").unwrap();
        assert_eq!(
            (mixed.more["sizes"].as_str(), hardware),
            ("sequence:8,64", None),
            "another load, of the same hardware"
        );
        assert!(searched("batch=1", "threads=2").is_none(), "no limit");
        for asked in ["rate=5", "rate_per_hour=5", "users=4 think_ms=100", "trace=abcdef"] {
            assert!(searched("batch=1", &format!("slo=latency.p99<=20ms {asked}")).is_none(), "{asked}");
        }
        assert!(searched("batch=1 rate=5", "slo=latency.p99<=20ms").is_none());
    }

    #[test]
    fn a_request_is_a_batch_unless_requests_wait_for_each_other_or_ask_for_tokens() {
        assert_eq!(request(&axes("batch=8 sequence=32"), false), axes("batch=8 sequence=32"));
        assert_eq!(request(&axes("batch=8 batch_wait_us=2000 sequence=32"), true), axes("batch=1 sequence=32"));
        assert_eq!(request(&axes("batch=8 new_tokens=4 prompt=16"), false), axes("new_tokens=4 prompt=16"));
    }

    #[test]
    fn tokens_are_counted_where_each_request_makes_as_many() {
        let load = Load { request: axes("new_tokens=4 prompt=16"), ..Load::default() };
        assert_eq!(load.tokens(), Some(4.0));
        let uneven = Load { more: BTreeMap::from([("lengths".into(), "uniform".into())]), ..load };
        assert_eq!(uneven.tokens(), None);
        assert_eq!(Load { request: axes("batch=8"), ..Load::default() }.tokens(), None);
    }

    #[test]
    fn what_searches_the_same_names_limits_lengths_and_how_requests_come() {
        let load = Load {
            limits: "ttft.p99<=1s".into(),
            request: axes("new_tokens=4 past=0 prompt=16 sequence=16"),
            more: BTreeMap::from([("arrivals".into(), "constant".into()), ("lengths".into(), "uniform".into())]),
            ..Load::default()
        };
        let expected =
            "--slo \"ttft.p99<=1s\" --new-tokens 4 --prompt-lengths 16 --arrivals constant --option lengths=uniform";
        assert_eq!(load.as_arguments(), expected);
    }
}
