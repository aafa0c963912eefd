use super::*;
use crate::fields::{put, put_number};
use crate::messages::Node;
use crate::{Graph, Model};

fn port(name: &str, element: i32) -> ValueInfo {
    ValueInfo::of_tensor(name, element, vec![Size::Fixed(2), Size::Fixed(3)])
}

fn floats(name: &str, values: &[f32]) -> Tensor {
    let raw = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    Tensor::of_bytes(name, FLOAT, &[values.len() as i64], raw)
}

/// From float32 ports to float32 ports.
fn graph(inputs: &[&str], nodes: Vec<Node>, outputs: &[&str]) -> Graph {
    let ports = |names: &[&str]| names.iter().map(|name| port(name, FLOAT)).collect();
    Graph { node: nodes, input: ports(inputs), output: ports(outputs), ..Graph::default() }
}

fn model(graph: Graph) -> Vec<u8> {
    Model::new("test", 17, graph).encode_to_vec()
}

fn bare(graph: &[u8]) -> Vec<u8> {
    let mut model = vec![];
    put(&mut model, MODEL_GRAPH, graph);
    model
}

fn changed(graph: Graph) -> Graph {
    decoded(&convert(&model(graph)).unwrap().0)
}

fn decoded(model: &[u8]) -> Graph {
    Graph::decode(messages_of(model, MODEL_GRAPH).next().unwrap()).unwrap()
}

/// Each node as "Operator(inputs) outputs", a cast with what it casts to.
fn lines(graph: &Graph) -> Vec<String> {
    let line = |node: &Node| {
        let to = node.attribute.iter().find(|attribute| attribute.name == "to");
        let to = to.and_then(|to| type_name(i32::try_from(to.i).ok()?)).map(|to| format!(" {to}")).unwrap_or_default();
        format!("{}{to}({}) {}", node.op_type, node.input.join(", "), node.output.join(", "))
    };
    graph.node.iter().map(line).collect()
}

fn reason(graph: Graph) -> String {
    to_float16(&model(graph)).unwrap_err().to_string()
}

#[test]
fn ports_stay_in_float32_with_casts_between_them_and_the_nodes() {
    let changed = changed(graph(&["x"], vec![Node::new("Relu", &["x"], "y")], &["y"]));
    assert_eq!(
        lines(&changed),
        ["Cast float16(x) x in float16", "Relu(x in float16) y in float16", "Cast float(y in float16) y"]
    );
    assert!(changed.input.iter().chain(&changed.output).all(|port| port.element() == Some(FLOAT)));
}

#[test]
fn an_output_that_is_taken_inside_and_an_input_that_is_an_output_have_both_forms() {
    let nodes = vec![Node::new("Relu", &["x"], "y"), Node::new("Neg", &["y"], "z")];
    let changed = changed(graph(&["x"], nodes, &["x", "y", "z"]));
    assert_eq!(
        lines(&changed),
        [
            "Cast float16(x) x in float16",
            "Relu(x in float16) y in float16",
            "Cast float(y in float16) y",
            "Neg(y in float16) z in float16",
            "Cast float(z in float16) z",
        ]
    );
}

#[test]
fn a_name_that_is_taken_is_not_given_again() {
    let nodes = vec![Node::new("Relu", &["x"], "x in float16"), Node::new("Neg", &["x in float16"], "y")];
    let changed = changed(graph(&["x"], nodes, &["y"]));
    assert_eq!(lines(&changed)[..2], ["Cast float16(x) x in float16 2", "Relu(x in float16 2) x in float16"]);
}

#[test]
fn weights_in_other_files_stay_there_and_have_a_cast_behind() {
    let nodes = vec![Node::new("MatMul", &["x", "w"], "h"), Node::new("Add", &["h", "mask"], "y")];
    let weight = |name: &str| Tensor::in_file(name, FLOAT, &[3, 3], "w.data", 0..36);
    let initializer = vec![weight("w"), weight("mask")];
    let changed = changed(Graph { initializer: initializer.clone(), ..graph(&["x"], nodes, &["y"]) });
    assert_eq!(changed.initializer[..2], initializer);
    assert_eq!(
        lines(&changed)[1..4],
        [
            "Cast float16(w) w in float16".to_string(),
            "Clip(mask, the least number of float16, the largest number of float16) mask within float16".to_string(),
            "Cast float16(mask within float16) mask in float16".to_string(),
        ],
        "what is added may be a mask with numbers beyond float16, what is multiplied is none"
    );
    assert_eq!(changed.initializer.len(), 4, "and the two limits");
}

#[test]
fn constants_in_the_graph_are_converted() {
    let nodes = vec![Node::new("Add", &["x", "c"], "h"), Node::new("Add", &["h", "listed"], "y")];
    // Little-endian float32 that are listed one by one, which are only read here, never written.
    let mut listed = vec![];
    put_number(&mut listed, TENSOR_DIMS, 1);
    put_number(&mut listed, TENSOR_TYPE, FLOAT as u64);
    put(&mut listed, TENSOR_FLOATS, &2.0_f32.to_le_bytes());
    put(&mut listed, TENSOR_NAME, b"listed");
    let initializer = vec![floats("c", &[1.0, -3.4e38, 1e-12])];
    let mut bytes = Graph { initializer, ..graph(&["x"], nodes, &["y"]) }.encode_to_vec();
    put(&mut bytes, GRAPH_INITIALIZER, &listed);
    let changed = decoded(&to_float16(&bare(&bytes)).unwrap());
    let data = |index: usize| (changed.initializer[index].data_type, changed.initializer[index].raw_data.clone());
    assert_eq!(data(0), (FLOAT16, vec![0x00, 0x3C, 0xFF, 0xFB, 0x01, 0x00]));
    assert_eq!(data(1), (FLOAT16, vec![0x00, 0x40]));
    assert_eq!(changed.initializer[1].dims, [1]);
}

#[test]
fn constants_that_are_nodes_are_converted_too() {
    let mut attribute = vec![];
    put(&mut attribute, ATTRIBUTE_NAME, b"value_float");
    attribute.extend([2 << 3 | 5]);
    attribute.extend(0.5_f32.to_le_bytes());
    let mut constant = vec![];
    put(&mut constant, NODE_OUTPUT, b"c");
    put(&mut constant, NODE_OPERATOR, b"Constant");
    put(&mut constant, NODE_ATTRIBUTE, &attribute);
    let mut bytes = vec![];
    put(&mut bytes, GRAPH_NODE, &constant);
    bytes.extend(graph(&["x"], vec![Node::new("Mul", &["x", "c"], "y")], &["y"]).encode_to_vec());
    let model = to_float16(&bare(&bytes)).unwrap();
    let graph = messages_of(&model, MODEL_GRAPH).next().unwrap();
    let node = messages_of(graph, GRAPH_NODE).find(|node| messages_of(node, NODE_INPUT).next().is_none()).unwrap();
    let attribute = messages_of(node, NODE_ATTRIBUTE).next().unwrap();
    assert_eq!(messages_of(attribute, ATTRIBUTE_NAME).next(), Some(&b"value"[..]));
    let tensor = Tensor::decode(messages_of(attribute, ATTRIBUTE_TENSOR).next().unwrap()).unwrap();
    assert_eq!((tensor.data_type, tensor.raw_data, tensor.dims), (FLOAT16, vec![0x00, 0x38], vec![]));
}

#[test]
fn inputs_that_have_to_be_float32_stay_it() {
    let nodes = vec![Node::new("Resize", &["x", "", "scales"], "h"), Node::new("Mul", &["h", "scales"], "y")];
    let initializer = vec![floats("scales", &[1.0, 2.0])];
    let changed = changed(Graph { initializer, ..graph(&["x"], nodes, &["y"]) });
    assert_eq!(lines(&changed)[1], "Resize(x in float16, , scales) h");
    assert_eq!(lines(&changed)[2], "Mul(h, scales in float16) y in float16");
    let types: Vec<_> = changed.initializer.iter().map(|tensor| (&tensor.name[..], tensor.data_type)).collect();
    assert_eq!(types, [("scales", FLOAT), ("scales in float16", FLOAT16)]);
}

#[test]
fn operators_without_float16_stay_in_float32() {
    let nodes = vec![
        Node::new("MatMul", &["x", "w"], "h"),
        Node::new("GridSample", &["h", "x"], "g"),
        Node::new("Neg", &["g"], "y"),
    ];
    let initializer = vec![Tensor::in_file("w", FLOAT, &[3, 3000], "w.data", 0..36_000)];
    let changed = changed(Graph { initializer, ..graph(&["x"], nodes, &["y"]) });
    assert_eq!(
        lines(&changed)[2..6],
        [
            "MatMul(x in float16, w in float16) h",
            "Cast float(h) h in float32",
            "GridSample(h in float32, x) g",
            "Cast float16(g) g in float16",
        ]
    );
}

#[test]
fn what_makes_float32_makes_float16() {
    let cast = |from: &str, into: &str, to: i32| Node::new("Cast", &[from], into).with("to", i64::from(to));
    let nodes = vec![
        cast("mask", "float", FLOAT),
        Node::new("ConstantOfShape", &["shape"], "zeros"),
        Node::new("RandomNormal", &[], "noise"),
        Node::new("Sum", &["float", "zeros", "noise"], "y"),
    ];
    let mut graph = graph(&[], nodes, &["y"]);
    graph.input.push(port("mask", INT64));
    graph.input.push(port("shape", INT64));
    let changed = changed(graph);
    assert_eq!(lines(&changed)[0], "Cast float16(mask) float");
    let added = |index: usize| {
        let [attribute] = &changed.node[index].attribute[..] else { panic!("one attribute") };
        (attribute.name.clone(), attribute.i)
    };
    assert_eq!(added(1).0, "value");
    assert_eq!(added(2), ("dtype".to_string(), i64::from(FLOAT16)));
}

#[test]
fn positions_stay_in_float32_until_their_cosine() {
    let nodes = vec![
        Node::new("Cast", &["at"], "float").with("to", i64::from(FLOAT)),
        Node::new("Mul", &["float", "frequencies"], "angles"),
        Node::new("Cos", &["angles"], "cosines"),
        Node::new("Mul", &["x", "cosines"], "y"),
    ];
    let initializer = vec![floats("frequencies", &[1.0, 0.1, 0.01])];
    let mut graph = Graph { initializer, ..graph(&["x"], nodes, &["y"]) };
    graph.input.push(port("at", INT64));
    let changed = changed(graph);
    assert_eq!(
        lines(&changed)[1..6],
        [
            "Cast float(at) float",
            "Mul(float, frequencies) angles",
            "Cos(angles) cosines",
            "Cast float16(cosines) cosines in float16",
            "Mul(x in float16, cosines in float16) y in float16",
        ]
    );
    assert_eq!(changed.initializer[0].data_type, FLOAT);
}

#[test]
fn whole_numbers_and_truth_values_are_made_of_the_floats_as_they_came() {
    let nodes = vec![
        Node::new("Mul", &["x", "scale"], "scaled"),
        Node::new("Cast", &["scaled"], "bucket").with("to", i64::from(INT64)),
        Node::new("Gather", &["table", "bucket"], "row"),
        Node::new("Add", &["row", "scaled"], "y"),
    ];
    let table = Tensor::in_file("table", FLOAT, &[9000], "w.data", 0..36_000);
    let changed = changed(Graph { initializer: vec![floats("scale", &[0.1]), table], ..graph(&["x"], nodes, &["y"]) });
    assert_eq!(
        lines(&changed)[1..],
        [
            "Mul(x, scale) scaled",
            "Clip(scaled, the least number of float16, the largest number of float16) scaled within float16",
            "Cast float16(scaled within float16) scaled in float16",
            "Cast int64(scaled) bucket",
            "Gather(table in float16, bucket) row",
            "Add(row, scaled in float16) y in float16",
            "Cast float(y in float16) y",
        ]
    );
}

#[test]
fn indices_that_are_drawn_are_drawn_in_float32() {
    let nodes = vec![
        Node::new("MatMul", &["x", "w"], "h"),
        Node::new("RandomUniformLike", &["h"], "drawn"),
        Node::new("Mul", &["drawn", "count"], "scaled"),
        Node::new("Cast", &["scaled"], "index").with("to", i64::from(INT64)),
        Node::new("Gather", &["h", "index"], "y"),
    ];
    let table = Tensor::in_file("w", FLOAT, &[3, 3000], "w.data", 0..36_000);
    let changed = changed(Graph { initializer: vec![floats("count", &[9.0]), table], ..graph(&["x"], nodes, &["y"]) });
    assert_eq!(
        lines(&changed)[2..7],
        [
            "MatMul(x in float16, w in float16) h",
            "Cast float(h) h in float32",
            "RandomUniformLike(h in float32) drawn",
            "Mul(drawn, count) scaled",
            "Cast int64(scaled) index",
        ]
    );
}

#[test]
fn what_comes_from_data_is_no_position() {
    let nodes = vec![
        Node::new("Gather", &["table", "ids"], "h"),
        Node::new("IsNaN", &["h"], "nan"),
        Node::new("Cos", &["h"], "y"),
    ];
    let table = Tensor::of_bytes("table", FLOAT, &[2, 2000], vec![0; 16_000]);
    let mut graph = Graph { initializer: vec![table], ..graph(&[], nodes, &["y"]) };
    graph.input.push(port("ids", INT64));
    assert_eq!(lines(&changed(graph))[..3], ["Gather(table, ids) h", "IsNaN(h) nan", "Cos(h) y in float16"]);
}

#[test]
fn squares_stay_in_float32_until_they_are_divided_by() {
    let nodes = vec![
        Node::new("Relu", &["x"], "h"),
        Node::new("Pow", &["h", "two"], "squared"),
        Node::new("ReduceMean", &["squared"], "mean"),
        Node::new("Add", &["mean", "epsilon"], "above"),
        Node::new("Sqrt", &["above"], "root"),
        Node::new("Div", &["h", "root"], "normal"),
        Node::new("Mul", &["normal", "scale"], "y"),
    ];
    let initializer = vec![floats("two", &[2.0]), floats("epsilon", &[1e-6]), floats("scale", &[1.0])];
    let changed = changed(Graph { initializer, ..graph(&["x"], nodes, &["y"]) });
    assert_eq!(
        lines(&changed)[2..9],
        [
            "Cast float(h) h in float32",
            "Pow(h in float32, two) squared",
            "ReduceMean(squared) mean",
            "Add(mean, epsilon) above",
            "Sqrt(above) root",
            "Div(h in float32, root) normal",
            "Cast float16(normal) normal in float16",
        ]
    );
}

#[test]
fn what_the_file_says_of_inner_values_follows_and_what_is_not_known_stays() {
    let mut bytes =
        graph(&["x"], vec![Node::new("Relu", &["x"], "h"), Node::new("Neg", &["h"], "y")], &["y"]).encode_to_vec();
    let mut inner = port("h", FLOAT).encode_to_vec();
    put(&mut inner, 3, b"said of it");
    put(&mut bytes, GRAPH_VALUE_INFO, &inner);
    put(&mut bytes, 99, b"of the graph");
    let mut whole = bare(&bytes);
    put(&mut whole, 99, b"of the model");
    let changed = to_float16(&whole).unwrap();
    let graph = messages_of(&changed, MODEL_GRAPH).next().unwrap();
    let value = messages_of(graph, GRAPH_VALUE_INFO).next().unwrap();
    assert_eq!(ValueInfo::decode(value).unwrap(), port("h", FLOAT16));
    assert_eq!(messages_of(value, 3).next(), Some(&b"said of it"[..]));
    assert_eq!(messages_of(graph, 99).next(), Some(&b"of the graph"[..]));
    assert_eq!(messages_of(&changed, 99).next(), Some(&b"of the model"[..]));
}

#[test]
fn a_graph_without_float32_stays_as_it_is() {
    let node = vec![Node::new("Add", &["a", "b"], "c")];
    let whole = Graph {
        node,
        input: vec![port("a", INT64), port("b", INT64)],
        output: vec![port("c", INT64)],
        ..Graph::default()
    };
    let bytes = model(whole);
    assert_eq!(to_float16(&bytes).unwrap(), bytes);
}

#[test]
fn what_could_only_be_guessed_at_is_refused_with_its_reason() {
    let one = |node: Node| graph(&["x"], vec![node], &["y"]);
    assert_eq!(
        reason(one(Node::new("DequantizeLinear", &["x"], "y"))),
        "the graph cannot be put in float16, since it is quantized (DequantizeLinear): load an export in float16"
    );
    let foreign = Node { domain: "com.example".into(), ..Node::new("Own", &["x"], "y") };
    assert!(reason(one(foreign)).contains("Own is one of com.example"));
    assert!(reason(one(Node::new("SequenceAt", &["x"], "y"))).contains("SequenceAt"));
    let wide = vec![Tensor::of_bytes("w", DOUBLE, &[9], vec![0; 72]), floats("c", &[1.0])];
    let others = Graph { initializer: wide, ..one(Node::new("Relu", &["x"], "y")) };
    assert!(reason(others).contains("not in float32"));

    let (mut attribute, mut node, mut holding) = (vec![], vec![], vec![]);
    put(&mut attribute, ATTRIBUTE_GRAPH, &[]);
    put(&mut node, NODE_OPERATOR, b"If");
    put(&mut node, NODE_ATTRIBUTE, &attribute);
    put(&mut holding, GRAPH_NODE, &node);
    assert!(to_float16(&bare(&holding)).unwrap_err().to_string().contains("If holds a graph"));
    let mut functions = bare(&[]);
    put(&mut functions, MODEL_FUNCTION, &[]);
    assert!(to_float16(&functions).unwrap_err().to_string().contains("functions"));
}

#[test]
fn bytes_that_are_no_model_are_refused_or_left_and_the_same_give_the_same() {
    let initializer = vec![floats("c", &[1.0]), Tensor::in_file("w", FLOAT, &[3], "w.data", 0..12)];
    let nodes = vec![Node::new("Sum", &["x", "c", "w"], "h"), Node::new("GridSample", &["h", "x"], "y")];
    let whole = model(Graph { initializer, ..graph(&["x"], nodes, &["y"]) });
    assert_eq!(to_float16(&whole), to_float16(&whole));
    for length in 1..whole.len() {
        let _ = to_float16(&whole[..length]);
        let mut wrong = whole.clone();
        wrong[length] ^= 0xFF;
        let _ = to_float16(&wrong);
    }
    assert!(matches!(to_float16(&whole[..whole.len() - 1]), Err(NotConverted::Broken(_))));
    let cut = Tensor::of_bytes("c", FLOAT, &[1], vec![0; 3]);
    let cut = Graph { initializer: vec![cut], ..graph(&["x"], vec![Node::new("Add", &["x", "c"], "y")], &["y"]) };
    assert!(reason(cut).contains("'c'"));
}

#[test]
fn a_graph_that_would_stay_in_float32_is_not_called_float16() {
    let weights = |name: &str| Tensor::of_bytes(name, FLOAT, &[3, 4], vec![0; 48]);
    let nodes = vec![
        Node::new("MatMul", &["x", "w"], "a"),
        Node::new("Relu", &["a"], "b"),
        Node::new("MatMul", &["b", "v"], "c"),
        Node::new("ArgMax", &["c"], "y"),
    ];
    let output = vec![port("y", INT64)];
    let classes = Graph { initializer: vec![weights("w"), weights("v")], output, ..graph(&["x"], nodes, &[]) };
    assert!(reason(classes).contains("stay in float32"));
    let squares = vec![Node::new("Mul", &["x", "x"], "a"), Node::new("ReduceSum", &["a"], "y")];
    assert!(reason(graph(&["x"], squares, &["y"])).contains("stay in float32"));
}

#[test]
fn an_optional_output_that_is_left_out_is_no_value() {
    let two = |operator: &str, inputs: &[&str], outputs: &[&str]| {
        let mut node = Node::new(operator, inputs, outputs[0]);
        node.output = outputs.iter().map(ToString::to_string).collect();
        node
    };
    let nodes = vec![
        two("GRU", &["x", "w", "r"], &["", "h"]),
        two("LayerNormalization", &["h", "s"], &["n", "", "d"]),
        Node::new("Clip", &["n", "", "m"], "y"),
    ];
    let mut all = graph(&["x"], nodes, &["y"]);
    all.initializer = ["w", "r", "s", "m"].map(|name| floats(name, &[1.0])).to_vec();
    let lines = lines(&changed(all));
    assert!(lines.iter().all(|line| !line.contains("Cast float16()") && !line.contains("Cast float()")), "{lines:?}");
    assert!(lines.iter().any(|line| line.starts_with("GRU(x in float16") && line.contains(") , h")), "{lines:?}");
}

#[test]
fn a_square_that_leads_in_a_circle_ends() {
    let nodes = vec![
        Node::new("Mul", &["x", "x"], "s"),
        Node::new("ReduceMean", &["s"], "m"),
        Node::new("Sqrt", &["m"], "v"),
        Node::new("Sqrt", &["v"], "v"),
        Node::new("MatMul", &["x", "x"], "y"),
    ];
    // Refused or not: it ends.
    drop(to_float16(&model(graph(&["x"], nodes, &["y"]))));
}
