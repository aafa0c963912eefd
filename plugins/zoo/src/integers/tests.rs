use super::*;
use crate::graph::{Refilled, Wanted, refill};
use crate::{ranges, skeleton, skills};
use skillbench_onnx::messages_of;
use std::collections::HashMap;

/// A built graph, by its names.
struct Built {
    nodes: Vec<Node>,
    maker: HashMap<String, usize>,
    tensors: HashMap<String, Tensor>,
}

fn built(id: &str, form: Form) -> Built {
    let part = skills::find(id).unwrap().parts().remove(0);
    let skeleton = skeleton::unpack(part.skeleton, part.sha256).unwrap();
    let wanted = Wanted { file: "model.onnx.data", axes: None, form, ranges: ranges::of(part.skeleton) };
    let Refilled { graph, .. } = refill(&skeleton, wanted).unwrap();
    let graph = messages_of(&graph, MODEL_GRAPH).next().unwrap().to_vec();
    let nodes: Vec<Node> = messages_of(&graph, GRAPH_NODE).map(|node| Node::decode(node).unwrap()).collect();
    let makes = |(index, node): (usize, &Node)| node.output.iter().map(move |o| (o.clone(), index)).collect::<Vec<_>>();
    let maker = nodes.iter().enumerate().flat_map(makes).collect();
    let tensors = messages_of(&graph, GRAPH_INITIALIZER).map(|tensor| Tensor::decode(tensor).unwrap());
    let tensors = tensors.map(|tensor| (tensor.name.clone(), tensor)).collect();
    Built { nodes, maker, tensors }
}

impl Built {
    /// The node that makes an input of another.
    fn before(&self, node: &Node, place: usize) -> Option<&Node> {
        Some(&self.nodes[*self.maker.get(node.input.get(place)?)?])
    }

    /// The element type behind a `DequantizeLinear` at an input.
    fn eight(&self, node: &Node, place: usize) -> Option<i32> {
        let point = self.before(node, place).filter(|point| point.op_type == "DequantizeLinear")?;
        Some(self.tensors.get(point.input.get(2)?)?.data_type)
    }

    fn layers(&self) -> impl Iterator<Item = &Node> {
        let layer = |node: &&Node| ["Conv", "Gemm", "MatMul"].contains(&node.op_type.as_str());
        // Products of data with data have no weights.
        self.nodes.iter().filter(layer).filter(|node| self.eight(node, 1).is_some())
    }

    /// Every node reads what was made before it, or what is stored; inputs of the graph are made by nobody.
    fn is_in_order(&self) -> bool {
        let before = |index: usize, input: &String| self.maker.get(input).is_none_or(|maker| *maker < index);
        self.nodes.iter().enumerate().all(|(index, node)| node.input.iter().all(|input| before(index, input)))
    }
}

#[test]
fn every_layer_reads_weights_in_int8_and_data_in_uint8_and_a_bias_in_int32() {
    for (id, layers) in [("resnet-18", 21), ("bert-tiny", 13), ("vit-tiny", 74)] {
        let built = built(id, Form::Int8);
        assert_eq!(built.layers().count(), layers, "{id}");
        for node in built.layers() {
            assert_eq!((built.eight(node, 0), built.eight(node, 1)), (Some(UINT8), Some(INT8)), "{id}: {}", node.name);
            if node.input.len() > 2 {
                assert_eq!(built.eight(node, 2), Some(INT32), "{id}: {}", node.name);
            }
        }
        assert!(built.is_in_order(), "{id}");
    }
}

#[test]
fn behind_every_convolution_is_a_point_and_it_keeps_its_attributes() {
    let built = built("resnet-18", Form::Int8);
    let readers = |value: &str| -> Vec<&Node> {
        built.nodes.iter().filter(|node| node.input.iter().any(|input| input == value)).collect()
    };
    for node in built.layers().filter(|node| node.op_type == "Conv") {
        let mut all = readers(&node.output[0]);
        if let [relu] = all[..]
            && relu.op_type == "Relu"
        {
            all = readers(&relu.output[0]);
        }
        assert!(all.iter().all(|reader| reader.op_type == "QuantizeLinear") && all.len() == 1, "{}", node.name);
        for attribute in ["strides", "pads", "auto_pad"] {
            assert!(node.attribute.iter().any(|known| known.name == attribute), "{} lost {attribute}", node.name);
        }
    }
}

#[test]
fn weights_alone_in_int8_leave_data_as_it_is() {
    let built = built("resnet-18", Form::Int8Stored);
    assert_eq!(built.layers().count(), 21);
    assert!(built.layers().all(|node| built.eight(node, 0).is_none() && built.eight(node, 2).is_none()));
    assert!(built.nodes.iter().all(|node| node.op_type != "QuantizeLinear"));
}

#[test]
fn what_no_node_reads_is_not_stored() {
    for form in [Form::Int8, Form::Int8Stored] {
        for id in ["resnet-18", "bert-tiny", "gpt2-kv"] {
            let built = built(id, form);
            let read: HashSet<&String> = built.nodes.iter().flat_map(|node| &node.input).collect();
            let idle: Vec<&String> = built.tensors.keys().filter(|name| !read.contains(name)).collect();
            assert!(idle.is_empty(), "{id} {}: {idle:?}", form.name());
        }
    }
}

#[test]
fn a_head_that_shares_its_table_is_turned_once_and_the_table_stays_in_sixteen_bits() {
    let built = built("gpt2-kv", Form::Int8);
    let head = built.layers().filter(|node| node.op_type == "MatMul").last().unwrap();
    let weights = built.before(head, 1).unwrap();
    let stored = &built.tensors[&weights.input[0]];
    assert_eq!((stored.data_type, &stored.dims[..]), (INT8, &[768, 50257][..]));
    let tables = built.tensors.values().filter(|tensor| tensor.data_type == FLOAT16 && tensor.dims == [50257, 768]);
    assert_eq!(tables.count(), 1);
}
