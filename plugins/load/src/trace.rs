//! Requests as they once came: a file of when each came and how long it was.
//!
//! - `*.jsonl`, a line of JSON for each request, as Mooncake publishes them: `{"timestamp": 27, "input_length": 1000, "output_length": 500, "hash_ids": [46, 47]}`,
//!   with the time in milliseconds. The lengths may be missing, and so may the names of the parts of its prompt (`hash_ids`); what else a line has is
//!   passed over.
//! - `*.csv` with a header: `time_s` or `time_ms`, and if it has them `input_length` and `output_length`.
//!
//! Times begin anywhere, and never go back. Lengths are in tokens. How many a part of a prompt has is for the benchmark to say that has use for parts.

use crate::coming::Coming;
use crate::sizes::{Lengths, Sizes};
use serde::Deserialize;
use skillbench_plugin_api::{Error, Result};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Requests of a trace.
const MOST: usize = 1_000_000;
/// With fewer there is nothing to tell.
const FEWEST: usize = 12;
/// Requests a second.
const FASTEST: f64 = 1e6;
/// The first request of a session is due a moment after its start, when all workers wait.
const LEAD: Duration = Duration::from_millis(10);
/// Seconds. No later time is read, in whichever unit, so that sums stay exact.
const LATEST: f64 = 1e9;

#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// Seconds from the first request on, in order.
    at: Vec<f64>,
    sizes: Arc<Sizes>,
    /// The line of each request.
    lines: Vec<usize>,
    /// The first line whose names of parts are no whole numbers.
    unread: Option<usize>,
}

/// Requests of a session.
#[derive(Clone, Debug, PartialEq)]
pub struct Played {
    pub coming: Coming,
    /// `None`: nobody says how long they are.
    pub sizes: Option<Arc<Sizes>>,
}

/// A request as a file tells it.
struct Told {
    line: usize,
    at: f64,
    lengths: Option<Lengths>,
    /// `None`: they are no whole numbers.
    parts: Option<Vec<u64>>,
}

#[derive(Deserialize)]
struct Line {
    timestamp: f64,
    input_length: Option<usize>,
    output_length: Option<usize>,
    hash_ids: Option<serde_json::Value>,
}

impl Trace {
    /// # Errors
    /// `InvalidArgument` with the line that is wrong, and where there are no two moments at which requests came.
    pub fn read(file: &Path) -> Result<Trace> {
        let wrong = |what: String| Error::invalid(format!("option trace: {what}"));
        let text = std::fs::read_to_string(file).map_err(|error| wrong(format!("{}: {error}", file.display())))?;
        let told = match file.extension().and_then(|ending| ending.to_str()) {
            Some("jsonl") => lines_of_json(&text),
            Some("csv") => rows(&text),
            _ => Err("a trace is a file that ends in .jsonl or .csv".into()),
        };
        told.and_then(of).map_err(wrong)
    }

    /// Requests a second, on average.
    pub fn per_s(&self) -> f64 {
        (self.at.len() - 1) as f64 / self.at.last().copied().unwrap_or(1.0)
    }

    /// The longest prompt, and the most tokens that a request makes; `None`: the trace has no lengths.
    pub fn longest(&self) -> Option<Lengths> {
        self.sizes.longest()
    }

    /// Has prompts share their parts, each of so many tokens. Without it each prompt is another one. `false`: the trace names no parts.
    ///
    /// # Errors
    /// `InvalidArgument` with the line of a prompt that does not have as many parts.
    pub fn share(&mut self, part: usize) -> Result<bool> {
        if let Some(line) = self.unread {
            return Err(Error::invalid(format!("option trace: line {line}: hash_ids are no list of whole numbers")));
        }
        Arc::make_mut(&mut self.sizes).share(part).map_err(|(number, parts)| {
            let prompt = self.sizes.lengths(number).map_or(0, |one| one.prompt);
            Error::invalid(format!(
                "option trace: line {}: {parts} hash_ids for a prompt of {prompt} tokens, and with {part} tokens each there would be {}: say how many they have, with the option trace_part",
                self.lines[number],
                prompt.div_ceil(part)
            ))
        })
    }

    /// All of it, at so many requests a second on average.
    pub fn played(&self, per_s: f64) -> Played {
        let slower = self.per_s() / per_s;
        let due = self.at.iter().map(|at| ((at * slower + LEAD.as_secs_f64()) * 1e9) as u64).collect();
        Played { coming: Coming::Due(due), sizes: Some(Arc::clone(&self.sizes)) }
    }

    /// How long that takes, in seconds.
    pub fn seconds(&self, per_s: f64) -> f64 {
        (self.at.len() - 1) as f64 / per_s
    }
}

fn of(told: Vec<Told>) -> std::result::Result<Trace, String> {
    let Some(first) = told.first().map(|one| one.at) else { return Err("a trace without requests".into()) };
    let at: Vec<f64> = told.iter().map(|one| one.at - first).collect();
    if at.last().is_none_or(|last| *last <= 0.0) {
        return Err("all requests come at one moment, which --scenario offline does without a trace".into());
    }
    let per_s = (at.len() - 1) as f64 / at.last().copied().unwrap_or_default();
    if per_s > FASTEST {
        return Err(format!("{per_s:.0} requests a second, and no more than {FASTEST:.0} are issued"));
    }
    if at.len() < FEWEST {
        return Err(format!("{} requests, and a figure needs {FEWEST}", at.len()));
    }
    let lines = told.iter().map(|one| one.line).collect();
    // All or none have lengths, which `checked` has seen.
    let lengths = told.iter().filter_map(|one| one.lengths).collect();
    let unread = told.iter().find(|one| one.parts.is_none()).map(|one| one.line);
    let names = told.into_iter().map(|one| one.parts.unwrap_or_default()).collect();
    Ok(Trace { at, sizes: Arc::new(Sizes { lengths, names, part: 0 }), lines, unread })
}

fn lines_of_json(text: &str) -> std::result::Result<Vec<Told>, String> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let told = lines.map(|(index, line)| {
        let line: Line = serde_json::from_str(line).map_err(|error| format!("line {}: {error}", index + 1))?;
        Ok(Row {
            line: index + 1,
            at: line.timestamp * 1e-3,
            lengths: [line.input_length, line.output_length],
            parts: line.hash_ids.map_or(Some(vec![]), |names| serde_json::from_value(names).ok()),
        })
    });
    checked(told)
}

fn rows(text: &str) -> std::result::Result<Vec<Told>, String> {
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let header: Vec<&str> = lines
        .next()
        .map_or(vec![], |(_, header)| header.trim_start_matches('\u{feff}').split(',').map(str::trim).collect());
    let column = |name: &str| header.iter().position(|known| *known == name);
    let (time, unit) = match (column("time_s"), column("time_ms")) {
        (Some(column), None) => (column, 1.0),
        (None, Some(column)) => (column, 1e-3),
        _ => return Err("line 1: one column is called time_s or time_ms; the header has neither, or both".into()),
    };
    let lengths = [column("input_length"), column("output_length")];
    let told = lines.map(|(index, line)| {
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        let cell = |column: usize| cells.get(column).copied().unwrap_or_default();
        let wrong = |column: usize, what: &str| {
            format!("line {}: what stands in column {} is no {what}", index + 1, column + 1)
        };
        let at: f64 = cell(time).parse().map_err(|_| wrong(time, "time"))?;
        let length = |column: usize| cell(column).parse().map_err(|_| wrong(column, "number of tokens"));
        let [input, output] = lengths.map(|column| column.map(length).transpose());
        Ok(Row { line: index + 1, at: at * unit, lengths: [input?, output?], parts: Some(vec![]) })
    });
    checked(told)
}

/// A request as a line has it.
struct Row {
    line: usize,
    /// Seconds.
    at: f64,
    lengths: [Option<usize>; 2],
    parts: Option<Vec<u64>>,
}

fn checked(rows: impl Iterator<Item = std::result::Result<Row, String>>) -> std::result::Result<Vec<Told>, String> {
    let mut told: Vec<Told> = vec![];
    for row in rows {
        let Row { line, at, lengths, parts } = row?;
        let wrong = |what: String| Err(format!("line {line}: {what}"));
        let last = told.last();
        if !(-LATEST..=LATEST).contains(&at) {
            return wrong("a time beyond what a session can have".into());
        }
        if last.is_some_and(|last| at < last.at) {
            return wrong("the time goes back".into());
        }
        let lengths = match lengths {
            [Some(0), _] | [_, Some(0)] => return wrong("a request without tokens".into()),
            [Some(prompt), Some(tokens)] => Some(Lengths { prompt, tokens }),
            [None, None] => None,
            _ => return wrong("one of input_length and output_length without the other".into()),
        };
        if last.is_some_and(|last| last.lengths.is_some() != lengths.is_some()) {
            return wrong("some requests have lengths, and some have none".into());
        }
        if told.len() == MOST {
            return wrong(format!("more than {MOST} requests"));
        }
        told.push(Told { line, at, lengths, parts });
    }
    Ok(told)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sizes::Parts;

    fn read(name: &str, text: &str) -> std::result::Result<Trace, String> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(name);
        std::fs::write(&file, text).unwrap();
        Trace::read(&file).map_err(|error| error.message)
    }

    /// Lines of so many requests, each a second after the one before.
    fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
        (0..count).map(|number| line(number) + "\n").collect()
    }

    #[test]
    fn one_trace_in_both_forms_is_the_same() {
        let json = |number: usize| {
            format!(
                "{{\"timestamp\": {}000, \"input_length\": {}, \"output_length\": 2, \"hash_ids\": [1]}}",
                5 + number,
                1 + number
            )
        };
        let trace = read("one.jsonl", &lines(13, json)).unwrap();
        assert_eq!((trace.at.len(), trace.at[0], trace.at[12]), (13, 0.0, 12.0));
        assert_eq!((trace.per_s(), trace.longest()), (1.0, Some(Lengths { prompt: 13, tokens: 2 })));
        let row = |number: usize| format!("{}, {},2", 5 + number, 1 + number);
        let rows = read("one.csv", &format!("time_s,input_length,output_length\n{}", lines(13, row))).unwrap();
        assert_eq!((&trace.at, &trace.sizes.lengths), (&rows.at, &rows.sizes.lengths));
        let times = lines(13, |number| format!("a,{number}000"));
        let times = read("one.csv", &format!("\u{feff}who,time_ms\n{times}")).unwrap();
        assert_eq!((times.at, times.sizes.longest()), (trace.at, None));
    }

    #[test]
    fn prompts_share_the_parts_that_have_one_name() {
        // A conversation: each prompt has that before it, and a part more; the last part is not full.
        let line = |number: usize| {
            let names: Vec<usize> = (0..=number).collect();
            let prompt = 4 * number + 3;
            format!(
                "{{\"timestamp\": {number}, \"input_length\": {prompt}, \"output_length\": 2, \"hash_ids\": {names:?}}}"
            )
        };
        let mut trace = read("one.jsonl", &lines(13, line)).unwrap();
        assert_eq!(trace.sizes.parts(2), Parts::NONE, "nobody asked for them");
        assert!(trace.share(4).unwrap());
        let sizes = trace.played(1.0).sizes.unwrap();
        assert_eq!((sizes.parts(2), sizes.parts(13)), (Parts { names: &[0, 1, 2], tokens: 4 }, Parts::NONE));
        let told = trace.share(3).unwrap_err().message;
        assert!(
            told.contains("line 2: 2 hash_ids for a prompt of 7 tokens") && told.contains("there would be 3"),
            "{told}"
        );
        let some = |number: usize| line(number).replace(if number == 5 { "[0, 1, 2, 3, 4, 5]" } else { "none" }, "[]");
        let told = read("one.jsonl", &lines(13, some)).unwrap().share(4).unwrap_err().message;
        assert!(told.contains("line 6: 0 hash_ids"), "{told}");
        let without = |number: usize| line(number).split(", \"hash_ids\"").next().unwrap().to_string() + "}";
        let mut without = read("one.jsonl", &lines(13, without)).unwrap();
        assert!(!without.share(4).unwrap() && without.sizes.parts(2) == Parts::NONE);
        let words = |number: usize| line(number).replace("[0", "[\"a\"");
        let mut words = read("one.jsonl", &lines(13, words)).unwrap();
        assert!(words.share(4).unwrap_err().message.contains("line 1: hash_ids are no list of whole numbers"));
    }

    #[test]
    fn a_session_plays_all_of_it_as_fast_as_asked_for() {
        let trace = read("one.csv", &format!("time_s\n{}", lines(13, |number| format!("{number}")))).unwrap();
        let ms = |played: &Played| {
            let Coming::Due(due) = &played.coming else { panic!("a trace says when requests are due") };
            [0, 1, 12].map(|number| due[number] / 1_000_000)
        };
        assert_eq!((ms(&trace.played(1.0)), trace.seconds(1.0)), ([10, 1_010, 12_010], 12.0));
        assert_eq!((ms(&trace.played(10.0)), trace.seconds(10.0)), ([10, 110, 1_210], 1.2));
    }

    #[test]
    fn what_is_no_trace_is_told_with_its_line() {
        for (name, text, wanted) in [
            ("a.csv", "", "line 1: one column is called time_s or time_ms"),
            ("a.csv", "time_s,time_ms\n1,1\n", "line 1"),
            ("a.csv", "time_s\n", "without requests"),
            ("a.csv", "time_s\n1\n1\n", "at one moment"),
            ("a.csv", "time_s\n1\n2\n", "2 requests, and a figure needs 12"),
            ("a.csv", "time_ms\n0\n1e-300\n", "no more than 1000000 are issued"),
            ("a.csv", "time_s\n2\n1\n", "line 3: the time goes back"),
            ("a.csv", "time_s\n1\nx\n", "line 3: what stands in column 1 is no time"),
            ("a.csv", "time_s\n1\nnan\n", "line 3: a time beyond"),
            ("a.csv", "time_s\n1\n1e300\n", "line 3: a time beyond"),
            ("a.csv", "time_s,input_length\n1,5\n", "without the other"),
            ("a.csv", "time_s,input_length,output_length\n1,5,0\n", "line 2: a request without tokens"),
            (
                "a.csv",
                "time_s,input_length,output_length\n1,5,-1\n",
                "line 2: what stands in column 3 is no number of tokens",
            ),
            (
                "a.jsonl",
                "{\"timestamp\": 1}\n{\"timestamp\": 2, \"input_length\": 1, \"output_length\": 1}\n",
                "line 2: some",
            ),
            ("a.jsonl", "{\"timestamp\": 1}\n{\"time\": 2}\n", "line 2: missing field `timestamp`"),
            ("a.jsonl", "[]\n", "line 1"),
            ("a.txt", "time_s\n1\n2\n", ".jsonl or .csv"),
        ] {
            let told = read(name, text).unwrap_err();
            assert!(told.starts_with("option trace: ") && told.contains(wanted), "{text:?}: {told}");
        }
        assert!(Trace::read(Path::new("nowhere.csv")).unwrap_err().message.contains("nowhere.csv"));
    }
}
