//! OpenVINO in this process: one library, one core, for as long as the process lives.

use crate::compiled::Compiled;
use crate::failure::{Failure, check, taken};
use crate::graph::Graph;
use crate::library;
use openvino_sys::*;
use skillbench_plugin_api::{Code, Error, Result, Why};
use std::ffi::{CStr, CString};
use std::path::{Path, PathBuf};
use std::ptr::{self, NonNull};
use std::sync::{Mutex, PoisonError};

static RUNTIME: Mutex<Option<&'static Runtime>> = Mutex::new(None);

/// The loaded library and its core.
pub struct Runtime {
    core: NonNull<ov_core_t>,
    path: PathBuf,
    version: String,
}

// SAFETY: `ov::Core` may be used from any thread, as OpenVINO documents.
unsafe impl Send for Runtime {}
// SAFETY: as for Send.
unsafe impl Sync for Runtime {}

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
                let text = format!("this process has loaded OpenVINO from {have}: use {want} in another one");
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
        let mut core = ptr::null_mut();
        // SAFETY: the pointer to a local is writable.
        let made = check(unsafe { ov_core_create(&raw mut core) });
        made.map_err(|failure| library::refused(&path, &failure.said()))?;
        let core = NonNull::new(core).ok_or_else(|| library::refused(&path, "it makes no core"))?;
        Ok(Runtime { core, path, version })
    }

    /// "2026.4.1".
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Where the library lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The devices that OpenVINO can use here: "CPU", "GPU.0", "NPU".
    ///
    /// # Errors
    /// What OpenVINO says.
    pub fn devices(&self) -> Result<Vec<String>, Failure> {
        let mut list = ov_available_devices_t { devices: ptr::null_mut(), size: 0 };
        // SAFETY: a live core; the list is filled with `size` texts, read before it is freed, once.
        unsafe {
            check(ov_core_get_available_devices(self.core.as_ptr(), &raw mut list))?;
            let text = |index| CStr::from_ptr(*list.devices.add(index)).to_string_lossy().into_owned();
            let devices = (0..list.size).map(text).collect();
            ov_available_devices_free(&raw mut list);
            Ok(devices)
        }
    }

    /// A property of a device, as text.
    ///
    /// # Errors
    /// Where the device is not there or has no such property.
    pub fn property(&self, device: &str, key: &str) -> Result<String, Failure> {
        let (device, key, mut value) = (text(device)?, text(key)?, ptr::null_mut());
        // SAFETY: a live core, texts that live through the call; the value is a copy that is ours.
        unsafe {
            check(ov_core_get_property(self.core.as_ptr(), device.as_ptr(), key.as_ptr(), &raw mut value))?;
            Ok(taken(value).unwrap_or_default())
        }
    }

    /// Reads a model, and what it keeps in files beside it.
    ///
    /// # Errors
    /// What OpenVINO says.
    pub fn read(&self, path: &Path) -> Result<Graph, Failure> {
        let path = path.to_str().ok_or_else(|| Failure::here("the path is not UTF-8"))?;
        let (path, mut model) = (text(path)?, ptr::null_mut());
        // SAFETY: a live core, a text that lives through the call, no file of weights; the model is ours.
        unsafe { check(ov_core_read_model(self.core.as_ptr(), path.as_ptr(), ptr::null(), &raw mut model))? };
        Graph::new(model)
    }

    /// Compiles a model for one device.
    ///
    /// # Errors
    /// What OpenVINO says.
    pub fn compile(&self, graph: &Graph, device: &str, properties: &[(String, String)]) -> Result<Compiled, Failure> {
        let (device, mut model) = (text(device)?, ptr::null_mut());
        let texts = properties.iter().map(|(key, value)| Ok((text(key)?, text(value)?)));
        let texts = texts.collect::<Result<Vec<_>, Failure>>()?;
        let pairs: Vec<ov_property_t> = texts
            .iter()
            .map(|(key, value)| ov_property_t { key: key.as_ptr(), value: value.as_ptr().cast() })
            .collect();
        // SAFETY: a live core and model; keys and values are texts that live through the call; the compiled model is ours.
        unsafe {
            check(ov_core_compile_model_props(
                self.core.as_ptr(),
                graph.as_ptr(),
                device.as_ptr(),
                pairs.len(),
                pairs.as_ptr(),
                &raw mut model,
            ))?;
        }
        Compiled::new(model)
    }
}

/// A text for the C interface.
pub(crate) fn text(text: &str) -> Result<CString, Failure> {
    CString::new(text).map_err(|_| Failure::here("a text with a NUL inside"))
}
