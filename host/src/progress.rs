//! How a run goes, for people: a bar with an estimate on a terminal, plain lines in a pipe.

use crate::output;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use skillbench_engine::document::{Cell, GenerationMetrics, Metrics, Samples};
use skillbench_engine::run::{Observer, PlannedCell};
use std::io::IsTerminal;

/// Steps of the bar for one cell.
const STEPS: f64 = 100.0;

pub struct Progress {
    bar: Option<ProgressBar>,
    quiet: bool,
    debug: bool,
    place: String,
    names: Vec<String>,
}

impl Progress {
    /// A cell beyond the plan is a smaller batch of the one before it.
    fn name(&self, index: usize) -> &str {
        self.names.get(index).map_or("a smaller batch", String::as_str)
    }

    /// `names`: what each cell of the plan is called, by index.
    pub fn new(quiet: bool, debug: bool, cells: usize, names: Vec<String>) -> Progress {
        let terminal = std::io::stderr().is_terminal() && !quiet;
        let bar = terminal.then(|| {
            let bar = ProgressBar::with_draw_target(Some((cells as f64 * STEPS) as u64), ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{wide_bar} {percent:>3}%, {eta} left\n{msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        });
        Progress { bar, quiet, debug, place: String::new(), names }
    }

    fn line(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| output::say(text)),
            None => output::say(text),
        }
    }
}

impl Observer for Progress {
    fn step(&mut self, text: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(text.to_string());
        }
    }

    fn warning(&mut self, text: &str) {
        self.line(&format!("warning: {text}"));
    }

    fn debug(&mut self, text: &str) {
        if self.debug {
            self.line(&format!("debug: {text}"));
        }
    }

    fn cell_begun(&mut self, cell: &PlannedCell, place: usize, of: usize) {
        self.place = format!("[{}/{of}]", place + 1);
        if let Some(bar) = &self.bar {
            bar.set_length((of as f64 * STEPS) as u64);
            bar.set_position((place as f64 * STEPS) as u64);
            bar.set_message(format!("{} {}", self.place, self.name(cell.index)));
        }
    }

    fn cell_progress(&mut self, share: f64) {
        if let Some(bar) = &self.bar {
            let base = bar.position() / STEPS as u64 * STEPS as u64;
            bar.set_position(base + (share.min(0.99) * STEPS) as u64);
        }
    }

    fn cell_ended(&mut self, cell: &Cell, _: &[Samples]) -> std::io::Result<()> {
        if self.quiet {
            return Ok(());
        }
        let figure = match cell.outcome.metrics() {
            None => cell.outcome.reason().map_or(String::new(), |reason| format!(": {}", reason.message)),
            Some(Metrics { generation: Some(tokens), .. }) => tokens_told(tokens),
            Some(metrics) => match (&metrics.latency_ms, metrics.speedup_over_sequential) {
                (Some(latency), _) => format!(" {:.3} ms, {} samples", latency.median, latency.n),
                (None, Some(speedup)) => format!(" {speedup:.2} times the sequential speed"),
                (None, None) => String::new(),
            },
        };
        self.line(&format!("{} {}: {}{figure}", self.place, self.name(cell.index), cell.outcome.name()));
        Ok(())
    }
}

/// " first token after 12.3 ms, 4.56 ms for each after it".
fn tokens_told(tokens: &GenerationMetrics) -> String {
    let first =
        tokens.time_to_first_token_ms.as_ref().map(|stats| format!(" first token after {:.2} ms", stats.median));
    let each =
        tokens.time_per_output_token_ms.as_ref().map(|stats| format!(", {:.2} ms for each after it", stats.median));
    first.into_iter().chain(each).collect()
}
