//! Who is told of what was found.

use clap::Args;
use skillbench_engine::alert::Webhook;
use std::path::PathBuf;

#[derive(Args, Clone, Default)]
pub struct AlertArgs {
    /// Append alerts to this file, a line of JSON each; one that stands there is not written again
    #[arg(long, value_name = "FILE")]
    pub alert_file: Option<PathBuf>,
    /// Have the shell run this where there are alerts, with all of them as JSON on its input
    #[arg(long, value_name = "COMMAND")]
    pub alert_command: Option<String>,
    /// Post alerts as JSON to this address, http or https
    #[arg(long, value_name = "URL", env = "SKILLBENCH_ALERT_WEBHOOK", hide_env_values = true)]
    pub alert_webhook: Option<Webhook>,
}
