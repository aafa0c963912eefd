//! Models of a user's own: files, folders and lists; what is wrong with them, and what is made of it.

use skillbench_tests::{World, cells, outcomes, workspace};

fn probe() -> Vec<u8> {
    std::fs::read(workspace().join("host/engine/data/probe.onnx")).unwrap()
}

/// The probe, marked with another opset.
fn of_opset(opset: u8) -> Vec<u8> {
    let mut bytes = probe();
    let mark = [0x42, 0x02, 0x10, 17];
    let at = bytes.windows(4).position(|window| window == mark || window == [0x42, 0x04, 0x0A, 0x00]);
    let at = at.expect("the probe says its opset");
    let number = if bytes[at + 1] == 2 { at + 3 } else { at + 5 };
    assert_eq!(bytes[number], 17);
    bytes[number] = opset;
    bytes
}

#[test]
fn a_list_of_ones_own_is_measured_under_its_own_names() {
    let world = World::default();
    world.write("models/first.onnx", probe());
    world.write(
        "list.json",
        r#"{"mine": {"name": "org/mine", "family": "vision", "size": "small", "modality": "vision", "path": "models/first.onnx"},
            "known": {"name": "known", "family": "embedding", "path": "bert-tiny"}}"#,
    );
    let asked = ["--plugin", "rten", "--models-set", "custom", "--custom-models", "list.json", "--verify-only"];
    let (ran, document) = world.run(&[&asked[..], &["--batch-sizes", "1", "--sequence-lengths", "8"]].concat());
    ran.exits_with(0);
    let told: Vec<(&str, &str)> = cells(&document)
        .iter()
        .map(|cell| (cell["skill"].as_str().unwrap(), cell["family"].as_str().unwrap()))
        .collect();
    assert_eq!(told, [("mine", "vision"), ("bert-tiny", "embedding")]);
}

#[test]
fn a_list_with_a_wrong_key_is_told_with_file_line_and_key() {
    let world = World::default();
    world.write("list.json", "{\n  \"mine\": {\n    \"name\": \"mine\",\n    \"famly\": \"vision\"\n  }\n}\n");
    let ran = world.host(&["run", "--plugin", "rten", "--models-set", "custom", "--custom-models", "list.json"]);
    ran.exits_with(2).tells("list.json:4").tells("famly").tells("family");
}

#[test]
fn a_set_of_ones_own_without_a_list_is_told() {
    let ran = World::default().host(&["run", "--plugin", "rten", "--models-set", "custom"]);
    ran.exits_with(2).tells("--custom-models FILE");
}

#[test]
fn files_that_are_no_models_fail_their_cells_each_with_its_reason() {
    let world = World::default();
    world.write("empty.onnx", "");
    world.write("text.onnx", "this is no model\n");
    let cut = probe();
    world.write("cut.onnx", &cut[..cut.len() / 3]);
    world.write("future.onnx", of_opset(99));
    let large = world.write("large.onnx", "");
    std::fs::OpenOptions::new().write(true).open(large).unwrap().set_len(3 << 30).unwrap();
    let (ran, document) = world.run(&[
        "--plugin",
        "rten",
        "--model",
        "empty.onnx,text.onnx,cut.onnx,future.onnx,large.onnx",
        "--bench",
        "inference",
        "--batch-sizes",
        "1",
    ]);
    ran.exits_with(4);
    assert_eq!(outcomes(&document), ["failed"; 5]);
    for (cell, reason) in
        cells(&document).iter().zip(["empty", "export", "download or export it again", "opset", "external data"])
    {
        let message = cell["reason"]["message"].as_str().unwrap();
        assert_eq!(cell["reason"]["code"], "bad-model");
        assert!(message.contains(reason), "{reason}: {message}");
    }
}

#[test]
fn a_graph_of_an_opset_that_an_engine_does_not_know_is_measured_under_a_lower_one() {
    let world = World::default();
    world.write("new.onnx", of_opset(27));
    let asked = ["--plugin", "cpu", "--model", "new.onnx", "--bench", "inference", "--batch-sizes", "1"];
    let (ran, document) = world.run(&asked);
    ran.exits_with(0);
    let fix = &cells(&document)[0]["fixes"][0];
    assert_eq!((&fix["what"], &fix["from"]), (&"opset".into(), &"27".into()));
    let (ran, document) = world.run(&[&asked[..], &["--no-fix"]].concat());
    ran.exits_with(4);
    assert_ne!(outcomes(&document), ["measured"]);
}

#[test]
fn what_a_model_is_is_told_with_the_evidence() {
    let world = World::default();
    world.write("folder/model.onnx", probe());
    world.write("folder/config.json", r#"{"model_type": "bert"}"#);
    let ran = world.host(&["models", "folder"]);
    ran.exits_with(0).tells("model_type is 'bert'").tells("encoder-only");
}
