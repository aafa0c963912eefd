//! How a run goes, for people: a bar with an estimate on a terminal, plain lines in a pipe.

use crate::output;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use skillbench_record::{Cell, GenerationMetrics, Metrics, shown};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::IsTerminal;

/// Steps of the bar for one cell.
const STEPS: f64 = 100.0;

pub struct Progress {
    bar: Option<ProgressBar>,
    quiet: bool,
    names: Vec<String>,
    /// "[3/10]" of each cell that has begun, by index.
    places: HashMap<usize, String>,
    /// The cells that run now, with the share of each that is done. More than one where backends run side by side.
    running: BTreeMap<usize, f64>,
    begun: usize,
    /// Reasons that were told.
    told: HashSet<String>,
}

impl Progress {
    /// A cell beyond the plan is a smaller batch of the one before it.
    fn name(&self, index: usize) -> &str {
        self.names.get(index).map_or("a smaller batch", String::as_str)
    }

    /// `names`: what each cell of the plan is called, by index.
    pub fn new(quiet: bool, names: &[String]) -> Progress {
        let terminal = std::io::stderr().is_terminal() && !quiet;
        let bar = terminal.then(|| {
            let bar =
                ProgressBar::with_draw_target(Some((names.len() as f64 * STEPS) as u64), ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{wide_bar} {percent:>3}%, {eta} left\n{msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        });
        Progress {
            bar,
            quiet,
            names: names.to_vec(),
            places: HashMap::new(),
            running: BTreeMap::new(),
            begun: 0,
            told: HashSet::new(),
        }
    }

    /// "[3/10] bert-tiny on rten, inference, batch=1".
    fn label(&self, index: usize) -> String {
        let place = self.places.get(&index).map_or("", String::as_str);
        format!("{place} {}", self.name(index))
    }

    /// Moves the bar to where all cells together are.
    fn draw(&self) {
        if let Some(bar) = &self.bar {
            let over = self.begun.saturating_sub(self.running.len()) as f64;
            bar.set_position(((over + self.running.values().sum::<f64>()) * STEPS) as u64);
        }
    }

    /// A line of talk, above the bar.
    pub fn line(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| output::say(text)),
            None => output::say(text),
        }
    }

    /// What stands below the bar.
    pub fn step(&self, text: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(shown::line(text));
        }
    }

    pub fn cell_begun(&mut self, index: usize, place: usize, of: usize) {
        self.places.insert(index, format!("[{}/{of}]", place + 1));
        self.running.insert(index, 0.0);
        self.begun = self.begun.max(place + 1);
        if let Some(bar) = &self.bar {
            bar.set_length((of as f64 * STEPS) as u64);
        }
        self.step(&self.running.keys().map(|index| self.label(*index)).collect::<Vec<_>>().join("; "));
        self.draw();
    }

    pub fn cell_progress(&mut self, index: usize, share: f64) {
        if let Some(known) = self.running.get_mut(&index) {
            *known = share.min(0.99);
        }
        self.draw();
    }

    pub fn cell_ended(&mut self, cell: &Cell) {
        self.running.remove(&cell.index);
        self.draw();
        if self.quiet {
            return;
        }
        let figure = match cell.outcome.metrics() {
            // A backend that is not there stops many cells, for one reason.
            None => match cell.outcome.reason() {
                Some(reason) if self.told.insert(reason.message.clone()) => format!(": {}", reason.message),
                Some(_) => ", for a reason given above".into(),
                None => String::new(),
            },
            Some(Metrics { generation: Some(tokens), .. }) => of_tokens(tokens),
            Some(metrics) => match (&metrics.latency_ms, metrics.speedup_over_sequential) {
                (Some(latency), _) => format!(" {:.3} ms, {} samples", latency.median, latency.n),
                (None, Some(speedup)) => format!(" {speedup:.2} times the sequential speed"),
                (None, None) => String::new(),
            },
        };
        let audited = cell.audit.as_ref().map_or(String::new(), |audit| format!(", audited: {}", audit.describe()));
        let doubt = match &cell.implausible[..] {
            [] => String::new(),
            reasons => format!("; implausible: {}", reasons.join("; ")),
        };
        self.line(&format!("{}: {}{figure}{audited}{doubt}", self.label(cell.index), cell.outcome.name()));
    }
}

/// " first token after 12.3 ms, 4.56 ms for each after it".
fn of_tokens(tokens: &GenerationMetrics) -> String {
    let first =
        tokens.time_to_first_token_ms.as_ref().map(|stats| format!(" first token after {:.2} ms", stats.median));
    let each =
        tokens.time_per_output_token_ms.as_ref().map(|stats| format!(", {:.2} ms for each after it", stats.median));
    first.into_iter().chain(each).collect()
}
