//! What was begun of a lot, and by whom. A cell that was begun three times and never ended, by two processes of agents at least, takes agents
//! or machines down: it is told as that, and the rest of its lot goes on.

use serde::{Deserialize, Serialize};

/// So many times a cell is begun.
const MOST_STARTS: usize = 3;

/// Kept under `MACHINE.SUBMISSION.LOT`, by compare-and-set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    pub starts: Vec<CellStart>,
}

/// A cell was begun.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellStart {
    pub key: String,
    pub machine: String,
    /// Of the agent's process.
    pub session: String,
    /// By the machine's clock, in UTC.
    pub at: String,
}

impl Lease {
    /// A cell begins. Starts of cells that have ended say nothing any more, and go: those of a long lot would be written again and again.
    pub fn begin(&mut self, start: CellStart, has_ended: impl Fn(&str) -> bool) {
        self.starts.retain(|known| !has_ended(&known.key));
        self.starts.push(start);
    }

    /// How often a cell was begun, as far as that is known: one that has ended once at least.
    pub fn attempts(&self, key: &str) -> u64 {
        (self.of(key).count() as u64).max(1)
    }

    fn of<'l>(&'l self, key: &'l str) -> impl Iterator<Item = &'l CellStart> {
        self.starts.iter().filter(move |start| start.key == key)
    }

    /// Whether a cell without an outcome is not begun again.
    pub fn is_poison(&self, key: &str) -> bool {
        let mut sessions: Vec<&str> = self.of(key).map(|start| start.session.as_str()).collect();
        let starts = sessions.len();
        sessions.sort_unstable();
        sessions.dedup();
        starts >= MOST_STARTS && sessions.len() >= 2
    }

    /// "h1 at 2026-01-31T12:00:00Z, h1 at …": where and when a cell was begun.
    pub fn tell(&self, key: &str) -> String {
        self.of(key).map(|start| format!("{} at {}", start.machine, start.at)).collect::<Vec<_>>().join(", ")
    }

    /// An agent that ends in order takes its last start back: the cell did it no harm.
    pub fn take_back(&mut self, key: &str, session: &str) {
        let last = self.starts.iter().rposition(|start| start.key == key && start.session == session);
        last.into_iter().for_each(|place| drop(self.starts.remove(place)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lease(starts: &[(&str, &str)]) -> Lease {
        let start = |(key, session): &(&str, &str)| CellStart {
            key: (*key).into(),
            machine: "h1".into(),
            session: (*session).into(),
            at: "2026-01-31T12:00:00Z".into(),
        };
        Lease { starts: starts.iter().map(start).collect() }
    }

    #[test]
    fn a_cell_is_poison_after_three_starts_by_two_processes() {
        assert!(!lease(&[("a", "1"), ("a", "1"), ("a", "1")]).is_poison("a"), "one process says nothing of the cell");
        assert!(!lease(&[("a", "1"), ("a", "2"), ("b", "3")]).is_poison("a"));
        assert!(lease(&[("a", "1"), ("a", "2"), ("a", "2")]).is_poison("a"));
    }

    #[test]
    fn starts_of_cells_that_have_ended_go_and_those_of_others_stay() {
        let mut lease = lease(&[("a", "1"), ("b", "1"), ("b", "2")]);
        let next = CellStart { key: "c".into(), ..lease.starts[0].clone() };
        lease.begin(next, |key| key == "a");
        assert_eq!(lease.starts.iter().map(|start| start.key.as_str()).collect::<Vec<_>>(), ["b", "b", "c"]);
        assert_eq!((lease.attempts("a"), lease.attempts("b")), (1, 2));
    }

    #[test]
    fn a_start_that_is_taken_back_does_not_count() {
        let mut lease = lease(&[("a", "1"), ("a", "2"), ("a", "3")]);
        lease.take_back("a", "3");
        assert!(!lease.is_poison("a") && lease.attempts("a") == 2);
    }
}
