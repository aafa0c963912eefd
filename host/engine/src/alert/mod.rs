//! Alerts: a finding as a document, told to a file, a command or a webhook.
//!
//! - `document`: what an alert says. `file`, `command`, `webhook`: where it goes.
//!
//! Telling somebody is not the finding: what cannot be told is said, and changes neither results nor verdicts.
//!
//! Not here: what is worth an alert, which is for whoever finds it.

mod command;
mod document;
mod file;
mod webhook;

#[cfg(test)]
mod tests;

pub use document::{Alert, CellName, Figures, Kind};
pub use webhook::{BadAddress, Webhook};

use std::path::PathBuf;

/// Where alerts go; all that is set.
#[derive(Clone, Debug, Default)]
pub struct Targets {
    /// A line of JSON for each is appended; one that stands there already is not.
    pub file: Option<PathBuf>,
    /// Run by the shell once for all of them, with `skillbench.alerts/1` as its input.
    pub command: Option<String>,
    /// The same, posted.
    pub webhook: Option<Webhook>,
}

/// An alert that did not get through: where to, and why. Addresses are told without their paths, which may be secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the alert did not get to {to}: {why}")]
pub struct Undelivered {
    pub to: String,
    pub why: String,
}

/// Tells all of them everywhere, and says what became of it at each place. Without alerts nothing is told.
pub fn send(targets: &Targets, alerts: &[Alert]) -> Vec<Result<String, Undelivered>> {
    if alerts.is_empty() {
        return vec![];
    }
    let file = targets.file.as_ref().map(|path| file::append(path, alerts));
    let command = targets.command.as_ref().map(|text| command::run(text, alerts));
    let webhook = targets.webhook.as_ref().map(|webhook| webhook.post(alerts));
    [file, command, webhook].into_iter().flatten().collect()
}
