//! A host of the contract 1.0: `host LIBRARY MODEL COUNT` opens a plugin's backend, runs a model of one input `x[COUNT / 64, 64]` and one output,
//! on the numbers 0, 1/COUNT, 2/COUNT, ..., and prints the output, number by number.

use skillbench_plugin_api::client::Plugin;
use skillbench_plugin_api::host_tables::{HostServices, HostTable};
use skillbench_plugin_api::raw::sb_plugin;
use skillbench_plugin_api::{DType, Dim, Direction, HostTensor, Load, Options, Source};
use std::ffi::{CString, c_char, c_int, c_void};
use std::path::Path;
use std::sync::Arc;

unsafe extern "C" {
    fn dlopen(file: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

const NOW: c_int = 2;

struct Services;

impl HostServices for Services {
    fn log(&self, _: i32, _: &str, _: &str) {}
    fn phase(&self, _: &str, _: f64) {}
    fn now_ns(&self) -> u64 {
        0
    }
    fn stopping(&self) -> bool {
        false
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, library, model, count] = &arguments[..] else { panic!("usage: host LIBRARY MODEL COUNT") };
    let count: usize = count.parse().expect("a number");
    let file = CString::new(library.as_str()).expect("a path");
    // SAFETY: a library that the tests built; its symbol is the contract's table.
    let table = unsafe {
        let opened = dlopen(file.as_ptr(), NOW);
        assert!(!opened.is_null(), "{library} does not open");
        dlsym(opened, c"skillbench_plugin".as_ptr()).cast::<sb_plugin>()
    };
    // SAFETY: the library stays loaded.
    let plugin = unsafe { Plugin::new(table) }.expect("a plugin of this major");
    let backend = plugin.backend().expect("it has a factory").expect("it has a backend");
    let instance = backend.open(HostTable::leak(&Services), &Options::default()).expect("it opens");
    let rows = count / 64;
    let load = Load { dims: vec![Dim::fixed("batch", rows as i64)], ..Load::new(Source::onnx(Path::new(model))) };
    let loaded = instance.load(&load).expect("it loads");
    let mut request = loaded.request().expect("it has requests");
    let mut tensor = HostTensor::zeroed(DType::F32, &[rows, 64]).expect("memory");
    for (index, bytes) in tensor.bytes_mut().chunks_exact_mut(4).enumerate() {
        bytes.copy_from_slice(&(index as f32 / count as f32).to_ne_bytes());
    }
    request.bind(Direction::Input, 0, Arc::new(tensor)).expect("it binds");
    request.run().expect("it runs");
    let output = request.take_output(0).expect("it has an output");
    for value in output.as_slice::<f32>().expect("of float32") {
        println!("{value:e}");
    }
}
