//! ONNX Runtime in this process: one library, one environment, for as long as the process lives.

use crate::append::{append, built_in};
use crate::errors::{self, short};
use crate::library;
use crate::provider::{Hardware, Provider};
use ort::device::Device;
use ort::environment::Environment;
use ort::memory::{AllocationDevice, AllocatorType, MemoryInfo, MemoryType};
use ort::session::Session;
use skillbench_drivers::missing_bytes;
use skillbench_plugin_api::{Code, Error, Options, Result, Why};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

static RUNTIME: Mutex<Option<&'static Runtime>> = Mutex::new(None);

/// The loaded library and its environment.
pub struct Runtime {
    pub(crate) environment: Environment,
    /// Host memory, as ONNX Runtime names it.
    pub(crate) host_memory: MemoryInfo<'static>,
    path: PathBuf,
    version: String,
    /// Provider libraries that are registered: a second time would fail.
    registered: Mutex<Vec<PathBuf>>,
}

impl fmt::Display for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.version, self.path.display())
    }
}

impl Runtime {
    /// Loads the library on the first call; later ones return the same runtime.
    ///
    /// # Errors
    /// `Unavailable` where the library cannot be used; `FailedPrecondition` where another one already is.
    pub fn load(path: &Path) -> Result<&'static Runtime> {
        let path = path.canonicalize().unwrap_or_else(|_| path.into());
        let mut current = RUNTIME.lock().unwrap_or_else(PoisonError::into_inner);
        match *current {
            Some(runtime) if runtime.path == path => return Ok(runtime),
            Some(runtime) => {
                let (have, want) = (runtime.path.display(), path.display());
                let text = format!("this process has loaded ONNX Runtime from {have}: use {want} in another one");
                return Err(Error::new(Code::FailedPrecondition, text).because(Why::RUNTIME));
            }
            None => {}
        }
        let runtime: &'static Runtime = Box::leak(Box::new(Runtime::start(path)?));
        *current = Some(runtime);
        Ok(runtime)
    }

    fn start(path: PathBuf) -> Result<Runtime> {
        let version = library::open(&path)?;
        let unusable = |text: String| {
            let text = format!("ONNX Runtime cannot be used: {}: {}", path.display(), short(&text));
            Error::unavailable(Why::RUNTIME, text)
        };
        let builder = ort::init_from(&path).map_err(|error| unusable(error.to_string()))?;
        // No logger of ours: one crashed the process when its library was unloaded. Nor does anybody phone home.
        let environment = builder.with_name("skillbench").with_telemetry(false).build();
        let environment = environment.map_err(|error| unusable(error.to_string()))?;
        let host_memory = MemoryInfo::new(AllocationDevice::CPU, 0, AllocatorType::Device, MemoryType::Default);
        let host_memory = host_memory.map_err(|error| errors::of(&error))?;
        Ok(Runtime { environment, host_memory, path, version, registered: Mutex::new(vec![]) })
    }

    /// Where the library is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// "1.31.1".
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Whether the library was built with a provider. It may still miss what that needs.
    pub fn has(&self, provider: &str) -> bool {
        built_in().is_ok_and(|names| names.iter().any(|name| name == provider))
    }

    /// The library that the options name, if it was built with a provider.
    ///
    /// # Errors
    /// `Unavailable` where there is none, with the command that installs it for this plugin.
    pub fn built_with(provider: &str, options: &Options, plugin: &str) -> Result<&'static Runtime> {
        let runtime = Runtime::load(&library::find_library(options, plugin)?)?;
        if runtime.has(provider) {
            return Ok(runtime);
        }
        let (version, path) = (runtime.version(), runtime.path.display());
        let text = format!(
            "ONNX Runtime {version} of {path} is built without {provider}: run `host runtime install {plugin}`"
        );
        Err(Error::unavailable(Why::RUNTIME, text))
    }

    /// Makes sure that a library which ONNX Runtime will load from beside itself is not cut short. One that is missing is told
    /// of by ONNX Runtime.
    ///
    /// # Errors
    /// `Unavailable`, with the file's path.
    pub fn check_beside(&self, file: &str) -> Result<()> {
        whole(&self.path.with_file_name(file))
    }

    /// Makes sure that sessions can take in a provider by name.
    pub(crate) fn appendable(&self, provider: &dyn Provider) -> Result<()> {
        let builder = Session::builder(&self.environment);
        builder.and_then(|mut builder| append(&mut builder, provider.name(), &[])).map_err(|error| {
            // Before the reason stand the function's name and its file: "... : 1 : FAIL : Failed to load library ...".
            let reason = error.message().rsplit_once(" : ").map_or(error.message(), |(_, reason)| reason);
            let (name, library) = (provider.name(), self.path.display());
            let text = format!("{name} of {library} cannot be used: {}", short(reason));
            Error::unavailable(Why::RUNTIME, text)
        })
    }

    /// Registers the library that a provider comes in, once.
    pub(crate) fn register(&self, provider: &dyn Provider) -> Result<()> {
        match provider.library() {
            Some(library) => self.register_library(provider.name(), library),
            None => Ok(()),
        }
    }

    fn register_library(&self, name: &str, library: &Path) -> Result<()> {
        if !library.exists() {
            let text = format!("{} is not there: check the option `provider`", library.display());
            return Err(Error::unavailable(Why::RUNTIME, text));
        }
        whole(library)?;
        let mut registered = self.registered.lock().unwrap_or_else(PoisonError::into_inner);
        if registered.iter().any(|known| known == library) {
            return Ok(());
        }
        self.environment.register_ep_library(name, library).map_err(|error| {
            let text = format!("{} cannot be used: {}", library.display(), short(error.message()));
            Error::unavailable(Why::RUNTIME, text)
        })?;
        registered.push(library.into());
        Ok(())
    }

    /// The devices of one provider, always in the same order.
    pub(crate) fn devices(&self, provider: &str) -> Vec<(Device<'_>, Hardware)> {
        let ours = |device: &Device<'_>| device.ep().is_ok_and(|name| name == provider);
        let with_hardware = |device| {
            let hardware = Hardware::of(&device);
            (device, hardware)
        };
        self.environment.devices().filter(ours).map(with_hardware).collect()
    }

    /// Registers the library of a provider whose name is not known, and returns the name of its devices' provider.
    ///
    /// # Errors
    /// `Unavailable` where the library cannot be used, or lists no device.
    pub fn provider_of(&self, library: &Path) -> Result<String> {
        // Many providers call themselves what they are registered as.
        let stem = library.file_stem().unwrap_or_default().to_string_lossy();
        self.register_library(stem.trim_start_matches("lib"), library)?;
        let from_it = |device: &Device<'_>| {
            Hardware::of(device).metadata.get("library_path").is_some_and(|path| Path::new(path) == library)
        };
        let found = self.environment.devices().find(from_it).and_then(|device| device.ep().ok().map(str::to_string));
        found.ok_or_else(|| {
            let text = format!("{} lists no device on this machine: check its driver", library.display());
            Error::unavailable(Why::DEVICE, text)
        })
    }
}

/// The system's loader does not ask whether a file is whole; the process would die of one that is not.
fn whole(library: &Path) -> Result<()> {
    let Some(missing) = missing_bytes(library) else { return Ok(()) };
    let library = library.display();
    let text = format!("{library} is cut short, {missing} bytes are missing at its end: install it again");
    Err(Error::unavailable(Why::RUNTIME, text))
}
