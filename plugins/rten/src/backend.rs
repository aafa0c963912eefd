//! The backend: its options, its device, and loading.

use crate::convert::precision;
use crate::errors;
use crate::files::Files;
use crate::model::RtenModel;
use crate::profile;
use rten::{ModelOptions, ThreadPool};
use skillbench_plugin_api::sdk::{Backend, Host, Offers, processor};
use skillbench_plugin_api::{Code, Device, Error, Load, Options, Placement, Result, Why};
use std::ffi::CStr;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

/// The engine as results name it. rten does not tell its version, so a test holds this against `Cargo.lock`.
pub(crate) const ENGINE: &str = "rten 0.27.0";

/// The opened engine: one pool of threads that all its models and requests compute on.
pub struct RtenBackend {
    host: Host,
    pool: Arc<ThreadPool>,
    device: Device,
}

impl Backend for RtenBackend {
    const ID: &'static CStr = c"rten";
    const OPTIONS_SCHEMA: &'static CStr = cr#"{
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "threads": {
                "type": "integer",
                "minimum": 1,
                "description": "Threads to compute with, shared by all requests. Default: as many as the process may use cores."
            }
        }
    }"#;

    const OFFERS: Offers = Offers { supports: true, alias: true, from_memory: true, ..Offers::NONE };

    type Model = RtenModel;

    fn open(host: Host, options: &Options) -> Result<RtenBackend> {
        let threads = match options.parse("threads")? {
            Some(threads) => threads,
            None => thread::available_parallelism().map_or(1, usize::from),
        };
        Ok(RtenBackend { host, pool: Arc::new(start_threads(threads)?), device: processor() })
    }

    fn devices(&self) -> Vec<Device> {
        vec![self.device.clone()]
    }

    fn supports(&self, load: &Load) -> Result<()> {
        let format = &load.source.format;
        if format != "onnx" {
            let text = format!("rten loads ONNX graphs, not '{format}': export the model to ONNX");
            return Err(Error::unimplemented(Why::MODEL, text));
        }
        match load.precision.as_deref() {
            None | Some("float32") => Ok(()),
            Some(other) => {
                let text =
                    format!("rten computes in float32, not in {other}: leave the precision out or ask for float32");
                Err(Error::unimplemented(Why::PRECISION, text))
            }
        }
    }

    fn load(&self, load: &Load) -> Result<RtenModel> {
        self.supports(load)?;
        let path = &load.source.path;
        self.host.phase("read", f64::NAN);
        let Files { graph, external, declared, read } = match &load.source.bytes {
            Some(bytes) => Files::in_memory(bytes)?,
            None => Files::read(path)?,
        };

        let precision = precision(&declared);
        if load.precision.as_deref().is_some_and(|asked| asked != precision) {
            let text = format!("{} is quantized and computes in {precision}: load the float32 export", path.display());
            return Err(Error::unimplemented(Why::PRECISION, text));
        }

        self.host.phase("compile", f64::NAN);
        let started = Instant::now();
        let mut options = ModelOptions::with_all_ops();
        for (name, bytes) in external {
            options.external_data(&name, bytes);
        }
        let engine = options.load(graph).map_err(|error| errors::loading(path, &error))?;
        let compile = started.elapsed();

        let placement = Placement {
            precision: precision.into(),
            device: self.device.id.clone(),
            engine: ENGINE.into(),
            read_ns: Some(read.as_nanos() as u64),
            compile_ns: Some(compile.as_nanos() as u64),
            ..Placement::default()
        };
        RtenModel::new(engine, &declared, Arc::clone(&self.pool), placement, load.profile)
    }

    fn profiles(&self) -> bool {
        profile::POSSIBLE
    }
}

/// Starts the pool, and makes sure that it is one: where rten cannot start its threads it quietly computes on the caller's.
fn start_threads(count: usize) -> Result<ThreadPool> {
    let caller = thread::current().id();
    let pool = ThreadPool::with_num_threads(count);
    if pool.run(|| thread::current().id()) != caller {
        return Ok(pool);
    }
    let text = format!("cannot start {count} threads: set the option `threads` lower, or raise the limit (ulimit -u)");
    Err(Error::new(Code::ResourceExhausted, text))
}
