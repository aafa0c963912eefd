//! Backends side by side, with real workers and plugins in C that only pass time: they overlap, each on cores of its own, and the
//! results say so. On Linux, where work can be bound to cores; on one core there is nothing to see.

#![cfg(target_os = "linux")]

mod world;

use skillbench_engine::cores;
use skillbench_record::{BackendChoice, OptionChoice, RunRequest};
use skillbench_record::{Cell, Outcome};
use skillbench_worker::child::WORKER_ARGUMENT;
use std::collections::BTreeSet;
use world::{Seen, World};

/// Workers are this program again, which takes their argument for the name of a test.
#[test]
fn __worker() {
    if std::env::args().nth(1).is_some_and(|first| first == WORKER_ARGUMENT) {
        skillbench_worker::child::run();
    }
}

fn parallel(benchmark: &str, threads: Option<u64>) -> RunRequest {
    RunRequest {
        backends: ["one", "two"].map(BackendChoice::parse).into(),
        benchmarks: vec![benchmark.into()],
        batch_sizes: vec![1, 2],
        budget_s: Some(0.3),
        warmup: Some(1),
        no_verify: true,
        no_precheck: true,
        parallel: true,
        threads,
        ..RunRequest::default()
    }
}

/// Whether the machine has what lanes need; a test of them ends where it has not.
fn lanes() -> bool {
    cores::usable().is_some_and(|cores| cores.len() > 1)
}

fn of<'a>(seen: &'a Seen, plugin: &str) -> Vec<&'a Cell> {
    seen.cells.iter().filter(|cell| cell.plugin == plugin).collect()
}

#[test]
fn backends_with_a_thread_each_overlap_on_cores_of_their_own_and_the_cells_say_so() {
    alone!();
    if !lanes() {
        return;
    }
    let seen = World::default().run(parallel("pause", Some(1)));
    assert!(seen.cells.iter().all(|cell| cell.outcome.metrics().is_some()), "{:?}", seen.cells);
    let record = |plugin: &str| of(&seen, plugin)[0].parallel.clone().unwrap();
    let (one, two) = (record("one"), record("two"));
    assert_eq!((one.lane, two.lane), (1, 2));
    assert_eq!((&one.beside[..], &two.beside[..]), (&["two".to_string()][..], &["one".to_string()][..]));
    assert!(one.cores.iter().all(|core| !two.cores.contains(core)), "{one:?} {two:?}");
    // What the system says of the workers that lived at one moment.
    let bound = |cores: &[usize]| cores.iter().copied().collect::<BTreeSet<usize>>();
    let both = vec![bound(&one.cores), bound(&two.cores)];
    assert!(seen.moments.contains(&both), "{both:?} is not in {:?}", seen.moments);
    assert!(seen.told[0].starts_with("side by side: one on core"), "{:?}", seen.told);
    assert!(seen.told[1].contains("memory bandwidth, caches and turbo are still shared"), "{:?}", seen.told);
}

#[test]
fn each_cell_begins_once_and_ends_once_and_in_a_lane_one_follows_the_other() {
    alone!();
    if !lanes() {
        return;
    }
    let seen = World::default().run(parallel("pause", Some(1)));
    assert_eq!(seen.cells.len(), 4);
    let position = |text: String| seen.order.iter().position(|known| *known == text).unwrap();
    for cell in &seen.cells {
        assert_eq!(seen.order.iter().filter(|text| **text == format!("end {}", cell.index)).count(), 1);
        assert!(position(format!("begin {}", cell.index)) < position(format!("end {}", cell.index)));
    }
    for plugin in ["one", "two"] {
        let cells = of(&seen, plugin);
        assert!(position(format!("end {}", cells[0].index)) < position(format!("begin {}", cells[1].index)));
    }
    let mut places = seen.places.clone();
    places.sort_unstable();
    assert_eq!(places, [(0, 4), (1, 4), (2, 4), (3, 4)]);
}

#[test]
fn backends_that_use_all_cores_run_one_after_the_other_and_the_reason_is_told() {
    alone!();
    if !lanes() {
        return;
    }
    let seen = World::default().run(parallel("pause", None));
    assert!(seen.cells.iter().all(|cell| cell.outcome.metrics().is_some() && cell.parallel.is_none()));
    assert!(seen.moments.iter().all(|moment| moment.len() < 2), "{:?}", seen.moments);
    let told = seen.told.join("\n");
    assert!(
        told.contains("nothing runs side by side: one and two would use all") && told.contains("--threads"),
        "{told}"
    );
}

#[test]
fn a_benchmark_of_the_whole_machine_runs_alone() {
    alone!();
    if !lanes() {
        return;
    }
    let request = RunRequest { benchmarks: vec!["pause".into(), "crowd".into()], ..parallel("pause", Some(1)) };
    let seen = World::default().run(request);
    for cell in &seen.cells {
        assert_eq!(cell.parallel.is_some(), cell.benchmark == "pause", "{cell:?}");
    }
    let ends = |benchmark: &str| {
        let of = seen.cells.iter().enumerate().filter(|(_, cell)| cell.benchmark == benchmark);
        of.map(|(at, _)| at).collect::<Vec<_>>()
    };
    assert!(ends("pause").iter().max() < ends("crowd").iter().min(), "after the others");
    assert!(seen.told.iter().any(|text| text.starts_with("crowd runs alone, after the others")), "{:?}", seen.told);
}

#[test]
fn a_crash_in_one_lane_costs_its_own_cells() {
    alone!();
    if !lanes() {
        return;
    }
    let options = vec![OptionChoice::parse("one:crashes=true").unwrap()];
    let seen = World::default().run(RunRequest { options, ..parallel("pause", Some(1)) });
    assert!(of(&seen, "one").iter().all(|cell| matches!(cell.outcome, Outcome::Crashed(_))));
    assert!(of(&seen, "two").iter().all(|cell| cell.outcome.metrics().is_some()));
    assert!(seen.cells.iter().all(|cell| cell.parallel.is_some()));
}

#[test]
fn a_time_limit_holds_in_every_lane() {
    alone!();
    if !lanes() {
        return;
    }
    let request = RunRequest { timeout_s: Some(0.5), budget_s: Some(60.0), ..parallel("pause", Some(1)) };
    let seen = World::default().run(RunRequest { batch_sizes: vec![1], ..request });
    assert_eq!(seen.cells.len(), 2);
    assert!(seen.cells.iter().all(|cell| matches!(cell.outcome, Outcome::TimedOut(_))), "{:?}", seen.cells);
}

#[test]
fn a_run_that_is_stopped_ends_all_lanes_and_no_cell_that_was_not_over_counts() {
    alone!();
    if !lanes() {
        return;
    }
    let world = World::default();
    let request = RunRequest { budget_s: Some(30.0), ..parallel("pause", Some(1)) };
    let (seen, error) = world.run_until(request, "begin", |_| world.stop.ask());
    assert!(error.is_none() && seen.cells.is_empty(), "none was over: {:?}", seen.cells);
    assert!(seen.took.as_secs() < 10, "{:?}", seen.took);
    assert!(world::children().is_empty(), "no worker is left");
}

#[test]
fn cells_that_are_done_are_not_run_again() {
    alone!();
    if !lanes() {
        return;
    }
    let world = World::default();
    let first = world.run(parallel("pause", Some(1)));
    let done: Vec<Cell> = first.cells.into_iter().filter(|cell| cell.index != 3).collect();
    let again = world.resume(parallel("pause", Some(1)), &done);
    assert_eq!(again.cells.iter().map(|cell| cell.index).collect::<Vec<_>>(), [3]);
    assert!(again.told.iter().any(|text| text.starts_with("nothing runs side by side")), "{:?}", again.told);
}

#[test]
fn an_outcome_that_cannot_be_kept_ends_the_other_lanes_too() {
    alone!();
    if !lanes() {
        return;
    }
    let options = vec![OptionChoice::parse("one:crashes=true").unwrap()];
    let request = RunRequest { options, budget_s: Some(30.0), ..parallel("pause", Some(1)) };
    let (seen, error) = World::default().run_until(request, "full", |_| {});
    assert_eq!(error.unwrap().kind(), std::io::ErrorKind::StorageFull);
    assert!(seen.took.as_secs() < 10, "{:?}", seen.took);
}
