//! A run on the machines of a fleet: placed, submitted, collected, and shown machine by machine.

use super::{Contact, find_pass, not_submitted};
use crate::cli::{FleetArgs, FormatArg, Global, PersistArgs};
use crate::commands::persist::Persist;
use crate::commands::plugin::{tell_problems, tell_rejected};
use crate::commands::typed::typed;
use crate::commands::{CommandError, Done, Exit, failed, gate, run, usage};
use crate::output;
use crate::screen::Screen;
use crate::screen::stop_on_ctrl_c;
use skillbench_fleet::collect::{Collected, Collector};
use skillbench_fleet::form::Submission;
use skillbench_fleet::keys::Role;
use skillbench_fleet::place::{On, Placed, Property, place};
use skillbench_fleet::seal::Signer;
use skillbench_fleet::submit;
use skillbench_record::{Run, RunRequest};
use skillbench_report::Format;
use skillbench_results::{frames, questions};
use skillbench_session::Kept;

/// Carries a request out on a fleet.
pub fn run(global: &Global, fleet: &str, args: &FleetArgs, request: &RunRequest, persist: &Persist) -> Done {
    let contact = Contact::of(Some(fleet))?;
    if contact.pass.role != Role::Submitter {
        let role = contact.pass.role.name();
        return Err(usage(format!(
            "the pass of {} is for a {role}: asking for runs needs one of a submitter",
            contact.pass.name
        )));
    }
    let properties: Result<Vec<Property>, _> = args.properties.iter().map(|text| Property::parse(text)).collect();
    let properties = properties.map_err(usage)?;
    let inventory = global.inventory();
    tell_problems(&inventory.registry);
    tell_rejected(&inventory);
    let (present, problems) = submit::present(&contact.courier, &contact.trust).map_err(failed)?;
    problems.iter().for_each(|problem| output::warning(problem));
    let on = args.on.as_deref().map_or(On::EachClass, On::parse);
    let placed = place(&present, &request.backends, &on, &properties).map_err(usage)?;
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
    let planned = submit::plan(&inventory, &present, &placed, request).map_err(not_submitted)?;
    planned.warnings.iter().for_each(|warning| output::warning(warning));
    let submission =
        submit::submission(planned.runs, request.seed, typed(), &contact.pass.name).map_err(not_submitted)?;
    let signer = Signer::of(&contact.pass).map_err(failed)?;
    submit::send(&contact.courier, &signer, &submission).map_err(not_submitted)?;
    if args.detach {
        output::print(&format!("{}\n", submission.id));
        if !global.quiet {
            output::say(&format!("collect it with: host fleet follow {} --fleet {fleet}", submission.id));
        }
        return Ok(Exit::Good);
    }
    let left_out = if placed.nowhere.is_empty() { Exit::Good } else { Exit::Unmeasured };
    Ok(collect(global, &contact, &submission, persist)?.or(left_out))
}

fn tell_placed(placed: &Placed) {
    for (machine, backends) in &placed.machines {
        let backends: Vec<String> = backends.iter().map(ToString::to_string).collect();
        output::say(&format!("{machine} measures {}", backends.join(", ")));
    }
}

/// Collects a submission that was made before, or elsewhere.
pub fn follow(global: &Global, fleet: Option<&str>, id: &str, args: &PersistArgs) -> Done {
    stop_on_ctrl_c(&global.stop);
    let contact = Contact::waiting(find_pass(fleet)?, &global.stop)?;
    let submission = submit::find(&contact.courier, &contact.trust, id).map_err(not_submitted)?;
    collect(global, &contact, &submission, &Persist::new(global, args))
}

fn collect(global: &Global, contact: &Contact, submission: &Submission, persist: &Persist) -> Done {
    if persist.gate.baseline.is_some() || persist.gate.save_baseline.is_some() {
        return Err(usage(
            "a fleet's runs are held to limits, not to baselines: what looks worse is measured again, which happens where the machine is",
        ));
    }
    let asked = gate::asked(global, &persist.gate, persist)?;
    stop_on_ctrl_c(&global.stop);
    let collector = Collector::of(&contact.courier, &contact.pass).map_err(failed)?;
    let mut screen = Screen::new(global);
    if !global.quiet {
        output::say(&format!("submission {}", submission.id));
    }
    let stop = || global.stop.asked();
    let collected =
        collector.collect(submission, &contact.pass.fleet, &persist.output_dir, &stop, &mut |event| screen.on(event));
    drop(screen);
    let measured = match collected.map_err(failed)? {
        Collected::All(measured) => measured,
        Collected::Stopped => {
            let (id, fleet) = (&submission.id, &contact.pass.fleet);
            output::say(&format!(
                "the machines go on; collect with: host fleet follow {id} --fleet {fleet}; or take it back: host fleet cancel {id} --fleet {fleet}"
            ));
            return Ok(Exit::Stopped);
        }
    };
    let session = persist.session();
    let kept: Vec<Kept> = measured.into_iter().map(|measured| session.keep.keep(measured, false)).collect();
    let mut exit = Exit::Good;
    for kept in &kept {
        exit = exit.or(persist.after(global, kept));
    }
    show(global, &kept)?;
    for kept in &kept {
        let verdict = asked.verdict(kept, None).map_err(failed)?;
        exit = exit.or(gate::tell(global, persist, kept, &verdict)?).or(run::exit(&kept.recorded));
    }
    Ok(exit)
}

/// The runs, each under the name of its machine; for programs all in one.
fn show(global: &Global, kept: &[Kept]) -> Result<(), CommandError> {
    let runs: Vec<&Run> = kept.iter().map(|kept| &kept.recorded.run).collect();
    match global.format {
        FormatArg::Json => {
            let text = serde_json::to_string_pretty(&runs).map_err(failed)?;
            output::print(&(text + "\n"));
        }
        FormatArg::Csv => {
            let cells: Vec<_> = runs.iter().flat_map(|run| run.cells.clone()).collect();
            let rows = frames::cells(runs.iter().copied()).map_err(failed)?;
            let summary = questions::summary(rows, &questions::added(&cells)).map_err(failed)?;
            output::table(&skillbench_report::summary(&summary), Format::Csv);
        }
        _ => {
            for kept in kept {
                let environment = &kept.recorded.run.environment;
                let name = environment.fleet.as_ref().map_or("", |fleet| &fleet.machine);
                output::print(&format!("\n{name}: {}\n", environment.machine_label()));
                run::show(global, kept).map_err(failed)?;
            }
        }
    }
    Ok(())
}
