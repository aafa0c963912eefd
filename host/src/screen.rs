//! What a session tells, for people: lines, and a bar while cells are measured.

use crate::cli::Global;
use crate::output;
use crate::progress::Progress;
use skillbench_session::{Event, Kept, Missing};
use skillbench_worker::Stop;

/// Shows the events of a session. Whoever asked for a run shows what was kept of it.
pub struct Screen<'k> {
    quiet: bool,
    debug: bool,
    progress: Option<Progress>,
    /// What the next lines are about.
    about: Option<String>,
    stop: Stop,
    on_kept: Box<dyn FnMut(&Kept) + 'k>,
}

impl<'k> Screen<'k> {
    pub fn new(global: &Global) -> Screen<'k> {
        let (quiet, debug, stop) = (global.quiet, global.verbose, global.stop.clone());
        Screen { quiet, debug, progress: None, about: None, stop, on_kept: Box::new(|_| {}) }
    }

    /// Has `show` called with each run that was kept.
    #[must_use]
    pub fn on_kept(self, show: impl FnMut(&Kept) + 'k) -> Screen<'k> {
        Screen { on_kept: Box::new(show), ..self }
    }

    pub fn on(&mut self, event: Event<'_>) {
        match event {
            Event::Locking => stop_on_ctrl_c(&self.stop),
            Event::Waiting { holder } => self.say(&format!("waiting for {holder}")),
            Event::Missing { missing, planned } => self.missing(missing, planned),
            Event::RunBegun { names } => self.progress = Some(Progress::new(self.quiet, names)),
            Event::ComparisonBegun { name } => self.about = Some(name.into()),
            Event::CellBegun { index, place, of } => {
                self.progress.iter_mut().for_each(|progress| progress.cell_begun(index, place, of));
            }
            Event::CellProgress { index, share } => {
                self.progress.iter_mut().for_each(|progress| progress.cell_progress(index, share));
            }
            Event::CellEnded(cell) => self.progress.iter_mut().for_each(|progress| progress.cell_ended(cell)),
            Event::Kept(kept) => {
                self.progress = None;
                (self.on_kept)(kept);
            }
            Event::Suspected { cells, baseline } => {
                self.say(&format!("{cells} cells look slower than {baseline}, and are measured again"));
            }
            Event::Step(text) => self.progress.iter().for_each(|progress| progress.step(text)),
            Event::Note(text) => self.say(text),
            Event::Warning(text) => self.line(&format!("warning: {}", self.named(text))),
            Event::Debug(text) if self.debug => self.line(&format!("debug: {}", self.named(text))),
            Event::Debug(_) => {}
        }
    }

    fn missing(&self, missing: &Missing, planned: usize) {
        for (name, changes) in &missing.changed {
            self.say(&format!("{name} is measured again: {}", changes.join("; ")));
        }
        for (name, newer) in &missing.failed_since {
            self.say(&format!("{name}: its figures hold, and a newer try did not succeed: {newer}"));
        }
        let skips = match missing.skipped {
            0 => String::new(),
            n => format!("; {n} others are skipped by a rule, or of backends that are left out"),
        };
        match missing.cells.len() {
            0 => self.line(&format!("nothing to do: the database has figures of all {} cells{skips}", missing.there)),
            n => self.say(&format!("{n} of {planned} cells are missing in the database{skips}")),
        }
    }

    fn named(&self, text: &str) -> String {
        self.about.as_ref().map_or_else(|| text.into(), |about| format!("{about}: {text}"))
    }

    fn say(&self, text: &str) {
        if !self.quiet {
            self.line(&self.named(text));
        }
    }

    fn line(&self, text: &str) {
        match &self.progress {
            Some(progress) => progress.line(text),
            None => output::say(text),
        }
    }
}

/// Has Ctrl-C ask for an end. A second one ends the program at once.
pub fn stop_on_ctrl_c(stop: &Stop) {
    let stop = stop.clone();
    // The handler that is set stays.
    let _ = ctrlc::set_handler(move || {
        if stop.asked() {
            std::process::exit(130);
        }
        stop.ask();
    });
}
