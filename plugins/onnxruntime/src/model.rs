//! A loaded model: a session, its ports, and their names as the C API takes them.

use crate::executed::Unread;
use crate::profile::Recorder;
use crate::request::OrtRequest;
use crate::runtime::Runtime;
use ort::session::Session;
use skillbench_plugin_api::sdk::{Model, Profile};
use skillbench_plugin_api::{Error, Placement, Port, Result};
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
    /// Its copies to the device and back are told apart.
    pub(crate) copies_apart: bool,
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
            copies_apart: false,
        })
    }

    /// Of a provider that computes where the host's memory is.
    pub(crate) fn on_processor(self) -> OrtModel {
        OrtModel { on_processor: true, ..self }
    }

    /// Of a provider that copies tensors by themselves.
    pub(crate) fn copying_apart(self) -> OrtModel {
        OrtModel { copies_apart: true, ..self }
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

    fn profile(&self) -> Option<&dyn Profile> {
        self.recorder.as_ref().map(|recorder| recorder as &dyn Profile)
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
