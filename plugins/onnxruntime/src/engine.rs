//! The engine behind a backend: its devices, and loading.

use crate::adapt::adapt;
use crate::assignment::Assignment;
use crate::errors;
use crate::executed::Unread;
use crate::graph::{Arithmetic, open_dimensions};
use crate::memory::DeviceMemory;
use crate::model::OrtModel;
use crate::ports;
use crate::profile::{Recorder, Scratch};
use crate::provider::{CPU, Hardware, Provider};
use crate::rewrite::{LACKING, REPEATED, Rules, may_repeat};
use crate::runtime::Runtime;
use crate::session::{FOLD_ALL, Recipe, fixed};
use crate::settings::Settings;
use crate::shapes::of_shapes;
use crate::transfer::Transfers;
use crate::value::Value;
use ort::session::Session;
use skillbench_onnx::{Declared, to_float16};
use skillbench_plugin_api::sdk::{Bound, Host, Level};
use skillbench_plugin_api::{Device, DeviceKind, Error, Load, Placement, Result, Why};
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// ONNX Runtime with one execution provider.
pub struct Engine<P> {
    host: Host,
    runtime: &'static Runtime,
    provider: Arc<P>,
    settings: Settings,
    /// Each with the index among those that the provider lists; none where it cannot be used.
    devices: Vec<(Option<usize>, Device)>,
    /// The provider copies tensors by themselves.
    copies_apart: bool,
    /// Of the devices that the provider has by name.
    named_memories: Vec<Option<DeviceMemory>>,
}

impl<P: Provider> Engine<P> {
    /// Registers the provider and finds its devices.
    ///
    /// # Errors
    /// `Unavailable` where the provider cannot be loaded, or has no device here.
    pub fn open(host: Host, runtime: &'static Runtime, provider: P, settings: Settings) -> Result<Engine<P>> {
        host.evidence("ONNX Runtime", &runtime.to_string());
        let registered = runtime.register(&provider);
        if let Some(library) = provider.library() {
            let found = registered.as_ref().map_or_else(|error| error.message.clone(), |()| "registered".into());
            host.evidence(provider.name(), &format!("{}: {found}", library.display()));
        }
        registered?;
        if provider.by_name().is_some() {
            runtime.appendable(&provider)?;
        }
        let listed: Vec<Hardware> =
            runtime.devices(provider.name()).into_iter().map(|(_, hardware)| hardware).collect();
        for hardware in &listed {
            host.evidence(&format!("device of {}", provider.name()), &hardware.to_string());
        }
        let devices = provider.devices(&listed);
        if devices.is_empty() {
            let (name, version) = (provider.name(), runtime.version());
            let text = format!(
                "{name} of ONNX Runtime {version} finds no device here: check the driver, or use another backend"
            );
            return Err(Error::unavailable(Why::DEVICE, text));
        }
        let named = provider.by_name().map_or(0, <[Device]>::len);
        let memory = |index| {
            let made = DeviceMemory::named(provider.named_memory(index)?);
            made.inspect_err(|error| host.evidence("memory of the device", &error.message)).ok()
        };
        let named_memories = (0..named).map(memory).collect();
        Ok(Engine {
            host,
            runtime,
            provider: Arc::new(provider),
            settings,
            devices,
            copies_apart: false,
            named_memories,
        })
    }

    /// With a provider that copies tensors by themselves.
    pub(crate) fn copying_apart(self) -> Engine<P> {
        Engine { copies_apart: true, ..self }
    }

    pub fn devices(&self) -> Vec<Device> {
        self.devices.iter().map(|(_, device)| device.clone()).collect()
    }

    /// The asked device, else the first one that can be used: its number, its index in the provider's list, and what it is.
    fn device(&self, load: &Load) -> Result<(usize, usize, &Device)> {
        let first = || self.devices.iter().position(|(listed, _)| listed.is_some());
        let number = load.devices.first().map(|number| *number as usize).or_else(first);
        match number.and_then(|number| Some((number, self.devices.get(number)?))) {
            Some((number, (Some(listed), device))) => Ok((number, *listed, device)),
            Some((_, (None, device))) => {
                Err(Error::unavailable(device.why, format!("{}: {}", device.id, device.reason)))
            }
            None => {
                let text = format!("{} has no device that can be used", self.provider.name());
                Err(Error::unavailable(Why::DEVICE, text))
            }
        }
    }

    /// The memory of one of the devices, where somebody copies tensors by themselves.
    fn device_memory(&self, number: usize) -> Option<DeviceMemory> {
        if let Some(named) = self.named_memories.get(number) {
            return named.clone();
        }
        let listed = self.copies_apart.then(|| self.runtime.devices(self.provider.name()))?;
        let device = self.devices.get(number)?.0?;
        DeviceMemory::of(&listed.get(device)?.0, i32::try_from(number).ok()?, self.runtime)
    }

    /// A model whose copies are timed apart, where they can be: a driver that does not copy costs the figure, and not the model.
    fn with_memory(&self, model: OrtModel, number: usize) -> OrtModel {
        let memory = self.device_memory(number);
        let is_driven = memory.as_ref().is_some_and(|memory| !memory.copies.in_turns());
        let model = model.on_device(memory);
        match is_driven.then(|| Transfers::new(&model)) {
            Some(Err(error)) => {
                self.host
                    .log(Level::Warn, &format!("copies to the device have no time of their own: {}", error.message));
                model.on_device(None)
            }
            _ => model,
        }
    }

    /// Copies a tensor between the host's memory and a device's, or within a device's.
    ///
    /// # Errors
    /// `Unimplemented` for other places, and what ONNX Runtime or the driver says.
    pub fn copy(&self, from: &Bound, to: &Bound) -> Result<()> {
        let place = if from.place().is_host() { to.place() } else { from.place() };
        let mut memories = (0..self.devices.len()).filter_map(|number| self.device_memory(number));
        let memory = memories.find(|memory| memory.has(place));
        let missing = || Error::unimplemented(Why::NONE, format!("there is no memory of a device at {place:?}"));
        let memory = memory.ok_or_else(missing)?;
        let _turn = memory.copies.turn();
        // SAFETY: both sides lend their memory through this call, and the values go with it.
        let (from, to) =
            unsafe { (Value::over(self.runtime, Some(&memory), from)?, Value::over(self.runtime, Some(&memory), to)?) };
        memory.copies.copy(&[(&from, &to)])
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
        self.provider.configure(load, self.device(load)?.2).map(|_| ())
    }

    /// Reads a graph and makes a session of it.
    ///
    /// `read_ns` is the time to read the graph's file; `compile_ns` that to put it in another precision, where that is asked
    /// for, and to make the session, in which ONNX Runtime maps the files with external data: the pages of those it touches are
    /// read then, from the disk or from the system's cache.
    ///
    /// # Errors
    /// `NotFound` for a missing file, `InvalidArgument` for a broken one, `Unimplemented` for what the provider lacks.
    pub fn load(&self, load: &Load) -> Result<OrtModel> {
        self.supports(load)?;
        let (number, listed, device) = self.device(load)?;
        let path = &load.source.path;
        self.host.phase("read", f64::NAN);
        let started = Instant::now();
        let graph = match &load.source.bytes {
            Some(bytes) => bytes.to_vec(),
            None => read(path)?,
        };
        let read = started.elapsed();

        // What is no model says nothing; ONNX Runtime will say why.
        let declared = Declared::of(&graph).unwrap_or_default();
        let arithmetic = Arithmetic::of(&graph, &declared);
        let half = self.is_put_in_float16(load, arithmetic);
        let arithmetic = if half { Some(Arithmetic::Float16) } else { arithmetic };
        let precision = self.provider.precision(load, device, arithmetic);
        let unread = self.unread(load, listed, arithmetic, &graph, &declared);
        if unread.is_none() || !matches!(load.precision.as_deref(), None | Some("int8")) {
            applied(load, precision)?;
        }
        if self.provider.fixed_shapes() {
            all_fixed(load, &declared, self.settings.dynamic_shapes)?;
        }

        self.host.phase("compile", f64::NAN);
        if self.provider.by_name().is_none() && listed >= self.runtime.devices(self.provider.name()).len() {
            // An empty list would be no error of ONNX Runtime's: it would run on the CPU.
            return Err(Error::unavailable(Why::DEVICE, format!("{} lost its device", self.provider.name())));
        }
        let scratch = load.profile.then(Scratch::new).transpose()?;
        let mut configuration = self.provider.configure(load, device)?;
        if half {
            // The casts behind the weights are no part of what is measured.
            configuration.session.push((FOLD_ALL.0.into(), FOLD_ALL.1.into()));
        }
        let recipe = Recipe {
            runtime: self.runtime,
            provider: &*self.provider,
            listed,
            settings: &self.settings,
            load,
            configuration,
            profile: scratch.as_ref(),
        };
        let Made { session, took: compile, adapted, of_shapes } = self.session(&recipe, &graph, half)?;

        let inputs = session.inputs().iter().map(ports::read).collect::<Result<_>>()?;
        let outputs = session.outputs().iter().map(ports::read).collect::<Result<_>>()?;
        let nodes = Assignment::read(&session, self.provider.name()).map(|found| found.without(of_shapes));
        if nodes.is_none() && self.provider.name() != CPU && !load.allow_fallback {
            let text =
                format!("where the nodes of {} went cannot be told, so it does not count as run here", path.display());
            return Err(Error::unimplemented(Why::MODEL, text));
        }
        let placed = self.placed(nodes, &device.id);
        let rewritten = adapted.map_or(String::new(), |what| format!(", {what} rewritten"));
        let half = if half { ", graph put in float16" } else { "" };
        let elsewhere = match of_shapes {
            0 => String::new(),
            count => format!(", {count} nodes of shapes on the processor"),
        };
        let changed = format!("{rewritten}{half}{elsewhere}");
        let placement = Placement {
            precision: precision.unwrap_or_default().into(),
            engine: format!("{}{changed}", placed.engine),
            read_ns: Some(read.as_nanos() as u64),
            compile_ns: Some(compile.as_nanos() as u64),
            ..placed
        };
        let session = Arc::new(session);
        let recorder = scratch.map(|scratch| Recorder::new(Arc::clone(&session), device.clone(), scratch));
        let model = OrtModel::new(self.runtime, session, inputs, outputs, placement, unread, recorder)?;
        Ok(match device.kind {
            DeviceKind::Cpu => model.on_processor(),
            _ => self.with_memory(model, number),
        })
    }

    /// A load whose precision only shows in what the session makes of its points where to quantize.
    fn unread(
        &self,
        load: &Load,
        listed: usize,
        arithmetic: Option<Arithmetic>,
        graph: &[u8],
        declared: &Declared,
    ) -> Option<Unread> {
        let open = matches!(arithmetic, Some(Arithmetic::Quantized | Arithmetic::Quantizable));
        let floats = || matches!(Arithmetic::of_floats(graph, declared), None | Some(Arithmetic::Float32));
        (open && self.provider.shows_integers() && floats()).then(|| Unread {
            runtime: self.runtime,
            provider: self.provider.clone(),
            listed,
            settings: self.settings.clone(),
            load: load.clone(),
            graph: graph.to_vec(),
        })
    }

    /// Whether the graph is put in float16: that is asked for, it is in float32, and the provider has kernels for it.
    fn is_put_in_float16(&self, load: &Load, arithmetic: Option<Arithmetic>) -> bool {
        let asked = load.precision.as_deref() == Some("float16") && self.provider.converts_to("float16");
        asked && arithmetic == Some(Arithmetic::Float32)
    }

    /// A session of the graph, put in float16 where it is to be, and the time it took; where the provider lacks operators or would compute
    /// some wrongly, of the graph in others, with what was rewritten.
    fn session(&self, recipe: &Recipe<'_>, graph: &[u8], half: bool) -> Result<Made> {
        // After anything that ONNX Runtime folds on the CPU, which would put casts to float32 around what is in float16.
        let put = |graph: &[u8]| -> Result<Option<Vec<u8>>> {
            let refused =
                |error| Error::unimplemented(Why::PRECISION, format!("{}: {error}", recipe.load.source.path.display()));
            half.then(|| to_float16(graph).map_err(refused)).transpose()
        };
        let timed = |graph: &[u8], what: Option<&str>| {
            let started = Instant::now();
            let changed = put(graph)?;
            let session = recipe.make(changed.as_deref().unwrap_or(graph))?;
            Ok(Made { session, took: started.elapsed(), adapted: what.map(String::from), of_shapes: 0 })
        };
        let repeated = self.provider.mistakes_repeated_constants() && may_repeat(graph);
        let repeating: &[&Rules] = if repeated { &[REPEATED] } else { &[] };
        // A graph that cannot be adapted is tried as it is; what comes out wrong is found by its outputs.
        let adapted = |rules: &[&Rules]| adapt(self.runtime, recipe.load, graph, rules).unwrap_or_default();
        let (mended, what) = if repeated { adapted(repeating).unzip() } else { (None, None) };
        let refused = match timed(mended.as_deref().unwrap_or(graph), what.as_deref()) {
            Err(error) if errors::is_fallback(&error) => error,
            other => return other,
        };
        if self.provider.leaves_shapes() {
            let graph = mended.as_deref().unwrap_or(graph);
            if let Ok(made) =
                self.with_shapes_elsewhere(recipe, put(graph)?.as_deref().unwrap_or(graph), what.as_deref())
            {
                return Ok(made);
            }
        }
        let adapted = adapted(&[&[LACKING][..], repeating].concat());
        if let Some((graph, what)) = &adapted {
            match timed(graph, Some(what)) {
                Err(error) if errors::is_fallback(&error) => {}
                other => return other,
            }
        }
        let (graph, what) = adapted.as_ref().map_or((graph, None), |(graph, what)| (&graph[..], Some(&what[..])));
        self.with_shapes_elsewhere(recipe, put(graph)?.as_deref().unwrap_or(graph), what)
            .map_err(|found| found.map_or(refused, |found| errors::lacking(&recipe.load.source.path, &found)))
    }

    /// A session that may give nodes to the processor, where these only compute with shapes and the provider leaves them there. An error has where
    /// the nodes went, as far as that can be seen.
    fn with_shapes_elsewhere(
        &self,
        recipe: &Recipe<'_>,
        graph: &[u8],
        adapted: Option<&str>,
    ) -> std::result::Result<Made, Option<Assignment>> {
        let started = Instant::now();
        let session = recipe.with_fallback(graph).map_err(|_| None)?;
        let took = started.elapsed();
        let found = Assignment::read(&session, self.provider.name()).ok_or(None)?;
        let only_shapes = || {
            let shapes = of_shapes(graph);
            found.names.iter().all(|node| shapes.contains(node))
        };
        match self.provider.leaves_shapes() && found.on_provider > 0 && !found.names.is_empty() && only_shapes() {
            true => Ok(Made { session, took, adapted: adapted.map(String::from), of_shapes: found.names.len() as u64 }),
            false => Err(Some(found)),
        }
    }

    /// Device, engine and nodes, from where the nodes went. Nodes beside the device are the CPU's, and carry its name.
    fn placed(&self, nodes: Option<Assignment>, device: &str) -> Placement {
        let (total, here) = (nodes.as_ref().map(|nodes| nodes.total), nodes.as_ref().map(|nodes| nodes.on_provider));
        let version = || {
            let listed = self.runtime.devices(self.provider.name()).into_iter().next();
            self.provider.library().and(listed)?.1.metadata.get("version").cloned()
        };
        let beneath = self.provider.beneath().or_else(version).map_or(String::new(), |version| format!(" {version}"));
        let name = format!("{}{beneath}", self.provider.name());
        let providers = if total == here { name } else { format!("{name}, {CPU}") };
        let device = if here == Some(0) { "cpu" } else { device };
        Placement {
            device: device.into(),
            engine: format!("ONNX Runtime {} {providers}", self.runtime.version()),
            nodes_total: total,
            nodes_on_device: here,
            ..Placement::default()
        }
    }
}

/// A session, and what was done for it.
struct Made {
    session: Session,
    took: Duration,
    /// What was rewritten in the graph.
    adapted: Option<String>,
    /// How many nodes that compute with shapes alone run on the processor.
    of_shapes: u64,
}

fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => {
            Error::not_found(format!("there is no model {}: check the path, or build the model again", path.display()))
        }
        _ => Error::invalid(format!("{} cannot be read: {error}", path.display())),
    })
}

/// An engine that compiles for fixed shapes gives nodes of others back, and they would run elsewhere.
fn all_fixed(load: &Load, declared: &Declared, dynamic: bool) -> Result<()> {
    let fixed = |name: &str| fixed(load).any(|dim| dim.name == name);
    match open_dimensions(declared).into_iter().find(|name| dynamic || !fixed(name)) {
        None => Ok(()),
        Some(name) => {
            let path = load.source.path.display();
            let text =
                format!("{path}: dimension '{name}' is dynamic, and this engine takes only fixed ones: give it a size");
            Err(Error::unimplemented(Why::MODEL, text))
        }
    }
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
