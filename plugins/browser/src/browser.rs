//! One warm browser with its page. It is lost as a whole: what goes on in a browser after a crash is nobody's measurement.

use crate::account::RunAs;
use crate::devtools::DevTools;
use crate::launch::launch;
use crate::link::{Awaited, Failure, Link, Reply};
use crate::process::{Process, Started};
use crate::server::{Content, Server};
use crate::settings::{ORT_ENTRY, ORT_FILES, Settings};
use serde_json::{Value, json};
use skillbench_plugin_api::{Code, Error, Result, Why};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

const PAGE: [(&str, &str); 6] = [
    ("index.html", include_str!("page/index.html")),
    ("page.mjs", include_str!("page/page.mjs")),
    ("operations.mjs", include_str!("page/operations.mjs")),
    ("devices.mjs", include_str!("page/devices.mjs")),
    ("tensors.mjs", include_str!("page/tensors.mjs")),
    ("log.mjs", include_str!("page/log.mjs")),
];

pub(crate) struct Browser {
    /// "Chromium 153.0.8010.0".
    pub product: String,
    /// How it runs: "as nobody in its sandbox".
    pub how: String,
    /// What is missing of the safest way to run it, and why.
    pub lacks: Option<String>,
    /// "1.30.0", of ONNX Runtime Web.
    pub ort: String,
    pub server: Server,
    link: Mutex<Link>,
    devtools: Mutex<DevTools>,
    process: Mutex<Process>,
    /// Why it is of no use any more.
    lost: OnceLock<String>,
}

impl Browser {
    /// Starts the browser, opens the page and waits for it.
    ///
    /// # Errors
    /// `Unavailable` where the browser or ONNX Runtime Web cannot be used.
    pub fn start(settings: &Settings) -> Result<Browser> {
        let limit = settings.launch;
        let launched = launch(&settings.browser, &RunAs::choose(&settings.user), limit)?;
        let Started { mut process, mut devtools, version } = launched.started;
        let server = Server::start()?;
        for (name, text) in PAGE {
            server.add(name, Content::Text(text));
        }
        for file in ORT_FILES {
            server.add(&format!("ort/{file}"), Content::File(settings.ort_web.join(file)));
        }
        let root = server.root();
        let awaited = Awaited::listen()?;

        let product = version["product"]
            .as_str()
            .unwrap_or("an unknown browser")
            .replace("HeadlessChrome/", "Chromium ")
            .replace('/', " ");
        devtools.open(&format!("{root}index.html?link={}", awaited.url()), limit)?;
        let path = settings.browser.display();
        let Some(mut link) = awaited.accept(&server.origin(), limit) else {
            let what = process.ended().or_else(|| devtools.crash(Duration::from_millis(1)));
            let what = what.unwrap_or_else(|| format!("did not load the page within {} s", limit.as_secs_f64()));
            let text = format!("{product} ({path}) {what}: use a current Chromium; see the option `browser`");
            return Err(Error::unavailable(Why::RUNTIME, text));
        };
        let hello =
            json!({ "op": "hello", "entry": format!("{root}ort/{ORT_ENTRY}"), "folder": format!("{root}ort/") });
        let hello = link.call(hello, None, limit).map_err(|failure| {
            let (plugin, folder) = (&settings.plugin, settings.ort_web.display());
            let text = format!(
                "{product} cannot load ONNX Runtime Web from {folder} ({}): run `host runtime install {plugin}`",
                words(&failure)
            );
            Error::unavailable(Why::RUNTIME, text)
        })?;
        Ok(Browser {
            product,
            how: launched.how,
            lacks: launched.lacks,
            ort: hello.value["ort"].as_str().unwrap_or("of unknown version").into(),
            server,
            link: Mutex::new(link),
            devtools: Mutex::new(devtools),
            process: Mutex::new(process),
            lost: OnceLock::new(),
        })
    }

    /// Asks the page for something.
    ///
    /// # Errors
    /// `Internal` for what the page says, and where the browser is lost; `DeadlineExceeded` without an answer in time.
    pub fn call(&self, message: Value, payload: Option<&[u8]>, limit: Duration) -> Result<Reply> {
        let mut link = lock(&self.link);
        if let Some(why) = self.lost.get() {
            return Err(gone(why));
        }
        let failure = match link.call(message, payload, limit) {
            Ok(reply) => return Ok(reply),
            Err(failure) => failure,
        };
        match failure {
            Failure::Refused(text) => return Err(Error::internal(text)),
            Failure::Late => {
                // The page still works at it, and would answer into the next call.
                let text = format!("the page did not answer within {} s", limit.as_secs_f64());
                let _ = self.lost.set(text.clone());
                return Err(Error::new(Code::DeadlineExceeded, format!("{text}: see the option `call_timeout_s`")));
            }
            Failure::DeviceLost(text) => _ = self.lost.set(format!("its device is gone ({text})")),
            Failure::Broken(text) => _ = self.lost.set(self.diagnose(&text)),
        }
        Err(gone(self.lost.get().map_or("", String::as_str)))
    }

    /// What became of a page whose link broke.
    fn diagnose(&self, error: &str) -> String {
        // The link breaks a moment before the process is gone or the news has come.
        lock(&self.process).wait(Duration::from_millis(200));
        let ended = lock(&self.process).ended().map(|how| format!("the browser {how}"));
        let crash = || lock(&self.devtools).crash(Duration::from_secs(1));
        ended.or_else(crash).unwrap_or_else(|| format!("the link to the page broke ({error})"))
    }

    /// Whether it answers.
    pub fn alive(&self) -> bool {
        self.call(json!({ "op": "ping" }), None, Duration::from_secs(10)).is_ok()
    }

    pub fn devtools(&self, method: &str, params: Value, limit: Duration) -> Result<Value> {
        lock(&self.devtools).call(method, params, limit)
    }

    /// The name of the graphics adapter, where it is a program.
    pub fn software_gpu(&self, limit: Duration) -> Option<String> {
        let info = self.devtools("SystemInfo.getInfo", json!({}), limit).ok()?;
        let names = info["gpu"]["devices"].as_array()?.iter().filter_map(|device| device["deviceString"].as_str());
        let mut names = names.chain(info["gpu"]["auxAttributes"]["glRenderer"].as_str());
        let software = |name: &&str| ["SwiftShader", "llvmpipe", "softpipe"].iter().any(|part| name.contains(part));
        names.find(software).map(str::to_string)
    }

    /// Seconds of CPU time that all its processes have used up.
    ///
    /// # Errors
    /// What the browser says.
    pub fn cpu_seconds(&self, limit: Duration) -> Result<f64> {
        let info = self.devtools("SystemInfo.getProcessInfo", json!({}), limit)?;
        let processes = info["processInfo"].as_array().map(Vec::as_slice).unwrap_or_default();
        Ok(processes.iter().filter_map(|process| process["cpuTime"].as_f64()).sum())
    }

    pub fn process_id(&self) -> u32 {
        lock(&self.process).id()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Asked to close, it leaves nothing half written; `Process` ends what does not.
        let asked = self.devtools("Browser.close", json!({}), Duration::from_secs(1));
        if asked.is_ok() {
            lock(&self.process).wait(Duration::from_secs(2));
        }
    }
}

fn gone(why: &str) -> Error {
    Error::internal(format!("the browser was lost: {why}: load the model again, which starts a new one"))
}

fn words(failure: &Failure) -> String {
    match failure {
        Failure::Refused(text) | Failure::DeviceLost(text) | Failure::Broken(text) => text.clone(),
        Failure::Late => "no answer in time".into(),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
