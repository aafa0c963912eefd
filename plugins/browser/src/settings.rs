//! The options that backends in a browser share, and finding the browser and ONNX Runtime Web.

use skillbench_plugin_api::sdk::Host;
use skillbench_plugin_api::{Error, Options, Result, Why};
use std::env::consts::EXE_SUFFIX;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The files of ONNX Runtime Web that the page loads: one build that has both WebNN and WebGPU.
pub(crate) const ORT_ENTRY: &str = "ort.webgpu.min.mjs";
pub(crate) const ORT_FILES: [&str; 3] =
    [ORT_ENTRY, "ort-wasm-simd-threaded.asyncify.mjs", "ort-wasm-simd-threaded.asyncify.wasm"];

/// Browsers to look for on the PATH, in this order.
const BROWSERS: [&str; 7] =
    ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge", "msedge"];

/// Every system has this user, who owns nothing.
const USER: &str = "nobody";

/// What an engine is opened with.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The plugin, as `host runtime install` knows it.
    pub(crate) plugin: String,
    pub(crate) browser: PathBuf,
    pub(crate) ort_web: PathBuf,
    /// Whom the browser runs as where the worker is root's.
    pub(crate) user: String,
    /// For the browser to start and the page to be ready.
    pub(crate) launch: Duration,
    /// For each load and each run.
    pub(crate) call: Duration,
}

impl Settings {
    /// Reads `browser`, `ort_web`, `browser_user`, `launch_timeout_s` and `call_timeout_s`.
    ///
    /// # Errors
    /// `Unavailable`, with the command that installs what is missing.
    pub fn read(host: Host, options: &Options, plugin: &str) -> Result<Settings> {
        let path = |key: &str| options.get(key).filter(|path| !path.is_empty()).map(PathBuf::from);
        let seconds = |key: &str, default: u64| -> Result<Duration> {
            match options.parse::<f64>(key)? {
                None => Ok(Duration::from_secs(default)),
                Some(given) => {
                    Duration::try_from_secs_f64(given).ok().filter(|given| !given.is_zero()).ok_or_else(|| {
                        Error::invalid(format!("option {key}: '{given}' is not a number of seconds above 0"))
                    })
                }
            }
        };
        let (launch, call) = (seconds("launch_timeout_s", 30)?, seconds("call_timeout_s", 600)?);
        let browser = find_browser(path("browser"), plugin);
        host.evidence("browser", &describe(&browser));
        let ort_web = find_ort_web(path("ort_web"), plugin);
        host.evidence("ONNX Runtime Web", &describe(&ort_web));
        let user = options.get("browser_user").filter(|user| !user.is_empty()).unwrap_or(USER).into();
        Ok(Settings { plugin: plugin.into(), browser: browser?, ort_web: ort_web?, user, launch, call })
    }
}

fn describe(found: &Result<PathBuf>) -> String {
    match found {
        Ok(path) => path.display().to_string(),
        Err(error) => error.message.clone(),
    }
}

fn find_browser(option: Option<PathBuf>, plugin: &str) -> Result<PathBuf> {
    let missing = |what: String| {
        let text = format!("{what}: run `host runtime install {plugin}`, or set the option `browser` to a Chromium");
        Error::unavailable(Why::RUNTIME, text)
    };
    match option {
        Some(path) if path.is_file() => Ok(path),
        Some(path) => Err(missing(format!("there is no browser {}", path.display()))),
        None => on_path().ok_or_else(|| missing("no browser is installed".into())),
    }
}

fn on_path() -> Option<PathBuf> {
    let folders: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH")?).collect();
    let named = |name: &&str| {
        let file = format!("{name}{EXE_SUFFIX}");
        folders.iter().map(|folder| folder.join(&file)).find(|path| path.is_file())
    };
    let application = Path::new("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome");
    let application = || (cfg!(target_os = "macos") && application.is_file()).then(|| application.into());
    BROWSERS.iter().find_map(named).or_else(application)
}

fn find_ort_web(option: Option<PathBuf>, plugin: &str) -> Result<PathBuf> {
    let missing = |what: String| {
        let text = format!(
            "{what}: run `host runtime install {plugin}`, or set the option `ort_web` to the folder `dist` of the npm \
             package onnxruntime-web"
        );
        Error::unavailable(Why::RUNTIME, text)
    };
    let folder = option.ok_or_else(|| missing("ONNX Runtime Web is not installed".into()))?;
    match ORT_FILES.iter().find(|file| !folder.join(file).is_file()) {
        None => Ok(folder),
        Some(file) => Err(missing(format!("ONNX Runtime Web lacks {}", folder.join(file).display()))),
    }
}
