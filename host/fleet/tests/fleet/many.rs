//! Many machines at once. `SKILLBENCH_TEST_MACHINES=10000` and `SKILLBENCH_TEST_CELLS=100` (of each machine) make it more.

use crate::world::{Keys, World, environment, submission_for};

/// So many at a time: an agent waits more than it computes.
const AT_ONCE: usize = 50;

fn asked(variable: &str, without: usize) -> usize {
    std::env::var(variable).map_or(without, |text| text.parse().unwrap())
}

#[test]
fn a_thousand_machines_measure_one_submission_and_each_cell_counts_once() {
    let (machines, cells) = (asked("SKILLBENCH_TEST_MACHINES", 1000), asked("SKILLBENCH_TEST_CELLS", 1));
    let keys = Keys::new();
    let names: Vec<String> = (0..machines).map(|number| format!("h{number}")).collect();
    let world = World::of(&keys, submission_for(&names, 1, cells));
    world.submit().unwrap();
    std::thread::scope(|scope| {
        for share in names.chunks(machines.div_ceil(AT_ONCE)) {
            let world = &world;
            scope.spawn(move || {
                for name in share {
                    world.agent_with(&world.keys.site, name, environment(), &mut |_| {}).unwrap();
                }
            });
        }
    });

    // What was collected is let go before it is held against what was signed: a million cells twice are more than fits into memory.
    let runs = world.collect().unwrap().len();
    assert_eq!(runs, machines);
    world.verified();
    let measured = world.bench.measured.lock();
    // All machines have the same cells.
    assert!(measured.len() == cells && measured.values().all(|times| *times == machines));
}
