//! A model as it was read.

use crate::failure::{Failure, check};
use crate::ports::{self, PortInfo};
use crate::runtime::text;
use openvino_sys::*;
use std::ptr::{self, NonNull};

/// A model that is read, not compiled.
pub struct Graph(NonNull<ov_model_t>);

// SAFETY: a model has no thread; it is changed only where it is borrowed mutably.
unsafe impl Send for Graph {}

impl Graph {
    /// Takes over a model that OpenVINO handed out.
    pub(crate) fn new(model: *mut ov_model_t) -> Result<Graph, Failure> {
        NonNull::new(model).map(Graph).ok_or_else(|| Failure::here("no model came back"))
    }

    pub(crate) fn as_ptr(&self) -> *const ov_model_t {
        self.0.as_ptr()
    }

    /// # Errors
    /// What OpenVINO says.
    pub fn inputs(&self) -> Result<Vec<PortInfo>, Failure> {
        let mut count = 0;
        // SAFETY: a live model, which lends its ports.
        unsafe {
            check(ov_model_inputs_size(self.as_ptr(), &raw mut count))?;
            ports::all(count, |index, port| ov_model_const_input_by_index(self.as_ptr(), index, port))
        }
    }

    /// Whether a size is open somewhere.
    pub fn is_dynamic(&self) -> bool {
        // SAFETY: a live model.
        unsafe { ov_model_is_dynamic(self.as_ptr()) }
    }

    /// Gives inputs, by their names, other shapes; `None` is an open size.
    ///
    /// # Errors
    /// Where the model cannot have them.
    pub fn reshape(&mut self, shapes: &[(String, Vec<Option<usize>>)]) -> Result<(), Failure> {
        let names = shapes.iter().map(|(name, _)| text(name)).collect::<Result<Vec<_>, _>>()?;
        let mut pointers: Vec<_> = names.iter().map(|name| name.as_ptr()).collect();
        let made = shapes.iter().map(|(_, sizes)| Shape::new(sizes)).collect::<Result<Vec<_>, _>>()?;
        let raw: Vec<ov_partial_shape_t> = made.iter().map(|shape| shape.0).collect();
        // SAFETY: a live model; as many names and shapes as said, which live through the call.
        unsafe { check(ov_model_reshape(self.as_ptr(), pointers.as_mut_ptr(), raw.as_ptr(), raw.len())) }
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        // SAFETY: owned, and freed once; what was compiled from it has its own hold on it.
        unsafe { ov_model_free(self.0.as_ptr()) }
    }
}

/// A shape that OpenVINO allocated.
struct Shape(ov_partial_shape_t);

impl Shape {
    fn new(sizes: &[Option<usize>]) -> Result<Shape, Failure> {
        let dim = |size: &Option<usize>| match size {
            Some(size) => ov_dimension_t { min: *size as i64, max: *size as i64 },
            None => ov_dimension_t { min: -1, max: -1 },
        };
        let dims: Vec<ov_dimension_t> = sizes.iter().map(dim).collect();
        let rank = ov_rank_t { min: dims.len() as i64, max: dims.len() as i64 };
        let mut shape = ov_partial_shape_t { rank, dims: ptr::null_mut() };
        // SAFETY: as many dimensions as the rank says, copied; the pointer to a local is writable.
        unsafe { check(ov_partial_shape_create_dynamic(rank, dims.as_ptr(), &raw mut shape))? };
        Ok(Shape(shape))
    }
}

impl Drop for Shape {
    fn drop(&mut self) {
        // SAFETY: made in `new`, and freed once.
        unsafe { ov_partial_shape_free(&raw mut self.0) }
    }
}
