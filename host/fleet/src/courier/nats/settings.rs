//! What a fleet has on its server, and how it is made: streams, queues and tables.

use crate::courier::{ALIVE, HELD, Table};
use crate::names;
use async_nats::jetstream::consumer::{AckPolicy, pull};
use async_nats::jetstream::kv;
use async_nats::jetstream::stream::{self, DiscardPolicy, RetentionPolicy, StorageType};
use std::time::Duration;

pub(super) const JOBS: &str = "SKB_JOBS";
pub(super) const SUBMISSIONS: &str = "SKB_SUBMISSIONS";
pub(super) const FILES: &str = "SKB_FILES";

/// The stream that has, or would have, what a subject or filter means.
pub(super) fn stream_of(subject: &str) -> &'static str {
    match subject.split('.').nth(1) {
        Some("job") => JOBS,
        Some("file") => FILES,
        _ => SUBMISSIONS,
    }
}

/// Outcomes stay so long on the server.
const KEPT: Duration = Duration::from_secs(90 * 24 * 3600);
/// What was begun of a lot is of no use longer.
const LEASES_KEPT: Duration = Duration::from_secs(30 * 24 * 3600);
/// A queue that nobody asks is removed with its place of reading.
const QUEUE_KEPT: Duration = Duration::from_secs(30 * 24 * 3600);

/// Jobs have so much room, so that outcomes always have some.
const ROOM_FOR_JOBS: i64 = 2 << 30;

/// So many jobs of a machine are delivered and not settled at once.
pub(super) const MOST_HELD: i64 = 20_000;

/// A stream on disk in which a subject has one message and takes no second, whatever a client does.
fn once_each(name: &str, subjects: &str) -> stream::Config {
    stream::Config {
        name: name.into(),
        subjects: vec![subjects.into()],
        storage: StorageType::File,
        discard: DiscardPolicy::New,
        max_messages_per_subject: 1,
        discard_new_per_subject: true,
        allow_direct: true,
        ..Default::default()
    }
}

pub(super) fn jobs() -> stream::Config {
    let retention = RetentionPolicy::WorkQueue;
    stream::Config { retention, max_bytes: ROOM_FOR_JOBS, ..once_each(JOBS, names::JOBS) }
}

pub(super) fn submissions() -> stream::Config {
    stream::Config { deny_delete: true, max_age: KEPT, ..once_each(SUBMISSIONS, names::SUBMISSIONS) }
}

/// Files have so much room at most, in MiB.
pub(super) const ROOM_FOR_FILES_MIB: i64 = 32 << 10;
/// On a disk that has less than this for them a fleet is not served.
pub(super) const LEAST_ROOM_MIB: i64 = 64;

pub(super) fn files(room_mib: i64) -> stream::Config {
    stream::Config { max_bytes: room_mib << 20, max_age: crate::files::KEPT, ..once_each(FILES, names::FILES) }
}

/// The place at which a machine reads its queue.
pub(super) fn queue(machine: &str) -> pull::Config {
    pull::Config {
        durable_name: Some(machine.into()),
        filter_subject: names::queue(machine),
        ack_policy: AckPolicy::Explicit,
        ack_wait: HELD,
        max_deliver: -1,
        // Whoever looks for the jobs of one submission holds those of others meanwhile.
        max_ack_pending: MOST_HELD,
        inactive_threshold: QUEUE_KEPT,
        ..Default::default()
    }
}

pub(super) fn name(table: Table) -> &'static str {
    match table {
        Table::Agents => "SKB_AGENTS",
        Table::Machines => "SKB_MACHINES",
        Table::Leases => "SKB_LEASES",
        Table::States => "SKB_STATES",
    }
}

pub(super) fn settings(table: Table) -> kv::Config {
    let (storage, max_age) = match table {
        Table::Agents => (StorageType::Memory, ALIVE),
        Table::Leases => (StorageType::File, LEASES_KEPT),
        Table::Machines | Table::States => (StorageType::File, Duration::ZERO),
    };
    kv::Config { bucket: name(table).into(), history: 1, storage, max_age, ..Default::default() }
}
