//! The safest way in which a browser starts here: as another user in place of root, and in its own sandbox. What cannot be had
//! is said.

use crate::account::RunAs;
use crate::process::{Process, Refusal, Started, Way, refused};
use skillbench_plugin_api::Result;
use std::path::Path;
use std::time::Duration;

/// A browser that answers, and how it runs.
pub(crate) struct Launched {
    pub started: Started,
    /// "as nobody in its sandbox".
    pub how: String,
    /// What is missing of the safest way, and why. `None`: nothing is.
    pub lacks: Option<String>,
}

/// Starts the browser as this user where the worker is root's, and as the worker's user otherwise.
///
/// # Errors
/// `Unavailable` for what does not start or is no browser, with what it printed.
pub(crate) fn launch(browser: &Path, run_as: &RunAs, limit: Duration) -> Result<Launched> {
    let mut lacks = match run_as {
        RunAs::Root(why) => vec![format!("runs as root: {why}")],
        RunAs::Own | RunAs::Other(_) => vec![],
    };
    let mut last = None;
    for way in ways(run_as) {
        let how = describe(way, run_as);
        match Process::start(browser, way, limit) {
            Ok(started) => {
                let lacks = (!lacks.is_empty()).then(|| lacks.join("; "));
                return Ok(Launched { started, how, lacks });
            }
            Err(Refusal::Final(error)) => return Err(error),
            Err(Refusal::Ended(what)) => {
                lacks.push(format!("{how}: {what}"));
                last = Some(what);
            }
        }
    }
    let what = last.unwrap_or_else(|| "does not start".into());
    Err(refused(browser, &what))
}

/// From the safest to what works everywhere. Chromium has no sandbox for root.
fn ways(run_as: &RunAs) -> Vec<Way<'_>> {
    let way = |account, sandbox| Way { account, sandbox };
    match run_as {
        RunAs::Own => vec![way(None, true), way(None, false)],
        RunAs::Other(account) => {
            vec![way(Some(account), true), way(Some(account), false), way(None, false)]
        }
        RunAs::Root(_) => vec![way(None, false)],
    }
}

fn describe(way: Way, run_as: &RunAs) -> String {
    let sandbox = if way.sandbox { "in its sandbox" } else { "without its sandbox" };
    match (way.account, run_as) {
        (Some(account), _) => format!("as {} {sandbox}", account.name),
        (None, RunAs::Own) => sandbox.into(),
        (None, _) => format!("as root {sandbox}"),
    }
}
