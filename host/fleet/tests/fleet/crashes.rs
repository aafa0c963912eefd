//! Wherever a process is killed: nothing is lost, and nothing counts twice.

use crate::world::{Ended, Keys, World};
use skillbench_record::OutcomeKind;

fn run_with_kills(keys: &Keys, kills: &[u64]) -> u64 {
    let world = World::new(keys);
    for kill in kills {
        world.courier.kill_after(Some(*kill));
        match world.drive() {
            Ok(_) => {}
            Err(Ended::Killed) => world.revive(),
            Err(Ended::Other(why)) => panic!("killed at {kills:?}: {why}"),
        }
    }
    world.revive();
    let runs = world.drive().unwrap_or_else(|error| panic!("killed at {kills:?}: {error:?}"));
    for run in &runs {
        let kinds: Vec<OutcomeKind> = run.cells.iter().map(|cell| cell.outcome.kind()).collect();
        let measured = kinds.iter().filter(|kind| **kind == OutcomeKind::Measured).count();
        assert_eq!((measured, kinds.len()), (6, 7), "killed at {kills:?}");
        assert_eq!(run.environment.fleet.as_ref().unwrap().submitter, "me");
    }
    world.verified();
    assert_eq!(world.courier.jobs(), 0, "killed at {kills:?}");
    world.courier.calls()
}

#[test]
fn a_process_that_is_killed_at_any_call_costs_nothing() {
    let keys = Keys::new();
    let calls = run_with_kills(&keys, &[]);
    assert!(calls > 100, "{calls} calls are fewer than a submission of 12 cells takes");
    for kill in 0..calls {
        run_with_kills(&keys, &[kill]);
    }
}

#[test]
fn processes_that_are_killed_again_and_again_cost_nothing() {
    let keys = Keys::new();
    let mut chance = fastrand::Rng::with_seed(17);
    for _ in 0..60 {
        let kills: Vec<u64> = (0..chance.usize(2..6)).map(|_| chance.u64(1..90)).collect();
        run_with_kills(&keys, &kills);
    }
}

#[test]
fn a_server_that_lost_its_disk_is_filled_again_from_the_spools() {
    let keys = Keys::new();
    let world = World::new(&keys);
    world.submit().unwrap();
    world.agent(0).unwrap();
    world.courier.lose();
    world.drive().unwrap();
    world.verified();
    assert!(world.bench.measured.lock().values().all(|times| *times == 2), "one machine's cells were measured again");
}
