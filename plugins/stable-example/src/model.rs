//! Loading: from a file to a compiled model, and what can be asked of it.

use crate::net::Net;
use crate::onnx;
use crate::request::Run;
use skillbench_plugin_api::sdk::{Host, Model};
use skillbench_plugin_api::{Error, Load, Placement, Port, Result, Why};
use std::path::Path;
use std::sync::Arc;

pub const DEVICE: &str = "cpu0";

/// What is asked for is done or refused, never ignored: a benchmark of the wrong precision is worse than none.
fn check(load: &Load) -> Result<()> {
    if load.source.format != "onnx" {
        let text = format!("the format '{}' is not supported: give an ONNX file", load.source.format);
        return Err(Error::unimplemented(Why::MODEL, text));
    }
    match load.precision.as_deref() {
        None | Some("float32") => Ok(()),
        Some(other) => {
            let text = format!("precision '{other}' is not supported: this engine computes in float32");
            Err(Error::unimplemented(Why::PRECISION, text))
        }
    }
}

fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|error| in_file(Error::invalid(error.to_string()).because(Why::MODEL), path))
}

fn in_file(mut error: Error, path: &Path) -> Error {
    error.message = format!("model {}: {}", path.display(), error.message);
    error
}

fn elapsed(start: Option<u64>, end: Option<u64>) -> Option<u64> {
    end?.checked_sub(start?)
}

/// Answers "why not" without compiling: reads the graph, and leaves its weights alone.
///
/// # Errors
/// The reason.
pub fn supports(load: &Load) -> Result<()> {
    check(load)?;
    let file = read(&load.source.path)?;
    let graph = onnx::parse(&file).map_err(|error| in_file(error, &load.source.path))?;
    Net::plan(&graph).map(drop)
}

pub struct Loaded {
    net: Arc<Net>,
    host: Host,
    read_ns: Option<u64>,
    compile_ns: Option<u64>,
}

impl Loaded {
    /// The time that each step took is told in the placement: it is the vendor's own part of "load".
    ///
    /// # Errors
    /// A file that cannot be read, an operator or a precision that the engine lacks.
    pub fn new(host: Host, load: &Load) -> Result<Loaded> {
        check(load)?;
        let path = &load.source.path;
        let start = host.now_ns();
        let file = read(path)?;
        let graph = onnx::parse(&file).map_err(|error| in_file(error, path))?;
        let parsed = host.now_ns();
        let mut net = Net::plan(&graph)?;
        let planned = host.now_ns();
        net.compile(&graph, path.parent().unwrap_or(Path::new("")))?;
        let weights = elapsed(planned, host.now_ns());
        Ok(Loaded {
            net: Arc::new(net),
            host,
            // What `compile` does here is to read the weights.
            read_ns: elapsed(start, parsed).zip(weights).map(|(parse, weights)| parse + weights),
            compile_ns: elapsed(parsed, planned),
        })
    }
}

impl Model for Loaded {
    type Request = Run;

    /// Read back what happened; never repeat what was asked for. An engine that leaves nodes to another device says so here.
    fn placement(&self) -> Placement {
        Placement {
            precision: "float32".into(),
            device: DEVICE.into(),
            engine: concat!(env!("CARGO_PKG_NAME"), " ", env!("CARGO_PKG_VERSION")).into(),
            nodes_total: Some(self.net.nodes() as u64),
            nodes_on_device: Some(self.net.nodes() as u64),
            cache_hit: None,
            read_ns: self.read_ns,
            compile_ns: self.compile_ns,
            upload_ns: None,
        }
    }

    fn inputs(&self) -> &[Port] {
        self.net.inputs()
    }

    fn outputs(&self) -> &[Port] {
        self.net.outputs()
    }

    fn request(self: &Arc<Self>) -> Result<Run> {
        Ok(Run::new(self.net.clone(), self.host))
    }
}
