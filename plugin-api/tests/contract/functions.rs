//! Plain functions as benchmarks, through the table that `export_plugin!` makes of their list.

use crate::loading::host;
use crate::sdk::plugin;
use skillbench_plugin_api::client::BenchmarkRef;
use skillbench_plugin_api::host_tables::{ReporterServices, ReporterTable};
use skillbench_plugin_api::sdk::{Better, Metrics};
use skillbench_plugin_api::{Code, Error, Options, Result, Round, RoundKind, SeriesInfo, SeriesKind, Why};
use std::cell::Cell;
use std::sync::Mutex;
use std::time::{Duration, Instant};

pub fn run_steps() -> Metrics {
    std::thread::sleep(Duration::from_millis(2));
    let metrics = Metrics::new().items(50).bytes("table", 4096).duration("first half", Duration::from_millis(1));
    metrics.with("hit_rate", 0.5, "", Better::Higher).with("read", 1e6, "B/s", Better::Higher)
}

pub fn benchmark_nothing() {}

pub fn run_reading() -> Result<Metrics, std::io::Error> {
    std::fs::read("there/is/no/such/file").map(|bytes| Metrics::new().bytes("read", bytes.len() as u64))
}

pub fn run_without_driver() -> Result<Metrics> {
    Err(Error::unavailable(Why::DRIVER, "no driver was found: install one"))
}

pub fn run_panicking() {
    panic!("the floor is gone");
}

pub fn run_inventing() -> Metrics {
    Metrics::new().with("execution_time", 1e-9, "s", Better::Lower)
}

pub fn run_twice_the_name() -> Metrics {
    Metrics::new().bytes("table", 1).bytes("table", 2)
}

thread_local! {
    static CALLS: Cell<u64> = const { Cell::new(0) };
}

pub fn run_ever_more() -> Metrics {
    Metrics::new().items(CALLS.replace(CALLS.get() + 1) + 1)
}

pub mod nested {
    pub fn benchmark_in_a_module() {}
}

fn benchmark(id: &str) -> BenchmarkRef {
    let all = plugin().benchmarks().unwrap();
    all.into_iter().find(|benchmark| benchmark.id() == id).unwrap_or_else(|| panic!("no benchmark '{id}'"))
}

/// Gives out a round to warm up and two measured ones, of three calls each.
#[derive(Default)]
struct Reporter(Mutex<Vec<Seen>>);

struct Seen {
    info: SeriesInfo,
    rounds: u64,
    asked: Option<Instant>,
    values: Vec<f64>,
    singles: Vec<f64>,
}

impl ReporterServices for Reporter {
    fn series(&self, info: SeriesInfo) -> Result<u32> {
        let mut all = self.0.lock().unwrap();
        all.push(Seen { info, rounds: 0, asked: None, values: vec![], singles: vec![] });
        Ok(all.len() as u32 - 1)
    }

    fn next_round(&self, series: u32) -> Option<Round> {
        let seen = &mut self.0.lock().unwrap()[series as usize];
        seen.rounds += 1;
        seen.asked = Some(Instant::now());
        let kind = if seen.rounds == 1 { RoundKind::WarmUp } else { RoundKind::Measured };
        (seen.rounds <= 3).then_some(Round { id: seen.rounds, kind, iterations: 3, settle: 0 })
    }

    fn samples(&self, series: u32, round: u64, values: &[f64]) -> Result<()> {
        let seen = &mut self.0.lock().unwrap()[series as usize];
        match round {
            0 => seen.singles.extend_from_slice(values),
            1 => assert_eq!(values.len(), 3),
            _ => {
                let took = seen.asked.unwrap().elapsed().as_nanos() as f64;
                assert!(values.len() == 3 && values.iter().sum::<f64>() <= took, "more time than the round took");
                seen.values.extend_from_slice(values);
            }
        }
        Ok(())
    }

    fn attach(&self, _: &str, _: &[u8]) {}
}

fn run(id: &str) -> (Result<()>, Vec<Seen>) {
    let reporter = Reporter::default();
    let outcome = benchmark(id).run(host(), None, &Options::default(), &ReporterTable::new(&reporter));
    (outcome, reporter.0.into_inner().unwrap())
}

fn find<'s>(seen: &'s [Seen], name: &str) -> &'s Seen {
    seen.iter().find(|series| series.info.name == name).unwrap_or_else(|| panic!("no series '{name}'"))
}

#[test]
fn a_listed_function_is_a_benchmark_that_needs_no_target() {
    let bare = benchmark("run_steps");
    assert!(!bare.needs_target() && !bare.cold_start() && bare.skill().is_none());
    assert_eq!((bare.category().as_str(), bare.version().as_str()), ("", env!("CARGO_PKG_VERSION")));
    let told = benchmark("benchmark_nothing");
    assert_eq!((told.category().as_str(), told.version().as_str()), ("unit", "2"));
    assert_eq!((told.skill().as_deref(), told.summary().as_str()), (Some("bert-tiny"), "Does nothing"));
}

#[test]
fn a_function_in_a_module_is_known_by_its_own_name() {
    assert_eq!(benchmark("benchmark_in_a_module").category(), "integration");
}

#[test]
fn types_and_functions_stand_side_by_side_in_one_plugin() {
    assert!(
        benchmark("counting").run(host(), None, &Options::default(), &ReporterTable::new(&Reporter::default())).is_ok()
    );
}

#[test]
fn each_call_is_timed_from_outside_and_the_first_apart() {
    let (outcome, seen) = run("run_steps");
    outcome.unwrap();
    let (first, execution) = (find(&seen, "first_execution"), find(&seen, "execution_time"));
    assert_eq!((first.singles.len(), execution.values.len()), (1, 6));
    assert!(first.singles.iter().chain(&execution.values).all(|ns| *ns >= 2e6));
    assert!(execution.info.unit == "ns" && execution.info.items_per_sample == 50.0);
}

#[test]
fn what_a_function_returns_is_reported_under_its_own_names_for_measured_calls_alone() {
    let (_, seen) = run("run_steps");
    let of = |name: &str| {
        let series = find(&seen, name);
        (series.info.kind, series.info.unit.as_str(), series.info.higher_is_better, series.singles.clone())
    };
    assert_eq!(of("table"), (SeriesKind::Bytes, "B", Some(false), vec![4096.0; 6]));
    assert_eq!(of("first half"), (SeriesKind::Duration, "ns", Some(false), vec![1e6; 6]));
    assert_eq!(of("hit_rate"), (SeriesKind::Ratio, "", Some(true), vec![0.5; 6]));
    assert_eq!(of("read"), (SeriesKind::Rate, "B/s", Some(true), vec![1e6; 6]));
}

#[test]
fn a_function_that_returns_nothing_is_still_timed() {
    let (outcome, seen) = run("benchmark_nothing");
    outcome.unwrap();
    assert_eq!(seen.len(), 2);
}

#[test]
fn an_error_keeps_its_text_and_one_of_ours_its_code() {
    let error = run("run_reading").0.unwrap_err();
    assert!(error.code == Code::Internal && error.message.contains("No such file"), "{error}");
    let error = run("run_without_driver").0.unwrap_err();
    assert_eq!((error.code, error.why), (Code::Unavailable, Why::DRIVER));
    assert!(run("run_without_driver").1.is_empty(), "no figure comes of a function that failed");
}

#[test]
fn a_panic_is_an_error_with_its_text() {
    let error = run("run_panicking").0.unwrap_err();
    assert_eq!((error.code, error.message.as_str()), (Code::Internal, "panicked: the floor is gone"));
}

#[test]
fn a_function_cannot_report_its_own_time() {
    let (outcome, seen) = run("run_inventing");
    assert!(outcome.unwrap_err().message.contains("'execution_time', which the host measures itself"));
    assert!(seen.is_empty());
}

#[test]
fn a_name_stands_for_one_figure_of_a_call() {
    assert!(run("run_twice_the_name").0.unwrap_err().message.contains("two figures named 'table'"));
}

#[test]
fn a_throughput_needs_the_same_items_in_each_call() {
    let error = run("run_ever_more").0.unwrap_err();
    assert!(error.message.contains("2 items, and on 1 before"), "{error}");
}
