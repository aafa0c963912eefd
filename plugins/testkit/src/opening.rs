//! Opening a backend, and what to load on it.

use skillbench_plugin_api::client::{BackendRef, Instance};
use skillbench_plugin_api::host_tables::{HostServices, HostTable};
use skillbench_plugin_api::sdk::Backend;
use skillbench_plugin_api::{Dim, Error, Load, Options, Result, Source};
use std::io::Write;
use std::path::Path;
use std::sync::Mutex;

/// A host that nothing is told to.
pub struct Quiet;

impl HostServices for Quiet {
    fn log(&self, _: i32, _: &str, _: &str) {}
    fn phase(&self, _: &str, _: f64) {}
    fn now_ns(&self) -> u64 {
        0
    }
    fn stopping(&self) -> bool {
        false
    }
}

/// A host that notes the evidence.
#[derive(Default)]
pub struct Listening(Mutex<Vec<(String, String)>>);

impl Listening {
    /// What was looked at, and what was found, in order.
    pub fn heard(&self) -> Vec<(String, String)> {
        self.0.lock().unwrap().clone()
    }
}

impl HostServices for Listening {
    fn log(&self, _: i32, _: &str, _: &str) {}
    fn phase(&self, _: &str, _: f64) {}
    fn now_ns(&self) -> u64 {
        0
    }
    fn stopping(&self) -> bool {
        false
    }
    fn evidence(&self, what: &str, found: &str) {
        self.0.lock().unwrap().push((what.into(), found.into()));
    }
}

/// The backend that a test is linked with, opened with these options.
///
/// # Errors
/// What the backend says.
pub fn open<B: Backend>(options: &[(&str, &str)]) -> Result<Instance> {
    let options = options.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    BackendRef::linked::<B>()?.open(HostTable::leak(&Quiet), &Options(options))
}

/// A part of a backend that its tests cannot do without, from the environment.
pub fn part(variable: &str) -> String {
    std::env::var(variable)
        .unwrap_or_else(|_| panic!("{variable} is not set: run the tests with scripts/test, which sets it"))
}

/// Says that a test ends early, and why. The tests' harness keeps what `println!` prints of a test that passes, so this goes to the
/// standard error itself; `scripts/test` counts these lines.
pub fn skipped(why: &str) {
    let name = std::thread::current().name().unwrap_or("a test").to_string();
    let _ = writeln!(std::io::stderr(), "skipped: {name}: {why}");
}

pub fn load_of(path: &Path) -> Load {
    Load::new(Source::onnx(path))
}

/// The error of a load that must not work.
pub fn refused(instance: &Instance, load: &Load) -> Error {
    instance.load(load).err().expect("the load to be refused")
}

/// What a backend can do about sizes that a graph leaves open.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Sizes {
    /// It runs with any; loads here leave them open.
    Open,
    /// It needs every one of them; loads here fix them.
    Fixed,
}

impl Sizes {
    /// A load of this file in which these dimensions have these sizes.
    pub fn load(self, path: &Path, dims: &[(&str, i64)]) -> Load {
        let dims = match self {
            Sizes::Open => vec![],
            Sizes::Fixed => dims.iter().map(|(name, size)| Dim::fixed(name, *size)).collect(),
        };
        Load { dims, ..load_of(path) }
    }
}
