//! A machine that is gone: another of its class measures what it left undone, as a run of its own.

use crate::world::{Ended, Fate, ID, Keys, World, environment, submission_for};
use skillbench_fleet::collect::{Collected, Collector};
use skillbench_fleet::courier::{Courier, Over, Table};
use skillbench_fleet::failover::{Failover, Plan};
use skillbench_fleet::form::{MachineRun, Submission};
use skillbench_fleet::own::Sources;
use skillbench_fleet::place::{Placed, Present};
use skillbench_fleet::plan::Planned;
use skillbench_fleet::seal::Signer;
use skillbench_fleet::submit::{SubmitError, cancel, find, resume};
use skillbench_fleet::{names, status};
use skillbench_record::{Environment, Run, RunRequest};
use skillbench_session::Event;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// A world in which h1 is gone after its first cell, and in which h2 has such a device.
fn world_without_h1<'k>(keys: &'k Keys, device_of_h2: &str) -> World<'k> {
    let mut world = World::of(keys, submission_for(&["h1".into()], 2, 3));
    world.devices = BTreeMap::from([("h1".into(), "gpu".into()), ("h2".into(), device_of_h2.into())]);
    lose_h1(&world, environment());
    world
}

/// h1 is gone after its first cell; h2 is a machine such as this.
fn lose_h1(world: &World<'_>, h2: Environment) {
    world.submit().unwrap();
    *world.bench.fate.lock() = Some(("p0".into(), 2, Fate::AgentDies));
    assert!(matches!(world.agent(0), Err(Ended::Killed)));
    *world.bench.fate.lock() = None;
    world.agent_as(1, h2).unwrap();
    world.revive();
}

/// The request that h1 was asked, asked of the machines that it was placed on.
fn plan(submission: &Submission, placed: &Placed) -> Result<Planned, SubmitError> {
    let asked = |machine: &String| MachineRun { machine: machine.clone(), ..submission.runs[0].clone() };
    let runs = placed.machines.keys().map(asked).collect();
    Ok(Planned { runs, own: submission.own.clone(), sources: Sources::new(), warnings: vec![] })
}

/// Collects with failover, until `stop`.
fn collect(world: &World<'_>, submission: &Submission) -> Result<(Vec<Run>, Vec<String>), Ended> {
    let plan = |_: &[Present], placed: &Placed, _: &RunRequest| plan(&world.submission, placed);
    let mut collector = Collector::of(&world.courier, &world.keys.me).unwrap();
    collector.failover = Some(Failover { after: Duration::ZERO, plan: &plan });
    world.collect_with(&collector, submission)
}

fn count(run: &Run, told: &str) -> usize {
    let is_told = |cell: &&skillbench_record::Cell| {
        cell.outcome.name() == told || cell.outcome.reason().is_some_and(|reason| reason.code == told)
    };
    run.cells.iter().filter(is_told).count()
}

/// What was measured of all, and where, after h2 has measured what was moved.
fn measured_by_both(world: &World<'_>, moved: &[String]) {
    let [moved] = moved else { panic!("moved once, in place of {moved:?}") };
    let successor = find(&world.courier, &world.trust(), moved).unwrap();
    // The sign of life that h2 gave is over: now it starts. Whoever collects puts lots back that were not sent.
    world.revive();
    resume(&world.courier, &Signer::of(&world.keys.me).unwrap(), &successor).unwrap();
    world.agent(1).unwrap();
    let (runs, further) = collect(world, &successor).unwrap();
    assert_eq!((runs.len(), count(&runs[0], "measured"), further), (1, 5, vec![]));
    assert_eq!(runs[0].environment.fleet.as_ref().unwrap().machine, "h2");
    assert!(world.bench.measured.lock().values().all(|times| *times == 1), "no cell was measured twice");
}

#[test]
fn what_it_left_undone_is_measured_on_another_of_its_class() {
    let keys = Keys::new();
    let world = world_without_h1(&keys, "gpu");
    world.beat("h2");
    let (runs, moved) = collect(&world, &world.submission).unwrap();
    assert_eq!((count(&runs[0], "measured"), count(&runs[0], "failed-over")), (1, 5));
    assert_eq!(status::of(&world.courier, &world.submission).unwrap().state(), "ended");
    assert_eq!(world.courier.jobs(), 2, "those of h2");

    // A machine that comes back begins nothing of it, and whoever collects again moves nothing more.
    world.agent(0).unwrap();
    let (again, the_same) = collect(&world, &world.submission).unwrap();
    assert_eq!((count(&again[0], "measured"), &the_same), (1, &moved));
    measured_by_both(&world, &moved);
    world.verified();
}

/// Collects until two warnings were told: that a machine is silent, and why its cells wait for it.
fn warned(world: &World<'_>, plan: &Plan<'_>) -> Vec<String> {
    let mut collector = Collector::of(&world.courier, &world.keys.me).unwrap();
    collector.failover = Some(Failover { after: Duration::ZERO, plan });
    let (told, began) = (RefCell::new(vec![]), Instant::now());
    let stop = || told.borrow().len() > 1 || began.elapsed() > Duration::from_secs(60);
    let collected = collector.collect(&world.submission, "lab", &world.results(), &stop, &mut |event| {
        if let Event::Warning(text) = event {
            told.borrow_mut().push(text.to_string());
        }
    });
    assert!(matches!(collected.unwrap(), Collected::Stopped));
    told.into_inner()
}

#[test]
fn a_machine_of_another_class_does_not_stand_in() {
    let keys = Keys::new();
    let world = world_without_h1(&keys, "another gpu");
    world.beat("h2");
    let told = warned(&world, &|_, placed, _| plan(&world.submission, placed));
    assert!(told[1].contains("no other machine there has a device like that of p0"), "{told:?}");
    world.agent(0).unwrap();
    assert_eq!(count(&world.collect().unwrap()[0], "measured"), 6, "h1 measures them when it is there again");
}

#[test]
fn functions_are_moved_to_a_machine_with_such_processors_that_has_their_plugin() {
    let keys = Keys::new();
    for (with_functions, processors, is_moved) in
        [(&["h1", "h2"][..], None, true), (&["h1", "h2"], Some("others"), false), (&["h1"], None, false)]
    {
        let mut submission = submission_for(&["h1".into()], 2, 3);
        submission.runs[0].request = RunRequest { functions: true, ..RunRequest::default() };
        let mut world = World::of(&keys, submission);
        world.with_functions = with_functions.iter().map(|name| (*name).to_string()).collect();
        lose_h1(&world, Environment { cpu_model: processors.map(Into::into), ..environment() });
        world.beat("h2");
        if is_moved {
            let (runs, moved) = collect(&world, &world.submission).unwrap();
            assert_eq!((count(&runs[0], "failed-over"), moved.len()), (5, 1));
        } else {
            let told = warned(&world, &|_, placed, _| plan(&world.submission, placed));
            assert!(told[1].contains("no other machine there"), "{with_functions:?} {processors:?}: {told:?}");
        }
    }
}

#[test]
fn a_machine_that_was_gone_before_it_said_that_its_lots_had_ended_leaves_nothing_to_move() {
    let keys = Keys::new();
    let mut world = World::of(&keys, submission_for(&["h1".into()], 1, 1));
    world.devices = BTreeMap::from([("h1".into(), "gpu".into()), ("h2".into(), "gpu".into())]);
    world.agent(1).unwrap();
    let outcome = names::outcome(ID, "h1", &world.submission.runs[0].cells[0].key);
    let mut kill = 0;
    // Killed one call later each time, until the outcome is stored and the end is not.
    loop {
        world.submit().unwrap();
        world.courier.kill_after(Some(kill));
        assert!(matches!(world.agent(0), Err(Ended::Killed)), "it ends its lot before it is killed");
        world.revive();
        if world.courier.stored(&outcome).unwrap().is_some() {
            break;
        }
        world.courier.lose();
        world.agent(1).unwrap();
        kill += 1;
    }
    world.beat("h2");
    let (runs, moved) = collect(&world, &world.submission).unwrap();
    assert_eq!((count(&runs[0], "measured"), moved), (1, vec![]));
}

#[test]
fn cells_are_moved_where_all_of_them_can_be_planned_anew() {
    let keys = Keys::new();
    let world = world_without_h1(&keys, "gpu");
    world.beat("h2");
    let told = warned(&world, &|_, placed, _| {
        let mut planned = plan(&world.submission, placed)?;
        planned.runs[0].cells.truncate(4);
        Ok(planned)
    });
    assert!(told[1].contains("does not know"), "{told:?}");
    assert_eq!(world.courier.jobs(), 2, "those of h1 stay in its queue");
}

#[test]
fn whoever_follows_a_submission_that_was_moved_and_taken_back_finds_where_it_went() {
    let keys = Keys::new();
    let world = world_without_h1(&keys, "gpu");
    world.beat("h2");
    let (_, moved) = collect(&world, &world.submission).unwrap();
    cancel(&world.courier, ID).unwrap();
    std::fs::remove_dir_all(world.results()).unwrap();
    let (runs, again) = collect(&world, &world.submission).unwrap();
    assert_eq!((count(&runs[0], "failed-over"), &again), (5, &moved));
    measured_by_both(&world, &moved);
}

#[test]
fn a_collector_that_is_killed_while_it_moves_them_costs_nothing_wherever_it_is() {
    let keys = Keys::new();
    let mut kill = 0;
    loop {
        let world = world_without_h1(&keys, "gpu");
        world.beat("h2");
        world.courier.kill_after(Some(kill));
        let was_killed = matches!(collect(&world, &world.submission), Err(Ended::Killed));
        world.revive();
        world.beat("h2");
        let collected = collect(&world, &world.submission);
        let (runs, moved) = collected.unwrap_or_else(|error| panic!("killed at {kill}: {error:?}"));
        assert_eq!((count(&runs[0], "measured"), count(&runs[0], "failed-over")), (1, 5), "killed at {kill}");
        measured_by_both(&world, &moved);
        world.verified();
        if !was_killed {
            break;
        }
        kill += 1;
    }
    assert!(kill > 15, "{kill} calls are fewer than moving takes");
}

#[test]
fn a_place_that_was_reserved_and_never_used_is_used() {
    let keys = Keys::new();
    let world = world_without_h1(&keys, "gpu");
    world.beat("h2");
    let key = names::failover(ID, "h1");
    world.courier.write(Table::States, &key, b"20260131-120000-ffffffff", Over::Nothing).unwrap().unwrap();
    let (_, moved) = collect(&world, &world.submission).unwrap();
    assert_eq!(moved, ["20260131-120000-ffffffff"]);
    measured_by_both(&world, &moved);
}
