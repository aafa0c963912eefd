//! The courier on NATS JetStream: one server, which writes to disk before it says that it has something.
//!
//! A subject is stored once because the streams are made so (`max_msgs_per_subject` 1, discard new), not because clients behave. No message
//! ids are used: theirs outlive a purge, so that a job that was taken back could not be put back. `max_deliver` is not used: a job that has
//! reached it stays in the queue for ever, and nobody gets it or hears of it.
//!
//! `settings`: what there is on the server. `follow`: reading what is stored. `answers`: what is said against a call.

mod answers;
mod follow;
mod settings;

use super::{Courier, CourierError, Delivery, Entry, Follow, Handle, LARGEST, Message, Over, Settle, Table};
use crate::keys::Pass;
use crate::names;
use answers::{away, code, is_no_room, is_no_stream, is_refused, whole};
use async_nats::jetstream::consumer::PullConsumer;
use async_nats::jetstream::{self, AckKind, kv, stream};
use async_nats::{Client, ConnectOptions, HeaderMap};
use follow::NatsFollow;
use futures_util::{StreamExt, TryStreamExt};
use parking_lot::Mutex;
use settings::{
    FILES, JOBS, LEAST_ROOM_MIB, MOST_HELD, ROOM_FOR_FILES_MIB, files, jobs, name, queue, settings, stream_of,
    submissions,
};
use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tempfile::NamedTempFile;
use tokio::runtime::Runtime;

/// So long a first contact may take.
const CONTACT: Duration = Duration::from_secs(10);
/// So long an answer may take.
const ANSWER: Duration = Duration::from_secs(5);

/// Codes of JetStream.
const WRONG_LAST_SEQUENCE: u64 = 10071;
const STORE_FAILED: u64 = 10077;
const NO_MESSAGE: u64 = 10037;

pub struct NatsCourier {
    runtime: Runtime,
    client: Client,
    jetstream: jetstream::Context,
    tables: Mutex<BTreeMap<Table, kv::Store>>,
    queues: Mutex<BTreeMap<String, PullConsumer>>,
    /// What the server said against a call.
    refusals: Arc<Mutex<Option<String>>>,
    /// The authority's certificate, which is read at each connection.
    _authority: NamedTempFile,
}

impl NatsCourier {
    /// Connects as whoever the pass is of.
    ///
    /// # Errors
    /// The server is not there, is too old, or does not let this user in.
    pub fn connect(pass: &Pass) -> Result<NatsCourier, CourierError> {
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.worker_threads(2).thread_name("courier").enable_all().build();
        let runtime = runtime.map_err(|error| CourierError::Away(error.to_string()))?;
        let refusals: Arc<Mutex<Option<String>>> = Arc::default();
        let heard = refusals.clone();
        let authority = pass.authority_file().map_err(|error| CourierError::Refused(error.to_string()))?;
        let client = runtime.block_on(async {
            let options = ConnectOptions::with_credentials(&pass.credentials())
                .map_err(|error| CourierError::Refused(error.to_string()))?
                .name(&pass.name)
                .add_root_certificates(authority.path().into())
                .require_tls(true)
                // Templates of permissions work on whole words, and the inbox is one.
                .custom_inbox_prefix(format!("_INBOX.{}", pass.name))
                .connection_timeout(ANSWER)
                .request_timeout(Some(ANSWER))
                .reconnect_delay_callback(|tries| Duration::from_millis((50 * tries as u64).min(1000)))
                .event_callback(move |event| {
                    let heard = heard.clone();
                    async move {
                        if let async_nats::Event::ServerError(error) = event {
                            *heard.lock() = Some(error.to_string());
                        }
                    }
                });
            let connect = options.connect(&pass.address);
            match tokio::time::timeout(CONTACT, connect).await {
                Ok(Ok(client)) => Ok(client),
                Ok(Err(error)) if is_refused(&error) => {
                    Err(CourierError::Refused(format!("the pass of {} is not let in: {}", pass.name, whole(&error))))
                }
                Ok(Err(error)) => Err(CourierError::Away(format!("{}: {}", pass.address, whole(&error)))),
                Err(_) => {
                    Err(CourierError::Away(format!("{} did not answer for {} s", pass.address, CONTACT.as_secs())))
                }
            }
        })?;
        crate::server::check_version(&client.server_info().version).map_err(CourierError::Refused)?;
        let mut jetstream = {
            // It starts tasks of its own.
            let _within = runtime.enter();
            jetstream::new(client.clone())
        };
        jetstream.set_timeout(ANSWER);
        Ok(NatsCourier {
            runtime,
            client,
            jetstream,
            tables: Mutex::default(),
            queues: Mutex::default(),
            refusals,
            _authority: authority,
        })
    }

    /// Makes what the fleet needs on its server, where it is not there yet.
    ///
    /// # Errors
    /// This user may not, or the server is away.
    pub fn set_up(&self) -> Result<(), CourierError> {
        self.wait(async {
            self.jetstream.get_or_create_stream(jobs()).await.map_err(away)?;
            self.jetstream.get_or_create_stream(submissions()).await.map_err(away)?;
            for table in [Table::Agents, Table::Machines, Table::Leases, Table::States] {
                self.jetstream.create_or_update_key_value(settings(table)).await.map_err(away)?;
            }
            self.set_up_files().await
        })
    }

    /// "2.12.8".
    pub fn server_version(&self) -> String {
        self.client.server_info().version
    }

    /// Waits for an answer. What the server has against the call it says on the connection, and the call itself gets no answer.
    fn wait<T>(&self, call: impl Future<Output = Result<T, CourierError>>) -> Result<T, CourierError> {
        *self.refusals.lock() = None;
        let result = self.runtime.block_on(async {
            match tokio::time::timeout(2 * ANSWER, call).await {
                Ok(result) => result,
                Err(_) => Err(CourierError::Away("it did not answer".into())),
            }
        });
        match (result, self.refusals.lock().take()) {
            (Err(CourierError::Away(_)), Some(refusal)) if refusal.to_lowercase().contains("permissions") => {
                Err(CourierError::Refused(refusal))
            }
            (result, _) => result,
        }
    }

    /// What files may take is set aside, and half of what would fit stays for all else: outcomes always have room.
    async fn set_up_files(&self) -> Result<(), CourierError> {
        let mut room = ROOM_FOR_FILES_MIB;
        let made = loop {
            match self.jetstream.get_or_create_stream(files(2 * room)).await {
                Ok(made) => break made,
                Err(error) if is_no_room(&error) && room > LEAST_ROOM_MIB => room /= 2,
                Err(error) => return Err(away(error)),
            }
        };
        if made.cached_info().config.max_bytes == files(2 * room).max_bytes {
            self.jetstream.update_stream(files(room)).await.map_err(away)?;
        }
        Ok(())
    }

    /// Whether an earlier host made what is on the server.
    async fn lacks_files(&self) -> bool {
        self.jetstream.get_stream(FILES).await.is_err_and(|error| is_no_stream(&error))
    }

    async fn table(&self, table: Table) -> Result<kv::Store, CourierError> {
        if let Some(known) = self.tables.lock().get(&table) {
            return Ok(known.clone());
        }
        // What is in memory is gone after a restart of the server: whoever serves makes it anew.
        let found = self.jetstream.get_key_value(name(table)).await.map_err(away)?;
        self.tables.lock().insert(table, found.clone());
        Ok(found)
    }

    async fn queue(&self, machine: &str) -> Result<PullConsumer, CourierError> {
        if let Some(known) = self.queues.lock().get(machine) {
            return Ok(known.clone());
        }
        let stream = self.jetstream.get_stream_no_info(JOBS).await.map_err(away)?;
        let found: PullConsumer = match stream.get_consumer(machine).await {
            Ok(found) if found.cached_info().config.max_ack_pending == MOST_HELD => found,
            // There is none, or one of an earlier version.
            _ => stream.create_consumer(queue(machine)).await.map_err(away)?,
        };
        self.queues.lock().insert(machine.into(), found.clone());
        Ok(found)
    }
}

impl Courier for NatsCourier {
    fn store(&self, subject: &str, body: &[u8]) -> Result<bool, CourierError> {
        if body.len() > LARGEST {
            let (have, most) = (body.len() >> 20, LARGEST >> 20);
            return Err(CourierError::Refused(format!(
                "a message of {have} MiB is larger than {most} MiB: ask for less at once"
            )));
        }
        self.wait(async {
            let mut headers = HeaderMap::new();
            headers.insert("Nats-Expected-Last-Subject-Sequence", "0");
            let sent = self.jetstream.publish_with_headers(subject.to_string(), headers, body.to_vec().into()).await;
            let stored = match sent {
                Ok(answer) => answer.await,
                Err(error) => Err(error),
            };
            match stored {
                Ok(_) => Ok(true),
                Err(error) => match (error.kind(), code(&error)) {
                    (jetstream::context::PublishErrorKind::WrongLastSequence, _) | (_, Some(WRONG_LAST_SEQUENCE)) => {
                        Ok(false)
                    }
                    // The same code tells a subject that has its message and a store that is full: the text tells them apart.
                    (_, Some(STORE_FAILED)) if whole(&error).contains("per subject") => Ok(false),
                    (_, Some(_)) => Err(CourierError::Full(whole(&error))),
                    _ => Err(away(error)),
                },
            }
        })
    }

    fn stored(&self, subject: &str) -> Result<Option<Message>, CourierError> {
        self.wait(async {
            let stream = self.jetstream.get_stream_no_info(stream_of(subject)).await.map_err(away)?;
            match stream.direct_get_last_for_subject(subject).await {
                Ok(found) => Ok(Some(Message {
                    subject: subject.into(),
                    body: found.payload.to_vec(),
                    at: found.time.unix_timestamp(),
                })),
                Err(error) if error.kind() == stream::DirectGetErrorKind::NotFound => Ok(None),
                Err(error) if code(&error) == Some(NO_MESSAGE) => Ok(None),
                Err(_) if stream_of(subject) == FILES && self.lacks_files().await => Err(CourierError::Refused(
                    "an earlier host serves it, which keeps no files: let this one serve it (host fleet serve)".into(),
                )),
                Err(error) => Err(away(error)),
            }
        })
    }

    fn follow<'c>(&'c self, filter: &str) -> Result<Box<dyn Follow + 'c>, CourierError> {
        Ok(Box::new(NatsFollow { courier: self, filter: filter.into(), after: 0, has_more: false, messages: None }))
    }

    fn next_job(&self, machine: &str, wait: Duration) -> Result<Option<Delivery>, CourierError> {
        self.ask_queue(machine, wait, async |consumer| {
            let mut batch = consumer.fetch().max_messages(1).expires(wait).messages().await.map_err(away)?;
            let found = batch.next().await.transpose();
            Ok(found.map_err(|error| CourierError::Away(error.to_string()))?.map(delivery))
        })
    }

    fn next_job_of(&self, machine: &str, submission: &str) -> Result<Option<Delivery>, CourierError> {
        self.ask_queue(machine, ANSWER, async |consumer| find_job(consumer, submission).await)
    }

    fn waiting(&self, machine: &str) -> Result<BTreeSet<String>, CourierError> {
        self.wait(async {
            let stream = self.jetstream.get_stream_no_info(JOBS).await.map_err(away)?;
            let subjects = stream.info_with_subjects(names::queue(machine)).await.map_err(away)?;
            // It must not be asked for more after an error.
            let subjects: Result<Vec<(String, usize)>, _> = subjects.try_collect().await;
            let subjects = subjects.map_err(|error| CourierError::Away(error.to_string()))?;
            Ok(subjects.iter().filter_map(|(subject, _)| names::submission_of_job(subject)).collect())
        })
    }

    fn settle(&self, delivery: &Delivery, how: Settle) -> Result<(), CourierError> {
        let Handle::Nats(message) = &delivery.handle else {
            return Err(CourierError::Refused("another courier delivered that".into()));
        };
        self.wait(async {
            let settled = match how {
                Settle::Done => message.double_ack().await,
                Settle::Progress => message.ack_with(AckKind::Progress).await,
                Settle::Again(Duration::ZERO) => message.ack_with(AckKind::Nak(None)).await,
                Settle::Again(after) => message.ack_with(AckKind::Nak(Some(after))).await,
            };
            settled.map_err(|error| CourierError::Away(error.to_string()))
        })
    }

    fn take_back(&self, filter: &str) -> Result<u64, CourierError> {
        self.wait(async {
            let stream = self.jetstream.get_stream_no_info(stream_of(filter)).await.map_err(away)?;
            stream.purge().filter(filter).await.map(|answer| answer.purged).map_err(away)
        })
    }

    fn read(&self, table: Table, key: &str) -> Result<Option<Entry>, CourierError> {
        let read = self.wait(async {
            let entry = self.table(table).await?.entry(key).await.map_err(away)?;
            let there = entry.filter(|entry| entry.operation == kv::Operation::Put);
            Ok(there.map(|entry| Entry {
                at_ms: (entry.created.unix_timestamp_nanos() / 1_000_000) as i64,
                body: entry.value.to_vec(),
                revision: entry.revision,
            }))
        });
        self.forget_on_error(table, read)
    }

    fn write(&self, table: Table, key: &str, body: &[u8], over: Over) -> Result<Option<u64>, CourierError> {
        let body = body.to_vec();
        let written = self.wait(async {
            let store = self.table(table).await?;
            match over {
                Over::Anything => store.put(key, body.into()).await.map(Some).map_err(away),
                Over::Nothing => match store.create(key, body.into()).await {
                    Ok(revision) => Ok(Some(revision)),
                    Err(error) if error.kind() == kv::CreateErrorKind::AlreadyExists => Ok(None),
                    Err(error) => Err(away(error)),
                },
                Over::Revision(revision) => match store.update(key, body.into(), revision).await {
                    Ok(revision) => Ok(Some(revision)),
                    Err(error) if error.kind() == kv::UpdateErrorKind::WrongLastRevision => Ok(None),
                    Err(error) => Err(away(error)),
                },
            }
        });
        self.forget_on_error(table, written)
    }

    fn keys(&self, table: Table) -> Result<Vec<String>, CourierError> {
        let keys = self.wait(async {
            let keys = self.table(table).await?.keys().await.map_err(away)?;
            let keys: Vec<_> = keys.collect().await;
            keys.into_iter().map(|key| key.map_err(away)).collect()
        });
        self.forget_on_error(table, keys)
    }
}

impl NatsCourier {
    /// Asks the queue of a machine for jobs. The place of reading is looked for anew after an error: it may be gone with the server's disk.
    fn ask_queue(
        &self,
        machine: &str,
        wait: Duration,
        ask: impl AsyncFnOnce(&PullConsumer) -> Result<Option<Delivery>, CourierError>,
    ) -> Result<Option<Delivery>, CourierError> {
        self.runtime.block_on(async {
            let consumer = tokio::time::timeout(ANSWER, self.queue(machine)).await;
            let consumer = consumer.map_err(|_| CourierError::Away("it did not answer".into()))??;
            match tokio::time::timeout(wait + ANSWER, ask(&consumer)).await {
                Ok(Ok(found)) => Ok(found),
                Ok(Err(error)) => {
                    self.queues.lock().remove(machine);
                    Err(error)
                }
                Err(_) => Ok(None),
            }
        })
    }

    /// A table of memory is gone with the server: it is looked for anew.
    fn forget_on_error<T>(&self, table: Table, result: Result<T, CourierError>) -> Result<T, CourierError> {
        if result.is_err() {
            self.tables.lock().remove(&table);
        }
        result
    }
}

fn delivery(message: jetstream::Message) -> Delivery {
    Delivery {
        subject: message.subject.to_string(),
        body: message.payload.to_vec(),
        handle: Handle::Nats(Box::new(message)),
    }
}

/// Takes jobs until one of this submission comes, and gives the others back. A queue has one place of reading, at which jobs come in the order in
/// which they were stored: two of them may not overlap, and one of each submission would take a right on the queues of other machines.
async fn find_job(consumer: &PullConsumer, submission: &str) -> Result<Option<Delivery>, CourierError> {
    const AT_ONCE: usize = 200;
    let until = tokio::time::Instant::now() + ANSWER;
    let (mut others, mut found, mut failed) = (vec![], None, None);
    while found.is_none() && failed.is_none() {
        let before = others.len();
        match tokio::time::timeout_at(until, consumer.fetch().max_messages(AT_ONCE).messages()).await {
            Ok(Ok(mut batch)) => loop {
                match tokio::time::timeout_at(until, batch.next()).await {
                    Ok(Some(Ok(message))) => match names::submission_of_job(&message.subject) {
                        Some(of) if found.is_none() && of == submission => found = Some(delivery(message)),
                        _ => {
                            let mut message = message;
                            message.message.payload = Default::default();
                            others.push(message);
                        }
                    },
                    Ok(None) => break,
                    Ok(Some(Err(error))) => {
                        failed = Some(CourierError::Away(error.to_string()));
                        break;
                    }
                    Err(_) => {
                        failed = Some(CourierError::Away("it stopped in the middle of a queue".into()));
                        break;
                    }
                }
            },
            Ok(Err(error)) => failed = Some(away(error)),
            Err(_) => failed = Some(CourierError::Away("it did not answer".into())),
        }
        if others.len() == before {
            break;
        }
    }
    for other in others {
        // One that is not given back comes again by itself, later.
        let _ = other.ack_with(AckKind::Nak(None)).await;
    }
    match (found, failed) {
        (None, Some(error)) => Err(error),
        (found, _) => Ok(found),
    }
}
