//! The graphs in two engines that know nothing of each other.

use crate::stand::{graph, onnxruntime, outputs, rten};
use skillbench_plugin_api::client::Instance;
use skillbench_plugin_api::{Load, Source};

fn precision(instance: &Instance, part: &str) -> String {
    instance.load(&Load::new(Source::onnx(&graph(part)))).unwrap().placement().unwrap().precision
}

#[test]
fn each_part_loads_in_both_engines() {
    let (rten, onnxruntime) = (rten(), onnxruntime());
    for size in [256, 512, 1024, 2048, 4096] {
        assert_eq!(precision(&rten, &format!("matmul-float32-{size}")), "float32");
        assert_eq!(precision(&rten, &format!("matmul-int8-{size}")), "int8");
        assert_eq!(precision(&rten, &format!("matmul-qdq-{size}")), "float32");
        assert_eq!(precision(&onnxruntime, &format!("matmul-float32-{size}")), "float32");
        assert_eq!(precision(&onnxruntime, &format!("matmul-float16-{size}")), "", "no kernel of float16 is promised");
        assert_eq!(precision(&onnxruntime, &format!("matmul-int8-{size}")), "int8");
        assert_eq!(precision(&onnxruntime, &format!("matmul-qdq-{size}")), "int8", "read back from its kernels");
    }
    for part in ["copy-64MiB", "read-128MiB", "read-128MiB-16-times"] {
        assert_eq!((precision(&rten, part), precision(&onnxruntime, part)), ("float32".into(), "float32".into()));
    }
}

#[test]
fn engines_agree_and_values_neither_grow_nor_vanish() {
    let (rten, onnxruntime) = (rten(), onnxruntime());
    for (part, tolerance) in [("matmul-float32-512", 1e-5), ("matmul-int8-512", 0.05), ("matmul-qdq-512", 0.05)] {
        let (one, two) = (outputs(&rten, part), outputs(&onnxruntime, part));
        let largest = one.iter().fold(0f32, |most, value| most.max(value.abs()));
        let apart = one.iter().zip(&two).fold(0f32, |most, (one, two)| most.max((one - two).abs()));
        // Each element is the largest of 512 whose deviation is about √(2/512).
        assert!((0.1..0.6).contains(&largest), "{part}: {largest}");
        assert!(apart <= tolerance * largest, "{part}: {apart} of {largest}");
    }
    let mut deviations = vec![];
    for part in ["read-128MiB", "read-128MiB-16-times"] {
        let (one, two) = (outputs(&rten, part), outputs(&onnxruntime, part));
        let deviation = (one.iter().map(|value| value * value).sum::<f32>() / one.len() as f32).sqrt();
        let apart = one.iter().zip(&two).fold(0f32, |most, (one, two)| most.max((one - two).abs()));
        assert!(apart <= 1e-4 * deviation, "{part}: {apart} of {deviation}");
        deviations.push(deviation);
    }
    assert!((0.5..2.0).contains(&(deviations[1] / deviations[0])), "{deviations:?}");
    assert_eq!(outputs(&rten, "copy-64MiB"), outputs(&onnxruntime, "copy-64MiB"));
}

#[test]
fn the_forms_compute_the_same_product() {
    let rten = rten();
    let floats = outputs(&rten, "matmul-float32-512");
    let largest = floats.iter().fold(0f32, |most, value| most.max(value.abs()));
    for part in ["matmul-int8-512", "matmul-qdq-512"] {
        let apart: f32 = floats.iter().zip(outputs(&rten, part)).map(|(one, two)| (one - two).abs()).sum();
        assert!(apart / 512.0 <= 0.05 * largest, "{part}: {} of {largest} on average", apart / 512.0);
    }
}
