//! `host fleet`, and runs that go to a fleet.
//!
//! - `keys`: who belongs to it. `serve`: its server. `agent`: this machine at work. `launch`: what starts agents elsewhere.
//! - `submit`: a run on its machines. `collect`: what comes of it. `show`: what is there, and how far it is.
//! - `outliers`: which machine of a class is slow. `files`: what lies on the server beside messages.
//!   `offer`: plugin packages for its machines.

mod agent;
mod collect;
mod files;
mod keys;
mod launch;
mod offer;
mod outliers;
mod serve;
mod show;
pub mod submit;

use super::{CommandError, Done, failed, usage};
use crate::cli::{FleetCommand, Global};
use crate::output;
use skillbench_fleet::courier::nats::NatsCourier;
use skillbench_fleet::files::FileError;
use skillbench_fleet::keys::{self as passes, Pass, Role};
use skillbench_fleet::seal::Trust;
use skillbench_fleet::submit::SubmitError;
use skillbench_worker::Stop;
use std::time::Duration;

/// Between two tries to reach a server that is waited for.
const AGAIN: Duration = Duration::from_secs(1);

pub fn fleet(global: &Global, command: &FleetCommand) -> Done {
    match command {
        FleetCommand::Init { dir, name, address } => keys::init(global, dir, name.as_deref(), address),
        FleetCommand::Serve { dir, server } => serve::serve(global, dir, server.as_deref()),
        FleetCommand::User { dir, name, role, expires, output } => {
            keys::user(global, dir, name, (*role).into(), *expires, output.as_deref())
        }
        FleetCommand::Users { dir } => keys::users(global, dir),
        FleetCommand::Revoke { dir, name } => keys::revoke(global, dir, name),
        FleetCommand::Agent(args) => agent::agent(global, args),
        FleetCommand::Launch(command) => launch::launch(global, command),
        FleetCommand::Agents(asked) => show::agents(global, &Contact::of(asked.fleet.as_deref())?),
        FleetCommand::Devices(asked) => show::devices(global, &Contact::of(asked.fleet.as_deref())?),
        FleetCommand::Status { id, asked } => {
            show::status(global, &Contact::of(asked.fleet.as_deref())?, id.as_deref())
        }
        FleetCommand::Follow { id, failover, asked, persist } => {
            collect::follow(global, asked.fleet.as_deref(), id, *failover, persist)
        }
        FleetCommand::Collect { ids, asked, persist } => {
            collect::collect_ended(global, &Contact::of(asked.fleet.as_deref())?, ids, persist)
        }
        FleetCommand::Resume { id, asked } => submit::resume(global, &Contact::of(asked.fleet.as_deref())?, id),
        FleetCommand::Priority { id, priority, asked } => {
            submit::prioritize(global, &Contact::of(asked.fleet.as_deref())?, id, *priority)
        }
        FleetCommand::Why { backend, model, asked } => {
            show::why(global, &Contact::of(asked.fleet.as_deref())?, backend, model.as_deref())
        }
        FleetCommand::Cancel { id, asked } => show::cancel(global, &Contact::of(asked.fleet.as_deref())?, id),
        FleetCommand::Verify { id, results_dir, asked } => {
            show::verify(global, &Contact::of(asked.fleet.as_deref())?, id, results_dir.as_deref())
        }
        FleetCommand::Files { remove, asked } => files::files(global, &Contact::of(asked.fleet.as_deref())?, remove),
        FleetCommand::Offer { package, on, withdraw, wait, asked } => {
            offer::offer(global, &Contact::of(asked.fleet.as_deref())?, package, on, *withdraw, *wait)
        }
        FleetCommand::Outliers { id, results_dir } => outliers::outliers(global, id, results_dir.as_deref()),
        FleetCommand::Drain { machine, asked } => show::drain(global, &Contact::of(asked.fleet.as_deref())?, machine),
        FleetCommand::Become { program, configuration, parent } => {
            serve::become_server(program, configuration, *parent)
        }
    }
}

/// A fleet's server, and as whom this process speaks to it.
pub struct Contact {
    pub pass: Pass,
    pub courier: NatsCourier,
    pub trust: Trust,
}

impl Contact {
    /// Reaches the fleet of this name; `None`: the only one that is known.
    ///
    /// # Errors
    /// There is no such fleet, or its server is not there.
    pub fn of(fleet: Option<&str>) -> Result<Contact, CommandError> {
        let pass = find_pass(fleet)?;
        let courier = NatsCourier::connect(&pass).map_err(failed)?;
        Ok(Contact { trust: Trust::of(&pass), pass, courier })
    }

    /// As [`Contact::of`]; a server that is away is waited for.
    ///
    /// # Errors
    /// The server refuses; or the wait was stopped.
    pub fn waiting(pass: Pass, stop: &Stop) -> Result<Contact, CommandError> {
        let mut is_told = false;
        loop {
            match NatsCourier::connect(&pass) {
                Ok(courier) => return Ok(Contact { trust: Trust::of(&pass), pass, courier }),
                Err(error) if error.is_passing() && !stop.asked() => {
                    if !std::mem::replace(&mut is_told, true) {
                        output::warning(&format!("{error}; it is waited for"));
                    }
                    std::thread::sleep(AGAIN);
                }
                Err(error) => return Err(failed(error)),
            }
        }
    }
}

/// The pass of this name or in this file; `None`: the only one that is known.
fn find_pass(fleet: Option<&str>) -> Result<Pass, CommandError> {
    fleet.map_or_else(passes::only, passes::find).map_err(usage)
}

/// What was asked for cannot be, or the server did not let it happen.
fn not_submitted(error: SubmitError) -> CommandError {
    match error {
        SubmitError::Courier(error) | SubmitError::File(FileError::Courier(error)) => failed(error),
        SubmitError::Seal(error) => failed(error),
        error => usage(error),
    }
}

fn needs_submitter(contact: &Contact) -> Result<(), CommandError> {
    let (name, role) = (&contact.pass.name, contact.pass.role);
    match role == Role::Submitter {
        true => Ok(()),
        false => {
            Err(usage(format!("the pass of {name} is for a {}: asking for runs needs one of a submitter", role.name())))
        }
    }
}
