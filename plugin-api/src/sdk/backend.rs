//! The traits of a backend.

use super::{Cancel, Clock, Done, Host, Offers};
use crate::tensor::Bound;
use crate::{
    Counter, DType, Device, Energy, Error, Load, Memory, Operator, Options, OwnedTensor, Place, Placement, Port,
    Result, Timing, Why,
};
use std::ffi::CStr;
use std::sync::Arc;

/// A backend's opened runtime and its devices.
///
/// Methods may be called from several threads at once, except [`Backend::open`].
pub trait Backend: Send + Sync + Sized + 'static {
    /// Unique among backends: "rten", "cpu", "cuda".
    const ID: &'static CStr;
    /// JSON Schema of the options `open` takes; the host checks them before the plugin sees them.
    const OPTIONS_SCHEMA: &'static CStr;
    /// Whether loads (and unloads) must not overlap.
    const SERIAL_LOAD: bool = false;
    /// The optional slots that it has.
    const OFFERS: Offers = Offers::NONE;

    type Model: Model;

    /// Loads the vendor's runtime and finds its devices.
    ///
    /// # Errors
    /// `Unavailable` with the reason and the next step, where nothing here can run.
    fn open(host: Host, options: &Options) -> Result<Self>;

    /// Usable devices, and those known of but not usable, with the reason.
    fn devices(&self) -> Vec<Device>;

    /// Why this load would not work, as far as it can be told without compiling; asked where `OFFERS` says so.
    ///
    /// # Errors
    /// `Unimplemented`, naming the operator or the precision.
    fn supports(&self, _load: &Load) -> Result<()> {
        Ok(())
    }

    /// Reads and compiles a model.
    ///
    /// # Errors
    /// `InvalidArgument` for a broken file, `Unimplemented` for what the engine lacks (a precision is applied or refused, never
    /// ignored), `ResourceExhausted` because of `Why::MEMORY` where memory does not suffice: a smaller batch is
    /// tried then.
    fn load(&self, load: &Load) -> Result<Self::Model>;

    /// Memory of a device, where the runtime can tell; asked where `OFFERS` says so.
    ///
    /// # Errors
    /// `Unimplemented` where it cannot.
    fn memory(&self, _device: u32) -> Result<Memory> {
        Err(Error::unimplemented(Why::NONE, "this backend cannot tell its device memory"))
    }

    /// Copies a tensor into another one of its type and shape, and returns when that is done; asked where `OFFERS` says so.
    ///
    /// # Errors
    /// `Unimplemented` for places that the engine does not copy between.
    fn copy(&self, _from: &Bound, _to: &Bound) -> Result<()> {
        Err(Error::unimplemented(Why::NONE, "this backend copies nothing"))
    }

    /// The energy counters of its devices, where it has a sensor.
    fn power(&self) -> Option<&dyn Power> {
        None
    }

    /// Figures of its own, where it has any.
    fn counters(&self) -> Option<&dyn Counters> {
        None
    }

    /// Whether its models have a [`Profile`] where the load asks for one.
    fn profiles(&self) -> bool {
        false
    }
}

/// The extension by which a backend tells the energy its devices use.
pub trait Power: Sync {
    /// A counter that only grows, of the device alone.
    ///
    /// # Errors
    /// `Unimplemented` for a device without a sensor.
    fn read(&self, device: u32) -> Result<Energy>;
}

/// The extension by which a backend tells figures that only its vendor knows: clocks, utilization, power states.
pub trait Counters: Sync {
    /// All of a device, always the same ones in the same order; NaN where one cannot be told now.
    ///
    /// # Errors
    /// Whatever the driver says.
    fn read(&self, device: u32) -> Result<Vec<Counter>>;
}

/// The extension by which a model tells what its operators cost, as the engine itself has it. Between `begin` and `end` one request of
/// the model runs, once at a time.
pub trait Profile: Sync {
    /// The runs that follow are recorded; they count from 0.
    ///
    /// # Errors
    /// `FailedPrecondition` for an engine that records but once for each load.
    fn begin(&self) -> Result<()>;

    /// What was recorded since, in the order in which it ran.
    ///
    /// # Errors
    /// Whatever the engine says.
    fn end(&self) -> Result<Vec<Operator>>;
}

/// A compiled model. Its weights are shared by its requests.
pub trait Model: Send + Sync + 'static {
    type Request: Request;

    /// What really happened at load: read back from the engine, never what was asked for.
    fn placement(&self) -> Placement;
    fn inputs(&self) -> &[Port];
    fn outputs(&self) -> &[Port];

    /// A new set of bound tensors. It adds no copy of the weights.
    ///
    /// # Errors
    /// Whatever the engine says.
    fn request(self: &Arc<Self>) -> Result<Self::Request>;

    /// Memory for a tensor at a place of the backend's; asked where `OFFERS` says so.
    ///
    /// # Errors
    /// `Unimplemented` for a place that it has not, `ResourceExhausted` because of `Why::MEMORY` where memory does not suffice.
    fn allocate(self: &Arc<Self>, _dtype: DType, _shape: &[usize], _place: Place) -> Result<OwnedTensor> {
        Err(Error::unimplemented(Why::NONE, "this backend has no memory of its own"))
    }

    /// The recording of operators, for a model that was loaded to be profiled.
    fn profile(&self) -> Option<&dyn Profile> {
        None
    }
}

/// The tensors that are bound to a request now. The SDK has checked type, rank and fixed dimensions against the ports.
pub struct Bindings {
    host: Host,
    pub(crate) inputs: Vec<Option<Bound>>,
    pub(crate) outputs: Vec<Option<Bound>>,
    /// By input.
    pub(crate) aliases: Vec<Option<Alias>>,
}

/// An input that takes what an output held.
#[derive(Clone, Copy)]
pub(crate) struct Alias {
    pub output: usize,
    /// The last run gave it: what is bound to the input counts no more.
    pub held: bool,
}

impl Bindings {
    pub(crate) fn new(host: Host, inputs: usize, outputs: usize) -> Bindings {
        let empty = |count: usize| (0..count).map(|_| None).collect();
        Bindings { host, inputs: empty(inputs), outputs: empty(outputs), aliases: vec![None; inputs] }
    }

    /// The host's clock, for an engine that tells times of a run that was submitted.
    pub fn clock(&self) -> Clock {
        Clock(self.host)
    }

    /// Calls the engine, and tells when its work began and ended: for an engine that computes within the call, and nowhere else.
    ///
    /// # Errors
    /// What `engine` says.
    pub fn timed<T>(&self, engine: impl FnOnce() -> Result<T>) -> Result<(T, Timing)> {
        let start_ns = self.host.now_ns();
        let done = engine()?;
        Ok((done, Timing { start_ns, end_ns: self.host.now_ns(), ..Timing::default() }))
    }

    /// An input; bound, when [`Request::run`] is called, unless it is [held](Bindings::held).
    ///
    /// # Errors
    /// `FailedPrecondition`, where it is not bound.
    pub fn input(&self, index: usize) -> Result<&Bound> {
        let missing = || Error::new(crate::Code::FailedPrecondition, format!("input {index} is not bound"));
        let bound = self.inputs.get(index).and_then(Option::as_ref).filter(|_| self.held(index).is_none());
        bound.ok_or_else(missing)
    }

    /// The output whose value, as the last run left it, is this input of the next run; `None`: what is bound to it is.
    pub fn held(&self, input: usize) -> Option<usize> {
        self.alias(input).filter(|alias| alias.held).map(|alias| alias.output)
    }

    /// The output whose value this input takes from the next run on.
    pub fn aliased(&self, input: usize) -> Option<usize> {
        self.alias(input).map(|alias| alias.output)
    }

    fn alias(&self, input: usize) -> Option<Alias> {
        self.aliases.get(input).copied().flatten()
    }

    /// The input that takes what this output holds.
    pub(crate) fn taker(&self, output: usize) -> Option<usize> {
        self.aliases.iter().position(|alias| alias.is_some_and(|alias| alias.output == output))
    }

    /// Drops what is held; the inputs are unbound then.
    pub(crate) fn let_go(&mut self) {
        for (alias, input) in self.aliases.iter_mut().zip(&mut self.inputs) {
            if let Some(alias) = alias.as_mut().filter(|alias| alias.held) {
                (alias.held, *input) = (false, None);
            }
        }
    }

    pub(crate) fn hold(&mut self) {
        self.aliases.iter_mut().flatten().for_each(|alias| alias.held = true);
    }

    /// Ends an input's alias.
    pub(crate) fn end(&mut self, input: usize) {
        if self.aliases[input].take().is_some_and(|alias| alias.held) {
            self.inputs[input] = None;
        }
    }

    /// Memory that an output goes into; `None`: the engine allocates.
    pub fn output(&self, index: usize) -> Option<&Bound> {
        self.outputs.get(index).and_then(Option::as_ref)
    }
}

/// One lane of work on a model. One thread at a time uses it.
pub trait Request: Send + 'static {
    /// A tensor was bound to an input. An engine that converts or copies its inputs does it here.
    ///
    /// # Errors
    /// Whatever the engine says; the port stays as it was.
    fn bind_input(&mut self, _index: usize, _tensor: &Bound) -> Result<()> {
        Ok(())
    }

    /// An output is to go into this memory on later runs, or (`None`) is the engine's to allocate.
    ///
    /// # Errors
    /// `Unimplemented` for an engine that always allocates its outputs; that is the default.
    fn bind_output(&mut self, _index: usize, tensor: Option<&Bound>) -> Result<()> {
        match tensor {
            None => Ok(()),
            Some(_) => Err(Error::unimplemented(Why::NONE, "this engine allocates its outputs itself")),
        }
    }

    /// Runs once, and returns when the outputs can be read. Every input is bound, or held since the last run.
    ///
    /// # Errors
    /// Whatever the engine says.
    fn run(&mut self, bound: &Bindings) -> Result<Timing>;

    /// Starts a run, and returns at once; `done` is finished when the outputs can be read. Until then nobody calls anything of this request
    /// but [`Request::cancel`]'s. Asked where the backend's `OFFERS` say so, and while no output is kept for an input.
    fn submit(&mut self, _bound: &Bindings, done: Done) {
        done.finish(Err(Error::unimplemented(Why::NONE, "this engine runs, and takes nothing that it runs later")));
    }

    /// What ends a submitted run early; `None`: it cannot be ended.
    fn cancel(&self) -> Option<Cancel> {
        None
    }

    /// A submitted run has ended, and somebody goes on with this request: what the engine tells of it only now.
    ///
    /// # Errors
    /// Whatever the engine says of that run.
    fn landed(&mut self) -> Result<()> {
        Ok(())
    }

    /// Gives away an output of the last run that was not bound to memory; later runs never write it. `None`: there is none.
    ///
    /// # Errors
    /// Whatever the engine says.
    fn take_output(&mut self, index: usize) -> Result<Option<OwnedTensor>>;

    /// Whether what an output holds after a run can be an input of the next one, without leaving the device; asked where `OFFERS` says so. From now on
    /// [`Bindings::aliased`] says so of the input, and [`Bindings::held`] in which runs: there the engine takes its own value of
    /// the last run, and keeps it until then. The SDK has checked that the ports fit, and that the output is the engine's to
    /// allocate.
    ///
    /// # Errors
    /// `Unimplemented` for an engine that cannot; that is the default.
    fn alias(&mut self, _output: usize, _input: usize) -> Result<()> {
        Err(Error::unimplemented(Why::NONE, "this engine keeps no output for the next run: take it and bind it"))
    }

    /// Whether someone behind this request binds its tensors too, and holds the rules about them: the SDK then does not ask whether all inputs
    /// are bound.
    #[doc(hidden)]
    fn is_bound_elsewhere(&self) -> bool {
        false
    }

    /// Clears the state that the model keeps between runs. What is held for inputs is dropped by the SDK.
    ///
    /// # Errors
    /// Whatever the engine says.
    fn reset(&mut self) -> Result<()> {
        Ok(())
    }
}
