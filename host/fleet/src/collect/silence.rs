//! Machines that give no sign of life: the user is warned of them, and with failover their undone cells are moved to others.

use super::Collector;
use super::keeping::Keeping;
use crate::failover::{Failover, Moved, move_cells, moved_to};
use crate::form::Beat;
use crate::submit::{self, SubmitError};
use skillbench_session::{Event, Listener};
use std::collections::BTreeMap;
use std::time::Instant;

/// Machines that are waited for and silent, each since it was first missed.
#[derive(Default)]
pub(super) struct Silence {
    machines: BTreeMap<String, Missed>,
}

struct Missed {
    since: Instant,
    /// Why nobody can stand in, as the last warning said.
    warned: Option<String>,
}

impl Collector<'_> {
    /// Looks which of the machines that are waited for are there.
    pub(super) fn look_for_gone(
        &self,
        keeping: &mut Keeping<'_>,
        beats: &BTreeMap<String, Beat>,
        silence: &mut Silence,
        on: &mut Listener<'_>,
    ) -> Result<(), SubmitError> {
        let id = &keeping.submission.id;
        for machine in keeping.waited_for() {
            if beats.contains_key(machine) {
                if silence.machines.remove(machine).is_some() {
                    on(Event::Note(&format!("{machine} is there again")));
                }
                continue;
            }
            let missed = silence.machines.entry(machine.into()).or_insert_with(|| {
                let then = match &self.failover {
                    Some(failover) => format!("its cells are moved in {} s", failover.after.as_secs()),
                    None => format!("its cells wait for it; `host fleet cancel {id}` ends the wait"),
                };
                on(Event::Warning(&format!("{machine} gives no sign of life: {then}")));
                Missed { since: Instant::now(), warned: None }
            });
            // Another collector may have moved them.
            if let Some(to) = moved_to(self.courier, id, machine)? {
                self.send_moved(&to)?;
                keeping.moved.insert(machine.into(), to);
            } else if let Some(failover) =
                self.failover.as_ref().filter(|failover| missed.since.elapsed() >= failover.after)
            {
                self.move_from(machine, keeping, failover, missed, on)?;
            }
        }
        Ok(())
    }

    /// Sends what whoever moved the cells may have been killed before.
    pub(super) fn send_moved(&self, to: &str) -> Result<(), SubmitError> {
        let Some(signer) = &self.signer else { return Ok(()) };
        if submit::is_cancelled(self.courier, to)? {
            return Ok(());
        }
        let moved = submit::find(self.courier, &self.trust, to)?;
        submit::put_back(self.courier, signer, &moved).map(|_| ())
    }

    fn move_from(
        &self,
        machine: &str,
        keeping: &mut Keeping<'_>,
        failover: &Failover<'_>,
        missed: &mut Missed,
        on: &mut Listener<'_>,
    ) -> Result<(), SubmitError> {
        let (Some(signer), Some((_, run))) = (&self.signer, keeping.submission.run_of(machine)) else { return Ok(()) };
        let undone = keeping.undone(machine);
        if undone.is_empty() {
            // It was gone before it said that its lots had ended.
            keeping.end_lots(machine);
            return Ok(());
        }
        match move_cells(self.courier, &self.trust, signer, failover.plan, keeping.submission, run, &undone)? {
            Moved::To { submission, machines } => {
                let (count, machines) = (undone.len(), machines.join(", "));
                on(Event::Warning(&format!(
                    "{machine} is given up: {count} of its cells are measured on {machines}, as submission {submission}"
                )));
                keeping.moved.insert(machine.into(), submission);
            }
            Moved::Nowhere(why) if missed.warned.as_ref() != Some(&why) => {
                on(Event::Warning(&format!("the cells of {machine} still wait for it: {why}")));
                missed.warned = Some(why);
            }
            Moved::Nowhere(_) => {}
        }
        Ok(())
    }
}
