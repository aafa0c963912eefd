//! A machine at work: it takes one lot at a time from its queue, has it measured, and stores what came of it.
//!
//! - `lot`: what is done with one lot, whoever measures it and whatever is there already. `outcomes`: how its cells ended, signed and stored.
//!   `begun`: how often each was begun. `own`: models and files of the submitter's that it is measured with.
//! - `measure`: who measures. `child`: a host of its own for each lot, which may die without taking the agent down.
//! - `turns`: whose lot is next. `spool`: what was measured here, until the server has it. `life`: the name that an agent holds, and its signs of life.

mod begun;
mod child;
mod life;
mod lot;
mod measure;
mod outcomes;
mod own;
mod spool;
mod turns;

pub use child::{ASK, BEGIN, ChildHost, ENDED, GO, STOP};
pub use life::session;
pub use measure::{Answer, Finished, Measure, Step};
pub use spool::Spool;

use crate::courier::{Courier, CourierError, Table};
use crate::form::{Doing, Machine};
use crate::keys::Pass;
use crate::offer::{OfferedPackage, offered};
use crate::seal::{SealError, Signer, Trust};
use life::Life;
use lot::Handled;
use skillbench_worker::Stop;
use std::time::{Duration, Instant};
use turns::Turns;

/// So long one look into the queue takes.
const LOOK: Duration = Duration::from_secs(1);

/// So often the spool is looked through for what is older than it is kept.
const CLEANED: Duration = Duration::from_secs(3600);

#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    #[error(transparent)]
    Courier(#[from] CourierError),
    #[error(transparent)]
    Seal(#[from] SealError),
    #[error("an agent is called {name} already, and gave a sign of life within the last {} s", crate::courier::ALIVE.as_secs())]
    Taken { name: String },
    #[error("the spool cannot be written: {0}")]
    Spool(std::io::Error),
}

/// An agent of a machine.
pub struct Agent<'a> {
    pub courier: &'a dyn Courier,
    pub signer: Signer,
    pub trust: Trust,
    /// As it is announced.
    pub machine: Machine,
    pub measure: &'a dyn Measure,
    pub spool: Spool,
    pub stop: Stop,
}

/// When an agent ends by itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Until {
    /// After one lot.
    pub once: bool,
    /// After so long without one.
    pub idle: Option<Duration>,
}

/// How an agent's work ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Worked {
    /// It was stopped or drained, or has done what it was to do.
    Done,
    /// The machine is offered packages of which it has said nothing. It is to be announced anew.
    Offered(Vec<OfferedPackage>),
}

/// What an agent tells.
pub enum Word<'w> {
    /// It is there, and takes lots.
    Ready,
    Lot {
        submission: &'w str,
        lot: &'w str,
        cells: usize,
        by: &'w str,
    },
    Cell {
        name: &'w str,
        outcome: &'w str,
    },
    Warning(&'w str),
}

/// Whoever listens to an agent.
pub type Words<'w> = dyn FnMut(Word<'_>) + 'w;

impl<'a> Agent<'a> {
    /// An agent of whoever the pass is of.
    ///
    /// # Errors
    /// The pass cannot sign.
    pub fn new(
        courier: &'a dyn Courier,
        pass: &Pass,
        machine: Machine,
        measure: &'a dyn Measure,
        spool: Spool,
        stop: Stop,
    ) -> Result<Agent<'a>, SealError> {
        Ok(Agent { courier, signer: Signer::of(pass)?, trust: Trust::of(pass), machine, measure, spool, stop })
    }

    /// Announces the machine and works its queue off, until it is stopped or drained, or until that.
    ///
    /// # Errors
    /// Another agent has the name; the server refuses; or the spool cannot be written.
    pub fn run(&self, until: Until, tell: &mut Words<'_>) -> Result<Worked, AgentError> {
        self.spool.clean();
        let life = Life::begin(self, tell)?;
        std::thread::scope(|scope| {
            let heart = scope.spawn(|| life.beat_until_over());
            // However the work ends: an agent that gives signs of life and takes no work would be waited for.
            let _over = AtEnd(|| {
                life.is_over();
                heart.thread().unpark();
            });
            tell(Word::Ready);
            self.work(&life, until, tell)
        })
    }

    fn work(&self, life: &Life<'_, '_>, until: Until, tell: &mut Words<'_>) -> Result<Worked, AgentError> {
        let (mut idle_since, mut turns) = (Instant::now(), Turns::default());
        let (mut is_away, mut disbelieved, mut cleaned) = (false, None, Instant::now());
        while !self.stop.asked() && !life.is_lost() {
            let found = match self.drained().and_then(|drained| match drained {
                true => Ok(None),
                false => turns.next_job(self.courier, &self.machine.name, LOOK).map(Some),
            }) {
                Ok(Some(found)) => found,
                Ok(None) => break,
                Err(error) if error.is_passing() => {
                    if !std::mem::replace(&mut is_away, true) {
                        tell(Word::Warning(&format!("{error}; it is waited for")));
                    }
                    // A node is not held for a server that does not come back.
                    if until.idle.is_some_and(|idle| idle_since.elapsed() >= idle) {
                        break;
                    }
                    std::thread::sleep(LOOK);
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            is_away = false;
            match found {
                Some(delivery) => {
                    let delivery = life.hold(delivery);
                    let handled = self.handle(&delivery, &mut |doing| life.does(doing), tell);
                    life.does(Doing::Idle);
                    life.release();
                    if let Handled::Stopped = handled? {
                        break;
                    }
                    idle_since = Instant::now();
                    if until.once {
                        break;
                    }
                }
                None if until.idle.is_some_and(|idle| idle_since.elapsed() >= idle) => break,
                None => {}
            }
            if cleaned.elapsed() > CLEANED {
                self.spool.clean();
                cleaned = Instant::now();
            }
            match offered(self.courier, &self.trust, &self.machine.name) {
                Ok(Ok(packages)) => {
                    let is_new = |offered: &OfferedPackage| !self.machine.offers.contains_key(&offered.id);
                    let new: Vec<_> = packages.into_iter().filter(is_new).collect();
                    if !new.is_empty() {
                        return Ok(Worked::Offered(new));
                    }
                }
                Ok(Err(why)) if disbelieved.as_ref() != Some(&why) => {
                    tell(Word::Warning(&format!("what this machine is offered is not believed: {why}")));
                    disbelieved = Some(why);
                }
                // Whoever asks for a job hears of it, too.
                Ok(Err(_)) | Err(_) => {}
            }
        }
        match life.is_lost() {
            true => Err(AgentError::Taken { name: self.machine.name.clone() }),
            false => Ok(Worked::Done),
        }
    }

    /// Whether this very agent was asked to end after its lot.
    fn drained(&self) -> Result<bool, CourierError> {
        let asked = self.courier.read(Table::States, &drain_key(&self.machine.name))?;
        Ok(asked.is_some_and(|asked| asked.body == self.machine.session.as_bytes()))
    }
}

/// Does that when it is dropped.
struct AtEnd<F: Fn()>(F);

impl<F: Fn()> Drop for AtEnd<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

fn drain_key(machine: &str) -> String {
    format!("drain-{machine}")
}

/// Asks the agent of a machine to end after its lot. `false`: none is there.
///
/// # Errors
/// The courier's.
pub fn drain(courier: &dyn Courier, machine: &str) -> Result<bool, CourierError> {
    let Some(entry) = courier.read(Table::Agents, machine)? else { return Ok(false) };
    let Ok(beat) = serde_json::from_slice::<crate::form::Beat>(&entry.body) else { return Ok(false) };
    courier.write(Table::States, &drain_key(machine), beat.session.as_bytes(), crate::courier::Over::Anything)?;
    Ok(true)
}
