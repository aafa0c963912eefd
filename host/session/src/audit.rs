//! A stored run, measured again with other seeds: which of its numbers stand.
//!
//! As the least what LoadGen's compliance tests ask for: outputs while it is timed (TEST01), no result that was kept (TEST04), other
//! seeds (TEST05). Every model is loaded anew, so that its memory lies elsewhere.

use crate::event::Listener;
use crate::gate::Asked;
use crate::recorded::held;
use crate::run::{Ended, Session, SessionError, Start};
use skillbench_engine::run::Inventory;
use skillbench_record::{Cell, CellName, Metrics, OptionChoice, RunRequest};
use skillbench_stats::compare::{Metric, Noise};
use skillbench_store::Recorded;

/// How much slower a number may come out again, where nobody measured the noise of this machine.
const ASSUMED: f64 = 0.25;

/// How often what came out slower is measured once more: a neighbour on the machine slows a run down, and is gone in the next.
const REPEATS: usize = 2;

/// A number, and what became of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Number {
    pub cell: CellName,
    /// Milliseconds for an item, as the run has it, and again.
    pub before: f64,
    pub again: Option<f64>,
    /// Why it does not stand; `None`: it does.
    pub fails: Option<String>,
    /// It fails because it came out slower: another measurement may tell otherwise.
    slower: bool,
}

impl Number {
    /// Holds another measurement of the same number against the first: a fault of either counts, and of two times the shorter.
    fn once_more(&mut self, other: Self) {
        let faulty = other.fails.is_some() && !other.slower;
        if faulty || other.again < self.again {
            *self = other;
        }
    }
}

/// Milliseconds for each item, by whichever figure the cell has.
fn milliseconds(metrics: &Metrics) -> Option<f64> {
    let of_rate = |rate: Option<f64>| rate.filter(|rate| *rate > 0.0).map(|rate| 1e3 / rate);
    let latency = metrics.latency_ms.as_ref().map(|latency| latency.median);
    latency.or_else(|| of_rate(metrics.throughput_per_s)).or_else(|| of_rate(metrics.sequential_per_s))
}

fn number(cell: &Cell) -> Option<f64> {
    cell.outcome.metrics().and_then(milliseconds)
}

/// Chooses so many measured cells of a run, by chance, and asks for them again with this seed, or one by chance. `None`: it has no
/// figure.
pub fn request(recorded: &Recorded, cells: usize, seed: Option<u64>) -> Option<RunRequest> {
    // A seed that fits into every document.
    let seed = seed.unwrap_or_else(|| fastrand::u64(..1 << 48));
    let stored = recorded.request.clone()?;
    let mut measured: Vec<&Cell> = recorded.run.cells.iter().filter(|cell| number(cell).is_some()).collect();
    let mut rng = fastrand::Rng::with_seed(seed);
    rng.shuffle(&mut measured);
    measured.truncate(cells);
    measured.sort_by_key(|cell| cell.index);
    let exactly: Vec<CellName> = measured.iter().map(|cell| CellName::of(cell)).collect();
    if exactly.is_empty() {
        return None;
    }
    Some(RunRequest {
        exactly,
        seed: Some(seed),
        no_verify: false,
        verify_only: false,
        no_resource_pool: true,
        parallel: false,
        ..stored
    })
}

impl Session {
    /// Measures what [`request`] chose, and says of each number whether it stands. What came out slower is measured up to twice more,
    /// and its fastest counts. Of its options those that are `named` may be paths,
    /// see [`recorded`](mod@crate::recorded). `None`: it was stopped.
    ///
    /// # Errors
    /// As for [`Session::run`].
    pub fn audit(
        &mut self,
        inventory: &Inventory,
        recorded: &Recorded,
        request: RunRequest,
        named: &[OptionChoice],
        noise: &Noise,
        on: &mut Listener<'_>,
    ) -> Result<Option<Vec<Number>>, SessionError> {
        held(inventory, &request, named)?;
        let mut numbers: Vec<Number> = Vec::new();
        let mut names = request.exactly.clone();
        let mut seeds = fastrand::Rng::with_seed(request.seed.unwrap_or_default());
        for round in 0..=REPEATS {
            // A repeat with the same inputs would let a plugin that keeps its answers look fast.
            let seed = if round == 0 { request.seed } else { Some(seeds.u64(..1 << 48)) };
            let request = RunRequest { exactly: names, seed, ..request.clone() };
            let ended = self.run(inventory, Start::New(Box::new(request.clone())), &Asked::default(), false, on)?;
            let Ended::Ran(ran) = ended else { return Ok(None) };
            for name in request.exactly {
                let Some(before) = find(&recorded.run.cells, &name).and_then(number) else { continue };
                let again = find(&ran.kept.recorded.run.cells, &name);
                let judged = judge(name, before, again, noise);
                match numbers.iter_mut().find(|number| number.cell == judged.cell) {
                    Some(number) => number.once_more(judged),
                    None => numbers.push(judged),
                }
            }
            names = numbers.iter().filter(|number| number.slower).map(|number| number.cell.clone()).collect();
            if names.is_empty() {
                break;
            }
        }
        Ok(Some(numbers))
    }
}
fn find<'a>(cells: &'a [Cell], name: &CellName) -> Option<&'a Cell> {
    cells.iter().find(|cell| {
        (&cell.plugin, &cell.skill, &cell.benchmark, &cell.axes)
            == (&name.plugin, &name.model, &name.benchmark, &name.axes)
            && name.device.as_ref().is_none_or(|device| cell.device.is_empty() || *device == cell.device)
    })
}

fn judge(name: CellName, before: f64, again: Option<&Cell>, noise: &Noise) -> Number {
    let latency = Metric::new(Metric::LATENCY, "ms", false);
    let most = match noise.floor(&[&name.plugin], &latency, false) {
        (floor, skillbench_stats::compare::FloorFrom::Measured { .. }) => floor.max(ASSUMED),
        _ => ASSUMED,
    };
    let value = again.and_then(number);
    let mut slower = false;
    let fails = match (again, value) {
        (None, _) => Some("it was not measured again".into()),
        (Some(cell), None) => Some(cell.outcome.reason().map_or_else(
            || "it has no figure".into(),
            |reason| format!("{}: {}", cell.outcome.name(), reason.message),
        )),
        (Some(cell), _) if !cell.implausible.is_empty() => {
            Some(format!("implausible: {}", cell.implausible.join("; ")))
        }
        (Some(cell), _) if cell.audit.as_ref().is_none_or(|audit| audit.inputs == 0) => {
            Some("no outputs could be held against another engine".into())
        }
        (Some(_), Some(value)) if value > before * (1.0 + most) => {
            slower = true;
            Some(format!("{:.2} times as slow with other inputs, and {:.0}% is noise", value / before, most * 100.0))
        }
        _ => None,
    };
    Number { cell: name, before, again: value, fails, slower }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skillbench_record::{Audit, Axes, Outcome, Reason};

    fn name() -> CellName {
        CellName { plugin: "p".into(), device: None, model: "m".into(), benchmark: "b".into(), axes: Axes::new() }
    }

    fn cell(inputs: u64) -> Cell {
        Cell {
            audit: Some(Audit { inputs, ..Audit::default() }),
            outcome: Outcome::Wrong(Reason::new("wrong-output", "other outputs")),
            ..Cell::blank()
        }
    }

    fn timed(again: f64, fails: Option<&str>, slower: bool) -> Number {
        Number { cell: name(), before: 1.0, again: Some(again), fails: fails.map(Into::into), slower }
    }

    #[test]
    fn of_repeats_the_fastest_counts_and_a_fault_counts_for_all() {
        let mut number = timed(2.0, Some("slow"), true);
        number.once_more(timed(3.0, Some("slower"), true));
        assert_eq!(number.again, Some(2.0));
        number.once_more(timed(1.1, None, false));
        assert_eq!((number.again, number.fails.is_none()), (Some(1.1), true));
        number.once_more(timed(1.2, Some("wrong"), false));
        assert_eq!(number.fails.as_deref(), Some("wrong"));
    }

    #[test]
    fn a_cell_that_is_wrong_with_other_seeds_does_not_stand() {
        let judged = judge(name(), 1.0, Some(&cell(4)), &Noise::default());
        assert!(judged.fails.unwrap().contains("other outputs"));
        assert!(judge(name(), 1.0, None, &Noise::default()).fails.is_some());
    }
}
