//! A worker from the inside: it opens libraries, and does what the host asks, one command after the other.
//!
//! - `services`: what every plugin gets. `target`: loading, inputs, verification for benchmarks. `rounds`, `series`: how often it is run. `sensors`: energy and counters.
//! - `cell`, `reference`, `profile`, `looking`: the commands. `trace`: a profile in the form that viewers open.
//!
//! Not here: deciding what to run, summing up, files of results.

mod cell;
mod looking;
mod opened;
mod outputs;
mod profile;
mod reference;
mod rounds;
mod sensors;
mod series;
mod services;
mod target;
mod trace;

pub(crate) use cell::run_cell;
pub(crate) use opened::Opened;
pub(crate) use reference::is_whole as is_whole_reference;
pub(crate) use services::Services;
pub(crate) use target::resident;

use crate::worker::{Command, Event, Failure, Frames, PROTOCOL, Reply};
use std::io::Read;
use std::process::ExitCode;

/// The argument with which the host starts itself as a worker.
pub const WORKER_ARGUMENT: &str = "__worker";

/// Serves commands until the host closes the channel.
pub fn run() -> ExitCode {
    let Ok(mut channel) = crate::worker::adopt_channel() else {
        return ExitCode::from(2);
    };
    let Ok(writer) = channel.try_clone() else {
        return ExitCode::from(2);
    };
    let services = Services::leak(writer);
    services.send(&Event::Hello { protocol: PROTOCOL });
    let mut frames = Frames::default();
    let mut buffer = vec![0; 64 << 10];
    loop {
        match frames.take::<Command>() {
            Ok(Some(command)) => services.send(&match serve(services, command) {
                Ok(reply) => Event::Done(Box::new(reply)),
                Err(failure) => Event::Failed(failure),
            }),
            Ok(None) => match channel.read(&mut buffer) {
                Ok(read) if read > 0 => frames.push(&buffer[..read]),
                _ => return ExitCode::SUCCESS,
            },
            Err(error) => {
                services.send(&Event::Failed(Failure::failed("protocol", error.to_string())));
                return ExitCode::from(2);
            }
        }
    }
}

fn serve(services: &'static Services, command: Command) -> Result<Reply, Failure> {
    match command {
        Command::Describe { library } => looking::describe(services, &library),
        Command::Devices { backend } => looking::devices(services, &backend),
        Command::Inspect { backend, model, axes, precision } => {
            looking::inspect(services, &backend, &model, &axes, precision)
        }
        Command::Build { library, skill, directory } => looking::build(services, &library, &skill, &directory),
        Command::Reference { backend, model, axes, seed, out } => {
            reference::write(services, &backend, &model, &axes, seed, &out)
        }
        Command::Cell(job) => run_cell(services, &job).map(|report| Reply::Cell(Box::new(report))),
        Command::Profile(job) => profile::profile(services, &job),
        Command::Check(job) => crate::check::serve(services, &job),
    }
}
