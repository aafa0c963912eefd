//! A worker from the inside: it opens libraries, and does what the host asks, one command after the other.
//!
//! - `services`: what every plugin gets. `observing`: which slot of it is called, for rules. `target`: loading and verification for benchmarks. `sizes`: those that a cell's benchmark loads it for. `inputs`: made by rule. `outputs`, `comparison`: kept, and held against a reference. `audit`: what the host does around every run. `pool`: what a cell leaves for the next. `rounds`, `series`: how often it is run. `claims`: whether the host's own clock agrees. `permits`: when, if another worker runs in between. `sensors`: energy and counters; `during`: those of long rounds, over their time.
//! - `cell`, `function`, `reference`, `profile`, `probe`: the commands. `recorded`: its operators summed up. `trace`: a profile in the form that viewers open.
//!
//! Not here: deciding what to run, summing up, files of results.

mod audit;
mod cell;
mod claims;
mod comparison;
pub(crate) mod cpu;
mod during;
mod energy;
mod function;
mod inputs;
mod observing;
mod opened;
mod outputs;
mod permits;
mod pool;
mod probe;
mod profile;
mod recorded;
mod reference;
mod rounds;
mod sensors;
mod series;
mod services;
mod sizes;
mod target;
mod trace;

pub(crate) use cell::run_alone;
pub use comparison::{Agreement, agreement};
pub(crate) use observing::Observing;
pub(crate) use opened::Opened;
pub(crate) use outputs::View;
pub use reference::{engines, is_whole as is_whole_reference, move_to as move_reference, parts as parts_of_reference};
pub(crate) use services::Services;
pub(crate) use target::resident;

use crate::sandbox::Confinement;
use crate::{Command, Event, Failure, Frames, PROTOCOL, Reply};
use serde::de::DeserializeOwned;
use std::io::Read;
use std::process::ExitCode;

/// The argument with which the host starts itself as a worker.
pub const WORKER_ARGUMENT: &str = "__worker";

/// Serves commands until the host closes the channel.
pub fn run() -> ExitCode {
    #[cfg(target_os = "linux")]
    match std::env::args_os().nth(2) {
        Some(kept) if kept == crate::keeper::KEPT => {}
        scratch => return crate::keeper::keep(scratch.map(Into::into)),
    }
    let Ok(channel) = crate::adopt_channel() else {
        return ExitCode::from(2);
    };
    let Ok(writer) = channel.try_clone() else {
        return ExitCode::from(2);
    };
    let Ok(watched) = channel.try_clone() else {
        return ExitCode::from(2);
    };
    let mut commands = Commands { channel: Box::new(channel), frames: Frames::default() };
    let services = Services::leak(writer);
    services.send(&Event::Hello { protocol: PROTOCOL, process: std::process::id() });
    // Before there is a second thread, so that all of them are confined.
    if let Err(failure) = give_up_rights(&mut commands) {
        services.send(&Event::Failed(failure));
        return ExitCode::from(2);
    }
    crate::sys::watch_host(watched, || services.stop());
    let mut next = commands.next();
    loop {
        next = match next {
            Ok(None) => return ExitCode::SUCCESS,
            Ok(Some(Command::Cell(job))) => cell::serve_cells(services, &mut commands, *job),
            Ok(Some(command)) => {
                services.send(&match serve(services, command) {
                    Ok(reply) => Event::Done(Box::new(reply)),
                    Err(failure) => Event::Failed(failure),
                });
                commands.next()
            }
            Err(failure) => {
                services.send(&Event::Failed(failure));
                return ExitCode::from(2);
            }
        };
    }
}

/// What the host asks for, one command after the other.
pub(crate) struct Commands {
    channel: Box<dyn Read + Send>,
    frames: Frames,
}

impl Commands {
    /// Waits for the next command; `None`: the host closed the channel.
    ///
    /// # Errors
    /// What came is no command.
    fn next(&mut self) -> Result<Option<Command>, Failure> {
        self.message()
    }

    fn message<T: DeserializeOwned>(&mut self) -> Result<Option<T>, Failure> {
        let mut buffer = vec![0; 64 << 10];
        loop {
            match self.frames.take::<T>() {
                Ok(Some(message)) => return Ok(Some(message)),
                Ok(None) => match self.channel.read(&mut buffer) {
                    Ok(read) if read > 0 => self.frames.push(&buffer[..read]),
                    _ => return Ok(None),
                },
                Err(error) => return Err(Failure::failed("protocol", error.to_string())),
            }
        }
    }
}

/// Takes the host's word for what this process may reach, and gives the rest up.
fn give_up_rights(commands: &mut Commands) -> Result<(), Failure> {
    let Some(confinement) = commands.message::<Confinement>()? else { return Ok(()) };
    #[cfg(target_os = "linux")]
    {
        // Started by the path of what runs, it would be called "exe".
        let _ = rustix::thread::set_name(c"skillbench-work");
        // Processes whose parent ended stay below this one, where their memory and CPU time are counted.
        let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
        crate::sandbox::confine(&confinement).map_err(|error| {
            let next = "use --sandbox off where this machine cannot have it";
            Failure::failed("sandbox", format!("the worker could not give its rights up: {error}; {next}"))
        })?;
    }
    #[cfg(not(target_os = "linux"))]
    let _ = confinement;
    Ok(())
}

fn serve(services: &'static Services, command: Command) -> Result<Reply, Failure> {
    match command {
        Command::Describe { library } => probe::describe(services, &library),
        Command::Devices { backend } => probe::devices(services, &backend),
        Command::Inspect { backend, model, axes, device, precision } => {
            probe::inspect(services, &backend, &model, &axes, device.as_deref(), precision)
        }
        Command::Build { library, skill, precision, directory } => {
            probe::build(services, &library, &skill, precision.as_deref(), &directory)
        }
        Command::Reference(job) => reference::write(services, &job),
        Command::Permit(_) => Err(Failure::failed("protocol", "a permit that no round waits for")),
        // Cells come in rows, and are served before this.
        Command::Cell(_) => Err(Failure::failed("protocol", "a cell among commands that look")),
        Command::Function(job) => function::run(services, &job).map(|report| Reply::Function(Box::new(report))),
        Command::Profile(job) => profile::profile(services, &job),
        Command::Check(job) => crate::check::serve(services, &job),
        Command::Ladder(job) => crate::ladder::serve(services, &job),
        Command::Fuzz(job) => crate::fuzz::serve(services, &job),
    }
}
