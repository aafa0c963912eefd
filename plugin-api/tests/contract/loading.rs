//! Opening libraries, and the services of a small host.

use skillbench_plugin_api::client::{BackendRef, Plugin};
use skillbench_plugin_api::host_tables::{HostServices, HostTable};
use skillbench_plugin_api::raw::sb_plugin;
use skillbench_plugin_api::{DType, HostTensor, Result};
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// A host with a clock; `stopping` where its run is being stopped.
pub struct Services {
    stopping: bool,
}

impl HostServices for Services {
    fn log(&self, _: i32, _: &str, _: &str) {}
    fn phase(&self, _: &str, _: f64) {}
    fn now_ns(&self) -> u64 {
        static START: OnceLock<Instant> = OnceLock::new();
        START.get_or_init(Instant::now).elapsed().as_nanos() as u64
    }
    fn stopping(&self) -> bool {
        self.stopping
    }
}

pub fn host() -> &'static HostTable {
    HostTable::leak(&Services { stopping: false })
}

pub fn stopping_host() -> &'static HostTable {
    HostTable::leak(&Services { stopping: true })
}

/// The exported table of a library, which is never unloaded. `None` where it has no such symbol.
pub fn table(path: &Path) -> Option<*const sb_plugin> {
    // SAFETY: a library that the tests built; its constructors do nothing.
    let library = unsafe { libloading::Library::new(path) }.unwrap_or_else(|error| panic!("{error}"));
    // SAFETY: where the symbol is, it is the contract's.
    let table = unsafe { library.get::<*const sb_plugin>(b"skillbench_plugin\0") }.ok().map(|symbol| *symbol);
    std::mem::forget(library);
    table
}

pub fn load(path: &Path) -> Result<Plugin> {
    let table = table(path).unwrap_or_else(|| panic!("{} exports no skillbench_plugin", path.display()));
    // SAFETY: the table of a library that stays loaded.
    unsafe { Plugin::new(table) }
}

pub fn backend(path: &Path) -> BackendRef {
    load(path).unwrap().backend().unwrap().expect("the plugin has a backend")
}

pub fn floats(shape: &[usize], data: &[f32]) -> Arc<HostTensor> {
    let mut tensor = HostTensor::zeroed(DType::F32, shape).unwrap();
    let bytes = data.iter().flat_map(|value| value.to_ne_bytes());
    tensor.bytes_mut().iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
    Arc::new(tensor)
}

pub fn integers(shape: &[usize], data: &[i64]) -> Arc<HostTensor> {
    let mut tensor = HostTensor::zeroed(DType::I64, shape).unwrap();
    let bytes = data.iter().flat_map(|value| value.to_ne_bytes());
    tensor.bytes_mut().iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
    Arc::new(tensor)
}
