use super::*;
use crate::{skeleton, skills};

const WEIGHTS: &str = "model.onnx.data";
const PLAIN: Wanted<'static> = Wanted { file: WEIGHTS, axes: None, form: Form::Float32, ranges: None };

/// A model of one graph of one initializer.
fn model(tensor: &Tensor) -> Vec<u8> {
    let wrap = |number: u64, contents: &[u8]| {
        let mut field = Vec::new();
        skillbench_onnx::fields::put(&mut field, number, contents);
        field
    };
    wrap(MODEL_GRAPH, &wrap(GRAPH_INITIALIZER, &tensor.encode_to_vec()))
}

fn generated(data_type: i32, dims: &[i64]) -> Tensor {
    let entry = Entry { key: "gen".into(), value: "normal:0:1".into() };
    Tensor { dims: dims.into(), data_type, name: "w".into(), external_data: vec![entry], ..Tensor::default() }
}

/// Every skeleton once, unpacked.
fn skeletons() -> impl Iterator<Item = (&'static str, Vec<u8>)> {
    let parts = skills::all().iter().flat_map(|skill| skill.parts()).filter(|part| part.axes.is_none());
    parts.map(|part| (part.skeleton, skeleton::unpack(part.skeleton, part.sha256).unwrap()))
}

fn initializers(model: &[u8]) -> Vec<Tensor> {
    let mut found = Vec::new();
    replace(model, MODEL_GRAPH, &mut |graph| {
        replace(graph, GRAPH_INITIALIZER, &mut |tensor| {
            found.push(Tensor::decode(tensor).unwrap());
            Ok(None)
        })
        .map(Some)
    })
    .unwrap();
    found
}

/// The graph as Python's onnx would show it.
fn graph_of(model: &[u8]) -> Vec<u8> {
    skillbench_onnx::messages_of(model, MODEL_GRAPH).next().unwrap().to_vec()
}

fn dimensions(model: &[u8]) -> Vec<String> {
    let graph = graph_of(model);
    let mut names = Vec::new();
    for number in [GRAPH_INPUT, GRAPH_OUTPUT, GRAPH_VALUE_INFO] {
        for port in skillbench_onnx::messages_of(&graph, number) {
            let shape = ValueInfo::decode(port).unwrap().of.and_then(|of| of.tensor).and_then(|tensor| tensor.shape);
            for dim in shape.into_iter().flat_map(|shape| shape.dim) {
                if let Some(Size::Named(name)) = dim.size {
                    names.push(name);
                }
            }
        }
    }
    names
}

#[test]
fn what_is_not_edited_stays_byte_for_byte() {
    for (name, skeleton) in skeletons() {
        let copy = replace(&skeleton, MODEL_GRAPH, &mut |graph| {
            replace(graph, GRAPH_INITIALIZER, &mut |_| Ok(None)).map(Some)
        });
        assert!(copy.unwrap() == skeleton, "{name} changed");
    }
}

#[test]
fn no_rule_is_left_and_every_weight_has_its_place() {
    for (name, skeleton) in skeletons() {
        let Refilled { graph, weights } = refill(&skeleton, PLAIN).unwrap();
        let mut end = 0;
        for tensor in initializers(&graph).iter().filter(|tensor| !tensor.external_data.is_empty()) {
            let values: Vec<&str> = tensor.external_data.iter().map(|entry| entry.value.as_str()).collect();
            let [location, offset, length] = values[..] else { panic!("{name}: {values:?}") };
            let (offset, length): (u64, u64) = (offset.parse().unwrap(), length.parse().unwrap());
            assert_eq!((location, tensor.data_location), (WEIGHTS, EXTERNAL));
            let element = if tensor.data_type == DOUBLE { 8 } else { 4 };
            assert_eq!(length, element * tensor.dims.iter().product::<i64>() as u64, "{name}");
            assert!(offset >= end && offset.is_multiple_of(4096), "{name}");
            end = offset + length;
        }
        assert!(weights.bytes >= end);
    }
}

/// Fusions depend on the shapes that the exporter wrote of inner values.
#[test]
fn the_shapes_of_inner_values_are_kept() {
    for (name, skeleton) in skeletons() {
        let shapes = |model: &[u8]| {
            let graph = graph_of(model);
            skillbench_onnx::messages_of(&graph, GRAPH_VALUE_INFO).map(<[u8]>::to_vec).collect::<Vec<_>>()
        };
        let (before, after) = (shapes(&skeleton), shapes(&refill(&skeleton, PLAIN).unwrap().graph));
        assert!(before == after, "{name}");
        // A look-up of rows has no inner values, and of switch-base-8 the exporter wrote none.
        let has_none = ["probe-mlp", "switch-base-8"].contains(&name) || name.ends_with("-embed");
        assert!(has_none || before.len() > 10, "{name}: {}", before.len());
    }
}

#[test]
fn an_axis_gets_its_other_name_wherever_it_stands() {
    let part = skills::find("bert-tiny").unwrap().parts().remove(0);
    let skeleton = skeleton::unpack(part.skeleton, part.sha256).unwrap();
    let axes = BTreeMap::from([("sequence".to_string(), "encoder_sequence".to_string())]);
    let before = dimensions(&skeleton);
    let after = dimensions(&refill(&skeleton, Wanted { axes: Some(&axes), ..PLAIN }).unwrap().graph);
    assert!(before.iter().any(|name| name == "sequence"));
    let expected: Vec<String> = before.iter().map(|name| name.replace("sequence", "encoder_sequence")).collect();
    assert_eq!(after, expected);
}

#[test]
fn a_type_that_is_not_generated_is_refused_by_name() {
    let error = refill(&model(&generated(10, &[4])), PLAIN).err().unwrap();
    assert!(error.message.contains("'w'") && error.message.contains("type 10"), "{error}");
}

#[test]
fn dimensions_that_cannot_be_are_refused() {
    for dims in [&[-1, 4][..], &[i64::MAX, 3], &[i64::MAX]] {
        assert!(refill(&model(&generated(FLOAT, dims)), PLAIN).is_err(), "{dims:?}");
    }
}

#[test]
fn a_graph_that_is_cut_short_is_refused() {
    let whole = model(&generated(FLOAT, &[4]));
    for length in 1..whole.len() {
        assert!(refill(&whole[..length], PLAIN).is_err(), "{length} bytes");
    }
}
