//! Tells of findings where `--alert-file`, `--alert-command` and `--alert-webhook` say.

use crate::cli::AlertArgs;
use crate::output;
use skillbench_engine::alert::{self, Alert, Targets};

/// What could not be told is a warning: the finding stands, and so does the exit code.
pub fn send(args: &AlertArgs, alerts: &[Alert]) {
    let targets = Targets {
        file: args.alert_file.clone(),
        command: args.alert_command.clone(),
        webhook: args.alert_webhook.clone(),
    };
    for told in alert::send(&targets, alerts) {
        match told {
            Ok(what) => output::say(&format!("alert: {what}")),
            Err(failure) => output::warning(&failure.to_string()),
        }
    }
}
