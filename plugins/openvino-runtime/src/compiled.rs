//! A model as it was compiled.

use crate::failure::{Failure, check, taken};
use crate::ports::{self, PortInfo};
use crate::request::Lane;
use crate::runtime::text;
use openvino_sys::*;
use std::ptr::{self, NonNull};
use std::time::Duration;

/// A model that is compiled for a device.
pub struct Compiled(NonNull<ov_compiled_model_t>);

// SAFETY: `ov::CompiledModel` may be used from any thread, as OpenVINO documents.
unsafe impl Send for Compiled {}
// SAFETY: as for Send.
unsafe impl Sync for Compiled {}

/// A node of a compiled model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// "Convolution".
    pub kind: String,
    /// The kernel and the type it computes in: "brgconv_avx512_f32".
    pub kernel: String,
    /// Its name in the graph, or that of the nodes it was made of.
    pub name: String,
    /// How long one execution takes on average; `None` for a node that did not run, took less than a microsecond, or is of a model
    /// that was not compiled for profiling.
    pub mean: Option<Duration>,
}

impl Compiled {
    /// Takes over a compiled model that OpenVINO handed out.
    pub(crate) fn new(model: *mut ov_compiled_model_t) -> Result<Compiled, Failure> {
        NonNull::new(model).map(Compiled).ok_or_else(|| Failure::here("no compiled model came back"))
    }

    /// A property, as text: what was really applied.
    ///
    /// # Errors
    /// Where the model has no such property.
    pub fn property(&self, key: &str) -> Result<String, Failure> {
        let (key, mut value) = (text(key)?, ptr::null_mut());
        // SAFETY: a live model, a text that lives through the call; the value is a copy that is ours.
        unsafe {
            check(ov_compiled_model_get_property(self.0.as_ptr(), key.as_ptr(), &raw mut value))?;
            Ok(taken(value).unwrap_or_default())
        }
    }

    /// # Errors
    /// What OpenVINO says.
    pub fn inputs(&self) -> Result<Vec<PortInfo>, Failure> {
        let mut count = 0;
        // SAFETY: a live model, which lends its ports.
        unsafe {
            check(ov_compiled_model_inputs_size(self.0.as_ptr(), &raw mut count))?;
            ports::all(count, |index, port| ov_compiled_model_input_by_index(self.0.as_ptr(), index, port))
        }
    }

    /// # Errors
    /// What OpenVINO says.
    pub fn outputs(&self) -> Result<Vec<PortInfo>, Failure> {
        let mut count = 0;
        // SAFETY: a live model, which lends its ports.
        unsafe {
            check(ov_compiled_model_outputs_size(self.0.as_ptr(), &raw mut count))?;
            ports::all(count, |index, port| ov_compiled_model_output_by_index(self.0.as_ptr(), index, port))
        }
    }

    /// # Errors
    /// What OpenVINO says.
    pub(crate) fn lane(&self) -> Result<Lane, Failure> {
        let mut request = ptr::null_mut();
        // SAFETY: a live model; the request is ours.
        unsafe { check(ov_compiled_model_create_infer_request(self.0.as_ptr(), &raw mut request))? };
        Lane::new(request)
    }
}

impl Drop for Compiled {
    fn drop(&mut self) {
        // SAFETY: owned, and freed once; requests have their own hold on it.
        unsafe { ov_compiled_model_free(self.0.as_ptr()) }
    }
}
