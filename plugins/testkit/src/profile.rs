//! What operators cost, as the engine tells it.

use crate::probe::{self, INPUT};
use crate::{Sizes, load_of};
use skillbench_plugin_api::client::Instance;
use skillbench_plugin_api::{Code, Load, Operator};
use std::time::{Duration, Instant};

/// Rows of the probe's input, so that its products take longer than a clock of microseconds ticks.
const ROWS: usize = 2048;
const WARM_UP: usize = 2;
pub const RUNS: usize = 4;

/// What was recorded of the probe model, and how long each run took.
pub struct Recorded {
    pub operators: Vec<Operator>,
    pub walls: Vec<Duration>,
    /// The longest of those before the recording.
    pub warm_up: Duration,
}

/// The probe model has two products and what lies between. Whatever the engine made of that, operators run one after the other: they
/// add up to no more than their run took, however many threads compute each.
pub fn the_products_of_the_probe_are_told_and_fit_into_its_runs(instance: &Instance, sizes: Sizes) -> Recorded {
    let recorded = record(instance, sizes);
    let product = |operator: &&Operator| {
        ["matmul", "gemm", "fullyconnected"].iter().any(|kind| operator.kind.to_lowercase().contains(kind))
    };
    let of_run = |run: Option<u64>| recorded.operators.iter().filter(move |operator| operator.run == run);
    // Means are told once for all runs.
    let means = recorded.operators.iter().all(|operator| operator.run.is_none());
    let most = recorded.walls.iter().copied().max().unwrap_or_default().max(recorded.warm_up);
    let expected = match means {
        true => vec![(None, most)],
        false => (0_u64..).map(Some).zip(recorded.walls.iter().copied()).collect(),
    };
    for (run, wall) in expected {
        let products: Vec<&Operator> = of_run(run).filter(product).collect();
        assert_eq!(products.len(), 2, "run {run:?}: {:?}", recorded.operators);
        assert!(products.iter().all(|operator| operator.duration_ns > 0 && !operator.as_seen_by_host), "{products:?}");
        let sum: u64 = of_run(run).map(|operator| operator.duration_ns).sum();
        assert!(u128::from(sum) <= wall.as_nanos(), "run {run:?}: {sum} ns of {wall:?}");
        // A clock that ticks in microseconds.
        let ends = of_run(run).filter_map(|operator| Some(operator.start_ns? + operator.duration_ns));
        assert!(ends.max().unwrap_or(0) as u128 <= wall.as_nanos() + 1_000, "within the run");
    }
    let id = &instance.devices().unwrap()[0].id;
    assert!(recorded.operators.iter().all(|operator| operator.device == *id), "{:?}", recorded.operators);
    recorded
}

fn record(instance: &Instance, sizes: Sizes) -> Recorded {
    let load = Load { profile: true, ..sizes.load(&probe::path(), &[("batch", ROWS as i64)]) };
    let model = instance.load(&load).unwrap();
    let recording = instance.recording(&model).expect("the engine has a profile");
    let mut request = probe::bound(&model, &vec![0.5; ROWS * INPUT]);
    let mut timed = || {
        let start = Instant::now();
        request.run().unwrap();
        start.elapsed()
    };
    let warm_up = (0..WARM_UP).map(|_| timed()).max().unwrap_or_default();
    recording.begin().unwrap();
    let walls: Vec<Duration> = (0..RUNS).map(|_| timed()).collect();
    let operators = recording.end().unwrap();
    let known = operators.iter().filter_map(|operator| operator.run);
    assert!(known.clone().all(|run| run < RUNS as u64) && known.max().is_none_or(|last| last == RUNS as u64 - 1));
    Recorded { operators, walls, warm_up }
}

/// A model that is to be measured is not slowed down by a recording.
pub fn a_model_that_is_measured_records_nothing(instance: &Instance) {
    let model = instance.load(&load_of(&probe::path())).unwrap();
    let error = instance.recording(&model).unwrap().begin().unwrap_err();
    assert_eq!(error.code, Code::FailedPrecondition);
}
