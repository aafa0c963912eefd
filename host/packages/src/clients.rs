//! The package clients of the machine, pip and npm, so that its mirrors, proxies and credentials are honoured. No script of a package
//! is run: of pip's only wheels are taken, and npm only packs.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    #[error("{client} was not found")]
    NotFound { client: &'static str },
    #[error("{client} could not fetch {what}: {text}")]
    Failed { client: &'static str, what: String, text: String },
}

/// Fetches a wheel into an empty folder: `what` is `NAME` or `NAME==VERSION`, `chosen` which of its files (`--platform` and the like;
/// none: the one for this machine).
///
/// # Errors
/// There is no Python with pip, or what pip says.
pub fn wheel(what: &str, chosen: &[OsString], into: &Path) -> Result<PathBuf, ClientError> {
    const CLIENT: &str = "pip";
    const ALWAYS: [&str; 7] =
        ["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--no-cache-dir"];
    let failed = |text: String| ClientError::Failed { client: CLIENT, what: what.into(), text };
    for interpreter in ["python3", "python"] {
        let mut command = Command::new(interpreter);
        command.args(ALWAYS).args(chosen).arg("--dest").arg(into).arg(what);
        let Ok(output) = command.output() else { continue };
        if output.status.success() {
            return downloaded(into, "whl").ok_or_else(|| failed("it ended well and left no wheel".into()));
        }
        if !String::from_utf8_lossy(&output.stderr).contains("No module named pip") {
            return Err(failed(said(&output, "ERROR")));
        }
    }
    Err(ClientError::NotFound { client: "Python with pip" })
}

/// Fetches npm's archive into an empty folder: `what` is `NAME` or `NAME@VERSION`.
///
/// # Errors
/// There is no npm, or what it says.
pub fn npm_archive(what: &str, into: &Path) -> Result<PathBuf, ClientError> {
    const CLIENT: &str = "npm";
    let failed = |text: String| ClientError::Failed { client: CLIENT, what: what.into(), text };
    let program = if cfg!(windows) { "npm.cmd" } else { "npm" };
    let mut command = Command::new(program);
    command.args(["pack", "--loglevel=error", "--ignore-scripts", "--pack-destination"]).arg(into).arg(what);
    // npm wants a folder that has nothing to do with anybody's project.
    let Ok(output) = command.current_dir(into).output() else {
        return Err(ClientError::NotFound { client: CLIENT });
    };
    match output.status.success() {
        true => downloaded(into, "tgz").ok_or_else(|| failed("it ended well and left no archive".into())),
        false => Err(failed(said(&output, "npm error"))),
    }
}

/// What a client said was wrong: the lines with its mark down to the first stack frame, or everything.
fn said(output: &Output, mark: &str) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> =
        text.lines().filter(|line| line.contains(mark)).take_while(|line| !line.contains("    at ")).collect();
    if lines.is_empty() { text.trim().to_string() } else { lines.join("; ") }
}

fn downloaded(folder: &Path, extension: &str) -> Option<PathBuf> {
    let mut files = std::fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    files.find(|path| path.extension().is_some_and(|found| found == extension))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn an_error_of_npm_is_passed_on_without_its_stack() {
        use std::os::unix::process::ExitStatusExt;

        let stderr =
            "npm error code ECONNREFUSED\nnpm error FetchError: request failed\nnpm error     at emit (node:events)\n";
        let output = Output { status: ExitStatusExt::from_raw(256), stdout: Vec::new(), stderr: stderr.into() };

        assert_eq!(said(&output, "npm error"), "npm error code ECONNREFUSED; npm error FetchError: request failed");
    }
}
