use super::super::samples::{Sample, node, port};
use super::*;
use skillbench_onnx::messages::{FLOAT, Message, Node, Tensor};
use std::path::PathBuf;

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn describe(path: &Path) -> String {
    examine(path).unwrap_err().to_string()
}

fn refused(sample: &Sample) -> String {
    let folder = folder();
    describe(&sample.write(folder.path(), "model.onnx"))
}

fn written(folder: &Path, bytes: &[u8]) -> PathBuf {
    let path = folder.join("model.onnx");
    std::fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn a_whole_model_is_read_with_its_structure() {
    let folder = folder();
    for sample in [Sample::perceptron(), Sample::decoder(2), Sample::encoder(), Sample::vision()] {
        let path = sample.clone().external("w.data").write(folder.path(), "model.onnx");
        assert_eq!(examine(&path).unwrap().graph.nodes.len(), sample.nodes.len());
    }
}

#[test]
fn an_empty_file_a_text_a_pointer_and_an_archive_are_told_apart() {
    let folder = folder();
    let refused_bytes = |bytes: &[u8]| describe(&written(folder.path(), bytes));
    assert!(refused_bytes(b"").contains("the file is empty; download or export it again"));
    assert!(refused_bytes(b"<!DOCTYPE html>\n<html>").contains("a text file that begins with '<!DOCTYPE html>'"));
    assert!(refused_bytes("Ünïcode, a lot of it ".repeat(60).as_bytes()).contains("a text file"));
    assert!(refused_bytes(b"version https://git-lfs/spec/v1\noid sha256:00").contains("`git lfs pull`"));
    assert!(refused_bytes(b"PK\x03\x04\x00\x00").contains("PyTorch checkpoint"));
    assert!(refused_bytes(&[0xFF; 40]).contains("model.onnx"));
}

#[test]
fn a_file_that_is_not_there_is_told_with_its_path() {
    let told = describe(Path::new("nowhere/model.onnx"));
    assert!(told.contains("nowhere") && told.contains("cannot be read"), "{told}");
}

#[test]
fn a_model_cut_off_anywhere_is_refused_and_never_a_panic() {
    let folder = folder();
    let whole = Sample::decoder(1).external("w.data");
    whole.write(folder.path(), "whole.onnx");
    let bytes = whole.bytes();
    for length in 0..bytes.len() {
        let path = written(folder.path(), &bytes[..length]);
        assert!(examine(&path).is_err(), "{length} of {} bytes", bytes.len());
    }
}

#[test]
fn a_model_with_any_byte_changed_is_read_or_refused_and_never_a_panic() {
    let folder = folder();
    let bytes = Sample::decoder(1).bytes();
    let mut state = 1u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
    let tree = Tree::of_folder(folder.path()).unwrap();
    let (mut read, mut refused) = (0, 0);
    for round in 0..20_000 {
        let mut changed = bytes.clone();
        for _ in 0..=random() % 3 {
            let place = if round < bytes.len() { round } else { random() % bytes.len() };
            changed[place] = random() as u8;
        }
        match Outline::of(&changed) {
            Ok(outline) if check(&outline, &tree, folder.path()).is_ok() => read += 1,
            _ => refused += 1,
        }
    }
    assert!(read > 0 && refused > 0, "{read} {refused}");
}

#[test]
fn three_gigabytes_in_the_protobuf_are_refused_at_once() {
    let folder = folder();
    let path = written(folder.path(), &Sample::perceptron().bytes());
    std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(3 << 30).unwrap();
    let started = std::time::Instant::now();
    let told = describe(&path);
    assert!(told.contains("3221225472 bytes") && told.contains("external data"), "{told}");
    assert!(started.elapsed() < std::time::Duration::from_secs(1));
}

#[test]
fn an_opset_that_is_not_known_is_named_with_the_highest_that_is() {
    let highest = opset::table().highest;
    let told = refused(&Sample::perceptron().opset(99));
    assert!(told.contains(&format!("its opset is 99, the highest one known is {highest}")), "{told}");
    assert!(refused(&Sample::perceptron().opset(0)).contains("its opset is 0"));
}

#[test]
fn operators_of_a_domain_that_is_not_named_are_refused() {
    let mut sample = Sample::perceptron();
    sample.nodes.push(Node { domain: "com.acme".into(), ..node("Frob", &["h3"], "h4") });
    let told = refused(&sample);
    assert!(told.contains("Frob of 'com.acme'"), "{told}");
}

#[test]
fn weights_that_are_not_there_are_told_with_the_file_that_was_looked_for() {
    let folder = folder();
    let path = Sample::perceptron().external("w.data").write(folder.path(), "model.onnx");
    let data = folder.path().join("w.data");
    std::fs::OpenOptions::new().write(true).open(&data).unwrap().set_len(35).unwrap();
    let short = describe(&path);
    assert!(
        short.contains(&format!("the tensor 'b' needs {} up to byte 40, and it has 35", data.display())),
        "{short}"
    );
    std::fs::remove_file(&data).unwrap();
    let missing = describe(&path);
    assert!(missing.contains(&format!("'w' are not there: looked for {}", data.display())), "{missing}");
}

#[test]
fn weights_outside_the_folder_are_refused_even_where_they_exist() {
    let folder = folder();
    let outside = folder.path().join("outside.data");
    std::fs::write(&outside, [0; 100]).unwrap();
    for location in ["../outside.data", outside.to_str().unwrap()] {
        let told = refused(&Sample::perceptron().external(location));
        assert!(told.contains("not in the model's folder"), "{told}");
    }
}

#[test]
fn data_shorter_than_its_tensor_is_refused() {
    let mut sample = Sample::perceptron();
    sample.weights[0] = Tensor::of_bytes("w", FLOAT, &[4, 2], vec![0; 31]);
    assert!(refused(&sample).contains("'w' needs 32 bytes and has 31"));
    sample.weights[0] = Tensor::of_bytes("w", FLOAT, &[4, 2], vec![]);
    assert!(refused(&sample).contains("'w' has no data"));
    sample.weights[0] = Tensor::of_bytes("w", FLOAT, &[-4, 2], vec![0; 32]);
    assert!(refused(&sample).contains("[-4, 2]"));
    sample.weights[0] = Tensor::of_bytes("w", FLOAT, &[1 << 62, 1 << 62], vec![0; 32]);
    assert!(refused(&sample).contains("no tensor has the dimensions"));
}

#[test]
fn a_place_in_external_data_that_is_no_number_is_named() {
    let mut sample = Sample::perceptron().external("w.data");
    let offset = sample.weights[0].external_data.iter_mut().find(|entry| entry.key == "offset").unwrap();
    offset.value = "-1".into();
    let folder = folder();
    let path = folder.path().join("model.onnx");
    std::fs::write(&path, sample.bytes()).unwrap();
    assert!(describe(&path).contains("the offset of the external data of 'w' is '-1'"));
}

#[test]
fn the_nodes_of_a_cycle_are_named() {
    let mut sample = Sample::perceptron();
    sample.nodes[0] = node("Add", &["x", "h2"], "h1");
    let told = refused(&sample);
    assert!(told.contains("cycle: 'Add of h1' (Add) needs 'Add of h2' (Add) needs the first again"), "{told}");
    sample.nodes[0] = node("Add", &["x", "h1"], "h1");
    assert!(refused(&sample).contains("needs its own output"));
}

#[test]
fn a_cycle_through_the_branch_of_a_node_is_found() {
    use skillbench_onnx::fields::put;
    use skillbench_onnx::messages::{
        ATTRIBUTE_GRAPH, GRAPH_NODE, GRAPH_OUTPUT, NODE_ATTRIBUTE, NODE_INPUT, NODE_OPERATOR, NODE_OUTPUT,
    };
    let branch = |takes: &str| {
        let (mut graph, mut attribute, mut whole) = (vec![], vec![], vec![]);
        put(&mut graph, GRAPH_NODE, &node("Relu", &[takes], "inner").encode_to_vec());
        put(&mut graph, GRAPH_OUTPUT, &port("inner", FLOAT, &["1"]).encode_to_vec());
        put(&mut attribute, ATTRIBUTE_GRAPH, &graph);
        put(&mut whole, NODE_OPERATOR, b"If");
        put(&mut whole, NODE_INPUT, b"x");
        put(&mut whole, NODE_OUTPUT, b"chosen");
        put(&mut whole, NODE_ATTRIBUTE, &attribute);
        whole
    };
    let with = |takes: &str| {
        let mut sample = Sample::perceptron();
        sample.nodes[0] = node("Add", &["x", "chosen"], "h1");
        skillbench_onnx::edit::<skillbench_onnx::Broken>(&sample.bytes(), 7, |graph| {
            let mut graph = graph.to_vec();
            put(&mut graph, GRAPH_NODE, &branch(takes));
            Ok(Some(vec![graph]))
        })
        .unwrap()
    };
    let folder = folder();
    examine(&written(folder.path(), &with("x"))).unwrap();
    let told_of = |takes: &str| describe(&written(folder.path(), &with(takes)));
    assert!(told_of("h3").contains("cycle"));
    assert!(told_of("nothing").contains("nothing produces 'nothing', which the node 'Relu of inner' (Relu) takes"));
}

#[test]
fn what_nothing_produces_is_named_with_the_node_that_takes_it() {
    let mut sample = Sample::perceptron();
    sample.nodes[1] = node("Add", &["h1", "nowhere"], "h2");
    assert!(refused(&sample).contains("nothing produces 'nowhere', which the node 'Add of h2' (Add) takes"));
    let mut sample = Sample::perceptron();
    sample.outputs.push(port("more", FLOAT, &["1"]));
    assert!(refused(&sample).contains("its output 'more'"));
    let mut sample = Sample::perceptron();
    sample.nodes.push(node("Abs", &["x"], "h2"));
    assert!(refused(&sample).contains("'h2' is produced twice"));
}

#[test]
fn a_graph_without_inputs_or_outputs_is_refused() {
    let mut sample = Sample::perceptron();
    sample.outputs.clear();
    assert!(refused(&sample).contains("no outputs"));
    sample.inputs.clear();
    assert!(refused(&sample).contains("no inputs"));
}
