//! The name that an agent holds, and its signs of life. Of two agents of one name the first has it, until it gives no sign of life for a
//! while; one that is known to be dead is followed at once.

use super::{Agent, AgentError, Word, Words};
use crate::courier::{ALIVE, CourierError, Delivery, HELD, Over, Settle, Table};
use crate::form::{Beat, Doing, Machine};
use parking_lot::Mutex;
use skillbench_record::ClockOffset;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::park_timeout;
use std::time::{Duration, Instant};

/// Between two signs of life. Each also says that the lot goes on.
const BEAT: Duration = match ALIVE.as_secs() < HELD.as_secs() {
    true => Duration::from_secs(ALIVE.as_secs() / 3),
    false => Duration::from_secs(HELD.as_secs() / 3),
};
/// Between two looks at a name that another agent holds.
const LOOK: Duration = Duration::from_millis(500);

/// So often the server's clock is looked at.
const CLOCK_LOOKS: usize = 3;

/// By this machine's clock, in milliseconds since 1970.
fn now_ms() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| since.as_millis() as i64)
}

/// What tells a process from all others, on all machines and at all times: "BOOT.NAMESPACE.PID.CHANCE".
///
/// # Errors
/// There is no random number.
pub fn session() -> Result<String, CourierError> {
    let chance = getrandom::u64().map_err(|error| CourierError::Away(error.to_string()))?;
    Ok(format!("{}.{}.{chance:016x}", place(), std::process::id()))
}

/// The boot of the machine and the namespace of process numbers: within both a number is one process's.
fn place() -> String {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let boot: String = read("/proc/sys/kernel/random/boot_id").trim().chars().filter(|c| *c != '-').collect();
    let namespace = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    let namespace: String = namespace.to_string_lossy().chars().filter(char::is_ascii_digit).collect();
    format!("{boot}.{namespace}")
}

/// Whether the process of a session has ended, as far as this machine can tell.
fn is_dead(session: &str) -> bool {
    let Some(rest) = session.strip_prefix(&format!("{}.", place())) else { return false };
    let Some((pid, _)) = rest.split_once('.') else { return false };
    cfg!(target_os = "linux")
        && pid.parse::<u32>().is_ok_and(|pid| !std::path::Path::new(&format!("/proc/{pid}")).exists())
}

/// An agent that holds its name.
pub(super) struct Life<'l, 'a> {
    agent: &'l Agent<'a>,
    announced: Vec<u8>,
    revision: Mutex<u64>,
    doing: Mutex<Doing>,
    held: Mutex<Option<Arc<Delivery>>>,
    is_announced: AtomicBool,
    is_over: AtomicBool,
    is_lost: AtomicBool,
}

impl<'l, 'a> Life<'l, 'a> {
    /// Takes the name, and announces the machine under it.
    ///
    /// # Errors
    /// Another agent has it and lives.
    pub(super) fn begin(agent: &'l Agent<'a>, tell: &mut Words<'_>) -> Result<Life<'l, 'a>, AgentError> {
        let began = Instant::now();
        let name = &agent.machine.name;
        let (mut is_told, mut is_away) = (false, false);
        let mut revision = loop {
            match agent.take_name() {
                Ok(Some(revision)) => break revision,
                Ok(None) if agent.stop.asked() || began.elapsed() > ALIVE + ALIVE => {
                    return Err(AgentError::Taken { name: name.clone() });
                }
                Ok(None) => {
                    if !std::mem::replace(&mut is_told, true) {
                        tell(Word::Warning(&format!(
                            "an agent is called {name} already: this one waits until it gives no more signs of life"
                        )));
                    }
                }
                Err(error) if error.is_passing() && !agent.stop.asked() => {
                    if !std::mem::replace(&mut is_away, true) {
                        tell(Word::Warning(&format!("{error}; it is waited for")));
                    }
                }
                Err(error) => return Err(error.into()),
            }
            std::thread::sleep(LOOK);
        };
        let clock = agent.clock(&mut revision);
        let announced = agent.signer.seal(&Machine { clock, ..agent.machine.clone() })?;
        agent.courier.write(Table::Machines, name, &announced, Over::Anything)?;
        Ok(Life {
            agent,
            announced,
            revision: Mutex::new(revision),
            doing: Mutex::new(Doing::Idle),
            held: Mutex::default(),
            is_announced: AtomicBool::new(true),
            is_over: AtomicBool::new(false),
            is_lost: AtomicBool::new(false),
        })
    }

    /// What the next signs of life tell; the first one is given now.
    pub(super) fn does(&self, doing: Doing) {
        *self.doing.lock() = doing;
        // A sign that is lost is followed by others.
        let _ = self.beat();
    }

    /// Keeps a job from being delivered again, as long as it is held.
    pub(super) fn hold(&self, delivery: Delivery) -> Arc<Delivery> {
        let delivery = Arc::new(delivery);
        *self.held.lock() = Some(delivery.clone());
        delivery
    }

    pub(super) fn release(&self) {
        *self.held.lock() = None;
    }

    pub(super) fn is_over(&self) {
        self.is_over.store(true, Ordering::SeqCst);
    }

    /// Another agent has taken the name.
    pub(super) fn is_lost(&self) -> bool {
        self.is_lost.load(Ordering::SeqCst)
    }

    /// Gives signs of life until the agent ends, and then the name back.
    pub(super) fn beat_until_over(&self) {
        while !self.is_over.load(Ordering::SeqCst) {
            park_timeout(BEAT);
            if self.is_over.load(Ordering::SeqCst) {
                break;
            }
            let _ = self.beat();
            let held = self.held.lock().clone();
            // A job whose sign of progress is lost is delivered again, to this same machine.
            let _ = held.map(|delivery| self.agent.courier.settle(&delivery, Settle::Progress));
        }
        if !self.is_lost() {
            let revision = Over::Revision(*self.revision.lock());
            let _ = self.agent.courier.write(Table::Agents, &self.agent.machine.name, b"", revision);
        }
    }

    fn beat(&self) -> Result<(), CourierError> {
        // Held throughout: two signs of life at once would each write over the same.
        let mut revision = self.revision.lock();
        let Agent { courier, machine, .. } = self.agent;
        let body = beat(&machine.session, &self.doing.lock())?;
        match courier.write(Table::Agents, &machine.name, &body, Over::Revision(*revision))? {
            Some(written) => *revision = written,
            // It is written over by another, or the server has forgotten all signs of life, and perhaps more.
            None => match self.agent.take_name()? {
                Some(written) => {
                    *revision = written;
                    self.is_announced.store(false, Ordering::SeqCst);
                }
                None => {
                    self.is_lost.store(true, Ordering::SeqCst);
                    self.agent.stop.ask();
                    return Ok(());
                }
            },
        }
        if !self.is_announced.load(Ordering::SeqCst) {
            courier.write(Table::Machines, &machine.name, &self.announced, Over::Anything)?;
            self.is_announced.store(true, Ordering::SeqCst);
        }
        Ok(())
    }
}

fn beat(session: &str, doing: &Doing) -> Result<Vec<u8>, CourierError> {
    let beat = Beat { session: session.into(), doing: doing.clone() };
    serde_json::to_vec(&beat).map_err(|error| CourierError::Refused(error.to_string()))
}

impl Agent<'_> {
    /// By how much the server's clock is ahead of this one: signs of life are written, and the one whose answer came soonest counts. `None`: the
    /// server was away; nobody waits for that.
    fn clock(&self, revision: &mut u64) -> Option<ClockOffset> {
        let name = &self.machine.name;
        let body = beat(&self.machine.session, &Doing::Idle).ok()?;
        let look = || {
            let (before, began) = (now_ms(), Instant::now());
            let written = self.courier.write(Table::Agents, name, &body, Over::Revision(*revision)).ok()??;
            // A clock that is set in between must not shorten the time.
            let after = before + began.elapsed().as_millis() as i64 + 1;
            *revision = written;
            let entry = self.courier.read(Table::Agents, name).ok()??;
            (entry.revision == written).then(|| ClockOffset::between(before, entry.at_ms, after))
        };
        std::iter::repeat_with(look).take(CLOCK_LOOKS).flatten().min_by_key(|offset| offset.bound_ms)
    }

    /// Takes the agent's name where nobody has it who lives. `None`: somebody has.
    fn take_name(&self) -> Result<Option<u64>, CourierError> {
        let name = &self.machine.name;
        let body = beat(&self.machine.session, &Doing::Idle)?;
        if let Some(revision) = self.courier.write(Table::Agents, name, &body, Over::Nothing)? {
            return Ok(Some(revision));
        }
        let Some(entry) = self.courier.read(Table::Agents, name)? else { return Ok(None) };
        let is_free = match serde_json::from_slice::<Beat>(&entry.body) {
            Ok(beat) => beat.session == self.machine.session || is_dead(&beat.session),
            // Given back.
            Err(_) => true,
        };
        match is_free {
            true => self.courier.write(Table::Agents, name, &body, Over::Revision(entry.revision)),
            false => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{is_dead, session};

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_that_has_ended_is_known_on_its_own_machine_alone() {
        let own = session().unwrap();
        assert!(!is_dead(&own));
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        let its = own.replace(&format!(".{}.", std::process::id()), &format!(".{}.", child.id()));
        assert!(is_dead(&its));
        assert!(!is_dead(&format!("elsewhere.{its}")) && !is_dead("") && !is_dead("a.b.c"));
    }
}
