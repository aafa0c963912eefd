//! The engine behind a backend: its devices, and loading.

use crate::assignment::Assignment;
use crate::graph::Arithmetic;
use crate::model::OrtModel;
use crate::ports;
use crate::provider::{CPU, Provider};
use crate::runtime::Runtime;
use crate::session::Recipe;
use crate::settings::Settings;
use skillbench_plugin_api::sdk::Host;
use skillbench_plugin_api::{Device, Error, Load, Placement, Result, Why};
use std::io::ErrorKind;
use std::path::Path;
use std::time::Instant;

/// ONNX Runtime with one execution provider.
pub struct Engine<P> {
    host: Host,
    runtime: &'static Runtime,
    provider: P,
    settings: Settings,
    devices: Vec<Device>,
}

impl<P: Provider> Engine<P> {
    /// Registers the provider and finds its devices.
    ///
    /// # Errors
    /// `Unavailable` where the provider cannot be loaded, or has no device here.
    pub fn open(host: Host, runtime: &'static Runtime, provider: P, settings: Settings) -> Result<Engine<P>> {
        let devices: Vec<Device> = match provider.unlisted() {
            Some(devices) => {
                runtime.appendable(&provider)?;
                devices.to_vec()
            }
            None => {
                runtime.register(&provider)?;
                runtime.devices(&provider).iter().map(|(_, hardware)| provider.describe(hardware)).collect()
            }
        };
        if devices.is_empty() {
            let (name, version) = (provider.name(), runtime.version());
            let text = format!(
                "{name} of ONNX Runtime {version} finds no device here: check the driver, or use another backend"
            );
            return Err(Error::unavailable(Why::DEVICE, text));
        }
        Ok(Engine { host, runtime, provider, settings, devices })
    }

    pub fn devices(&self) -> Vec<Device> {
        self.devices.clone()
    }

    /// Why a load would not work, as far as it can be told without compiling.
    ///
    /// # Errors
    /// `Unimplemented` for a format or a precision.
    pub fn supports(&self, load: &Load) -> Result<()> {
        let format = &load.source.format;
        if format != "onnx" {
            let text = format!("ONNX Runtime loads ONNX graphs, not '{format}': export the model to ONNX");
            return Err(Error::unimplemented(Why::MODEL, text));
        }
        self.provider.configure(load).map(|_| ())
    }

    /// Reads a graph and makes a session of it.
    ///
    /// `read_ns` is the time to read the graph's file; `compile_ns` that to make the session, in which ONNX Runtime maps the
    /// files with external data: the pages of those it touches are read then, from the disk or from the system's cache.
    ///
    /// # Errors
    /// `NotFound` for a missing file, `InvalidArgument` for a broken one, `Unimplemented` for what the provider lacks.
    pub fn load(&self, load: &Load) -> Result<OrtModel> {
        self.supports(load)?;
        let path = &load.source.path;
        self.host.phase("read", f64::NAN);
        let started = Instant::now();
        let graph = read(path)?;
        let read = started.elapsed();

        let precision = self.provider.precision(load, Arithmetic::of(&graph));
        applied(load, precision)?;

        self.host.phase("compile", f64::NAN);
        let wanted = load.devices.first().copied().unwrap_or(0) as usize;
        let devices = self.runtime.devices(&self.provider).into_iter().skip(wanted).take(1).map(|(device, _)| device);
        let recipe = Recipe {
            runtime: self.runtime,
            provider: &self.provider,
            devices: devices.collect(),
            settings: &self.settings,
            load,
            configuration: self.provider.configure(load)?,
        };
        if recipe.devices.is_empty() && self.provider.unlisted().is_none() {
            // An empty list would be no error of ONNX Runtime's: it would run on the CPU.
            return Err(Error::unavailable(Why::DEVICE, format!("{} lost its device", self.provider.name())));
        }
        let started = Instant::now();
        let session = recipe.make(&graph)?;
        let compile = started.elapsed();

        let inputs = session.inputs().iter().map(ports::read).collect::<Result<_>>()?;
        let outputs = session.outputs().iter().map(ports::read).collect::<Result<_>>()?;
        let placement = Placement {
            precision: precision.unwrap_or_default().into(),
            read_ns: Some(read.as_nanos() as u64),
            compile_ns: Some(compile.as_nanos() as u64),
            ..self.placed(Assignment::read(&session, self.provider.name()), wanted)
        };
        OrtModel::new(self.runtime, session, inputs, outputs, placement)
    }

    /// Device, engine and nodes, from where the nodes went. Nodes beside the device are the CPU's, and carry its name.
    fn placed(&self, nodes: Option<Assignment>, device: usize) -> Placement {
        let (total, here) = (nodes.as_ref().map(|nodes| nodes.total), nodes.as_ref().map(|nodes| nodes.on_provider));
        let name = self.provider.name();
        let providers = if total == here { name.to_string() } else { format!("{name}, {CPU}") };
        let device = if here == Some(0) { "cpu" } else { self.devices.get(device).map_or("", |device| &device.id) };
        Placement {
            device: device.into(),
            engine: format!("ONNX Runtime {} {providers}", self.runtime.version()),
            nodes_total: total,
            nodes_on_device: here,
            ..Placement::default()
        }
    }
}

fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => {
            Error::not_found(format!("there is no model {}: check the path, or build the model again", path.display()))
        }
        _ => Error::invalid(format!("{} cannot be read: {error}", path.display())),
    })
}

/// A precision is applied or refused, never ignored.
fn applied(load: &Load, effective: Option<&str>) -> Result<()> {
    match (load.precision.as_deref(), effective) {
        (None, _) => Ok(()),
        (Some(asked), Some(effective)) if asked == effective => Ok(()),
        (Some(asked), effective) => {
            let found = effective.unwrap_or("a precision that cannot be told");
            let path = load.source.path.display();
            let text = format!("{path} computes in {found}, not in {asked}: load an export in {asked}");
            Err(Error::unimplemented(Why::PRECISION, text))
        }
    }
}
