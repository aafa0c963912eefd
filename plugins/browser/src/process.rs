//! The browser as a process.

use crate::guard::Guard;
use crate::profile::Profile;
use skillbench_plugin_api::{Error, Result, Why};
use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// No sandbox: it needs rights that containers do not give, and the page is ours alone. Nothing may slow a page down because
/// nobody looks at it.
const FLAGS: [&str; 17] = [
    "--headless",
    "--no-sandbox",
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
    "--remote-debugging-port=0",
];

/// Where the browser writes the address of its DevTools.
const ADDRESS: &str = "DevToolsActivePort";
const LOG: &str = "browser.log";

pub(crate) struct Process {
    // Dropped before the child is waited for; see there.
    guard: Option<Guard>,
    child: Child,
    profile: Profile,
    /// The address of its DevTools.
    pub devtools: String,
}

impl Process {
    /// Starts the browser and waits until its DevTools listen.
    ///
    /// # Errors
    /// `Unavailable` for what does not start or is no browser, with the end of what it printed.
    pub fn start(browser: &Path, limit: Duration) -> Result<Process> {
        let profile = Profile::create()?;
        let failed = |what: &str| {
            let text = format!("{} {what}: it has to be a Chromium; see the option `browser`", browser.display());
            Error::unavailable(Why::RUNTIME, text)
        };
        let log =
            File::create(profile.path().join(LOG)).map_err(|error| Error::internal(format!("its log: {error}")))?;
        let mut command = Command::new(browser);
        command.args(FLAGS).arg(format!("--user-data-dir={}", profile.path().display())).arg("about:blank");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        find_libraries(browser, &mut command);
        let child = command.spawn().map_err(|error| failed(&format!("does not start ({error})")))?;
        let guard = Some(Guard::over(child.id()));
        let mut process = Process { guard, child, profile, devtools: String::new() };

        let started = Instant::now();
        loop {
            if let Some(address) = read_address(&process.profile.path().join(ADDRESS)) {
                process.devtools = address;
                return Ok(process);
            }
            if let Some(ended) = process.ended() {
                return Err(failed(&format!("{ended} before it opened its DevTools")));
            }
            if started.elapsed() > limit {
                let waited = limit.as_secs_f64();
                return Err(failed(&format!("did not open its DevTools within {waited} s{}", process.last_words())));
            }
            thread::sleep(Duration::from_millis(5));
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

    /// The last line that the browser printed about something wrong.
    fn last_words(&self) -> String {
        let text = fs::read(self.profile.path().join(LOG)).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let is_talk = |line: &str| line.is_empty() || line.contains("INFO:") || line.contains("VERBOSE");
        let line = text.lines().rev().map(str::trim).find(|line| !is_talk(line)).unwrap_or_default();
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
        let _ = self.child.wait();
    }
}

/// A packed browser brings the libraries that a bare system lacks, in `lib` beside itself.
fn find_libraries(browser: &Path, command: &mut Command) {
    const VARIABLE: &str = "LD_LIBRARY_PATH";
    let Some(lib) = browser.parent().map(|folder| folder.join("lib")).filter(|lib| lib.is_dir()) else { return };
    if !cfg!(target_os = "linux") {
        return;
    }
    let others = std::env::var_os(VARIABLE).unwrap_or_default();
    let others = std::env::split_paths(&others).filter(|path| !path.as_os_str().is_empty()).collect::<Vec<_>>();
    if let Ok(paths) = std::env::join_paths([lib].into_iter().chain(others)) {
        command.env(VARIABLE, paths);
    }
}

/// Port and path, each on its line; written in one go, but not moved into place.
fn read_address(file: &Path) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let (port, path) = text.split_once('\n')?;
    (path.starts_with('/') && path.len() > 30).then(|| format!("ws://127.0.0.1:{port}{}", path.trim()))
}
