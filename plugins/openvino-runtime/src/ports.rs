//! Inputs and outputs of a model, read back from OpenVINO.

use crate::failure::{Failure, check, taken};
use openvino_sys::*;
use skillbench_plugin_api::DType;
use std::ptr;

const TYPES: [(ov_element_type_e, DType); 13] = [
    (ov_element_type_e::F16, DType::F16),
    (ov_element_type_e::BF16, DType::BF16),
    (ov_element_type_e::F32, DType::F32),
    (ov_element_type_e::F64, DType::F64),
    (ov_element_type_e::I8, DType::I8),
    (ov_element_type_e::I16, DType::I16),
    (ov_element_type_e::I32, DType::I32),
    (ov_element_type_e::I64, DType::I64),
    (ov_element_type_e::U8, DType::U8),
    (ov_element_type_e::U16, DType::U16),
    (ov_element_type_e::U32, DType::U32),
    (ov_element_type_e::U64, DType::U64),
    (ov_element_type_e::OV_BOOLEAN, DType::Bool),
];

pub(crate) fn to_element(dtype: DType) -> ov_element_type_e {
    TYPES.iter().find(|(_, known)| *known == dtype).map_or(ov_element_type_e::DYNAMIC, |(element, _)| *element)
}

/// A port, as OpenVINO describes it.
#[derive(Clone, Debug)]
pub struct PortInfo {
    pub name: String,
    /// `None` for a type that the contract has not.
    pub dtype: Option<DType>,
    /// Sizes, `None` where one is open; none at all where even their number is.
    pub shape: Option<Vec<Option<usize>>>,
}

/// A port that a model lends.
struct Port(*mut ov_output_const_port_t);

impl Drop for Port {
    fn drop(&mut self) {
        // SAFETY: handed out to us, and freed once.
        unsafe { ov_output_const_port_free(self.0) }
    }
}

/// All ports that `get` hands out.
///
/// # Safety
/// `get` fills in a port of a live model, for each index below `count`.
pub(crate) unsafe fn all(
    count: usize,
    get: impl Fn(usize, *mut *mut ov_output_const_port_t) -> ov_status_e,
) -> Result<Vec<PortInfo>, Failure> {
    let one = |index| {
        let mut port = ptr::null_mut();
        check(get(index, &raw mut port))?;
        let port = Port(port);
        // SAFETY: the caller promises a port, which lives until it is dropped below.
        unsafe { describe(&port) }
    };
    (0..count).map(one).collect()
}

/// # Safety
/// The port is alive.
unsafe fn describe(port: &Port) -> Result<PortInfo, Failure> {
    let mut name = ptr::null_mut();
    // A number, not the enumeration: a later OpenVINO may have types that this list has not.
    let mut element: u32 = 0;
    let mut shape = ov_partial_shape_t { rank: ov_rank_t { min: 0, max: -1 }, dims: ptr::null_mut::<ov_dimension_t>() };
    // SAFETY: a live port; pointers to locals are writable, the enumeration is 32 bits wide; name and shape are ours.
    unsafe {
        // An output that goes nowhere may have no name.
        let name = match check(ov_port_get_any_name(port.0, &raw mut name)) {
            Ok(()) => taken(name).unwrap_or_default(),
            Err(_) => String::new(),
        };
        check(ov_port_get_element_type(port.0, (&raw mut element).cast()))?;
        check(ov_port_get_partial_shape(port.0, &raw mut shape))?;
        let dims = sizes(&shape);
        ov_partial_shape_free(&raw mut shape);
        let dtype = TYPES.iter().find(|(known, _)| *known as u32 == element).map(|(_, dtype)| *dtype);
        Ok(PortInfo { name, dtype, shape: dims })
    }
}

/// # Safety
/// The shape was filled in by OpenVINO and is not freed yet.
unsafe fn sizes(shape: &ov_partial_shape_t) -> Option<Vec<Option<usize>>> {
    let rank = usize::try_from(shape.rank.max).ok().filter(|_| shape.rank.min == shape.rank.max)?;
    if rank == 0 || shape.dims.is_null() {
        return (rank == 0).then(Vec::new);
    }
    // SAFETY: a fixed rank has as many dimensions.
    let dims = unsafe { std::slice::from_raw_parts(shape.dims, rank) };
    Some(dims.iter().map(|dim| usize::try_from(dim.max).ok().filter(|_| dim.min == dim.max)).collect())
}
