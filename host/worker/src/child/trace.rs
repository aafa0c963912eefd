//! A recording as a trace in the form of Chrome's trace events, which chrome://tracing, Perfetto and speedscope open: complete events in
//! microseconds, a process for each part, in it a thread for the runs and one for each device.

use super::recorded::Recorded;
use serde_json::{Value, json};
use skillbench_plugin_api::Operator;
use std::collections::HashMap;

/// The thread of the runs themselves.
const RUNS: usize = 0;

/// A run as the host timed it, in nanoseconds since the recording began.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub start_ns: u64,
    pub wall_ns: u64,
}

/// The trace of a model, part by part.
#[derive(Default)]
pub(super) struct Trace {
    events: Vec<Value>,
    notes: serde_json::Map<String, Value>,
    parts: usize,
}

impl Trace {
    /// Adds a part as a process.
    pub fn add(&mut self, name: &str, recorded: &Recorded<'_>, runs: &[Run]) {
        self.parts += 1;
        let process = self.parts;
        let name = if name.is_empty() { "model" } else { name };
        self.events.push(names("process_name", process, RUNS, name));
        self.events.push(names("thread_name", process, RUNS, "runs"));
        if !recorded.notes().is_empty() {
            self.notes.insert(name.into(), recorded.notes().into());
        }
        let mut threads: HashMap<&str, usize> = HashMap::new();
        let mut thread_of = |device, events: &mut Vec<Value>| {
            let next = threads.len() + 1;
            *threads.entry(device).or_insert_with(|| {
                events.push(names("thread_name", process, next, device));
                next
            })
        };
        // Of means there is but one run to show, and it is none of those that were timed.
        let shown: Vec<(Option<u64>, Run, String)> = match recorded.means() {
            true => {
                let wall_ns = recorded.operators.iter().map(|operator| operator.duration_ns).sum();
                vec![(None, Run { start_ns: 0, wall_ns }, "mean of the runs".into())]
            }
            false => runs.iter().enumerate().map(|(at, run)| (Some(at as u64), *run, format!("run {at}"))).collect(),
        };
        for (number, run, title) in shown {
            self.events.push(complete(process, RUNS, &title, "run", run.start_ns, run.wall_ns, json!({})));
            let mut end = 0;
            for operator in recorded.operators.iter().filter(|operator| operator.run == number) {
                let start = operator.start_ns.unwrap_or(end);
                end = start + operator.duration_ns;
                let thread = thread_of(&operator.device, &mut self.events);
                let title = if operator.name.is_empty() { &operator.kind } else { &operator.name };
                let (at, took) = (run.start_ns + start, operator.duration_ns);
                self.events.push(complete(process, thread, title, &operator.kind, at, took, about(operator)));
            }
        }
    }

    pub fn json(self) -> Value {
        json!({ "traceEvents": self.events, "displayTimeUnit": "ms", "otherData": self.notes })
    }
}

fn about(operator: &Operator) -> Value {
    let mut about = serde_json::Map::new();
    for (key, text) in [("type", &operator.kind), ("kernel", &operator.kernel), ("device", &operator.device)] {
        if !text.is_empty() {
            about.insert(key.into(), text.as_str().into());
        }
    }
    if operator.as_seen_by_host {
        about.insert("as_seen_by_host".into(), true.into());
    }
    about.into()
}

fn names(what: &str, process: usize, thread: usize, name: &str) -> Value {
    json!({ "ph": "M", "name": what, "pid": process, "tid": thread, "args": { "name": name } })
}

fn complete(process: usize, thread: usize, name: &str, kind: &str, start: u64, took: u64, about: Value) -> Value {
    let microseconds = |ns: u64| ns as f64 / 1_000.0;
    json!({
        "ph": "X", "name": name, "cat": kind, "pid": process, "tid": thread,
        "ts": microseconds(start), "dur": microseconds(took), "args": about,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operator(run: Option<u64>, start_ns: Option<u64>, duration_ns: u64) -> Operator {
        let (kind, name, device) = ("MatMul".into(), "layer/MatMul".into(), "cpu".into());
        Operator { run, start_ns, duration_ns, kind, name, device, ..Operator::default() }
    }

    const TWO: [Run; 2] = [Run { start_ns: 0, wall_ns: 9_000 }, Run { start_ns: 10_000, wall_ns: 9_000 }];

    fn events(operators: &[Operator]) -> (Value, Vec<(String, f64, f64)>) {
        let mut trace = Trace::default();
        trace.add("encoder", &Recorded { operators, runs: 2 }, &TWO);
        let json: Value = serde_json::from_str(&trace.json().to_string()).unwrap();
        let complete = json["traceEvents"].as_array().unwrap().iter().filter(|event| event["ph"] == "X");
        let told = |event: &Value| {
            let number = |key: &str| event[key].as_f64().unwrap();
            (event["name"].as_str().unwrap().to_string(), number("ts"), number("ts") + number("dur"))
        };
        let found = complete.map(told).collect();
        (json, found)
    }

    #[test]
    fn operators_lie_where_the_engine_says_they_began() {
        let (json, found) = events(&[operator(Some(0), Some(1_000), 2_000), operator(Some(1), Some(5_000), 2_500)]);
        let at = |name: &str, from, to| (name.to_string(), from, to);
        let first = [at("run 0", 0.0, 9.0), at("layer/MatMul", 1.0, 3.0)];
        let second = [at("run 1", 10.0, 19.0), at("layer/MatMul", 15.0, 17.5)];
        assert_eq!(found, [first, second].concat());
        assert_eq!(json["otherData"], json!({}));
        let process = json["traceEvents"].as_array().unwrap().iter().find(|event| event["name"] == "process_name");
        assert_eq!(process.unwrap()["args"]["name"], "encoder");
    }

    #[test]
    fn without_moments_they_lie_end_to_end_in_their_run_and_the_trace_says_so() {
        let one = |run| [operator(Some(run), None, 2_000), operator(Some(run), None, 3_000)];
        let (json, found) = events(&[one(0), one(1)].concat());
        let spans: Vec<_> =
            found.iter().filter(|(name, ..)| name == "layer/MatMul").map(|(_, a, b)| (*a, *b)).collect();
        assert_eq!(spans, [(0.0, 2.0), (2.0, 5.0), (10.0, 12.0), (12.0, 15.0)]);
        assert!(json["otherData"]["encoder"][0].as_str().unwrap().contains("end to end"));
    }

    #[test]
    fn means_fill_a_run_of_their_own() {
        let (_, found) = events(&[operator(None, None, 2_000), operator(None, None, 3_000)]);
        assert_eq!(found[0], ("mean of the runs".into(), 0.0, 5.0));
        assert_eq!(found.last().unwrap().2, 5.0);
    }
}
