//! The browser as a process.

use crate::account::Account;
use crate::devtools::DevTools;
use crate::guard::Guard;
use crate::pipe;
use crate::profile::Profile;
use crate::staging;
use serde_json::{Value, json};
use skillbench_plugin_api::{Code, Error, Result, Why};
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// DevTools come through a pipe: a port would let every program of the machine in. Nothing may slow a page down because nobody
/// looks at it.
const FLAGS: [&str; 16] = [
    "--headless",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-quic",
    "--disable-sync",
    "--disable-extensions",
    "--disable-default-apps",
    "--disable-breakpad",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--enable-features=WebMachineLearningNeuralNetwork",
    "--enable-unsafe-webgpu",
    "--remote-debugging-pipe",
];

const LOG: &str = "browser.log";
/// What another user's browser gets of the worker's environment.
const ENVIRONMENT: [&str; 6] = ["PATH", "LANG", "LC_ALL", "TZ", "FONTCONFIG_PATH", "FONTCONFIG_FILE"];
const LIBRARIES: &str = "LD_LIBRARY_PATH";

/// How a browser is started.
#[derive(Clone, Copy)]
pub(crate) struct Way<'a> {
    /// Another user than the worker's.
    pub account: Option<&'a Account>,
    pub sandbox: bool,
}

pub(crate) struct Process {
    // Dropped before the child is waited for; see there.
    guard: Option<Guard>,
    child: Child,
    profile: Profile,
}

/// A browser that answers.
pub(crate) struct Started {
    pub process: Process,
    pub devtools: DevTools,
    /// What it says of its version.
    pub version: Value,
}

/// Why a browser does not answer.
pub(crate) enum Refusal {
    /// This way it ends at once, or does not even start; another way it may. With the words for it.
    Ended(String),
    /// No way is better.
    Final(Error),
}

impl Process {
    /// Starts the browser and waits until it answers.
    pub fn start(browser: &Path, way: Way, limit: Duration) -> Result<Started, Refusal> {
        let profile = Profile::create(way.account).map_err(|error| match way.account {
            Some(_) => Refusal::Ended(error.message),
            None => Refusal::Final(error),
        })?;
        let internal = |error: std::io::Error| Refusal::Final(Error::internal(format!("a browser's start: {error}")));
        let program = reachable(browser, way.account, &profile)?;
        let log = File::create(profile.path().join(LOG)).map_err(internal)?;
        let (mut command, pipe) = pipe::through_pipe(&program).map_err(internal)?;
        command.args(FLAGS).arg(option("--user-data-dir=", &profile.data()));
        if !way.sandbox {
            command.arg("--no-sandbox");
        }
        command.arg("about:blank").stdout(Stdio::null()).stderr(log);
        if let Some(account) = way.account {
            account.apply(&mut command);
            fresh_environment(&mut command, &profile.data());
        }
        find_libraries(&program, &mut command);
        let child = command.spawn().map_err(|error| Refusal::Ended(format!("does not start ({error})")))?;
        // It holds the browser's end of the pipe, whose end would not be seen.
        drop(command);
        let guard = Some(Guard::over(child.id(), profile.path()));
        let mut process = Process { guard, child, profile };

        let mut devtools = DevTools::new(pipe);
        match devtools.call("Browser.getVersion", json!({}), limit) {
            Ok(version) => Ok(Started { process, devtools, version }),
            Err(error) if error.code == Code::DeadlineExceeded => {
                let waited = limit.as_secs_f64();
                let text = format!("did not answer on its pipe within {waited} s{}", process.last_words());
                Err(Refusal::Final(refused(browser, &text)))
            }
            Err(error) => {
                process.wait(Duration::from_secs(2));
                let ended = process.ended().map(|how| format!("{how} before it answered on its pipe"));
                Err(Refusal::Ended(ended.unwrap_or_else(|| format!("cannot be talked to ({})", error.message))))
            }
        }
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// How the browser ended, where it has.
    pub fn ended(&mut self) -> Option<String> {
        let status = self.child.try_wait().ok().flatten()?;
        Some(format!("ended ({status}){}", self.last_words()))
    }

    /// Waits for the browser to end by itself.
    pub fn wait(&mut self, limit: Duration) {
        let started = Instant::now();
        while started.elapsed() < limit && matches!(self.child.try_wait(), Ok(None)) {
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// What the browser printed about its end, or else the last line about something wrong.
    fn last_words(&self) -> String {
        let text = fs::read(self.profile.path().join(LOG)).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let is_talk = |line: &&str| line.is_empty() || line.contains("INFO:") || line.contains("VERBOSE");
        let mut lines = text.lines().map(str::trim).filter(|line| !is_talk(line));
        let fatal = lines.clone().find(|line| line.contains("FATAL:"));
        let line = fatal.or_else(|| lines.next_back()).unwrap_or_default();
        // "[1123/130634.180478:ERROR:../content/browser/zygote_host.cc:102] What is wrong"
        let line = line.split_once("] ").map_or(line, |(_, said)| said);
        match line.is_empty() {
            true => String::new(),
            false => format!(", saying \"{}\"", line.chars().take(160).collect::<String>()),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.guard = None;
        // Its helpers end with it: they hold on to nothing but their channel to it.
        let _ = self.child.kill();
        // A worker that may not kill another user's browser has closed its pipe.
        self.wait(Duration::from_secs(5));
    }
}

/// Why a program is not taken as a browser.
pub(crate) fn refused(browser: &Path, what: &str) -> Error {
    let text = format!("{} {what}: it has to be a Chromium; see the option `browser`", browser.display());
    Error::unavailable(Why::RUNTIME, text)
}

/// The program's path for whoever is to run it.
fn reachable(browser: &Path, account: Option<&Account>, profile: &Profile) -> Result<PathBuf, Refusal> {
    let Some(account) = account else { return Ok(browser.into()) };
    if !profile.path().parent().is_some_and(|folder| account.enters(folder)) {
        let text =
            format!("cannot have its profile in {}, which {} cannot enter", profile.path().display(), account.name);
        return Err(Refusal::Ended(text));
    }
    if account.reaches(browser) {
        return Ok(browser.into());
    }
    staging::stage(browser, &profile.path().join("program"), account).map_err(Refusal::Ended)
}

fn option(name: &str, path: &Path) -> OsString {
    let mut option = OsString::from(name);
    option.push(path);
    option
}

/// The worker's own is nobody else's: it may hold tokens, and names folders that another user cannot enter.
fn fresh_environment(command: &mut Command, home: &Path) {
    command.env_clear().env("HOME", home).current_dir("/");
    for name in ENVIRONMENT {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
}

/// A packed browser brings the libraries that a bare system lacks, in `lib` beside itself.
fn find_libraries(browser: &Path, command: &mut Command) {
    let Some(lib) = browser.parent().map(|folder| folder.join("lib")).filter(|lib| lib.is_dir()) else { return };
    if !cfg!(target_os = "linux") {
        return;
    }
    let others = std::env::var_os(LIBRARIES).unwrap_or_default();
    let others = std::env::split_paths(&others).filter(|path| !path.as_os_str().is_empty()).collect::<Vec<_>>();
    if let Ok(paths) = std::env::join_paths([lib].into_iter().chain(others)) {
        command.env(LIBRARIES, paths);
    }
}
