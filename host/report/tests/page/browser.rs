//! Opening a page in the real browser, from its file.

use serde_json::{Value, json};
use skillbench_browser::Tab;
use skillbench_report::page::Page;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// One browser at a time: tests take times, and browsers take all cores.
static BROWSER: Mutex<()> = Mutex::new(());

pub struct Browser {
    pub tab: Tab,
    scripts: bool,
    folder: TempDir,
    _alone: MutexGuard<'static, ()>,
}

pub fn browser() -> Browser {
    let alone = BROWSER.lock().unwrap_or_else(PoisonError::into_inner);
    let variable = "SKILLBENCH_TEST_BROWSER";
    let path = std::env::var(variable)
        .unwrap_or_else(|_| panic!("{variable} is not set: run the tests with scripts/test, which sets it"));
    let mut tab = Tab::open(Path::new(&path), Duration::from_secs(30)).unwrap();
    for domain in ["Page", "Runtime", "Log", "Network", "DOM"] {
        tab.call(&format!("{domain}.enable"), json!({})).unwrap();
    }
    tab.call("Emulation.setScrollbarsHidden", json!({ "hidden": true })).unwrap();
    size(&mut tab, 1200, 900);
    tab.events(Duration::from_millis(20));
    Browser { tab, scripts: true, folder: TempDir::new().unwrap(), _alone: alone }
}

impl Browser {
    /// Whether pages opened from now on may run scripts.
    pub fn scripts(&mut self, run: bool) {
        self.tab.call("Emulation.setScriptExecutionDisabled", json!({ "value": !run })).unwrap();
        self.scripts = run;
    }
}

/// A page in the browser.
pub struct Opened<'b> {
    pub tab: &'b mut Tab,
    pub url: String,
    /// From the wish for it until it stands there.
    pub took: Duration,
}

impl<'b> Opened<'b> {
    /// Opens the page at a place in it: "", or "#" and the rest of the address.
    pub fn page(browser: &'b mut Browser, page: &Page, hash: &str) -> Opened<'b> {
        let file = browser.folder.path().join("page.html");
        std::fs::write(&file, page.html().unwrap()).unwrap();
        Opened::file(browser, &file, hash)
    }

    /// The same of a file that is there.
    pub fn file(browser: &'b mut Browser, file: &Path, hash: &str) -> Opened<'b> {
        let url = format!("file://{}{hash}", file.display());
        let tab = &mut browser.tab;
        // From elsewhere, so that a new place in the same page is opened afresh.
        tab.call("Page.navigate", json!({ "url": "about:blank" })).unwrap();
        wait(tab, "document.readyState === 'complete' && location.href === 'about:blank'");
        tab.events(Duration::from_millis(20));
        let started = Instant::now();
        tab.call("Page.navigate", json!({ "url": url })).unwrap();
        wait(tab, "document.readyState === 'complete' && location.href !== 'about:blank'");
        if browser.scripts {
            // Two frames later it has been drawn.
            let frames = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))";
            tab.value(frames).unwrap();
        }
        Opened { took: started.elapsed(), tab, url }
    }

    pub fn value(&mut self, expression: &str) -> Value {
        self.tab.value(expression).unwrap()
    }

    pub fn text(&mut self, selector: &str) -> String {
        let text = self.value(&format!("document.querySelector({}).textContent", json!(selector)));
        text.as_str().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// How many of these readers can see.
    pub fn seen(&mut self, selector: &str) -> u64 {
        let visible = "element.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true })";
        let script = format!("[...document.querySelectorAll({})].filter(element => {visible}).length", json!(selector));
        self.value(&script).as_u64().unwrap()
    }

    pub fn hash(&mut self) -> String {
        self.value("location.hash").as_str().unwrap().into()
    }

    /// Clicks it, and waits until what comes of it is done.
    pub fn click(&mut self, selector: &str) {
        let script = format!("document.querySelector({}).click()", json!(selector));
        self.value(&script);
        self.settle();
    }

    pub fn settle(&mut self) {
        // The page waits 120 ms for more letters before it searches.
        std::thread::sleep(Duration::from_millis(150));
    }

    /// Presses a key by its name: "Tab", "Enter", "Escape", " ".
    pub fn press(&mut self, key: &str) {
        let (code, number, text) = match key {
            "Tab" => ("Tab", 9, ""),
            "Enter" => ("Enter", 13, "\r"),
            "Escape" => ("Escape", 27, ""),
            _ => ("Space", 32, " "),
        };
        for kind in ["keyDown", "keyUp"] {
            let text = if kind == "keyDown" { text } else { "" };
            let params =
                json!({ "type": kind, "key": key, "code": code, "windowsVirtualKeyCode": number, "text": text });
            self.tab.call("Input.dispatchKeyEvent", params).unwrap();
        }
    }

    /// What the browser has to complain about, and what it fetched beside the page itself.
    pub fn complaints(&mut self) -> Vec<String> {
        let events = self.tab.events(Duration::from_millis(100));
        let complaint = |event: &Value| {
            let params = &event["params"];
            let bad = match event["method"].as_str().unwrap_or_default() {
                "Runtime.exceptionThrown" => true,
                "Runtime.consoleAPICalled" => true,
                "Log.entryAdded" => true,
                "Network.requestWillBeSent" => {
                    let asked = params["request"]["url"].as_str().unwrap_or_default();
                    let page = self.url.split('#').next().unwrap_or_default();
                    asked != page && !asked.starts_with("data:") && !asked.starts_with("about:")
                }
                _ => false,
            };
            bad.then(|| params.to_string())
        };
        events.iter().filter_map(complaint).collect()
    }
}

pub fn wait(tab: &mut Tab, expression: &str) {
    let started = Instant::now();
    // While one page gives way to the next there is nothing to ask.
    while !tab.value(expression).is_ok_and(|value| value == true) {
        assert!(started.elapsed() < Duration::from_secs(20), "still not: {expression}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

pub fn size(tab: &mut Tab, width: u32, height: u32) {
    let params = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600 });
    tab.call("Emulation.setDeviceMetricsOverride", params).unwrap();
}

/// "light" or "dark"; "screen" or "print".
pub fn medium(tab: &mut Tab, media: &str, scheme: &str) {
    let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
    tab.call("Emulation.setEmulatedMedia", json!({ "media": media, "features": features })).unwrap();
}
