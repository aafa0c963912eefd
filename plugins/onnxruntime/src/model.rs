//! A loaded model: a session, its ports, and their names as the C API takes them.

use crate::executed::Unread;
use crate::memory::{Allocator, Copies, DeviceMemory};
use crate::profile::Recorder;
use crate::request::OrtRequest;
use crate::runtime::Runtime;
use crate::value::Value;
use ort::session::Session;
use skillbench_plugin_api::sdk::{Model, Profile};
use skillbench_plugin_api::{DType, Error, OwnedTensor, Place, Placement, Port, Result, Why};
use std::ffi::{CString, c_char};
use std::sync::{Arc, Mutex, PoisonError};

/// What a model says of where and how it runs.
struct Told {
    placement: Placement,
    /// What its precision is still to be read from.
    unread: Option<Unread>,
}

/// A session. Its requests share it, and with it the weights.
pub struct OrtModel {
    pub(crate) runtime: &'static Runtime,
    pub(crate) session: Arc<Session>,
    pub(crate) input_names: Names,
    pub(crate) output_names: Names,
    inputs: Vec<Port>,
    outputs: Vec<Port>,
    placement: Mutex<Told>,
    pub(crate) recorder: Option<Recorder>,
    /// It computes where the host's memory is: a run copies nothing to a device and back.
    pub(crate) on_processor: bool,
    /// Of a device whose copies are told apart.
    pub(crate) device_memory: Option<DeviceMemory>,
}

impl OrtModel {
    pub(crate) fn new(
        runtime: &'static Runtime,
        session: Arc<Session>,
        inputs: Vec<Port>,
        outputs: Vec<Port>,
        placement: Placement,
        unread: Option<Unread>,
        recorder: Option<Recorder>,
    ) -> Result<OrtModel> {
        let (input_names, output_names) = (Names::of(&inputs)?, Names::of(&outputs)?);
        let placement = Mutex::new(Told { placement, unread });
        Ok(OrtModel {
            runtime,
            session,
            input_names,
            output_names,
            inputs,
            outputs,
            placement,
            recorder,
            on_processor: false,
            device_memory: None,
        })
    }

    /// Of a provider that computes where the host's memory is.
    pub(crate) fn on_processor(self) -> OrtModel {
        OrtModel { on_processor: true, ..self }
    }

    /// Of a provider that copies tensors by themselves.
    pub(crate) fn on_device(self, memory: Option<DeviceMemory>) -> OrtModel {
        OrtModel { device_memory: memory, ..self }
    }
}

impl Model for OrtModel {
    type Request = OrtRequest;

    fn placement(&self) -> Placement {
        let mut told = self.placement.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(unread) = told.unread.take() {
            told.placement.precision = unread.precision().unwrap_or_default().into();
        }
        told.placement.clone()
    }

    fn inputs(&self) -> &[Port] {
        &self.inputs
    }

    fn outputs(&self) -> &[Port] {
        &self.outputs
    }

    fn request(self: &Arc<Self>) -> Result<OrtRequest> {
        OrtRequest::new(Arc::clone(self))
    }

    fn allocate(self: &Arc<Self>, dtype: DType, shape: &[usize], place: Place) -> Result<OwnedTensor> {
        let elsewhere = || Error::unimplemented(Why::NONE, format!("this model has no memory at {place:?}"));
        let memory = self.device_memory.as_ref().filter(|memory| memory.has(place)).ok_or_else(elsewhere)?;
        let _turn = memory.copies.turn();
        // SAFETY: memory of this session's device; the model stays with the tensor.
        let allocator = unsafe { Allocator::new(self, memory.ptr())? };
        let value = allocator.tensor(dtype, shape)?;
        let (_, _, address) = value.describe()?;
        let owner = Box::new(OnDevice {
            value,
            copies: memory.copies.clone(),
            _allocator: allocator,
            _model: Arc::clone(self),
        });
        // SAFETY: the value owns the tensor at this address, and stays with it.
        Ok(unsafe { OwnedTensor::from_raw_at(place, dtype, shape, address, owner) })
    }

    fn profile(&self) -> Option<&dyn Profile> {
        self.recorder.as_ref().map(|recorder| recorder as &dyn Profile)
    }
}

/// A tensor in the device's memory, with what it came from.
struct OnDevice {
    value: Value,
    copies: Copies,
    _allocator: Allocator,
    // Last, so that the session outlives its memory.
    _model: Arc<OrtModel>,
}

impl Drop for OnDevice {
    fn drop(&mut self) {
        let _turn = self.copies.turn();
        self.value = Value::NONE;
    }
}

/// Names of ports as an array of C strings, made once: a run makes nothing.
pub(crate) struct Names {
    pointers: Vec<*const c_char>,
    _texts: Vec<CString>,
}

// SAFETY: the pointers point into the strings beside them, which never change.
unsafe impl Send for Names {}
// SAFETY: as for Send.
unsafe impl Sync for Names {}

impl Names {
    fn of(ports: &[Port]) -> Result<Names> {
        let text =
            |port: &Port| CString::new(&*port.name).map_err(|_| Error::invalid("a port's name has a NUL inside"));
        let texts = ports.iter().map(text).collect::<Result<Vec<_>>>()?;
        Ok(Names { pointers: texts.iter().map(|text| text.as_ptr()).collect(), _texts: texts })
    }

    pub fn as_ptr(&self) -> *const *const c_char {
        self.pointers.as_ptr()
    }
}
