//! A fleet in memory: submitter, agents and collector as they are, the courier and whoever measures deterministic. Each can be killed at any
//! call.

mod crashes;
mod failover;
mod faults;
mod many;
mod messages;
mod world;
