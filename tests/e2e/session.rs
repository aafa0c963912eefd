//! What commands do, called as a library: one stream of events, a handle that stops it, and nothing printed.

use skillbench_engine::registry::Sources;
use skillbench_engine::run::Inventory;
use skillbench_record::{BackendChoice, Outcome, RunRequest};
use skillbench_session::gate::Asked;
use skillbench_session::{Ended, Event, Keep, MachineLock, Ran, Session, Start};
use skillbench_store::Database;
use skillbench_tests::{World, build_folder};
use skillbench_worker::{Stop, use_executable};

/// Two cells of a small model on an engine that needs nothing from outside.
fn request() -> Start {
    Start::New(Box::new(RunRequest {
        backends: vec![BackendChoice::parse("rten")],
        models: vec!["probe-mlp".into()],
        benchmarks: vec!["inference".into()],
        batch_sizes: vec![1, 4],
        iterations: Some(1),
        budget_s: Some(0.05),
        ..RunRequest::default()
    }))
}

fn session(world: &World) -> Session {
    let folder = world.path().join("results");
    let database = Some(Database::at(folder.join("benchmarks.duckdb")));
    Session {
        keep: Keep { folder, database, matrix: true },
        lock: MachineLock::new(true, None),
        command: vec!["a program of its own".into()],
    }
}

fn inventory(stop: &Stop) -> Inventory {
    use_executable(build_folder().join("skillbench-worker"));
    Inventory::take(&Sources { search: vec![build_folder()], ..Sources::default() }, stop)
}

fn name(event: Event<'_>) -> Option<String> {
    Some(match event {
        Event::Locking => "locking".into(),
        Event::Missing { missing, planned } => format!("{} of {planned} missing", missing.cells.len()),
        Event::RunBegun { names } => format!("run of {}", names.len()),
        Event::CellBegun { index, .. } => format!("begin {index}"),
        Event::CellEnded(cell) => format!("end {}", cell.index),
        Event::Kept(_) => "kept".into(),
        _ => return None,
    })
}

fn measured(ran: &Ran) -> usize {
    ran.kept.recorded.run.cells.iter().filter(|cell| matches!(cell.outcome, Outcome::Measured(_))).count()
}

#[test]
fn a_run_tells_its_events_in_order_and_what_it_kept_is_not_measured_again() {
    let (world, stop) = (World::default(), Stop::default());
    let (mut session, inventory) = (session(&world), inventory(&stop));
    let mut run = |is_incremental| {
        let mut events = vec![];
        let mut on = |event: Event<'_>| events.extend(name(event));
        let ended = session.run(&inventory, request(), &Asked::default(), is_incremental, &mut on).unwrap();
        (ended, events)
    };
    let (Ended::Ran(ran), events) = run(false) else { panic!("it can be run") };
    assert_eq!(events, ["locking", "run of 2", "begin 0", "end 0", "begin 1", "end 1", "kept"]);
    assert_eq!(measured(&ran), 2, "{:?}", ran.kept.recorded.run.cells);
    assert!(ran.kept.failure.is_none() && ran.verdict.is_some());
    assert!(ran.kept.folder.join("journal.ndjson").is_file());
    let (ended, events) = run(true);
    assert!(matches!(ended, Ended::NothingMissing));
    assert_eq!(events, ["locking", "0 of 2 missing"]);
}

#[test]
fn a_run_that_is_stopped_by_its_handle_is_kept_and_goes_on_where_it_was() {
    let (world, stop) = (World::default(), Stop::default());
    let mut session = session(&world);
    let mut stop_at_second = |event: Event<'_>| {
        if matches!(event, Event::CellBegun { index: 1, .. }) {
            stop.ask();
        }
    };
    let ended = session.run(&inventory(&stop), request(), &Asked::default(), false, &mut stop_at_second).unwrap();
    let Ended::Ran(first) = ended else { panic!("it had begun") };
    assert_eq!((measured(&first), first.verdict.is_none()), (1, true));
    let start = Start::resume(&session.keep.folder, &first.kept.recorded.run.run_id).unwrap();
    let inventory = inventory(&Stop::default());
    let ended = session.run(&inventory, start, &Asked::default(), false, &mut |_| {}).unwrap();
    let Ended::Ran(second) = ended else { panic!("it can go on") };
    assert_eq!((measured(&second), &second.kept.folder), (2, &first.kept.folder));
}
