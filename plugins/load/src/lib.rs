//! Requests that arrive when they are due, whether or not the last one is done: what the benchmarks `serving`, `generation-serving` and `openai` share.
//!
//! - `options`: what is asked for, and the schema of it. `limit`: what `slo` says.
//! - `arrivals`: when requests are due, from a seed. `over_time`: how their rate changes. `trace`: when others once were; `sizes`: how long these were. `coming`: requests that are due, and users who wait for their answers. `timer`: waits for that moment. `session`: issues requests and has workers serve them, over a `board`, at which each has a `place`, and where `gaps` between tokens are kept. `crew`: their threads. `cores`: where the thread that issues them runs.
//! - `search`: which rate to try next. `lateness`: when a session is void. `series`: what is told. `server`: sessions and searches.
//!
//! A benchmark brings workers ([`session::Serve`]) and hands them to a [`server::Server`].
//!
//! A latency counts from when its request was due, not from when it was issued: a generator that is late makes latencies longer, never
//! shorter, and how late it was is a series of its own.
//!
//! Not here: what a request asks for. Percentiles, and the capacity that the trials of a search show: the host has every sample and makes them.

#![deny(unsafe_code)]

pub mod arrivals;
pub mod board;
pub mod coming;
mod cores;
pub mod crew;
mod gaps;
mod lateness;
pub mod limit;
pub mod options;
pub mod over_time;
mod place;
pub mod search;
mod series;
pub mod server;
pub mod session;
pub mod sizes;
pub mod timer;
pub mod trace;
