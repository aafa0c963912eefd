//! Many machines at once.

use crate::world::{Keys, World, environment, submission_for};

const MACHINES: usize = 1000;
/// So many at a time: an agent waits more than it computes.
const AT_ONCE: usize = 50;

#[test]
fn a_thousand_machines_measure_one_submission_and_each_cell_counts_once() {
    let keys = Keys::new();
    let names: Vec<String> = (0..MACHINES).map(|number| format!("h{number}")).collect();
    let world = World::of(&keys, submission_for(&names, 1, 1));
    world.submit().unwrap();
    std::thread::scope(|scope| {
        for share in names.chunks(MACHINES.div_ceil(AT_ONCE)) {
            let world = &world;
            scope.spawn(move || {
                for name in share {
                    world.agent_with(&world.keys.site, name, environment(), &mut |_| {}).unwrap();
                }
            });
        }
    });

    let runs = world.collect().unwrap();
    assert_eq!(runs.len(), MACHINES);
    world.verified();
    let measured = world.bench.measured.lock();
    // All machines have the same cell.
    assert_eq!(measured.values().collect::<Vec<_>>(), [&MACHINES]);
}
