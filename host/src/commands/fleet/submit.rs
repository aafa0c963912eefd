//! A run on the machines of a fleet: placed, submitted, collected, and shown machine by machine.

use super::outliers::tell_slow;
use super::{Contact, find_pass, not_submitted};
use crate::cli::{FleetArgs, FormatArg, Global, PersistArgs};
use crate::commands::persist::Persist;
use crate::commands::plugin::{tell_problems, tell_rejected};
use crate::commands::typed::typed;
use crate::commands::{CommandError, Done, Exit, failed, gate, run, usage};
use crate::output;
use crate::screen::Screen;
use crate::screen::stop_on_ctrl_c;
use skillbench_fleet::collect::{Collected, Collector, is_kept, is_moved_whole};
use skillbench_fleet::failover::Failover;
use skillbench_fleet::form::{Machine, Submission};
use skillbench_fleet::keys::Role;
use skillbench_fleet::place::{On, Placed, Present, Property, place};
use skillbench_fleet::seal::Signer;
use skillbench_fleet::status;
use skillbench_fleet::submit;
use skillbench_record::{BackendChoice, Run, RunRequest};
use skillbench_report::Format;
use skillbench_results::{frames, questions};
use skillbench_session::{Kept, Measured};
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
    let (present, placed) = placed(global, &contact, args, &request.backends, &properties)?;
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
    tell_clocks(&present, &placed);
    let planned = submit::plan(&inventory, &present, &placed, request).map_err(not_submitted)?;
    planned.warnings.iter().for_each(|warning| output::warning(warning));
    let submission =
        submit::submission(planned.runs, request.seed, typed(), &contact.pass.name).map_err(not_submitted)?;
    let signer = Signer::of(&contact.pass).map_err(failed)?;
    if let Some(priority) = args.priority {
        submit::prioritize(&contact.courier, &submission.id, priority).map_err(failed)?;
    }
    submit::send(&contact.courier, &signer, &submission).map_err(not_submitted)?;
    if args.detach {
        output::print(&format!("{}\n", submission.id));
        if !global.quiet {
            output::say(&format!("collect it with: host fleet follow {} --fleet {fleet}", submission.id));
        }
        return Ok(Exit::Good);
    }
    let left_out = if placed.nowhere.is_empty() { Exit::Good } else { Exit::Unmeasured };
    Ok(collect(global, &contact, submission, persist, args.failover, Shown::Tables)?.or(left_out))
}

/// Who is there, and who measures what: at once, or after a wait for machines that can.
fn placed(
    global: &Global,
    contact: &Contact,
    args: &FleetArgs,
    backends: &[BackendChoice],
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
        let placed = place(&present, backends, &on, properties, args.spread);
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

/// Collects a submission that was made before, or elsewhere.
pub fn follow(global: &Global, fleet: Option<&str>, id: &str, failover: Option<u64>, args: &PersistArgs) -> Done {
    refuse_what_measures(args)?;
    stop_on_ctrl_c(&global.stop);
    let contact = Contact::waiting(find_pass(fleet)?, &global.stop)?;
    if failover.is_some() {
        needs_submitter(&contact)?;
    }
    let submission = submit::find(&contact.courier, &contact.trust, id).map_err(not_submitted)?;
    collect(global, &contact, submission, &Persist::new(global, args), failover, Shown::Tables)
}

/// Nothing is measured where a submission is collected, and all of it is kept.
fn refuse_what_measures(args: &PersistArgs) -> Result<(), CommandError> {
    let given = [
        ("--lock-wait", args.lock.lock_wait.is_some()),
        ("--no-lock", args.lock.no_lock),
        ("--plot-only", args.plot_only.is_some()),
        ("--update-matrix-only", args.update_matrix_only.is_some()),
    ];
    match given.iter().find(|(_, is_given)| *is_given) {
        Some((flag, _)) => Err(usage(format!("{flag} has no meaning where a submission is collected: leave it out"))),
        None => Ok(()),
    }
}

/// Collects of these submissions, or of all, those that have ended and are not kept here.
pub fn collect_ended(global: &Global, contact: &Contact, ids: &[String], args: &PersistArgs) -> Done {
    refuse_what_measures(args)?;
    let persist = Persist::new(global, args);
    let ids = match ids {
        [] => status::submissions(&contact.courier).map_err(failed)?,
        ids => ids.to_vec(),
    };
    let is_of_all = ids.len() != 1;
    let (mut exit, mut collected) = (Exit::Good, 0);
    for id in ids {
        match collect_if_ended(global, contact, &id, &persist) {
            Ok(Some(Exit::Stopped)) => return Ok(Exit::Stopped),
            Ok(Some(more)) => {
                exit = exit.or(more);
                collected += 1;
            }
            Ok(None) => {}
            // One that cannot be read or kept hides no other.
            Err(error) if is_of_all => {
                output::error(&error.to_string());
                exit = exit.or(Exit::Broken);
            }
            Err(error) => return Err(error),
        }
    }
    if !global.quiet {
        output::say(&format!("{collected} submissions were collected"));
    }
    Ok(exit)
}

/// `None`: it is kept already, or goes on.
fn collect_if_ended(
    global: &Global,
    contact: &Contact,
    id: &str,
    persist: &Persist,
) -> Result<Option<Exit>, CommandError> {
    let submission = submit::find(&contact.courier, &contact.trust, id).map_err(not_submitted)?;
    let status = status::of(&contact.courier, &submission).map_err(not_submitted)?;
    if status.state() == "running" {
        let ended: usize = status.machines.values().map(|share| share.ended).sum();
        let cells: usize = status.machines.values().map(|share| share.cells).sum();
        output::warning(&format!("{id} goes on and is not collected yet: {ended} of {cells} cells have ended"));
        return Ok(None);
    }
    match is_kept(&submission, &persist.output_dir, &status) {
        true => Ok(None),
        false => Ok(Some(collect(global, contact, submission, persist, None, Shown::Nothing)?)),
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

fn needs_submitter(contact: &Contact) -> Result<(), CommandError> {
    let (name, role) = (&contact.pass.name, contact.pass.role);
    match role == Role::Submitter {
        true => Ok(()),
        false => {
            Err(usage(format!("the pass of {name} is for a {}: asking for runs needs one of a submitter", role.name())))
        }
    }
}

/// What is printed of runs that were collected.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    Tables,
    Nothing,
}

fn collect(
    global: &Global,
    contact: &Contact,
    submission: Submission,
    persist: &Persist,
    failover: Option<u64>,
    shown: Shown,
) -> Done {
    if persist.gate.baseline.is_some() || persist.gate.save_baseline.is_some() {
        return Err(usage(
            "a fleet's runs are held to limits, not to baselines: what looks worse is measured again, which happens where the machine is",
        ));
    }
    let asked = gate::asked(global, &persist.gate, persist)?;
    stop_on_ctrl_c(&global.stop);
    let Some(measured) = measured(global, contact, submission, persist, failover, shown)? else {
        return Ok(Exit::Stopped);
    };
    let session = persist.session();
    let kept: Vec<Kept> = measured.into_iter().map(|measured| session.keep.keep(measured, false)).collect();
    let mut exit = Exit::Good;
    for kept in &kept {
        exit = exit.or(persist.after(global, kept));
    }
    if shown == Shown::Tables {
        show(global, &kept)?;
    }
    tell_slow(kept.iter().map(|kept| &kept.recorded.run));
    for kept in &kept {
        let verdict = asked.verdict(kept, None).map_err(failed)?;
        exit = exit.or(gate::tell(global, persist, kept, &verdict)?);
        if !is_moved_whole(&kept.recorded.run) {
            exit = exit.or(run::exit(&kept.recorded));
        }
    }
    Ok(exit)
}

/// The runs of a submission and of those that have what gone machines left undone; `None`: the user stopped the collecting.
fn measured(
    global: &Global,
    contact: &Contact,
    submission: Submission,
    persist: &Persist,
    failover: Option<u64>,
    shown: Shown,
) -> Result<Option<Vec<Measured>>, CommandError> {
    let plan = |present: &[Present], placed: &Placed, request: &RunRequest| {
        submit::plan(&global.inventory(), present, placed, request)
    };
    let mut collector = Collector::of(&contact.courier, &contact.pass).map_err(failed)?;
    collector.failover = failover.map(|seconds| Failover { after: Duration::from_secs(seconds), plan: &plan });
    let (asked, mut all, mut next) = (submission.id.clone(), vec![], vec![submission]);
    while let Some(submission) = next.pop() {
        if !global.quiet {
            output::say(&format!("submission {}", submission.id));
        }
        let mut screen = Screen::new(global);
        let (stop, output) = (|| global.stop.asked(), &persist.output_dir);
        let collected =
            collector.collect(&submission, &contact.pass.fleet, output, &stop, &mut |event| screen.on(event));
        drop(screen);
        match collected.map_err(failed)? {
            Collected::All { runs, moved } => {
                all.extend(runs);
                // Who collects what has ended finds the others by themselves, and does not wait for them.
                for id in moved.into_iter().filter(|_| shown == Shown::Tables) {
                    next.push(submit::find(&contact.courier, &contact.trust, &id).map_err(not_submitted)?);
                }
            }
            Collected::Stopped => {
                let fleet = &contact.pass.fleet;
                output::say(&format!(
                    "the machines go on; collect with: host fleet follow {asked} --fleet {fleet}; or take it back: host fleet cancel {asked} --fleet {fleet}"
                ));
                return Ok(None);
            }
        }
        // What takes a second machine down would take all.
        collector.failover = None;
    }
    Ok(Some(all))
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
