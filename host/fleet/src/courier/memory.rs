//! A courier in memory, with a clock that is set by hand and a death at any call: what a fleet does can be tried out in every order.

use super::{ALIVE, Courier, CourierError, Delivery, Entry, Follow, HELD, Handle, Message, Over, Settle, Table};
use crate::names;
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Bound::{Included, Unbounded};
use std::time::Duration;

/// Where the clock begins, in seconds since 1970: any moment does.
const BEGINNING: u64 = 1_800_000_000;

#[derive(Default)]
struct State {
    now: Duration,
    sequence: u64,
    stored: BTreeMap<u64, Message>,
    by_subject: BTreeMap<String, u64>,
    jobs: BTreeMap<u64, Job>,
    tables: BTreeMap<(Table, String), (Entry, Duration)>,
    /// So many calls are left until the process that makes them is killed.
    lives: Option<u64>,
    calls: u64,
    is_away: bool,
}

struct Job {
    subject: String,
    body: Vec<u8>,
    /// Nobody else gets it before.
    held_until: Duration,
    deliveries: u64,
}

#[derive(Default)]
pub struct MemoryCourier {
    state: Mutex<State>,
}

impl MemoryCourier {
    /// Time passes.
    pub fn pass(&self, time: Duration) {
        self.state.lock().now += time;
    }

    /// Kills whoever makes the call after so many; `None`: nobody.
    pub fn kill_after(&self, calls: Option<u64>) {
        self.state.lock().lives = calls;
    }

    /// The server is away, or there again.
    pub fn away(&self, is_away: bool) {
        self.state.lock().is_away = is_away;
    }

    /// The server loses its disk.
    pub fn lose(&self) {
        let mut state = self.state.lock();
        state.stored.clear();
        state.by_subject.clear();
        state.jobs.clear();
        state.tables.clear();
    }

    /// So many calls were made.
    pub fn calls(&self) -> u64 {
        self.state.lock().calls
    }

    /// So many jobs are in the queues.
    pub fn jobs(&self) -> usize {
        self.state.lock().jobs.len()
    }

    /// The first job of a filter that nobody holds.
    fn deliver(&self, filter: &str) -> Result<Option<Delivery>, CourierError> {
        self.call(|state| {
            let now = state.now;
            let is_free = |job: &Job| job.held_until <= now && names::matches(filter, &job.subject);
            let (sequence, job) = state.jobs.iter_mut().find(|(_, job)| is_free(job))?;
            job.held_until = now + HELD;
            job.deliveries += 1;
            let handle = Handle::Memory { sequence: *sequence, delivery: job.deliveries };
            Some(Delivery { subject: job.subject.clone(), body: job.body.clone(), handle })
        })
    }

    /// Does one call. One that is killed on it has done it half of the time: before or after it took effect.
    fn call<T>(&self, work: impl FnOnce(&mut State) -> T) -> Result<T, CourierError> {
        let mut state = self.state.lock();
        state.calls += 1;
        if state.is_away {
            return Err(CourierError::Away("it was taken away".into()));
        }
        match state.lives {
            Some(0) => Err(CourierError::Killed),
            Some(1) => {
                state.lives = Some(0);
                // The call reaches the server, its answer nobody.
                work(&mut state);
                Err(CourierError::Killed)
            }
            lives => {
                state.lives = lives.map(|lives| lives - 1);
                Ok(work(&mut state))
            }
        }
    }
}

impl State {
    fn entry(&self, table: Table, key: &str) -> Option<&Entry> {
        let (entry, written) = self.tables.get(&(table, key.to_string()))?;
        let is_gone = table == Table::Agents && self.now.saturating_sub(*written) >= ALIVE;
        (!is_gone).then_some(entry)
    }

    /// What is stored under a filter now, in the order in which it was stored.
    fn stored_under(&self, filter: &str) -> VecDeque<u64> {
        // Subjects of one submission or machine stand together, so that nobody looks at those of all others.
        let prefix = &filter[..filter.find(['*', '>']).unwrap_or(filter.len())];
        let near = self
            .by_subject
            .range::<str, _>((Included(prefix), Unbounded))
            .take_while(|(subject, _)| subject.starts_with(prefix));
        let found = near.filter(|(subject, _)| names::matches(filter, subject) && !State::is_job(subject));
        let mut found: Vec<u64> = found.map(|(_, sequence)| *sequence).collect();
        found.sort_unstable();
        found.into()
    }

    /// The first that was stored under a filter behind another.
    fn stored_behind(&self, after: u64, filter: &str) -> Option<(u64, &Message)> {
        let mut behind = self.stored.range(after + 1..).map(|(sequence, message)| (*sequence, message));
        behind.find(|(_, message)| names::matches(filter, &message.subject))
    }

    fn seconds(&self) -> i64 {
        (BEGINNING + self.now.as_secs()) as i64
    }

    fn is_job(subject: &str) -> bool {
        names::matches(names::JOBS, subject)
    }
}

impl Courier for MemoryCourier {
    fn store(&self, subject: &str, body: &[u8]) -> Result<bool, CourierError> {
        self.call(|state| {
            if state.by_subject.contains_key(subject) {
                return false;
            }
            state.sequence += 1;
            let sequence = state.sequence;
            state.by_subject.insert(subject.into(), sequence);
            let (subject, body) = (subject.to_string(), body.to_vec());
            if State::is_job(&subject) {
                state.jobs.insert(sequence, Job { subject, body, held_until: Duration::ZERO, deliveries: 0 });
            } else {
                let at = state.seconds();
                state.stored.insert(sequence, Message { subject, body, at });
            }
            true
        })
    }

    fn stored(&self, subject: &str) -> Result<Option<Message>, CourierError> {
        self.call(|state| {
            let sequence = state.by_subject.get(subject)?;
            state.stored.get(sequence).cloned()
        })
    }

    fn follow<'c>(&'c self, filter: &str) -> Result<Box<dyn Follow + 'c>, CourierError> {
        let state = self.state.lock();
        let (ahead, after) = (state.stored_under(filter), state.sequence);
        Ok(Box::new(MemoryFollow { courier: self, filter: filter.into(), ahead, after }))
    }

    fn next_job(&self, machine: &str, _: Duration) -> Result<Option<Delivery>, CourierError> {
        self.deliver(&names::queue(machine))
    }

    fn next_job_of(&self, machine: &str, submission: &str) -> Result<Option<Delivery>, CourierError> {
        self.deliver(&names::jobs_of_machine(machine, submission))
    }

    fn waiting(&self, machine: &str) -> Result<BTreeSet<String>, CourierError> {
        let queue = names::queue(machine);
        self.call(|state| {
            let subjects = state.jobs.values().map(|job| job.subject.as_str());
            subjects.filter(|subject| names::matches(&queue, subject)).filter_map(names::submission_of_job).collect()
        })
    }

    fn settle(&self, delivery: &Delivery, how: Settle) -> Result<(), CourierError> {
        let Handle::Memory { sequence, delivery } = delivery.handle else {
            return Err(CourierError::Refused("another courier delivered that".into()));
        };
        self.call(|state| {
            let now = state.now;
            let Some(job) = state.jobs.get_mut(&sequence) else { return };
            match how {
                // As on a server, whoever held it last may still say that it is done.
                Settle::Done => {
                    let subject = job.subject.clone();
                    state.jobs.remove(&sequence);
                    state.by_subject.remove(&subject);
                }
                Settle::Progress if job.deliveries == delivery => job.held_until = now + HELD,
                Settle::Again(after) if job.deliveries == delivery => job.held_until = now + after,
                _ => {}
            }
        })
    }

    fn take_back(&self, filter: &str) -> Result<u64, CourierError> {
        self.call(|state| {
            let before = state.jobs.len();
            let (jobs, by_subject) = (&mut state.jobs, &mut state.by_subject);
            jobs.retain(|_, job| {
                let stays = !names::matches(filter, &job.subject);
                if !stays {
                    by_subject.remove(&job.subject);
                }
                stays
            });
            let jobs = before - state.jobs.len();
            let before = state.stored.len();
            let (stored, by_subject) = (&mut state.stored, &mut state.by_subject);
            stored.retain(|_, message| {
                let goes = names::matches(names::FILES, &message.subject) && names::matches(filter, &message.subject);
                if goes {
                    by_subject.remove(&message.subject);
                }
                !goes
            });
            (jobs + before - state.stored.len()) as u64
        })
    }

    fn read(&self, table: Table, key: &str) -> Result<Option<Entry>, CourierError> {
        self.call(|state| state.entry(table, key).cloned())
    }

    fn write(&self, table: Table, key: &str, body: &[u8], over: Over) -> Result<Option<u64>, CourierError> {
        self.call(|state| {
            let found = state.entry(table, key).map(|entry| entry.revision);
            let holds = match over {
                Over::Anything => true,
                Over::Nothing => found.is_none(),
                Over::Revision(revision) => found == Some(revision),
            };
            holds.then(|| {
                state.sequence += 1;
                let at_ms = state.seconds() * 1000;
                let entry = Entry { body: body.to_vec(), revision: state.sequence, at_ms };
                let now = state.now;
                state.tables.insert((table, key.into()), (entry, now));
                state.sequence
            })
        })
    }

    fn keys(&self, table: Table) -> Result<Vec<String>, CourierError> {
        self.call(|state| {
            let keys = state.tables.keys().filter(|(of, key)| *of == table && state.entry(table, key).is_some());
            keys.map(|(_, key)| key.clone()).collect()
        })
    }
}

struct MemoryFollow<'c> {
    courier: &'c MemoryCourier,
    filter: String,
    /// What was stored when this began, and is still to be shown.
    ahead: VecDeque<u64>,
    /// What was shown of the rest.
    after: u64,
}

impl Follow for MemoryFollow<'_> {
    fn next(&mut self, _: Duration) -> Result<Option<Message>, CourierError> {
        let MemoryFollow { courier, filter, ahead, after } = self;
        courier.call(|state| {
            while let Some(sequence) = ahead.pop_front() {
                // Parts of files are taken back.
                if let Some(message) = state.stored.get(&sequence) {
                    return Some(message.clone());
                }
            }
            let (sequence, message) = state.stored_behind(*after, filter)?;
            *after = sequence;
            Some(message.clone())
        })
    }

    /// Asks nobody, as a reader of a server's: it is no call.
    fn has_more(&mut self) -> Result<bool, CourierError> {
        let state = self.courier.state.lock();
        let is_there = |sequence: &u64| state.stored.contains_key(sequence);
        Ok(self.ahead.iter().any(is_there) || state.stored_behind(self.after, &self.filter).is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_is_written_once_and_a_job_is_one_machines_until_its_time_is_over() {
        let courier = MemoryCourier::default();
        assert!(courier.store(&names::head("s"), b"first").unwrap());
        assert!(!courier.store(&names::head("s"), b"second").unwrap());
        assert_eq!(courier.stored(&names::head("s")).unwrap().unwrap().body, b"first");

        courier.store(&names::job("h1", "s", "0"), b"job").unwrap();
        let wait = Duration::ZERO;
        assert!(courier.next_job("h2", wait).unwrap().is_none());
        let first = courier.next_job("h1", wait).unwrap().unwrap();
        assert!(courier.next_job("h1", wait).unwrap().is_none());
        courier.pass(HELD);
        let second = courier.next_job("h1", wait).unwrap().unwrap();
        courier.settle(&first, Settle::Again(Duration::ZERO)).unwrap();
        assert!(courier.next_job("h1", wait).unwrap().is_none(), "who lost it has no say");
        courier.settle(&second, Settle::Done).unwrap();
        assert_eq!(courier.jobs(), 0);
    }

    #[test]
    fn an_agent_without_a_sign_of_life_is_gone() {
        let courier = MemoryCourier::default();
        courier.write(Table::Agents, "h1", b"{}", Over::Nothing).unwrap().unwrap();
        assert!(courier.write(Table::Agents, "h1", b"{}", Over::Nothing).unwrap().is_none());
        courier.pass(ALIVE);
        assert!(courier.keys(Table::Agents).unwrap().is_empty());
        courier.write(Table::Agents, "h1", b"{}", Over::Nothing).unwrap().unwrap();
    }
}
