//! The precision a model computes in: asked for by a hint, and read back from what was compiled.

use skillbench_openvino_runtime::Node;
use skillbench_plugin_api::{Device, DeviceKind, Error, Load, Result, Why};

/// A precision, by the names of the contract, of OpenVINO's hint, of a device's capabilities, and at the end of kernels' names.
struct Row(&'static str, &'static str, &'static str, &'static [&'static str]);

const ROWS: [Row; 4] = [
    Row("float32", "f32", "FP32", &["f32"]),
    Row("bfloat16", "bf16", "BF16", &["bf16"]),
    Row("float16", "f16", "FP16", &["f16"]),
    // Quantized graphs are compiled with the hint for the rest of their nodes.
    Row("int8", "f32", "INT8", &["i8", "u8"]),
];

fn row(precision: &str) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.0 == precision)
}

/// The hint for a load on a device; `None`: the device's own way.
pub(crate) fn hint(asked: Option<&str>, kind: DeviceKind) -> Option<&'static str> {
    match asked {
        None if kind == DeviceKind::Npu => None,
        asked => row(asked.unwrap_or("float32")).map(|row| row.1),
    }
}

/// # Errors
/// `Unimplemented` for a precision that the device has no arithmetic for.
pub(crate) fn offered(asked: &str, device: &Device, offers: &[String]) -> Result<()> {
    let row = row(asked).ok_or_else(|| {
        Error::unimplemented(Why::PRECISION, format!("OpenVINO has no precision '{asked}': ask for float32"))
    })?;
    if offers.iter().any(|offer| offer == row.2) {
        return Ok(());
    }
    let text = format!("{} ({}) has no {asked}: OpenVINO says it offers {}", device.id, device.name, offers.join(" "));
    Err(Error::unimplemented(Why::PRECISION, text))
}

/// # Errors
/// `Unimplemented` for int8 on a graph that holds no integers to compute with.
pub(crate) fn possible(load: &Load, quantized: bool) -> Result<()> {
    if load.precision.as_deref() == Some("int8") && !quantized {
        let path = load.source.path.display();
        let text = format!("{path} is not quantized, and OpenVINO does not quantize it: load a quantized export");
        return Err(Error::unimplemented(Why::PRECISION, text));
    }
    Ok(())
}

/// The effective precision. `hint` is what the compiled model says it applied, `nodes` are those that it was compiled to.
///
/// The hint is no proof: a quantized graph computes in integers under any, and some products stay float32 under a narrower
/// one. Where the device tells its kernels, the products among them (in most models nearly all arithmetic) decide: all of
/// them float32, or more than half of them narrower; anything between is unknown.
pub(crate) fn effective(hint: &str, nodes: &[Node], quantized: bool) -> Option<&'static str> {
    let hinted = ROWS.iter().find(|row| row.1 == hint && row.0 != "int8").map(|row| row.0);
    let products: Vec<_> = nodes.iter().filter(|node| is_product(node)).map(|node| kernel(&node.kernel)).collect();
    if !products.is_empty() {
        return agreed(&products);
    }
    let kernels: Vec<_> = nodes.iter().filter_map(|node| kernel(&node.kernel)).collect();
    match hinted {
        _ if quantized => None,
        Some(narrow) if narrow != "float32" && !nodes.is_empty() && !kernels.contains(&narrow) => {
            // Nothing shows that the hint was used.
            kernels.iter().all(|kernel| *kernel == "float32").then_some("float32")
        }
        other => other,
    }
}

/// # Errors
/// `Unimplemented` for a precision that was asked for and did not come about.
pub(crate) fn applied(load: &Load, effective: Option<&str>) -> Result<()> {
    match (load.precision.as_deref(), effective) {
        (None, _) => Ok(()),
        (Some(asked), Some(effective)) if asked == effective => Ok(()),
        (Some(asked), effective) => {
            let found = effective.unwrap_or("a precision that cannot be told");
            let path = load.source.path.display();
            let text = format!("OpenVINO compiled {path} for {found}, not for {asked}: ask for another precision");
            Err(Error::unimplemented(Why::PRECISION, text))
        }
    }
}

/// How many operators a compiled model has, those merged into others included.
pub(crate) fn operators(nodes: &[Node]) -> u64 {
    let holds_data = |node: &&Node| matches!(&*node.kind, "Parameter" | "Result" | "Constant" | "Input" | "Output");
    (nodes.len() - nodes.iter().filter(holds_data).count()) as u64
}

/// "FullyConnectedQuantizedLegacy", "GroupConvolution", "LSTMSequence" ...: kinds that multiply and add. Merged nodes, which
/// have no kernel of their own, are none.
fn is_product(node: &Node) -> bool {
    const KINDS: [&str; 9] =
        ["FullyConnected", "Convolution", "MatMul", "Deconv", "RNN", "LSTM", "GRU", "Attention", "QKVProjection"];
    KINDS.iter().any(|kind| node.kind.contains(kind)) && node.kernel != "undef"
}

/// The precision in a kernel's name: "brgemm_avx512_bf16" computes in bfloat16.
fn kernel(name: &str) -> Option<&'static str> {
    let end = name.rsplit('_').next().unwrap_or_default().to_lowercase();
    ROWS.iter().find(|row| row.3.contains(&&*end)).map(|row| row.0)
}

fn agreed(products: &[Option<&'static str>]) -> Option<&'static str> {
    let count = |precision| products.iter().filter(|product| **product == Some(precision)).count();
    if count("float32") == products.len() {
        return Some("float32");
    }
    ["bfloat16", "float16", "int8"].into_iter().find(|precision| count(precision) * 2 > products.len())
}

#[cfg(test)]
mod tests {
    use super::effective;
    use skillbench_openvino_runtime::Node;

    fn nodes(list: &[(&str, &str)]) -> Vec<Node> {
        list.iter()
            .map(|(kind, kernel)| Node { kind: kind.to_string(), kernel: kernel.to_string(), ..Node::default() })
            .collect()
    }

    #[test]
    fn kernels_outweigh_the_hint() {
        let stayed = nodes(&[("FullyConnected", "brgemm_avx512_f32"), ("Subgraph", "jit_avx512_bf16")]);
        assert_eq!(effective("bf16", &stayed, false), Some("float32"));
        let integers = nodes(&[("FullyConnectedQuantizedLegacy", "brgemm_avx512_i8"), ("Subgraph", "jit_avx512_f32")]);
        assert_eq!(effective("f32", &integers, true), Some("int8"));
    }

    #[test]
    fn a_mixture_has_no_name() {
        let half = nodes(&[("Convolution", "brgconv_avx512_f32"), ("MatMul", "brgemm_avx512_i8")]);
        assert_eq!(effective("f32", &half, true), None);
        let most = nodes(&[("Convolution", "a_bf16"), ("MatMul", "b_bf16"), ("MatMul", "gemm_mlas_f32")]);
        assert_eq!(effective("bf16", &most, false), Some("bfloat16"));
    }

    #[test]
    fn the_hint_counts_where_nothing_is_multiplied() {
        let simple = nodes(&[("Eltwise", "jit_avx512_f32")]);
        assert_eq!(effective("f32", &simple, false), Some("float32"));
        assert_eq!(effective("bf16", &simple, false), Some("float32"), "no kernel of it");
        assert_eq!(effective("f16", &[], false), Some("float16"), "a device that does not tell its kernels");
        assert_eq!(effective("f16", &[], true), None);
        assert_eq!(effective("dynamic", &[], false), None);
    }
}
