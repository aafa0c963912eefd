//! Who is told of what was found.

use clap::Args;
use skillbench_engine::alert::Webhook;
use std::path::PathBuf;

#[derive(Args, Clone, Default)]
pub struct AlertArgs {
    /// Append new alerts to this file, one line of JSON each
    #[arg(long, value_name = "FILE")]
    pub alert_file: Option<PathBuf>,
    /// Run this in the shell if there are alerts; its input has them as JSON
    #[arg(long, value_name = "COMMAND")]
    pub alert_command: Option<String>,
    /// Post alerts as JSON to this address, http or https
    #[arg(long, value_name = "URL", env = "SKILLBENCH_ALERT_WEBHOOK", hide_env_values = true)]
    pub alert_webhook: Option<Webhook>,
}
