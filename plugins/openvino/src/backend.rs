//! The backend: its options, its devices, and loading.

use crate::devices::{self, Found};
use crate::settings::{self, Settings};
use crate::{errors, files, ports, precision, properties, sizes};
use skillbench_openvino_runtime::{Compiled, Node, OvModel, Runtime};
use skillbench_plugin_api::sdk::{Backend, Host, Offers};
use skillbench_plugin_api::{Device, Error, Load, Options, Placement, Result, Why};
use std::ffi::CStr;
use std::time::{Duration, Instant};

pub struct OpenVinoBackend {
    host: Host,
    runtime: &'static Runtime,
    settings: Settings,
    devices: Vec<Found>,
}

impl Backend for OpenVinoBackend {
    const ID: &'static CStr = c"openvino";
    const OPTIONS_SCHEMA: &'static CStr = cr#"{
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "threads": {
                "type": "integer",
                "minimum": 1,
                "description": "Threads of the CPU device, for each loaded model. Default: as many as the process may use cores."
            },
            "library": {
                "type": "string",
                "format": "path",
                "description": "Path of libopenvino_c, its other libraries beside it. Default: what OPENVINO_LIB_PATH says."
            },
            "dynamic_shapes": {
                "type": "boolean",
                "default": false,
                "description": "Compile for every batch size and length, in place of those that are measured. Default: false."
            },
            "performance_hint": {
                "enum": ["latency", "throughput"],
                "default": "latency",
                "description": "Compile for the shortest inference, one at a time, or for as many at once as OpenVINO thinks best. Default: latency."
            }
        }
    }"#;

    const OFFERS: Offers = Offers { supports: true, alias: true, submit: true, ..Offers::NONE };

    type Model = OvModel;

    fn open(host: Host, options: &Options) -> Result<OpenVinoBackend> {
        let settings = Settings::read(options)?;
        let library = settings::library(options)?;
        let loaded = Runtime::load(&library);
        let found = match &loaded {
            Ok(runtime) => format!("{}, OpenVINO {}", runtime.path().display(), runtime.version()),
            Err(error) => error.message.clone(),
        };
        host.evidence("libopenvino_c", &found);
        let runtime = loaded?;
        let devices = devices::find(host, runtime)?;
        Ok(OpenVinoBackend { host, runtime, settings, devices })
    }

    fn devices(&self) -> Vec<Device> {
        self.devices.iter().map(|found| found.device.clone()).collect()
    }

    fn supports(&self, load: &Load) -> Result<()> {
        let format = &load.source.format;
        if format != "onnx" {
            let text = format!("this backend loads ONNX graphs, not '{format}': export the model to ONNX");
            return Err(Error::unimplemented(Why::MODEL, text));
        }
        let device = self.device(load)?;
        match load.precision.as_deref() {
            Some(asked) => precision::offered(asked, &device.device, &device.offers),
            None => Ok(()),
        }
    }

    /// Reads a graph and compiles it.
    ///
    /// `read_ns` is the time to read the graph's file; OpenVINO maps the files with external data, and pages of those are
    /// read where compiling touches them. `compile_ns` is the rest, giving the inputs their sizes included.
    fn load(&self, load: &Load) -> Result<OvModel> {
        self.supports(load)?;
        let (path, device) = (&load.source.path, self.device(load)?);
        self.host.phase("read", f64::NAN);
        let started = Instant::now();
        let declared = files::declared(path)?;
        let mut graph = self.runtime.read(path).map_err(|failure| errors::loading(path, &failure))?;
        let read = started.elapsed();
        let quantized = files::is_quantized(&declared);
        precision::possible(load, quantized)?;

        self.host.phase("compile", f64::NAN);
        let started = Instant::now();
        if !self.settings.dynamic_shapes {
            let inputs = graph.inputs().map_err(|failure| errors::loading(path, &failure))?;
            let shapes = sizes::fixed(&inputs, &declared, &load.dims);
            if !shapes.is_empty() {
                graph.reshape(&shapes).map_err(|failure| errors::sizing(path, &failure))?;
            }
        }
        if device.fixed_only && graph.is_dynamic() {
            let text =
                format!("{} takes fixed sizes only: give each open dimension of {}", device.device.id, path.display());
            return Err(Error::unimplemented(Why::MODEL, text));
        }
        let wanted = properties::of(load, device, &self.settings)?;
        let compiled = self.runtime.compile(&graph, &device.device.id, &wanted);
        let compiled = compiled.map_err(|failure| errors::loading(path, &failure))?;
        let compile = started.elapsed();
        drop(graph);

        let inputs = ports::all(compiled.inputs(), &declared.inputs)?;
        let outputs = ports::all(compiled.outputs(), &declared.outputs)?;
        let model = OvModel::new(compiled, inputs, outputs, |compiled, nodes| {
            self.placed(load, device, quantized, compiled, &nodes, [read, compile])
        })?;
        Ok(if load.profile { model.recorded() } else { model })
    }

    fn profiles(&self) -> bool {
        true
    }
}

impl OpenVinoBackend {
    /// The device that a load is for.
    ///
    /// # Errors
    /// `Unavailable` for one that is not usable, with what was looked at.
    fn device(&self, load: &Load) -> Result<&Found> {
        let found = match load.devices.first() {
            Some(index) => self.devices.get(*index as usize),
            None => self.devices.iter().find(|found| found.device.why == Why::NONE),
        };
        let found = found.ok_or_else(|| Error::unavailable(Why::DEVICE, "OpenVINO has no such device here"))?;
        match found.device.why {
            Why::NONE => Ok(found),
            why => Err(Error::unavailable(why, found.device.reason.clone())),
        }
    }

    /// What really happened, and a refusal where that is not what was asked for.
    fn placed(
        &self,
        load: &Load,
        device: &Found,
        quantized: bool,
        compiled: &Compiled,
        nodes: &[Node],
        [read, compile]: [Duration; 2],
    ) -> Result<Placement> {
        let hint = compiled.property("INFERENCE_PRECISION_HINT").unwrap_or_default();
        let effective = precision::effective(&hint, nodes, quantized);
        precision::applied(load, effective)?;
        let ran_on = compiled.property("EXECUTION_DEVICES").unwrap_or_default();
        let nodes = Some(precision::operators(nodes)).filter(|count| *count > 0);
        Ok(Placement {
            precision: effective.unwrap_or_default().into(),
            device: devices::same(&device.device.id, &ran_on),
            engine: format!("OpenVINO {}", self.runtime.version()),
            nodes_total: nodes,
            nodes_on_device: nodes,
            cache_hit: load.cache_dir.as_ref().and_then(|_| properties::cache_hit(compiled)),
            read_ns: Some(read.as_nanos() as u64),
            compile_ns: Some(compile.as_nanos() as u64),
            ..Placement::default()
        })
    }
}
