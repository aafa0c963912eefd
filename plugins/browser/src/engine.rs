//! The engine behind a backend: its devices, and loading.

use crate::accelerator::Accelerator;
use crate::assignment::Assignment;
use crate::browser::Browser;
use crate::check;
use crate::device::{describe, only};
use crate::errors::explain;
use crate::graph::Graph;
use crate::model::BrowserModel;
use crate::ports;
use crate::request::BrowserRequest;
use crate::server::Content;
use crate::settings::Settings;
use serde_json::{Map, Value, json};
use skillbench_plugin_api::sdk::{Counters, Host, Model};
use skillbench_plugin_api::{Counter, Device, Dim, Error, Load, Placement, Result, Why};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tungstenite::Bytes;

/// A warm browser with some accelerators.
pub struct BrowserEngine {
    host: Host,
    settings: Settings,
    /// As many as devices.
    accelerators: Vec<Accelerator>,
    devices: Vec<Device>,
    /// Replaced when it is lost; models keep the one that they were loaded in.
    browser: Mutex<Arc<Browser>>,
    /// Accelerators that were computed with, and whether it was in float32.
    checked: Mutex<Vec<(Accelerator, bool)>>,
    models: AtomicU64,
}

/// A graph, where the page finds it.
struct Files {
    graph: Bytes,
    external: Vec<(String, PathBuf)>,
}

/// What the page tells of a load.
struct Loaded {
    model: BrowserModel,
    assignment: Option<Assignment>,
    built: Value,
}

impl BrowserEngine {
    /// Starts the browser and asks it for each accelerator, which becomes a device under the given id.
    ///
    /// # Errors
    /// `Unavailable` where the browser does not start. An accelerator that it has not is a device that cannot be used.
    pub fn open(host: Host, settings: Settings, devices: &[(&str, Accelerator)]) -> Result<BrowserEngine> {
        let browser = Browser::start(&settings)?;
        host.evidence("browser version", &browser.product);
        host.evidence("browser runs", &browser.how);
        if let Some(lacks) = &browser.lacks {
            host.evidence("browser runs less safely", lacks);
        }
        host.evidence("ONNX Runtime Web version", &browser.ort);
        let accelerators: Vec<Accelerator> = devices.iter().map(|(_, accelerator)| *accelerator).collect();
        let asked: Vec<Value> = accelerators.iter().map(|accelerator| accelerator.to_json()).collect();
        let probe = json!({ "op": "probe", "accelerators": asked });
        let found = browser.call(probe, None, settings.launch)?.value;
        let software = browser.software_gpu(settings.launch);
        let describe = |(index, (id, accelerator)): (usize, &(&str, Accelerator))| {
            let found = &found["found"][index];
            host.evidence(&accelerator.name(), &found.to_string());
            describe(id, *accelerator, found, software.as_deref(), &browser)
        };
        let devices = devices.iter().enumerate().map(describe).collect();
        Ok(BrowserEngine {
            host,
            settings,
            accelerators,
            devices,
            browser: Mutex::new(Arc::new(browser)),
            checked: Mutex::default(),
            models: AtomicU64::new(0),
        })
    }

    pub fn devices(&self) -> Vec<Device> {
        self.devices.clone()
    }

    /// Why a load would not work, as far as it can be told without reading the graph.
    ///
    /// # Errors
    /// `Unimplemented` for a format, a precision or a range of sizes.
    pub fn supports(&self, load: &Load) -> Result<()> {
        let format = &load.source.format;
        if format != "onnx" {
            let text = format!("ONNX Runtime Web loads ONNX graphs, not '{format}': export the model to ONNX");
            return Err(Error::unimplemented(Why::MODEL, text));
        }
        match load.precision.as_deref() {
            None | Some("float32") => Ok(()),
            Some(other) => {
                let text = format!("in a browser only float32 can be told from what it computes, not {other}");
                Err(Error::unimplemented(Why::PRECISION, text))
            }
        }
    }

    /// Loads a model into the page.
    ///
    /// # Errors
    /// `NotFound` and `InvalidArgument` for its files, `Unimplemented` for open dimensions, a fallback, or a precision that
    /// was not asked for; `Internal` where the browser is lost on the way.
    pub fn load(&self, load: &Load) -> Result<BrowserModel> {
        self.supports(load)?;
        let index = match load.devices.first() {
            Some(index) => *index as usize,
            None => self.devices.iter().position(|device| device.why == Why::NONE).unwrap_or(0),
        };
        let (Some(accelerator), Some(device)) = (self.accelerators.get(index), self.devices.get(index)) else {
            return Err(Error::invalid(format!("there is no device {index}")));
        };
        if device.why != Why::NONE {
            return Err(Error::unavailable(device.why, device.reason.clone()));
        }
        let path = &load.source.path;
        self.host.phase("read", f64::NAN);
        let bytes = Bytes::from(read(path)?);
        let graph = Graph::parse(&bytes, path)?;
        if accelerator.fixed_shapes() {
            fixed(&graph, &load.dims, *accelerator)?;
        }
        let files = Files { graph: bytes, external: beside(&graph, path)? };

        self.host.phase("compile", f64::NAN);
        let browser = self.live()?;
        let in_float32 = self.computes_float32(&browser, *accelerator)?;
        let dims: Map<String, Value> =
            load.dims.iter().filter(|dim| dim.min == dim.max).map(|dim| (dim.name.clone(), dim.opt.into())).collect();
        let mut loaded = self.place(&browser, *accelerator, files, dims).map_err(|error| explain(path, error))?;

        let precision = if in_float32 && graph.says_float32 && built_float32(&loaded.built) { "float32" } else { "" };
        if load.precision.as_deref().is_some_and(|asked| asked != precision) {
            let text = format!(
                "{}: {} does not compute it in float32, or that cannot be told: load the float32 export",
                path.display(),
                accelerator.name()
            );
            return Err(Error::unimplemented(Why::PRECISION, text));
        }
        let placed = self.placed(&loaded, *accelerator, device, load)?;
        let read = &mut loaded.model.placement;
        *read = Placement { precision: precision.into(), read_ns: read.read_ns, compile_ns: read.compile_ns, ..placed };
        Ok(loaded.model)
    }

    /// Where the nodes went. A fallback is refused, unless it was allowed.
    fn placed(&self, loaded: &Loaded, accelerator: Accelerator, device: &Device, load: &Load) -> Result<Placement> {
        let path = load.source.path.display();
        let refuse = |what: String| {
            let text = format!("fallback refused: {what}: allow the fallback, or use another backend");
            Error::unimplemented(Why::MODEL, text)
        };
        if let Accelerator::WebNn(asked) = accelerator {
            let elsewhere = loaded.built["devices"].as_array().into_iter().flatten().find(|found| !only(found, asked));
            if let Some(found) = elsewhere {
                return Err(refuse(format!("WebNN built {path} for {found}, not for {asked} alone")));
            }
        }
        let Some(assignment) = &loaded.assignment else {
            return Err(refuse(format!("ONNX Runtime Web did not tell where the nodes of {path} went")));
        };
        let tally = assignment.tally(accelerator.provider());
        if tally.here < tally.total && !load.allow_fallback {
            let (away, total) = (tally.total - tally.here, tally.total);
            let operators = match tally.elsewhere.is_empty() {
                true => String::new(),
                false => format!(" ({})", tally.elsewhere.join(", ")),
            };
            return Err(refuse(format!(
                "{away} of {total} nodes of {path} are not on {}{operators}",
                accelerator.name()
            )));
        }
        let browser = &loaded.model.browser;
        let beside = if tally.here == tally.total { "" } else { ", WebAssembly" };
        Ok(Placement {
            // What runs on WebAssembly alone is not on any device of ours.
            device: if tally.here == 0 { "wasm".into() } else { device.id.clone() },
            engine: format!(
                "ONNX Runtime Web {} {}{beside}, {} {}",
                browser.ort,
                accelerator.name(),
                browser.product,
                browser.how
            ),
            nodes_total: Some(tally.total),
            nodes_on_device: Some(tally.here),
            ..Placement::default()
        })
    }

    /// Hands the files to the page and has it make a session of them.
    fn place(
        &self,
        browser: &Arc<Browser>,
        accelerator: Accelerator,
        files: Files,
        dims: Map<String, Value>,
    ) -> Result<Loaded> {
        let id = self.models.fetch_add(1, Ordering::Relaxed);
        let mut names = vec![format!("model-{id}/graph.onnx")];
        let graph = browser.server.add(&names[0], Content::Bytes(files.graph));
        let external = files.external.into_iter().enumerate().map(|(index, (path, file))| {
            let name = format!("model-{id}/{index}.data");
            let url = browser.server.add(&name, Content::File(file));
            names.push(name);
            json!({ "path": path, "url": url })
        });
        let message = json!({
            "op": "load", "model": id, "accelerator": accelerator.to_json(), "graph": graph,
            "external": external.collect::<Vec<_>>(), "dims": dims,
        });
        let reply = browser.call(message, None, self.settings.call);
        names.iter().for_each(|name| browser.server.remove(name));
        let reply = reply?.value;

        let log = reply["log"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let assignment = Assignment::read(log);
        let nanoseconds = |key: &str| reply[key].as_f64().map(|ms| (ms * 1e6) as u64);
        let mut model = BrowserModel {
            browser: Arc::clone(browser),
            id,
            limit: self.settings.call,
            inputs: vec![],
            outputs: vec![],
            placement: Placement {
                read_ns: nanoseconds("read_ms"),
                compile_ns: nanoseconds("compile_ms"),
                ..Placement::default()
            },
            requests: AtomicU64::new(0),
        };
        model.inputs = ports::read(&reply["inputs"])?;
        model.outputs = ports::read(&reply["outputs"])?;
        Ok(Loaded { model, assignment, built: reply["built"].clone() })
    }

    /// Computes a little on the accelerator, once for each. The page's engine is warm after it, and a load shows its own time.
    fn computes_float32(&self, browser: &Arc<Browser>, accelerator: Accelerator) -> Result<bool> {
        let mut checked = self.checked.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, right)) = checked.iter().find(|(known, _)| *known == accelerator) {
            return Ok(*right);
        }
        let files = Files { graph: check::graph(), external: vec![] };
        let failed = |error: Error| Error {
            message: format!("{} failed its first small graph: {}", accelerator.name(), error.message),
            ..error
        };
        let loaded = self.place(browser, accelerator, files, Map::new()).map_err(failed)?;
        let mut request: BrowserRequest = Arc::new(loaded.model).request()?;
        let right = check::computes_float32(&mut request).map_err(failed)?;
        checked.push((accelerator, right));
        Ok(right)
    }

    /// The warm browser; a new one where it was lost.
    fn live(&self) -> Result<Arc<Browser>> {
        let mut browser = self.browser.lock().unwrap_or_else(PoisonError::into_inner);
        if !browser.alive() {
            self.checked.lock().unwrap_or_else(PoisonError::into_inner).clear();
            *browser = Arc::new(Browser::start(&self.settings)?);
        }
        Ok(Arc::clone(&browser))
    }

    fn current(&self) -> Arc<Browser> {
        Arc::clone(&self.browser.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Calls a method of the browser's DevTools, for diagnosis and tests.
    ///
    /// # Errors
    /// What the browser says.
    pub fn devtools(&self, method: &str, params: Value) -> Result<Value> {
        self.current().devtools(method, params, self.settings.launch)
    }

    /// The browser's process, for diagnosis and tests.
    pub fn process_id(&self) -> u32 {
        self.current().process_id()
    }
}

/// The work is done in the browser's processes: what the worker itself uses up says nothing about it.
impl Counters for BrowserEngine {
    fn read(&self, _device: u32) -> Result<Vec<Counter>> {
        let cpu = self.current().cpu_seconds(self.settings.launch).unwrap_or(f64::NAN);
        Ok(vec![Counter::new("browser_cpu", "s", cpu)])
    }
}

/// Whether WebNN graphs were built of float32, and of no other numbers with a fraction. Nothing built by WebNN: nothing against it.
fn built_float32(built: &Value) -> bool {
    let types: Vec<&str> = built["types"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    built["quantized"] != true && !types.contains(&"float16") && (types.is_empty() || types.contains(&"float32"))
}

/// # Errors
/// `Unimplemented` for the first dimension that stays open.
fn fixed(graph: &Graph, dims: &[Dim], accelerator: Accelerator) -> Result<()> {
    let is_fixed = |name: &String| dims.iter().any(|dim| dim.name == *name && dim.min == dim.max);
    let open = graph.open.iter().find(|(_, name)| !name.as_ref().is_some_and(is_fixed));
    let Some((input, name)) = open else { return Ok(()) };
    let device = accelerator.name();
    let text = match name {
        Some(name) => {
            format!("{device} compiles for fixed sizes, and '{name}' of input '{input}' is open: give it one size")
        }
        None => format!(
            "{device} compiles for fixed sizes, and a dimension of input '{input}' is open and has no name: export the \
             model with it named or fixed"
        ),
    };
    Err(Error::unimplemented(Why::MODEL, text))
}

fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => {
            Error::not_found(format!("there is no model {}: check the path, or build the model again", path.display()))
        }
        _ => Error::invalid(format!("{} cannot be read: {error}", path.display())),
    })
}

/// The files that hold a graph's weights, each under the name that the graph gives it.
fn beside(graph: &Graph, path: &Path) -> Result<Vec<(String, PathBuf)>> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let found = |name: &String| {
        let file = folder.join(name);
        match file.is_file() {
            true => Ok((name.clone(), file)),
            false => Err(Error::not_found(format!(
                "there is no {} with the model's weights: build the model again",
                file.display()
            ))),
        }
    };
    graph.files.iter().map(found).collect()
}
