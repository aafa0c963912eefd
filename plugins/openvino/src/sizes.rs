//! The load's dimensions as shapes of inputs: OpenVINO does not keep the names that an ONNX file gives to open sizes.

use skillbench_onnx::Declared;
use skillbench_openvino_runtime::PortInfo;
use skillbench_plugin_api::Dim;

/// The inputs in which the load fixes a size, with their shapes; sizes that it does not fix stay as they are.
pub(crate) fn fixed(inputs: &[PortInfo], declared: &Declared, dims: &[Dim]) -> Vec<(String, Vec<Option<usize>>)> {
    let size = |name: &String| dims.iter().find(|dim| dim.name == *name).and_then(whole);
    let shape = |input: &PortInfo| {
        let names = declared.inputs.iter().find(|port| port.name == input.name)?.dim_names();
        let before = input.shape.as_ref()?;
        let after = before.iter().zip(names).map(|(have, name)| have.or_else(|| name.as_ref().and_then(size)));
        let after: Vec<_> = after.collect();
        (after.len() == before.len() && after != *before).then(|| (input.name.clone(), after))
    };
    inputs.iter().filter_map(shape).collect()
}

/// An empty dimension (no past yet) stays open: shape inference refuses it in many graphs that run with it.
fn whole(dim: &Dim) -> Option<usize> {
    usize::try_from(dim.opt).ok().filter(|size| *size > 0 && dim.min == dim.max)
}
