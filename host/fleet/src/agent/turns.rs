//! Whose lot is next on a machine. Submissions of the highest priority come first, and those of one priority take turns: somebody who asks for
//! a single cell does not wait for the thousand of somebody else.

use crate::courier::{Courier, CourierError, Delivery, Settle};
use crate::names;
use crate::submit::priority;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// When each submission had its last turn on this machine.
#[derive(Default)]
pub(super) struct Turns {
    last: BTreeMap<String, u64>,
    taken: u64,
}

impl Turns {
    /// The next lot of a machine; `None`: none came in that time.
    ///
    /// # Errors
    /// The courier's.
    pub(super) fn next_job(
        &mut self,
        courier: &dyn Courier,
        machine: &str,
        wait: Duration,
    ) -> Result<Option<Delivery>, CourierError> {
        let Some(first) = courier.next_job(machine, wait)? else { return Ok(None) };
        let Some(its) = names::submission_of_job(&first.subject) else { return Ok(Some(first)) };
        let waiting = courier.waiting(machine)?;
        let order = if waiting.len() > 1 { self.order(courier, waiting)? } else { vec![] };
        if order.first().is_none_or(|next| *next == its) {
            return Ok(Some(self.taken(its, first)));
        }
        // Given back before others are: so it comes before them again.
        courier.settle(&first, Settle::Again(Duration::ZERO))?;
        for submission in order {
            // What is waiting may be held by an agent that was killed, for some seconds more.
            if let Some(found) = courier.next_job_of(machine, &submission)? {
                return Ok(Some(self.taken(submission, found)));
            }
        }
        Ok(None)
    }

    fn taken(&mut self, submission: String, delivery: Delivery) -> Delivery {
        self.taken += 1;
        self.last.insert(submission, self.taken);
        delivery
    }

    /// Submissions in the order of their turns. Those without one go by their ids, which begin with the time.
    fn order(&self, courier: &dyn Courier, waiting: BTreeSet<String>) -> Result<Vec<String>, CourierError> {
        let ranked: Result<Vec<_>, CourierError> = waiting
            .into_iter()
            .map(|id| Ok((Reverse(priority(courier, &id)?), self.last.get(&id).copied().unwrap_or_default(), id)))
            .collect();
        let mut ranked = ranked?;
        ranked.sort();
        Ok(ranked.into_iter().map(|(_, _, id)| id).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::courier::memory::MemoryCourier;
    use crate::submit::prioritize;

    /// The submissions whose lots are taken, one after the other, until the queue is empty.
    fn taken(courier: &MemoryCourier, turns: &mut Turns) -> Vec<String> {
        let next = || turns.next_job(courier, "h1", Duration::ZERO).unwrap();
        std::iter::from_fn(next)
            .map(|delivery| {
                courier.settle(&delivery, Settle::Done).unwrap();
                let words: Vec<&str> = delivery.subject.split('.').collect();
                format!("{}{}", words[4], words[5])
            })
            .collect()
    }

    fn ask(courier: &MemoryCourier, submission: &str, lots: usize) {
        for lot in 0..lots {
            assert!(courier.store(&names::job("h1", submission, &lot.to_string()), b"").unwrap());
        }
    }

    #[test]
    fn submissions_take_turns_and_each_keeps_the_order_of_its_lots() {
        let courier = MemoryCourier::default();
        ask(&courier, "a", 4);
        ask(&courier, "b", 2);
        assert_eq!(taken(&courier, &mut Turns::default()), ["a0", "b0", "a1", "b1", "a2", "a3"]);
    }

    #[test]
    fn one_that_comes_later_has_its_turn_next() {
        let (courier, mut turns) = (MemoryCourier::default(), Turns::default());
        ask(&courier, "b", 3);
        let first = turns.next_job(&courier, "h1", Duration::ZERO).unwrap().unwrap();
        courier.settle(&first, Settle::Done).unwrap();
        ask(&courier, "a", 1);
        ask(&courier, "c", 1);
        assert_eq!(taken(&courier, &mut turns), ["a0", "c0", "b1", "b2"]);
    }

    #[test]
    fn a_higher_priority_comes_first_and_a_lower_one_last() {
        let courier = MemoryCourier::default();
        for submission in ["a", "b", "c"] {
            ask(&courier, submission, 2);
        }
        prioritize(&courier, "c", 1).unwrap();
        prioritize(&courier, "a", -1).unwrap();
        assert_eq!(taken(&courier, &mut Turns::default()), ["c0", "c1", "b0", "b1", "a0", "a1"]);
        assert_eq!(priority(&courier, "nobody").unwrap(), 0);
    }

    #[test]
    fn a_lot_that_a_killed_agent_holds_keeps_nobody_else_waiting() {
        let courier = MemoryCourier::default();
        ask(&courier, "a", 1);
        courier.next_job("h1", Duration::ZERO).unwrap().unwrap();
        ask(&courier, "b", 1);
        assert_eq!(taken(&courier, &mut Turns::default()), ["b0"]);
        courier.pass(crate::courier::HELD);
        assert_eq!(taken(&courier, &mut Turns::default()), ["a0"]);
    }
}
