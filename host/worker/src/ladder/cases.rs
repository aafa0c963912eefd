//! The cases, as `ladder/cases.json` has them.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;
use skillbench_plugin_api::{DType, HostTensor};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// A graph of one node, with what it is fed and what must come out.
#[derive(Deserialize)]
pub struct Case {
    /// Unique: "conv_dilated_f32".
    pub name: String,
    pub operator: String,
    /// Empty for ONNX's own.
    pub domain: String,
    /// The element type that is varied: "float32".
    #[serde(rename = "type")]
    pub of_type: String,
    /// An edge, such as broadcasting or uneven pads; else the plain case.
    pub edge: bool,
    sums: bool,
    model: String,
    pub(super) inputs: Vec<Tensor>,
    pub(super) outputs: Vec<Tensor>,
}

#[derive(Deserialize)]
pub(super) struct Tensor {
    pub name: String,
    dtype: String,
    dims: Vec<usize>,
    data: String,
    pub tolerance: Option<Tolerance>,
}

/// An element is right within `absolute + relative * |expected|`.
#[derive(Clone, Copy, Deserialize)]
pub(super) struct Tolerance {
    pub absolute: f64,
    pub relative: f64,
}

#[derive(Deserialize)]
pub struct Ladder {
    pub cases: Vec<Case>,
    /// By kind of case, then by type.
    tolerances: BTreeMap<String, BTreeMap<String, Tolerance>>,
    pub left_out: Vec<LeftOut>,
}

/// An operator without a case.
#[derive(Deserialize)]
pub struct LeftOut {
    pub operator: String,
    pub reason: String,
}

/// All cases.
pub fn ladder() -> &'static Ladder {
    static LADDER: LazyLock<Ladder> = LazyLock::new(|| {
        serde_json::from_str(include_str!("../../ladder/cases.json")).expect("the tests read the same cases.json")
    });
    &LADDER
}

impl Case {
    /// "Conv", "com.microsoft.MatMulNBits": as skills name their operators.
    pub fn full_name(&self) -> String {
        match self.domain.as_str() {
            "" => self.operator.clone(),
            domain => format!("{domain}.{}", self.operator),
        }
    }

    /// Whether `name` means its operator, with or without the domain, in whichever case.
    pub fn is_called(&self, name: &str) -> bool {
        name.eq_ignore_ascii_case(&self.operator) || name.eq_ignore_ascii_case(&self.full_name())
    }

    /// The bytes of the graph.
    ///
    /// # Errors
    /// The file of cases is damaged.
    pub(super) fn graph(&self) -> Result<Vec<u8>, String> {
        BASE64_STANDARD.decode(&self.model).map_err(|error| format!("{}: {error}", self.name))
    }

    /// How near a float output has to come where the backend says that it computed in `precision`.
    pub(super) fn tolerance(&self, output: &Tensor, precision: &str) -> Tolerance {
        let own = output.tolerance.unwrap_or(Tolerance { absolute: 0.0, relative: 0.0 });
        // An answer that is exact has no room in any precision.
        let is_exact = own.absolute == 0.0 && own.relative == 0.0;
        let kind = if self.sums { "sums" } else { "single" };
        let of_precision = ladder().tolerances.get(kind).and_then(|of| of.get(precision)).copied();
        match of_precision.filter(|_| !is_exact) {
            Some(of) => Tolerance { absolute: own.absolute.max(of.absolute), relative: own.relative.max(of.relative) },
            None => own,
        }
    }
}

impl Tensor {
    /// # Errors
    /// The file of cases is damaged, or there is no memory.
    pub fn tensor(&self) -> Result<HostTensor, String> {
        let dtype = DType::from_name(&self.dtype).ok_or_else(|| format!("there is no type '{}'", self.dtype))?;
        let bytes = BASE64_STANDARD.decode(&self.data).map_err(|error| error.to_string())?;
        let mut tensor = HostTensor::zeroed(dtype, &self.dims).map_err(|error| error.to_string())?;
        match tensor.bytes().len() == bytes.len() {
            true => tensor.bytes_mut().copy_from_slice(&bytes),
            false => return Err(format!("'{}' has {} bytes", self.name, bytes.len())),
        }
        Ok(tensor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_case_is_whole_and_has_a_name_of_its_own() {
        let names: BTreeSet<&str> = ladder().cases.iter().map(|case| case.name.as_str()).collect();
        assert_eq!(names.len(), ladder().cases.len());
        for case in &ladder().cases {
            assert!(!case.graph().unwrap().is_empty() && !case.outputs.is_empty(), "{}", case.name);
            for tensor in case.inputs.iter().chain(&case.outputs) {
                tensor.tensor().unwrap_or_else(|error| panic!("{}: {error}", case.name));
            }
        }
    }

    #[test]
    fn a_precision_widens_a_tolerance_and_never_narrows_it() {
        for case in &ladder().cases {
            for output in &case.outputs {
                let own = output.tolerance.unwrap();
                for precision in ["float32", "float16", "bfloat16", "unheard of"] {
                    let with = case.tolerance(output, precision);
                    assert!(with.absolute >= own.absolute && with.relative >= own.relative, "{}", case.name);
                }
                let exact = own.absolute == 0.0 && own.relative == 0.0;
                assert!(!exact || case.tolerance(output, "float16").absolute == 0.0, "{}", case.name);
            }
        }
    }

    #[test]
    fn there_are_many_operators_with_edges() {
        let operators: BTreeSet<&str> = ladder().cases.iter().map(|case| case.operator.as_str()).collect();
        assert!(operators.len() >= 120, "{}", operators.len());
        let with_edges: BTreeSet<&str> =
            ladder().cases.iter().filter(|case| case.edge).map(|case| case.operator.as_str()).collect();
        assert!(with_edges.len() >= 100, "{}", with_edges.len());
    }
}
