//! A run on the machines of a fleet: placed, submitted, and told how it is to be measured.

use super::collect::{Collecting, Shown};
use super::{Contact, needs_submitter, not_submitted};
use crate::cli::{FleetArgs, Global};
use crate::commands::bench::tell_left_out;
use crate::commands::persist::Persist;
use crate::commands::plugin::{tell_problems, tell_rejected};
use crate::commands::typed::typed;
use crate::commands::{CommandError, Done, Exit, failed, usage};
use crate::output;
use skillbench_engine::run::Inventory;
use skillbench_fleet::form::Machine;
use skillbench_fleet::own;
use skillbench_fleet::place::{On, Placed, Present, Property, Wanted, place};
use skillbench_fleet::plan::{left_out, plan};
use skillbench_fleet::seal::Signer;
use skillbench_fleet::submit;
use skillbench_record::RunRequest;
use std::time::{Duration, Instant};

/// Carries a request out on a fleet.
pub fn run(global: &Global, fleet: &str, args: &FleetArgs, request: &RunRequest, persist: &Persist) -> Done {
    let contact = Contact::of(Some(fleet))?;
    needs_submitter(&contact)?;
    let properties: Result<Vec<Property>, _> = args.properties.iter().map(|text| Property::parse(text)).collect();
    let properties = properties.map_err(usage)?;
    let inventory = global.inventory();
    tell_problems(&inventory.registry);
    tell_rejected(&inventory);
    let (present, placed) = placed(global, &contact, args, &inventory, request, &properties)?;
    for (choice, why) in &placed.nowhere {
        output::warning(&format!("{choice} is left out: no machine can use it: {why}"));
    }
    if placed.machines.is_empty() {
        output::error("no machine of the fleet can use any of these backends");
        return Ok(Exit::Unavailable);
    }
    if !global.quiet {
        tell_placed(&placed);
    }
    if !global.quiet && request.functions {
        let left_out = left_out(&inventory, &present, &placed, request).map_err(usage)?;
        left_out.iter().for_each(tell_left_out);
    }
    tell_clocks(&present, &placed);
    let planned = plan(&inventory, &present, &placed, request).map_err(not_submitted)?;
    planned.warnings.iter().for_each(|warning| output::warning(warning));
    let sources = planned.sources.clone();
    let (failover, shown) = (args.failover, Shown::Tables);
    let collecting = Collecting { global, contact: &contact, persist, sources, failover, shown };
    // What it is held to has to be there before anything is measured.
    collecting.asked(planned.runs.len())?;
    let submission = submit::submission(planned.runs, planned.own, request.seed, typed(), &contact.pass.name)
        .map_err(not_submitted)?;
    let signer = Signer::of(&contact.pass).map_err(failed)?;
    if let Some(priority) = args.priority {
        submit::prioritize(&contact.courier, &submission.id, priority).map_err(failed)?;
    }
    // Before any job: an agent that gets one finds its files.
    let sent = own::send(&contact.courier, &submission.own, &planned.sources, &mut |file| {
        if !global.quiet {
            output::say(&format!("{} was sent: {} MB", file.name, file.bytes.div_ceil(1_000_000)));
        }
    });
    sent.map_err(|error| not_submitted(error.into()))?;
    submit::send(&contact.courier, &signer, &submission).map_err(not_submitted)?;
    if args.detach {
        output::print(&format!("{}\n", submission.id));
        if !global.quiet {
            output::say(&format!("collect it with: host fleet follow {} --fleet {fleet}", submission.id));
        }
        return Ok(Exit::Good);
    }
    let left_out = if placed.nowhere.is_empty() { Exit::Good } else { Exit::Unmeasured };
    Ok(collecting.collect(submission)?.or(left_out))
}

/// Who is there, and who measures what: at once, or after a wait for machines that can.
fn placed(
    global: &Global,
    contact: &Contact,
    args: &FleetArgs,
    inventory: &Inventory,
    request: &RunRequest,
    properties: &[Property],
) -> Result<(Vec<Present>, Placed), CommandError> {
    const LOOK: Duration = Duration::from_secs(1);
    let on = args.on.as_deref().map_or(On::EachClass, On::parse);
    let (began, wait) = (Instant::now(), Duration::from_secs(args.wait.unwrap_or_default()));
    if args.spread && on == On::EachMachine {
        return Err(usage(
            "--spread has each model measured on one machine of a class, --on each-machine on all: ask for one of them",
        ));
    }
    let (least, mut is_told) = (args.machines.unwrap_or(1), false);
    loop {
        let (present, problems) = submit::present(&contact.courier, &contact.trust).map_err(failed)?;
        let wanted = Wanted::of(inventory, request, &present);
        let placed = place(&present, &wanted, &on, properties, args.spread);
        let able = placed.as_ref().map_or(0, |placed| placed.able.len());
        let is_whole = able >= least && placed.as_ref().is_ok_and(|placed| placed.nowhere.is_empty());
        if is_whole || began.elapsed() >= wait {
            problems.iter().for_each(|problem| output::warning(problem));
            return placed.map(|placed| (present, placed)).map_err(usage);
        }
        if !std::mem::replace(&mut is_told, true) && !global.quiet {
            let lacks = match placed {
                Err(error) => error.to_string(),
                Ok(placed) => {
                    placed.nowhere.iter().map(|(choice, why)| format!("{choice}: {why}")).collect::<Vec<_>>().join("; ")
                }
            };
            output::say(&format!("machines are waited for: {lacks}"));
        }
        std::thread::sleep(LOOK);
    }
}

/// Names machines whose times of day are not the server's.
fn tell_clocks(present: &[Present], placed: &Placed) {
    const MOST_MS: i64 = 2000;
    let meant = present.iter().filter(|present| placed.machines.contains_key(&present.machine.name));
    for Machine { name, clock, .. } in meant.map(|present| &present.machine) {
        if let Some(clock) = clock.filter(|clock| clock.is_beyond(MOST_MS)) {
            let side = if clock.offset_ms > 0 { "behind" } else { "ahead of" };
            let seconds = clock.offset_ms.unsigned_abs() / 1000;
            output::warning(&format!(
                "the clock of {name} is {seconds} s {side} the server's: times of day in its results are its own"
            ));
        }
    }
}

fn tell_placed(placed: &Placed) {
    for (machine, backends) in &placed.machines {
        let backends: Vec<String> = backends.iter().map(ToString::to_string).collect();
        output::say(&format!("{machine} measures {}", backends.join(", ")));
    }
}

/// Has the rest of a submission measured.
pub fn resume(global: &Global, contact: &Contact, id: &str) -> Done {
    needs_submitter(contact)?;
    let submission = submit::find(&contact.courier, &contact.trust, id).map_err(not_submitted)?;
    let signer = Signer::of(&contact.pass).map_err(failed)?;
    let lots = submit::resume(&contact.courier, &signer, &submission).map_err(not_submitted)?;
    if !global.quiet {
        let fleet = &contact.pass.fleet;
        output::say(&match lots {
            0 => format!("all lots of {id} have ended, or were moved: there is nothing to measure"),
            lots => {
                format!("{lots} lots of {id} are measured; collect them with: host fleet follow {id} --fleet {fleet}")
            }
        });
    }
    Ok(Exit::Good)
}

/// Changes when the lots of a submission have their turn.
pub fn prioritize(global: &Global, contact: &Contact, id: &str, priority: i64) -> Done {
    needs_submitter(contact)?;
    submit::find(&contact.courier, &contact.trust, id).map_err(not_submitted)?;
    submit::prioritize(&contact.courier, id, priority).map_err(failed)?;
    if !global.quiet {
        output::say(&format!("{id} has priority {priority} from the next lot of each machine on"));
    }
    Ok(Exit::Good)
}
