//! Small graphs, written with the messages of `rten-onnx`.

use rten_onnx::onnx::{
    DataLocation, DataType, Dimension, GraphProto, ModelProto, NodeProto, OperatorSetIdProto, StringStringEntryProto,
    TensorProto, TensorShapeProto, TypeProto, TypeProtoTensor, ValueInfoProto,
};
use std::path::{Path, PathBuf};

/// A port of rank 1 with the symbolic size `n`.
pub fn port(name: &str, elem_type: DataType) -> ValueInfoProto {
    let dim = Dimension { dim_param: Some("n".into()), ..Dimension::default() };
    let shape = Some(TensorShapeProto { dim: vec![dim] });
    let tensor_type = Some(TypeProtoTensor { elem_type: Some(elem_type), shape });
    ValueInfoProto { name: Some(name.into()), r#type: Some(TypeProto { tensor_type, sequence: None }) }
}

pub fn node(operator: &str, inputs: &[&str], output: &str) -> NodeProto {
    NodeProto {
        op_type: Some(operator.into()),
        name: Some(format!("make {output}")),
        input: inputs.iter().map(|name| name.to_string()).collect(),
        output: vec![output.into()],
        ..NodeProto::default()
    }
}

/// Three float32 weights that lie in another file.
pub fn weights_in(file: &str) -> TensorProto {
    let entry = |key: &str, value: &str| StringStringEntryProto { key: Some(key.into()), value: Some(value.into()) };
    TensorProto {
        name: Some("w".into()),
        dims: vec![3],
        data_type: Some(DataType::FLOAT),
        data_location: Some(DataLocation::EXTERNAL),
        external_data: vec![entry("location", file), entry("offset", "0"), entry("length", "12")],
        ..TensorProto::default()
    }
}

/// Writes `model.onnx` into a folder.
pub fn write(folder: &Path, graph: GraphProto) -> PathBuf {
    let opset = OperatorSetIdProto { version: Some(17), ..OperatorSetIdProto::default() };
    let model =
        ModelProto { ir_version: Some(8), graph: Some(graph), opset_import: vec![opset], ..ModelProto::default() };
    let path = folder.join("model.onnx");
    std::fs::write(&path, model.write_buf().unwrap()).unwrap();
    path
}

/// A matrix of float32 or int8 as a weight.
pub fn matrix(name: &str, rows: usize, columns: usize, data_type: DataType, bytes: Vec<u8>) -> TensorProto {
    TensorProto { dims: vec![rows as i64, columns as i64], ..constant(name, data_type, bytes) }
}

/// A weight of one number.
pub fn constant(name: &str, data_type: DataType, bytes: Vec<u8>) -> TensorProto {
    TensorProto {
        name: Some(name.into()),
        data_type: Some(data_type),
        raw_data: Some(bytes.into()),
        ..TensorProto::default()
    }
}

/// A port of rows of numbers, their count open.
pub fn rows(name: &str, columns: usize) -> ValueInfoProto {
    let mut port = port(name, DataType::FLOAT);
    let shape = port.r#type.as_mut().and_then(|kind| kind.tensor_type.as_mut()).and_then(|kind| kind.shape.as_mut());
    let width = Dimension { dim_value: Some(columns as i64), ..Dimension::default() };
    shape.expect("a shape").dim.push(width);
    port
}
