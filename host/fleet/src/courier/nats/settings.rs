//! What a fleet has on its server, and how it is made: streams, queues and tables.

use crate::courier::{ALIVE, HELD, Table};
use crate::names;
use async_nats::jetstream::consumer::{AckPolicy, pull};
use async_nats::jetstream::kv;
use async_nats::jetstream::stream::{self, DiscardPolicy, RetentionPolicy, StorageType};
use std::time::Duration;

pub(super) const JOBS: &str = "SKB_JOBS";
pub(super) const SUBMISSIONS: &str = "SKB_SUBMISSIONS";

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

pub(super) fn jobs() -> stream::Config {
    stream::Config {
        name: JOBS.into(),
        subjects: vec![names::JOBS.into()],
        retention: RetentionPolicy::WorkQueue,
        storage: StorageType::File,
        discard: DiscardPolicy::New,
        max_messages_per_subject: 1,
        discard_new_per_subject: true,
        allow_direct: true,
        max_bytes: ROOM_FOR_JOBS,
        ..Default::default()
    }
}

pub(super) fn submissions() -> stream::Config {
    stream::Config {
        name: SUBMISSIONS.into(),
        subjects: vec![names::SUBMISSIONS.into()],
        retention: RetentionPolicy::Limits,
        storage: StorageType::File,
        discard: DiscardPolicy::New,
        max_messages_per_subject: 1,
        discard_new_per_subject: true,
        allow_direct: true,
        deny_delete: true,
        max_age: KEPT,
        ..Default::default()
    }
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
