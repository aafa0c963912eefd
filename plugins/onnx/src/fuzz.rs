//! Graphs that nobody's exporter wrote.

use crate::{Declared, Outline, to_float16};
use std::io::Cursor;

#[test]
fn onnx_outline() {
    skillbench_fuzz::fuzz("onnx-outline", |bytes| {
        let outline = Outline::of(bytes);
        assert_eq!(outline, Outline::read(Cursor::new(bytes)), "a file is read as memory is");
        if let Ok(outline) = &outline {
            // All that is made of an outline at any size.
            let counted = outline.tensors().filter_map(|tensor| tensor.count()).fold(0, u64::saturating_add);
            assert!(counted > 0 || outline.nodes().count() < usize::MAX);
            drop((outline.locations(), outline.graph.ports(), outline.opset()));
        }
        outline.is_ok()
    });
}

#[test]
fn onnx_declared() {
    skillbench_fuzz::fuzz("onnx-declared", |bytes| {
        let declared = Declared::of(bytes);
        if let Ok(declared) = &declared {
            drop((declared.files_beside(), declared.all_operators().count(), declared.graphs().len()));
        }
        declared.is_ok()
    });
}

#[test]
fn onnx_float16() {
    skillbench_fuzz::fuzz("onnx-float16", |bytes| match to_float16(bytes) {
        Ok(converted) => {
            drop(Declared::of(&converted));
            true
        }
        Err(_) => false,
    });
}

/// What the vendors' SDK reads a graph with.
#[test]
fn onnx_fields() {
    use skillbench_plugin_api::sdk::onnx::{all, check_operators, get, integers, port};
    skillbench_fuzz::fuzz("onnx-fields", |bytes| {
        let read = || {
            let graph = get(bytes, 7)?.bytes;
            for tensor in all(graph, 5)? {
                integers(tensor.bytes, 1)?;
            }
            for info in all(graph, 11)?.iter().chain(&all(graph, 12)?) {
                port(info.bytes)?;
            }
            check_operators(graph, &["MatMul", "Gemm", "Add", "Relu"])
        };
        read().is_ok()
    });
}
