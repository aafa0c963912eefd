//! What is asked of a benchmark of requests that arrive.

use crate::arrivals::Arrivals;
use crate::cores::list;
use crate::limit::{Limit, Metric};
use crate::over_time::OverTime;
use crate::server::{MOST_REQUESTS, SESSIONS};
use crate::session::Batching;
use crate::trace::Trace;
use skillbench_plugin_api::{Error, Options, Result};
use std::ffi::CStr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The most workers of a benchmark with a thread for each.
pub const MOST_WORKERS: usize = 256;

const MOST_USERS: usize = 10_000;
/// An hour.
const MOST_THINK_MS: f64 = 3_600_000.0;

/// The JSON Schema of these options, of what else a benchmark has (`, "key": {...}`), and of which have to be given (`"key"`). One whose workers are
/// more than [`MOST_WORKERS`] says how many, and reads them by [`Asked::read_with`].
#[macro_export]
macro_rules! schema {
    ($more:literal, $required:literal) => {
        $crate::schema!($more, $required, 256)
    };
    ($more:literal, $required:literal, $most_workers:literal) => {
        concat!(
            r#"{
    "type": "object",
    "properties": {
        "scenario": {
            "type": "string",
            "enum": ["single-stream", "multi-stream", "offline", "server", "interactive"],
            "description": "One query after the other, of one item or of a batch; all at once; as they come; or as they come with limits on ttft and tpot. Default: server where a rate or a limit is given, else single-stream"
        },
        "rate": {
            "type": "integer",
            "minimum": 1,
            "maximum": 1000000,
            "description": "Requests a second, of the scenario server"
        },
        "rate_per_hour": {
            "type": "integer",
            "minimum": 1,
            "maximum": 1000000000,
            "description": "The same of requests an hour, for rates that are no whole number a second"
        },
        "arrivals": {
            "type": "string",
            "default": "poisson",
            "pattern": "^(constant|poisson|gamma:[0-9.]+(e-?[0-9]+)?)$",
            "description": "How requests come: constant, poisson, or gamma:SHAPE, which is in bursts for shapes below 1"
        },
        "over_time": {
            "type": "string",
            "default": "steady",
            "pattern": "^(steady|ramp:[0-9.]+-[0-9.]+|steps:[0-9.]+(,[0-9.]+)*)$",
            "description": "How the rate changes in a session, whose mean it stays: steady, ramp:FROM-TO, or steps:RATE,RATE ... which last equally long; only how the rates compare counts"
        },
        "users": {
            "type": "integer",
            "minimum": 1,
            "maximum": 10000,
            "description": "In place of a rate, so many users: each waits for its answer, thinks, and asks again (a closed loop)"
        },
        "think_ms": {
            "type": "number",
            "minimum": 0,
            "maximum": 3600000,
            "default": 0,
            "description": "How long a user thinks before it asks, in milliseconds on average. arrivals says how that varies"
        },
        "trace": {
            "type": "string",
            "format": "content",
            "description": "A file of when requests came, and how long each was: .jsonl as of Mooncake, or .csv. They come as they did, or as often as rate says, all of them in each session"
        },
        "batch_wait_us": {
            "type": "integer",
            "minimum": 0,
            "maximum": 10000000,
            "description": "Requests are of one item each, and as many as the batch has room for are served together; a batch that is not full goes when its first request has waited so many microseconds. Without it a request is a whole batch"
        },
        "slo": {
            "type": "string",
            "pattern": "^\\s*(latency|ttft|tpot)\\.p[0-9.]+\\s*<=\\s*[0-9.]+(e[0-9]+)?\\s*(s|ms|us|µs|ns)\\s*(,\\s*(latency|ttft|tpot)\\.p[0-9.]+\\s*<=\\s*[0-9.]+(e[0-9]+)?\\s*(s|ms|us|µs|ns)\\s*)*$",
            "description": "Limits of how long requests may take, such as latency.p99<=20ms; of tokens ttft.p99<=200ms,tpot.p99<=30ms. Without a rate, the largest rate that keeps them all is searched"
        },
        "workers": {
            "type": "integer",
            "minimum": 1,
            "maximum": "#,
            $most_workers,
            r#",
            "default": 1,
            "description": "Requests that are served at once; others wait in a queue"
        },
        "generator_cores": {
            "type": "integer",
            "minimum": 1,
            "maximum": 64,
            "description": "So many cores are kept for the thread that issues requests; the worker has the others"
        },
        "generator_processors": {
            "type": "string",
            "pattern": "^[0-9]+(,[0-9]+)*$",
            "description": "Which processors these are. The host gives them"
        },
        "mlperf": {
            "type": "string",
            "default": "off",
            "enum": ["on", "off"],
            "description": "on measures for as long as the rules of MLPerf's LoadGen say, and holds the cell against them: 600 s of one query after the other, or three sessions of at least 600 s"
        },
        "budget_s": {
            "type": "number",
            "exclusiveMinimum": 0,
            "default": 30,
            "description": "Seconds of load. The host gives its own budget"
        }"#,
            $more,
            r#"
    },
    "required": ["#,
            $required,
            r#"],
    "additionalProperties": false
}"#,
            "\0"
        )
    };
}

/// What [`schema!`](crate::schema) says, as the contract wants it.
///
/// # Panics
/// At compile time, for a text that does not end where C expects it.
pub const fn text(schema: &str) -> &CStr {
    match CStr::from_bytes_with_nul(schema.as_bytes()) {
        Ok(text) => text,
        Err(_) => panic!("a schema with a zero in it"),
    }
}

/// What is done with the target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Load {
    /// The next query as soon as the last is done.
    Stream,
    /// All requests at once.
    Offline,
    /// So many requests a second.
    Rate(f64),
    /// So many users, each of whom has one request under way, or thinks.
    Users(usize),
    /// The largest rate is searched that keeps the limits.
    Search,
}

/// What requests ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// Items, one or a batch.
    Items,
    /// Tokens, of one sequence.
    Tokens,
}

#[derive(Clone, Debug)]
pub struct Asked {
    pub load: Load,
    /// What `slo` says, as it was given and limit by limit; none: nothing.
    pub slo: String,
    pub limits: Vec<Limit>,
    pub arrivals: Arrivals,
    pub over_time: OverTime,
    /// How long users think, on average.
    pub think: Duration,
    /// Requests as they once came, in place of arrivals.
    pub trace: Option<Arc<Trace>>,
    pub workers: usize,
    pub batching: Batching,
    /// How many requests a worker serves together, at most.
    pub together: usize,
    /// Items of a request.
    pub items: f64,
    pub budget: Duration,
    /// Processors that are kept for the thread that issues requests.
    pub generator: Option<Vec<usize>>,
}

impl Asked {
    /// `batch`: items of the target's batch; 1 of one without any.
    ///
    /// # Errors
    /// `InvalidArgument` for options that say nothing together.
    pub fn read(options: &Options, batch: i64, of: Of) -> Result<Asked> {
        Asked::read_with(options, batch, of, MOST_WORKERS)
    }

    /// As [`Asked::read`], with at most so many workers: those that the benchmark's schema allows.
    ///
    /// # Errors
    /// As for [`Asked::read`].
    pub fn read_with(options: &Options, batch: i64, of: Of, most_workers: usize) -> Result<Asked> {
        let per_hour: Option<i64> = options.parse("rate_per_hour")?;
        let rate = match (options.parse::<i64>("rate")?, per_hour) {
            (Some(_), Some(_)) => return Err(Error::invalid("options rate and rate_per_hour: one of them, not both")),
            (rate, per_hour) => {
                rate.map(|rate| rate as f64).or_else(|| per_hour.map(|per_hour| per_hour as f64 / 3600.0))
            }
        };
        if let Some(rate) = rate
            && rate <= 0.0
        {
            return Err(Error::invalid(format!("option rate: {rate} requests a second are none")));
        }
        let trace = options.get("trace").map(|file| Trace::read(Path::new(file)).map(Arc::new)).transpose()?;
        let rate = rate.or_else(|| trace.as_ref().map(|trace| trace.per_s()));
        let slo = options.get("slo").unwrap_or_default().to_string();
        let limits = if slo.is_empty() { vec![] } else { Limit::all(&slo)? };
        if of == Of::Items && limits.iter().any(Limit::is_of_tokens) {
            let text = format!("option slo: '{slo}' limits tokens, which the benchmark generation-serving has");
            return Err(Error::invalid(text));
        }
        let scenario = match options.get("scenario") {
            Some(INTERACTIVE) => Some(server_for_people(&limits)?),
            scenario => scenario,
        };
        let is_stream = matches!(scenario, Some("single-stream" | "multi-stream"));
        let of_query = if of == Of::Tokens { 1 } else { batch };
        let load = if of == Of::Tokens && is_stream {
            Ok(Load::Stream)
        } else {
            load(scenario, rate, !limits.is_empty(), of_query)
        };
        let (load, think) = match users(options, rate)? {
            Some(_) if matches!(scenario, Some(name) if name != "server") => {
                return Err(Error::invalid("option users: the scenario server has them"));
            }
            Some((users, think)) => (Load::Users(users), think),
            None => (load?, Duration::ZERO),
        };
        if of == Of::Tokens && load == Load::Stream {
            let text = "sequences one after the other are what the benchmark generation has: ask for it, or for --rate, --slo or --scenario offline";
            return Err(Error::invalid(text));
        }
        let workers = match options.parse("workers")?.unwrap_or(1) {
            workers if (1..=most_workers).contains(&workers) => workers,
            other => {
                return Err(Error::invalid(format!("option workers: {other} is not between 1 and {most_workers}")));
            }
        };
        if load == Load::Stream && workers > 1 {
            let text = "requests that come one after the other need one worker: leave --concurrent-workers out, or ask for another scenario";
            return Err(Error::invalid(text));
        }
        for key in ["arrivals", "batch_wait_us"] {
            if matches!(load, Load::Stream | Load::Offline) && options.get(key).is_some() {
                let text = format!("option {key}: only requests of the scenario server arrive one by one");
                return Err(Error::invalid(text));
            }
        }
        if let Some(key) =
            ["arrivals", "over_time"].into_iter().find(|key| trace.is_some() && options.get(key).is_some())
        {
            return Err(Error::invalid(format!("option {key}: requests of a trace come when they came")));
        }
        let over_time = OverTime::parse(options.get("over_time").unwrap_or("steady"))?;
        if over_time != OverTime::Steady && !matches!(load, Load::Rate(_)) {
            let text = "option over_time: only a rate that was asked for changes over time; a search needs steady ones";
            return Err(Error::invalid(text));
        }
        let budget = match options.parse("budget_s")?.unwrap_or(30.0) {
            seconds if (1e-3..=1e6).contains(&seconds) => Duration::from_secs_f64(seconds),
            other => return Err(Error::invalid(format!("option budget_s: {other} s is no time to measure in"))),
        };
        if options.get("mlperf") == Some("on") {
            keeps_rules(options, load, budget / SESSIONS)?;
        }
        let wait = options.parse("batch_wait_us")?;
        let (batching, items) = batching(wait, batch)?;
        let (together, items) = match of {
            Of::Items => (batching.most, items),
            Of::Tokens => (usize::try_from(batch).unwrap_or(1).max(1), 1.0),
        };
        Ok(Asked {
            load,
            slo,
            limits,
            together,
            over_time,
            think,
            trace,
            arrivals: Arrivals::parse(options.get("arrivals").unwrap_or("poisson"))?,
            workers,
            batching,
            items,
            generator: generator(options, load)?,
            budget,
        })
    }
}

/// MLPerf's name for its scenario Server where people read along: both the first token and those after it have a limit.
const INTERACTIVE: &str = "interactive";

fn server_for_people(limits: &[Limit]) -> Result<&'static str> {
    let has = |metric: Metric| limits.iter().any(|limit| limit.metric == metric);
    match has(Metric::FirstToken) && has(Metric::PerOutputToken) {
        true => Ok("server"),
        false => Err(Error::invalid(
            "scenario interactive is for those who read along: give limits on both, such as --slo \"ttft.p99<=500ms,tpot.p99<=50ms\"",
        )),
    }
}

/// `None`: it is anywhere.
fn generator(options: &Options, load: Load) -> Result<Option<Vec<usize>>> {
    match (options.get("generator_cores"), options.get("generator_processors")) {
        (None, _) => Ok(None),
        (Some(_), _) if load == Load::Stream => {
            Err(Error::invalid("option generator_cores: queries one after the other have no thread that issues them"))
        }
        (Some(_), Some(processors)) => list(processors).map(Some),
        (Some(_), None) => {
            Err(Error::invalid("option generator_cores: the host keeps no cores for such a measurement"))
        }
    }
}

/// MLPerf's rules know no such load: whoever asks for both is told before an hour has gone.
fn keeps_rules(options: &Options, load: Load, session: Duration) -> Result<()> {
    let no_rule_has = |what: &str| {
        Err(Error::invalid(format!("option mlperf: LoadGen's rules have {what}: leave the one or the other out")))
    };
    match load {
        Load::Search => return no_rule_has("no search: give the --rate that a search without them found"),
        Load::Users(_) => return no_rule_has("no users who wait for their answers"),
        Load::Rate(per_s) if per_s * session.as_secs_f64() > MOST_REQUESTS as f64 => {
            let text = format!(
                "option mlperf: {per_s} requests a second for {:.0} s are more than the {MOST_REQUESTS} of a session",
                session.as_secs_f64()
            );
            return Err(Error::invalid(text));
        }
        Load::Stream | Load::Offline | Load::Rate(_) => {}
    }
    if options.get("trace").is_some() {
        return no_rule_has("no trace of a load");
    }
    let is_not = |key: &str, usual: &str| options.get(key).is_some_and(|value| value != usual);
    if is_not("arrivals", "poisson") || is_not("over_time", "steady") {
        return no_rule_has("requests that come as in a Poisson process, at one rate");
    }
    Ok(())
}

/// How many users there are, and how long they think; `None`: there are none.
fn users(options: &Options, rate: Option<f64>) -> Result<Option<(usize, Duration)>> {
    let think_ms: Option<f64> = options.parse("think_ms")?;
    let Some(users) = options.parse::<usize>("users")? else {
        return match think_ms {
            Some(_) => {
                Err(Error::invalid("option think_ms: it is users who think: say how many, with the option users"))
            }
            None => Ok(None),
        };
    };
    if rate.is_some() {
        return Err(Error::invalid(
            "option users: they ask when they have their answers, and have no rate and no trace",
        ));
    }
    match (users, think_ms.unwrap_or(0.0)) {
        (1..=MOST_USERS, think_ms) if (0.0..=MOST_THINK_MS).contains(&think_ms) => {
            Ok(Some((users, Duration::from_secs_f64(think_ms * 1e-3))))
        }
        (users, think_ms) => Err(Error::invalid(format!(
            "options users and think_ms: {users} users who think for {think_ms} ms; expected 1 to {MOST_USERS}, and 0 to {MOST_THINK_MS} ms"
        ))),
    }
}

/// How requests are put together, and how many items each has.
fn batching(wait_us: Option<i64>, batch: i64) -> Result<(Batching, f64)> {
    match (wait_us, usize::try_from(batch)) {
        (None, _) => Ok((Batching::NONE, batch as f64)),
        (Some(wait @ 0..=10_000_000), Ok(most @ 1..)) => {
            Ok((Batching { most, wait: Duration::from_micros(wait as u64) }, 1.0))
        }
        (Some(wait), _) => Err(Error::invalid(format!(
            "option batch_wait_us: {wait} us with a batch of {batch}; expected a time from 0 to 10000000, and a batch of 1 or more"
        ))),
    }
}

/// `limited`: there are limits.
fn load(scenario: Option<&str>, rate: Option<f64>, limited: bool, batch: i64) -> Result<Load> {
    let alone = |load: Load, name: &str| match (rate, limited) {
        (None, false) => Ok(load),
        _ => Err(Error::invalid(format!("scenario {name} has neither rate nor slo; the scenario server has"))),
    };
    match (scenario, rate, limited) {
        (Some("multi-stream"), ..) if batch < 2 => {
            Err(Error::invalid("scenario multi-stream is of queries of several items: ask for a batch, such as 8"))
        }
        (Some(name @ "single-stream"), ..) if batch > 1 => {
            Err(Error::invalid(format!("scenario {name} is of queries of one item; one of {batch} is multi-stream")))
        }
        (Some(name @ ("single-stream" | "multi-stream")), ..) => alone(Load::Stream, name),
        (Some(name @ "offline"), ..) => alone(Load::Offline, name),
        (None, None, false) => Ok(Load::Stream),
        (Some("server"), None, false) => {
            Err(Error::invalid("scenario server needs a rate, or an slo for which the largest rate is searched"))
        }
        (Some("server") | None, Some(rate), _) => Ok(Load::Rate(rate)),
        (Some("server") | None, None, true) => Ok(Load::Search),
        (Some(other), ..) => Err(Error::invalid(format!("option scenario: there is no scenario '{other}'"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_says_what_is_done() {
        assert_eq!(load(None, None, false, 4).unwrap(), Load::Stream);
        assert_eq!(load(None, Some(5.0), false, 1).unwrap(), Load::Rate(5.0));
        assert_eq!(load(Some("server"), Some(5.0), true, 1).unwrap(), Load::Rate(5.0));
        assert_eq!(load(None, None, true, 1).unwrap(), Load::Search);
        assert_eq!(load(Some("offline"), None, false, 1).unwrap(), Load::Offline);
    }

    #[test]
    fn workers_are_as_many_as_the_schema_allows() {
        for (schema, most) in [(crate::schema!("", ""), MOST_WORKERS), (crate::schema!("", "", 8192), 8192)] {
            let schema: serde_json::Value = serde_json::from_str(schema.trim_end_matches('\0')).unwrap();
            assert_eq!(schema["properties"]["workers"]["maximum"], most);
            let asked = |workers: usize| {
                let options = [("workers", workers.to_string()), ("rate", "5".into())];
                let options = Options(options.map(|(key, value)| (key.to_string(), value)).into());
                Asked::read_with(&options, 1, Of::Items, most).map(|asked| asked.workers)
            };
            assert_eq!(asked(most).unwrap(), most);
            assert!(
                asked(most + 1).unwrap_err().message.contains(&format!("between 1 and {most}")) && asked(0).is_err()
            );
        }
    }

    #[test]
    fn without_a_wait_a_request_is_a_batch_and_with_one_it_is_an_item() {
        assert_eq!(batching(None, 8).unwrap(), (Batching::NONE, 8.0));
        let eight = Batching { most: 8, wait: Duration::from_millis(2) };
        assert_eq!(batching(Some(2_000), 8).unwrap(), (eight, 1.0));
        let one = Batching { most: 1, wait: Duration::ZERO };
        assert_eq!(batching(Some(0), 1).unwrap(), (one, 1.0));
        for (wait, batch) in [(-1, 8), (10_000_001, 8), (0, 0)] {
            assert!(batching(Some(wait), batch).is_err(), "{wait} {batch}");
        }
    }

    #[test]
    fn what_says_nothing_together_is_refused() {
        for (scenario, rate, limited, batch) in [
            ("server", None, false, 1),
            ("offline", Some(5.0), false, 1),
            ("single-stream", None, true, 1),
            ("single-stream", None, false, 8),
            ("multi-stream", None, false, 1),
        ] {
            assert!(load(Some(scenario), rate, limited, batch).is_err(), "{scenario}");
        }
    }

    #[test]
    fn users_come_in_place_of_a_rate() {
        let asked = |pairs: &[(&str, &str)]| {
            let all = pairs.iter().map(|(key, value)| ((*key).into(), (*value).into()));
            Asked::read(&Options(all.collect()), 1, Of::Items)
        };
        let closed = asked(&[("users", "8"), ("think_ms", "2.5"), ("slo", "latency.p99<=1s")]).unwrap();
        assert_eq!((closed.load, closed.think), (Load::Users(8), Duration::from_micros(2_500)));
        let always = asked(&[("users", "1"), ("scenario", "server"), ("arrivals", "gamma:4")]).unwrap();
        assert_eq!((always.load, always.think), (Load::Users(1), Duration::ZERO));
        for (pairs, wanted) in [
            (&[("users", "8"), ("rate", "5")][..], "have no rate"),
            (&[("think_ms", "5"), ("rate", "5")], "say how many"),
            (&[("users", "8"), ("scenario", "offline")], "the scenario server"),
            (&[("users", "8"), ("over_time", "ramp:0-1")], "only a rate"),
            (&[("users", "0")], "expected 1 to 10000"),
            (&[("users", "10001")], "expected 1 to 10000"),
            (&[("users", "1"), ("think_ms", "-1")], "0 to 3600000 ms"),
            (&[("users", "1"), ("think_ms", "nan")], "0 to 3600000 ms"),
        ] {
            let told = asked(pairs).unwrap_err().message;
            assert!(told.contains(wanted), "{pairs:?}: {told}");
        }
    }

    #[test]
    fn processors_of_the_generator_are_those_that_the_host_says() {
        let asked = |pairs: &[(&str, &str)]| {
            let all = pairs.iter().map(|(key, value)| ((*key).into(), (*value).into()));
            Asked::read(&Options(all.collect()), 1, Of::Items)
        };
        let (load, cores, told) = (("rate", "5"), ("generator_cores", "1"), ("generator_processors", "3,7"));
        assert_eq!(asked(&[load, cores, told]).unwrap().generator, Some(vec![3, 7]));
        assert_eq!(asked(&[load]).unwrap().generator, None);
        assert!(asked(&[load, cores]).unwrap_err().message.contains("keeps no cores"));
        assert!(asked(&[cores, told]).unwrap_err().message.contains("no thread that issues"));
    }

    #[test]
    fn rules_of_mlperf_are_of_loads_that_they_have() {
        let asked = |pairs: &[(&str, &str)]| {
            let all = [("mlperf", "on")].iter().chain(pairs).map(|(key, value)| ((*key).into(), (*value).into()));
            Asked::read(&Options(all.collect()), 1, Of::Items)
        };
        for load in [&[("rate", "5"), ("arrivals", "poisson")][..], &[("scenario", "offline")], &[]] {
            asked(load).unwrap();
        }
        for (load, wanted) in [
            (&[("slo", "latency.p99<=1s")][..], "no search"),
            (&[("users", "5")], "no users"),
            (&[("rate", "2000"), ("budget_s", "1980")], "for 660 s are more than the 1000000"),
            (&[("rate", "5"), ("arrivals", "constant")], "Poisson"),
            (&[("rate", "5"), ("over_time", "ramp:1-2")], "Poisson"),
        ] {
            let told = asked(load).unwrap_err().message;
            assert!(told.contains(wanted), "{load:?}: {told}");
        }
    }

    #[test]
    fn interactive_is_the_server_with_a_limit_on_the_first_token_and_on_those_after_it() {
        let asked = |slo: &str| {
            let pairs = [("scenario", INTERACTIVE), ("rate", "2"), ("slo", slo)];
            Asked::read(&Options(pairs.map(|(key, value)| (key.into(), value.into())).into()), 1, Of::Tokens)
        };
        assert_eq!(asked("ttft.p99<=1s,tpot.p99<=50ms").unwrap().load, Load::Rate(2.0));
        for slo in ["ttft.p99<=1s", "tpot.p99<=1s", "latency.p99<=1s,tpot.p99<=1s"] {
            assert!(asked(slo).unwrap_err().message.contains("limits on both"), "{slo}");
        }
    }

    #[test]
    fn a_trace_has_its_own_rate_and_its_own_arrivals() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("one.csv");
        let times: String = (0..13).map(|number| format!("{}\n", 2 * number)).collect();
        std::fs::write(&file, format!("time_s\n{times}")).unwrap();
        let asked = |pairs: &[(&str, &str)]| {
            let trace = [("trace", file.to_str().unwrap())];
            let all = trace.iter().chain(pairs).map(|(key, value)| ((*key).into(), (*value).into()));
            Asked::read(&Options(all.collect()), 1, Of::Items)
        };
        assert_eq!(asked(&[]).unwrap().load, Load::Rate(0.5));
        assert_eq!(asked(&[("rate", "7"), ("slo", "latency.p99<=1s")]).unwrap().load, Load::Rate(7.0));
        for pair in [("arrivals", "constant"), ("over_time", "ramp:0-1")] {
            assert!(asked(&[pair]).unwrap_err().message.contains("requests of a trace"), "{pair:?}");
        }
        for scenario in ["offline", "single-stream"] {
            assert!(asked(&[("scenario", scenario)]).is_err(), "{scenario} has no arrivals");
        }
    }
}
