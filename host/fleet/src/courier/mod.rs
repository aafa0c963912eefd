//! What carries messages: a queue of jobs for each machine, a store in which each subject is written once, one for files, and small tables. All logic of
//! this crate stands on these calls alone.
//!
//! Every call may fail because the server is away for a while; whoever calls repeats it. Repeating is safe: storing is refused the second
//! time, and settling an unsettled delivery again does no harm.

pub mod memory;
pub mod nats;

use std::collections::BTreeSet;
use std::time::Duration;

#[derive(Clone, Debug, thiserror::Error)]
pub enum CourierError {
    /// It may be there again soon.
    #[error("the fleet's server cannot be reached: {0}")]
    Away(String),
    #[error("the fleet's server has no room: {0}; free its disk, or cancel what is not needed")]
    Full(String),
    /// It will be the same at the next try.
    #[error("the fleet's server refuses that: {0}")]
    Refused(String),
    /// This process is to end here: tests of what is left behind.
    #[error("killed")]
    Killed,
}

impl CourierError {
    /// Whether the same call may do later.
    pub fn is_passing(&self) -> bool {
        matches!(self, CourierError::Away(_) | CourierError::Full(_))
    }
}

/// A small table of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Table {
    /// Signs of life: what is not written for [`ALIVE`] is gone.
    Agents,
    /// What each machine announced.
    Machines,
    /// What was begun of each lot.
    Leases,
    /// "running" or "cancelled", by submission; under `priority-SUBMISSION` its priority; under `failover-SUBMISSION.MACHINE` the submission
    /// that has the machine's undone cells; under `offer-MACHINE` the packages that it is offered; under `drain-MACHINE` the session of the agent that is to end.
    States,
}

/// So long after its last sign of life an agent counts as there.
pub const ALIVE: Duration = Duration::from_secs(30);

/// So long a job that was delivered is nobody else's, from each sign of progress on.
pub const HELD: Duration = Duration::from_secs(30);

/// The largest message. A submission of some 40,000 cells is one.
pub const LARGEST: usize = 8 << 20;

/// What an entry of a table is written over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    Anything,
    Nothing,
    Revision(u64),
}

/// An entry of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub body: Vec<u8>,
    pub revision: u64,
    /// When the server took it, in milliseconds since 1970 by its own clock.
    pub at_ms: i64,
}

/// What is stored under a subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    pub subject: String,
    pub body: Vec<u8>,
    /// When the server took it, in seconds since 1970 by its own clock.
    pub at: i64,
}

/// What becomes of a job that was delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settle {
    /// It leaves the queue.
    Done,
    /// It goes on: nobody else gets it for [`HELD`].
    Progress,
    /// Somebody gets it again, after that time.
    Again(Duration),
}

/// A job that was delivered.
pub struct Delivery {
    pub subject: String,
    pub body: Vec<u8>,
    handle: Handle,
}

enum Handle {
    Memory { sequence: u64, delivery: u64 },
    Nats(Box<async_nats::jetstream::Message>),
}

/// What carries messages.
pub trait Courier: Send + Sync {
    /// Stores a message under a subject that has none. `false`: there is one, and it stays.
    ///
    /// # Errors
    /// The server is away, full, or does not let this user; so for all calls.
    fn store(&self, subject: &str, body: &[u8]) -> Result<bool, CourierError>;

    /// What is stored under a subject.
    ///
    /// # Errors
    /// As [`Courier::store`].
    fn stored(&self, subject: &str) -> Result<Option<Message>, CourierError>;

    /// All that is stored under the subjects of a filter, from the first on, in the order in which it was stored.
    ///
    /// # Errors
    /// As [`Courier::store`].
    fn follow<'c>(&'c self, filter: &str) -> Result<Box<dyn Follow + 'c>, CourierError>;

    /// The next job of a machine's queue; `None`: none came in that time.
    ///
    /// # Errors
    /// As [`Courier::store`].
    fn next_job(&self, machine: &str, wait: Duration) -> Result<Option<Delivery>, CourierError>;

    /// The next job of one submission in a machine's queue, past those of others; `None`: none is there that can be delivered now.
    ///
    /// # Errors
    /// As [`Courier::store`].
    fn next_job_of(&self, machine: &str, submission: &str) -> Result<Option<Delivery>, CourierError>;

    /// The submissions with jobs in a machine's queue, delivered ones included.
    ///
    /// # Errors
    /// As [`Courier::store`].
    fn waiting(&self, machine: &str) -> Result<BTreeSet<String>, CourierError>;

    /// # Errors
    /// As [`Courier::store`].
    fn settle(&self, delivery: &Delivery, how: Settle) -> Result<(), CourierError>;

    /// Takes jobs out of the queues, or parts of files from the server; nothing else goes. Returns how many there were.
    ///
    /// # Errors
    /// As [`Courier::store`].
    fn take_back(&self, filter: &str) -> Result<u64, CourierError>;

    /// # Errors
    /// As [`Courier::store`].
    fn read(&self, table: Table, key: &str) -> Result<Option<Entry>, CourierError>;

    /// Writes an entry. `None`: it is not what it was to be written over.
    ///
    /// # Errors
    /// As [`Courier::store`].
    fn write(&self, table: Table, key: &str, body: &[u8], over: Over) -> Result<Option<u64>, CourierError>;

    /// # Errors
    /// As [`Courier::store`].
    fn keys(&self, table: Table) -> Result<Vec<String>, CourierError>;
}

/// Gives all that is stored under a filter now to `on`, in order: one after another, however much it is.
///
/// # Errors
/// As [`Courier::store`]; or the server stops in the middle.
pub fn each_stored(courier: &dyn Courier, filter: &str, on: &mut dyn FnMut(Message)) -> Result<(), CourierError> {
    // Longer than a server takes that is there.
    const ANSWER: Duration = Duration::from_secs(2);
    let mut follow = courier.follow(filter)?;
    while follow.has_more()? {
        match follow.next(ANSWER)? {
            Some(message) => on(message),
            None => return Err(CourierError::Away("it stopped in the middle of what it has".into())),
        }
    }
    Ok(())
}

/// All that is stored under a filter now, in order.
///
/// # Errors
/// As [`each_stored`].
pub fn all_stored(courier: &dyn Courier, filter: &str) -> Result<Vec<Message>, CourierError> {
    let mut all = vec![];
    each_stored(courier, filter, &mut |message| all.push(message))?;
    Ok(all)
}

/// The subjects of all that is stored under a filter now, in order.
///
/// # Errors
/// As [`each_stored`].
pub fn stored_subjects(courier: &dyn Courier, filter: &str) -> Result<Vec<String>, CourierError> {
    let mut subjects = vec![];
    each_stored(courier, filter, &mut |message| subjects.push(message.subject))?;
    Ok(subjects)
}

/// Reads what is stored, as it comes.
pub trait Follow {
    /// The next message; `None`: none came in that time.
    ///
    /// # Errors
    /// As [`Courier::store`]. The next call goes on behind the last message.
    fn next(&mut self, wait: Duration) -> Result<Option<Message>, CourierError>;

    /// Whether something is stored that was not read.
    ///
    /// # Errors
    /// As [`Courier::store`].
    fn has_more(&mut self) -> Result<bool, CourierError>;
}
