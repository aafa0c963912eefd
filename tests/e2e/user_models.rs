//! Models of a user's own: files, folders and lists; what is wrong with them, and what is made of it.

use skillbench_tests::{World, cells, outcomes, workspace};

fn probe() -> Vec<u8> {
    std::fs::read(workspace().join("host/worker/data/probe.onnx")).unwrap()
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

#[test]
fn files_of_one_name_in_eight_folders_are_eight_models() {
    let world = World::default();
    let folders = ["bert", "gpt", "vit", "clip", "wav", "t5", "deep/bert", "deep/gpt"];
    for folder in folders {
        world.write(&format!("{folder}/model.onnx"), probe());
    }
    let paths = folders.map(|folder| format!("{folder}/model.onnx"));
    let mut asked = vec!["--plugin", "rten", "--bench", "inference", "--batch-sizes", "1"];
    paths.iter().for_each(|path| asked.extend(["--model", path]));
    let (ran, document) = world.run(&asked);
    ran.exits_with(0);
    let names: Vec<&str> = cells(&document).iter().map(|cell| cell["skill"].as_str().unwrap()).collect();
    let ends = ["/bert/model", "gpt/model", "vit/model", "clip/model", "wav/model", "t5/model", "deep/bert/model"];
    assert_eq!(names.len(), 8, "{names:?}");
    assert_eq!(names.iter().collect::<std::collections::BTreeSet<_>>().len(), 8, "{names:?}");
    for end in ends {
        assert!(names.iter().any(|name| format!("/{name}").ends_with(end)), "{end}: {names:?}");
    }
    let sql = "SELECT count(DISTINCT key) AS keys FROM latest_benchmarks";
    world.host(&["query", sql, "--format", "json"]).exits_with(0).tells("8");
}

#[test]
fn a_model_whose_content_changed_under_its_name_is_another_model() {
    let world = World::default();
    let asked = ["--plugin", "rten", "--model", "mine.onnx", "--bench", "inference", "--batch-sizes", "1"];
    world.write("mine.onnx", probe());
    let (first, _) = world.run(&asked);
    first.exits_with(0);
    world.write("mine.onnx", of_opset(16));
    let (second, document) = world.run(&asked);
    second.exits_with(0);
    let report = world.host(&["report", "--all", "--format", "markdown"]).exits_with(0).stdout();
    let newest = document["run_id"].as_str().unwrap();
    assert!(report.contains("2 of 2 cells measured"), "{report}");
    let sql = format!("SELECT count(*) AS n FROM latest_benchmarks WHERE run != '{newest}'");
    world.host(&["query", &sql, "--format", "json"]).exits_with(0).tells("1");
}
