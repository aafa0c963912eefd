//! The real binary, from the command line to the files it leaves.
//!
//! `backends`: the hardware backends on what is here. `user_models`: models of a user's own. `capacity`: which hardware bears the most, and at what cost. `carried`: what runs where there is no network. `ci`: recipes for CI services. `compare`: which of two is slower. `coming_from`: what those type who come from other tools. `functions`: benchmarks that are plain functions, suites, profiles. `kept`: what is kept of runs that meet with harm. `latest`: which figure counts. `lines`: every line that was typed elsewhere. `matrix`: what runs where. `models`: which there are, chosen, kept and judged. `openai`: servers that stream text. `tokens`: generation. `docs`: what the documents say. `escaping`: texts of others, which stay texts. `parallel`: side by side. `predict`: what is told ahead of measuring. `reach`: what plugins may reach, and which are opened. `report`: pages and plots of real runs. `request`: what is asked of a run, in flags and files. `run`: measuring. `schedule`: what is run again, and one at a time. `session`: the same without a terminal. `sources`: habits that no compiler holds. `stored`: the database. `faults`: plugins that misbehave. `fleet`, `fleet_files`, `fleet_functions`: one run over many machines, what goes with it, and functions on them. `foreign_database`: databases of others. `registry`: entries and libraries that are wrong. `traps`: plugins that do less than they claim. `trend`: changes over time, and alerts. `usage`: slips at the
//! keyboard. `vendor`: a plugin of one's own, in C and in Rust. `which`: which results are meant. `workers`: processes that end when they should.

mod backends;
mod capacity;
mod carried;
mod ci;
mod coming_from;
mod compare;
mod docs;
mod endpoint;
mod escaping;
mod faults;
#[cfg(unix)]
mod fleet;
#[cfg(unix)]
mod fleet_files;
#[cfg(unix)]
mod fleet_functions;
mod foreign_database;
mod full_size;
mod functions;
mod hub_layout;
mod installed;
mod int8;
mod kept;
mod latest;
mod lines;
mod matrix;
mod models;
mod openai;
mod packages;
mod parallel;
mod predict;
mod qnn;
mod reach;
mod registry;
mod report;
mod request;
mod run;
mod schedule;
mod serving;
mod session;
mod slots;
mod sources;
mod stable;
mod stored;
mod terminal;
mod tokens;
mod traps;
mod trend;
mod usage;
mod user_models;
mod vendor;
mod which;
mod workers;
