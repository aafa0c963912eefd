//! Files that somebody wrote to keep the host busy: each is refused, or read, in time that grows as the file does. Every bound is
//! several times what it takes, and several times less than what grows as a square would take.

use super::super::local;
use super::super::samples::{Sample, node, port, weights};
use skillbench_onnx::messages::{
    ATTRIBUTE_GRAPH, FLOAT, GRAPH_NODE, INT64, MODEL_FORMAT, MODEL_GRAPH, MODEL_OPERATORS, NODE_ATTRIBUTE, Node,
    OPERATORS_DOMAIN, OPERATORS_VERSION, Tensor,
};
use skillbench_onnx::{edit, fields};
use std::time::{Duration, Instant};

/// What is said of a model, within so many seconds.
#[track_caller]
fn said(bytes: &[u8], seconds: u64) -> Result<(), String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.onnx");
    std::fs::write(&path, bytes).unwrap();
    let began = Instant::now();
    let said = local::open(&path).map_err(|error| error.to_string());
    let took = began.elapsed();
    assert!(took < Duration::from_secs(seconds), "{took:?} for {} bytes", bytes.len());
    if let Err(text) = &said {
        assert!(text.len() < 10_000, "{} bytes are said", text.len());
    }
    said.and_then(|user_model| user_model.description().map(drop))
}

#[track_caller]
fn refused(bytes: &[u8], seconds: u64) -> String {
    said(bytes, seconds).unwrap_err()
}

#[test]
fn a_cycle_of_half_a_million_nodes_is_named_at_once() {
    const NODES: usize = 500_000;
    let name = |at: usize| format!("v{}", at % NODES);
    let mut sample = Sample::perceptron();
    sample.nodes = (0..NODES).map(|at| node("Relu", &[&name(at)], &name(at + 1))).collect();
    sample.outputs = vec![port("v0", FLOAT, &["1"])];
    let said = refused(&sample.bytes(), 10);
    assert!(said.contains("its graph has a cycle: 'Relu of v1' (Relu) needs"), "{said}");
}

#[test]
fn a_long_way_into_a_short_cycle_is_no_part_of_it() {
    let mut sample = Sample::perceptron();
    sample.nodes = (0..1000).map(|at| node("Relu", &[&format!("v{}", at + 1)], &format!("v{at}"))).collect();
    sample.nodes.push(node("Relu", &["v998"], "v1000"));
    sample.outputs = vec![port("v0", FLOAT, &["1"])];
    let said = refused(&sample.bytes(), 10);
    let cycle = "'Relu of v998' (Relu) needs 'Relu of v999' (Relu) needs 'Relu of v1000' (Relu) needs the first again";
    assert!(said.contains(&format!("cycle: {cycle}")), "{said}");
}

/// A graph with one node, which holds the next graph.
fn nested(depth: usize) -> Vec<u8> {
    // From its end to its beginning, so that nothing is copied twice.
    let mut backwards: Vec<u8> = vec![];
    let wrap = |backwards: &mut Vec<u8>, number: u64| {
        let mut head = vec![];
        fields::put_number(&mut head, number, backwards.len() as u64);
        // A length in place of a number.
        head[0] |= 2;
        backwards.extend(head.iter().rev());
    };
    for _ in 0..depth {
        for number in [ATTRIBUTE_GRAPH, NODE_ATTRIBUTE, GRAPH_NODE] {
            wrap(&mut backwards, number);
        }
    }
    wrap(&mut backwards, MODEL_GRAPH);
    backwards.reverse();
    fields::put_number(&mut backwards, MODEL_FORMAT, 8);
    backwards
}

#[test]
fn graphs_within_graphs_a_hundred_thousand_deep_are_refused() {
    assert!(refused(&nested(100_000), 5).contains("more than 32 deep"));
}

#[test]
fn what_the_innermost_of_many_graphs_takes_is_followed_once() {
    // A branch within a branch, each with as many nodes as the next one, which take what stands outside of all.
    let branch = |inner: &[u8]| {
        let mut graph = vec![];
        for _ in 0..4000 {
            fields::put(
                &mut graph,
                GRAPH_NODE,
                &skillbench_onnx::messages::Message::encode_to_vec(&node("Relu", &["x"], "")),
            );
        }
        let (mut attribute, mut holder) = (vec![], vec![]);
        fields::put(&mut attribute, ATTRIBUTE_GRAPH, inner);
        fields::put(&mut holder, NODE_ATTRIBUTE, &attribute);
        fields::put(&mut graph, GRAPH_NODE, &holder);
        graph
    };
    let innermost = (0..30).fold(vec![], |inner, _| branch(&inner));
    let (mut attribute, mut holder) = (vec![], vec![]);
    fields::put(&mut attribute, ATTRIBUTE_GRAPH, &innermost);
    fields::put(&mut holder, NODE_ATTRIBUTE, &attribute);
    let bytes = edit::<skillbench_onnx::Broken>(&Sample::perceptron().bytes(), MODEL_GRAPH, |graph| {
        let mut graph = graph.to_vec();
        fields::put(&mut graph, GRAPH_NODE, &holder);
        Ok(Some(vec![graph]))
    });
    assert_eq!(said(&bytes.unwrap(), 5), Ok(()));
}

#[test]
fn a_hundred_thousand_domains_of_operators_are_looked_up_and_not_searched() {
    let mut sample = Sample::perceptron();
    let others = (0..100_000).map(|at| Node { domain: format!("d{at}"), ..node("Frob", &["x"], "") });
    sample.nodes.extend(others);
    let mut bytes = sample.bytes();
    for at in 0..100_000 {
        let mut set = vec![];
        fields::put(&mut set, OPERATORS_DOMAIN, format!("d{at}").as_bytes());
        fields::put_number(&mut set, OPERATORS_VERSION, 1);
        fields::put(&mut bytes, MODEL_OPERATORS, &set);
    }
    assert_eq!(said(&bytes, 5), Ok(()));
}

#[test]
fn weights_of_one_name_without_end_are_read() {
    let mut sample = Sample::perceptron();
    sample.weights.extend((0..200_000).map(|_| weights("b", &[1])));
    sample.inputs.extend((0..200_000).map(|_| port("b", FLOAT, &["1"])));
    assert_eq!(said(&sample.bytes(), 10), Ok(()));
}

#[test]
fn more_inputs_outputs_dimensions_and_axes_than_a_model_has_are_refused() {
    let mut sample = Sample::perceptron();
    sample.inputs.extend((0..200_000).map(|at| port(&format!("i{at}"), INT64, &["batch"])));
    assert!(refused(&sample.bytes(), 10).contains("200001 inputs, more than the 4096"));
    let mut sample = Sample::perceptron();
    sample.outputs.extend((0..200_000).map(|_| port("h3", INT64, &["batch"])));
    assert!(refused(&sample.bytes(), 10).contains("200001 outputs, more than the 4096"));
    let mut sample = Sample::perceptron();
    sample.inputs[0] = port("x", FLOAT, &["a"; 100_000]);
    assert!(refused(&sample.bytes(), 10).contains("'x' has 100000 dimensions"));
    let mut sample = Sample::perceptron();
    sample.inputs.extend((0..4000).map(|at| {
        let dims: Vec<String> = (0..60).map(|dim| format!("d{at}_{dim}")).collect();
        port(&format!("past_key_values.{at}"), FLOAT, &dims.iter().map(String::as_str).collect::<Vec<_>>())
    }));
    assert!(refused(&sample.bytes(), 20).contains("dimensions of inputs, more than"));
}

#[test]
fn a_name_of_a_million_signs_is_cut_where_it_is_said() {
    let long = "n".repeat(1 << 20);
    let mut sample = Sample::perceptron();
    sample.nodes[0] = Node { name: long.clone(), ..node(&long, &[&long], "h1") };
    assert!(refused(&sample.bytes(), 5).contains("nothing produces 'nnn"));
    let mut sample = Sample::perceptron();
    sample.nodes[0] = node(&format!("{long}more"), &["x", "w"], "h1");
    assert!(refused(&sample.bytes(), 5).contains("a name or type of 10485"));
}

#[test]
fn sizes_beyond_all_numbers_are_refused() {
    for dims in [vec![i64::MAX; 3], vec![i64::MIN], vec![1 << 62, 2], vec![i64::MAX; 100_000]] {
        let mut sample = Sample::perceptron();
        sample.weights[0] = Tensor::of_bytes("w", FLOAT, &dims, vec![0; 4]);
        assert!(refused(&sample.bytes(), 5).contains("no tensor has the dimensions"));
        sample.weights[0] = Tensor::in_file("w", FLOAT, &dims, "w.data", 0..u64::MAX);
        assert!(refused(&sample.bytes(), 5).contains("no tensor has the dimensions"));
    }
    let mut sample = Sample::perceptron();
    sample.weights[0] = Tensor::in_file("w", FLOAT, &[1 << 60], "model.onnx", u64::MAX - 4..u64::MAX);
    assert!(refused(&sample.bytes(), 5).contains("'w'"));
    for length in [1u64 << 63, u64::MAX, 1 << 31] {
        let mut bytes = vec![];
        fields::put_number(&mut bytes, MODEL_GRAPH, length);
        bytes[0] |= 2;
        assert!(refused(&bytes, 5).contains("ends too early"), "{length}");
    }
}
