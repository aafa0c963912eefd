//! What a fleet measured becomes runs here: collected, held to limits and baselines, and shown machine by machine.

use super::outliers::tell_slow;
use super::{Contact, find_pass, needs_submitter, not_submitted};
use crate::cli::{FormatArg, Global, PersistArgs};
use crate::commands::persist::Persist;
use crate::commands::typed::typed;
use crate::commands::{CommandError, Done, Exit, bench, failed, gate, run, usage};
use crate::output;
use crate::screen::Screen;
use crate::screen::stop_on_ctrl_c;
use skillbench_fleet::collect::{Collected, Collector, is_kept, is_moved_whole};
use skillbench_fleet::failover::Failover;
use skillbench_fleet::form::{AskedCell, MachineRun, Submission};
use skillbench_fleet::own::Sources;
use skillbench_fleet::place::{Placed, Present};
use skillbench_fleet::plan::plan;
use skillbench_fleet::seal::Signer;
use skillbench_fleet::status;
use skillbench_fleet::submit;
use skillbench_record::{Cell, CellName, Run, RunRequest};
use skillbench_report::Format;
use skillbench_results::{frames, questions};
use skillbench_session::gate::{Asked, GateError, Verdict};
use skillbench_session::{Kept, Measured};
use skillbench_store::Recorded;
use std::collections::BTreeSet;
use std::time::Duration;

/// Collects a submission that was made before, or elsewhere.
pub fn follow(global: &Global, fleet: Option<&str>, id: &str, failover: Option<u64>, args: &PersistArgs) -> Done {
    refuse_what_measures(args)?;
    stop_on_ctrl_c(&global.stop);
    let contact = Contact::waiting(find_pass(fleet)?, &global.stop)?;
    if failover.is_some() {
        needs_submitter(&contact)?;
    }
    let submission = submit::find(&contact.courier, &contact.trust, id).map_err(not_submitted)?;
    let persist = Persist::new(global, args);
    let sources = Sources::new();
    Collecting { global, contact: &contact, persist: &persist, sources, failover, shown: Shown::Tables }
        .collect(submission)
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
        false => {
            let sources = Sources::new();
            let collecting = Collecting { global, contact, persist, sources, failover: None, shown: Shown::Nothing };
            Ok(Some(collecting.collect(submission)?))
        }
    }
}

/// What is printed of runs that were collected.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    Tables,
    Nothing,
}

/// Who collects, and what becomes of the runs.
pub(super) struct Collecting<'c> {
    pub global: &'c Global,
    pub contact: &'c Contact,
    pub persist: &'c Persist,
    /// Where own models and files are here.
    pub sources: Sources,
    /// Seconds of silence after which the cells of a machine are moved.
    pub failover: Option<u64>,
    pub shown: Shown,
}

/// Why a run could not be held to what was asked.
enum Unheld {
    /// The user stopped it.
    Stopped,
    Other(CommandError),
}

impl From<GateError> for Unheld {
    fn from(error: GateError) -> Unheld {
        Unheld::Other(failed(error))
    }
}

impl From<CommandError> for Unheld {
    fn from(error: CommandError) -> Unheld {
        Unheld::Other(error)
    }
}

impl Collecting<'_> {
    pub(super) fn collect(&self, submission: Submission) -> Done {
        let Collecting { global, persist, shown, .. } = *self;
        let asked = self.asked(submission.runs.len())?;
        stop_on_ctrl_c(&global.stop);
        let Some(measured) = self.measured(submission)? else { return Ok(Exit::Stopped) };
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
            let verdict = match self.held(&asked, kept) {
                Ok(verdict) => verdict,
                Err(Unheld::Stopped) => return Ok(Exit::Stopped),
                Err(Unheld::Other(error)) => return Err(error),
            };
            exit = exit.or(gate::tell(global, persist, kept, &verdict)?);
            if !is_moved_whole(&kept.recorded.run) {
                exit = exit.or(exit_of(&kept.recorded));
            }
        }
        Ok(exit)
    }

    /// What runs of so many machines are held to.
    pub(super) fn asked(&self, machines: usize) -> Result<Asked, CommandError> {
        let gate = &self.persist.gate;
        if gate.baseline.is_some() {
            // What looks worse is asked for once more.
            needs_submitter(self.contact)?;
        }
        if gate.save_baseline.is_some() && machines > 1 {
            return Err(usage(format!(
                "--save-baseline names one run, and this is one of {machines} machines: name one with --on, or save each with `host baseline save`"
            )));
        }
        gate::asked(self.global, gate, self.persist)
    }

    /// How a run stands to limits and baseline. What looks worse is measured once more where it was measured.
    fn held(&self, asked: &Asked, kept: &Kept) -> Result<Verdict, Unheld> {
        let Collecting { global, contact, persist, .. } = *self;
        let request = kept.recorded.request.clone().unwrap_or_default();
        let mut screen = Screen::new(global);
        let session = persist.session();
        session.hold(asked, &request, kept, &mut |event| screen.on(event), |request, _| {
            let through = kept.recorded.run.environment.fleet.as_ref();
            let through = through.ok_or_else(|| failed("the run does not say through which fleet it was measured"))?;
            let first = submit::find(&contact.courier, &contact.trust, &through.submission).map_err(not_submitted)?;
            let again = again(&first, &through.machine, &request.exactly)?;
            let again = submit::submission(vec![again], first.own, Some(first.seed), typed(), &contact.pass.name);
            let again = again.map_err(not_submitted)?;
            let signer = Signer::of(&contact.pass).map_err(failed)?;
            submit::send(&contact.courier, &signer, &again).map_err(not_submitted)?;
            let sources = self.sources.clone();
            let once = Collecting { sources, failover: None, shown: Shown::Nothing, ..*self };
            let mut measured = once.measured(again)?.ok_or(Unheld::Stopped)?;
            let measured = measured.pop().ok_or_else(|| failed("nothing came of what was measured again"))?;
            let kept = session.keep.keep(measured, true);
            persist.after(global, &kept);
            Ok(kept)
        })
    }

    /// The runs of a submission and of those that have what gone machines left undone; `None`: the user stopped the collecting.
    fn measured(&self, submission: Submission) -> Result<Option<Vec<Measured>>, CommandError> {
        let Collecting { global, contact, persist, failover, shown, .. } = *self;
        let plan_anew = |present: &[Present], placed: &Placed, request: &RunRequest| {
            plan(&global.inventory(), present, placed, request)
        };
        let mut collector = Collector::of(&contact.courier, &contact.pass).map_err(failed)?;
        collector.failover = failover.map(|seconds| Failover { after: Duration::from_secs(seconds), plan: &plan_anew });
        collector.sources.clone_from(&self.sources);
        let (asked, mut all) = (submission.id.clone(), vec![]);
        // States that somebody wrote by hand may lead back to where they came from.
        let (mut known, mut next) = (BTreeSet::from([asked.clone()]), vec![submission]);
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
                    for id in moved.into_iter().filter(|id| shown == Shown::Tables && known.insert(id.clone())) {
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
}

/// These cells of a machine's run once more.
fn again(first: &Submission, machine: &str, exactly: &[CellName]) -> Result<MachineRun, CommandError> {
    let (_, run) = first.run_of(machine).ok_or_else(|| failed(format!("{} asked nothing of {machine}", first.id)))?;
    let mut run = run.clone();
    // A cell that left the device open was asked for without it.
    let is_it = |asked: &CellName, name: &CellName| {
        let device = asked.device.is_none() || asked.device == name.device;
        device && CellName { device: asked.device.clone(), ..name.clone() } == *asked
    };
    // A smaller batch that was tried in place of one is tried again with that one.
    let stands_for = |asked: &AskedCell, name: &CellName| {
        asked.stands_for(&Cell {
            plugin: name.plugin.clone(),
            device: name.device.clone().unwrap_or_default(),
            skill: name.model.clone(),
            benchmark: name.benchmark.clone(),
            axes: name.axes.clone(),
            ..Cell::blank()
        })
    };
    run.cells.retain(|cell| exactly.iter().any(|name| is_it(&cell.name, name) || stands_for(cell, name)));
    Ok(run)
}

fn is_of_functions(recorded: &Recorded) -> bool {
    recorded.request.as_ref().is_some_and(|request| request.functions)
}

fn exit_of(recorded: &Recorded) -> Exit {
    if is_of_functions(recorded) { bench::exit(&recorded.run) } else { run::exit(recorded) }
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
                match is_of_functions(&kept.recorded) {
                    true => bench::show(global, kept).map_err(failed)?,
                    false => run::show(global, kept).map_err(failed)?,
                }
            }
        }
    }
    Ok(())
}
