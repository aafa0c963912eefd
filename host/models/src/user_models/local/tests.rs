use super::super::samples::{Sample, node, port};
use super::*;
use crate::DimRule;
use skillbench_onnx::messages::{FLOAT, INT64};

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn put(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).unwrap();
}

fn manifest(user_model: &UserModel) -> (Manifest, Value) {
    (Manifest::parse(&user_model.manifest).unwrap(), serde_json::from_str(&user_model.manifest).unwrap())
}

#[test]
fn a_file_becomes_a_described_skill() {
    let folder = folder();
    let path = Sample::encoder().external("w.data").write(folder.path(), "my-model.onnx");
    let user_model = open(&path).unwrap();
    let (manifest, _) = manifest(&user_model);
    assert_eq!((user_model.id.as_str(), user_model.opset), ("my-model", 17));
    assert_eq!(user_model.kind.architecture, "encoder-only");
    assert_eq!(manifest.description.parameters, Some((120 + 2) * 8));
    assert_eq!(manifest.description.axes.keys().collect::<Vec<_>>(), ["batch", "sequence"]);
    assert_eq!(manifest.input("input_ids").unwrap().fill, "ids:120");
    assert_eq!(user_model.parts, [(String::new(), path)]);
    assert!(user_model.operators.contains("Gather"));
}

#[test]
fn the_content_changes_with_the_weights_beside_it() {
    let folder = folder();
    let path = Sample::encoder().external("w.data").write(folder.path(), "model.onnx");
    let before = open(&path).unwrap().content;
    assert_eq!(before, open(&path).unwrap().content);
    let data = std::fs::OpenOptions::new().write(true).open(folder.path().join("w.data")).unwrap();
    data.set_len(1 << 20).unwrap();
    assert_ne!(before, open(&path).unwrap().content);
}

#[test]
fn what_the_users_own_rules_say_counts_first() {
    let folder = folder();
    let path = Sample::encoder().write(folder.path(), "model.onnx");
    let own = r#"{"id": "mine", "task": "fill-mask", "axes": {"batch": [1, 4], "sequence": [1, 9]},
        "inputs": [{"name": "input_ids", "dtype": "i64", "dims": ["batch", 7], "fill": "ids:50"}]}"#;
    put(folder.path(), "model.skill.json", own);
    let user_model = open(&path).unwrap();
    let (manifest, _) = manifest(&user_model);
    assert_eq!((user_model.id.as_str(), user_model.kind.task.as_str()), ("mine", "fill-mask"));
    assert_eq!(manifest.description.axes["sequence"], [1, 9]);
    assert_eq!(manifest.input("input_ids").unwrap().dims[1], DimRule::Fixed(7));
    assert_eq!(manifest.input("token_type_ids").unwrap().fill, "zeros", "what they leave out is read from the graph");
    assert_eq!(manifest.description.inputs.len(), 3);
    put(folder.path(), "model.skill.json", "{\"id\": 1}");
    let error = open(&path).unwrap_err().to_string();
    assert!(error.contains("model.skill.json") && error.contains("correct it"), "{error}");
}

#[test]
fn an_exporters_folder_is_read_with_its_configuration() {
    let folder = folder();
    let inner = folder.path().join("onnx");
    Sample::encoder().write(&inner, "model.onnx");
    Sample::encoder().write(&inner, "model_quantized.onnx");
    put(folder.path(), "config.json", r#"{"model_type": "bert", "vocab_size": 90, "max_position_embeddings": 40}"#);
    let user_model = open(folder.path()).unwrap();
    let (manifest, _) = manifest(&user_model);
    assert_eq!(user_model.kind.evidence[0], "config.json: model_type is 'bert'");
    assert_eq!(manifest.input("input_ids").unwrap().fill, "ids:90");
    assert_eq!(manifest.description.axes["sequence"], [1, 40]);
    assert!(user_model.notes[0].contains("model_quantized"), "{:?}", user_model.notes);
    let quantized = open(&inner.join("model_quantized.onnx")).unwrap();
    assert_eq!(quantized.kind.family, "embedding", "the variant is of the same model");
}

#[test]
fn a_folder_of_one_graph_is_that_graph_and_one_of_several_is_refused_with_their_names() {
    let folder = folder();
    Sample::vision().write(folder.path(), "anything.onnx");
    assert_eq!(open(folder.path()).unwrap().kind.family, "vision");
    Sample::vision().write(folder.path(), "other.onnx");
    let error = open(folder.path()).unwrap_err().to_string();
    assert!(error.contains("anything.onnx, other.onnx; name one of them"), "{error}");
}

#[test]
fn a_folder_without_a_graph_says_what_it_holds() {
    let folder = folder();
    put(folder.path(), "pytorch_model.bin", "x");
    let error = open(folder.path()).unwrap_err().to_string();
    assert!(error.contains("no ONNX file (it holds pytorch_model.bin)"), "{error}");
}

#[test]
fn a_path_that_is_not_there_finds_its_nearest_neighbour() {
    let folder = folder();
    Sample::vision().write(folder.path(), "resnet.onnx");
    let error = open(&folder.path().join("resnt.onnx")).unwrap_err().to_string();
    assert!(error.contains("did you mean resnet.onnx?"), "{error}");
    put(folder.path(), "notes.txt", "x");
    assert!(open(&folder.path().join("notes.txt")).unwrap_err().to_string().contains("ends in .onnx"));
}

#[test]
fn a_bad_graph_in_a_folder_is_told_with_its_file() {
    let folder = folder();
    put(folder.path(), "model.onnx", "<html>");
    assert!(open(folder.path()).unwrap_err().to_string().contains("text file"));
}

#[test]
fn a_decoder_with_a_cache_can_generate() {
    let folder = folder();
    let path = Sample::decoder(2).write(folder.path(), "model.onnx");
    let user_model = open(&path).unwrap();
    let (_, manifest) = manifest(&user_model);
    let form = &manifest["generation"];
    assert_eq!(form["tokens"], "input_ids");
    assert_eq!((&form["mask"], &form["positions"]), (&json!("attention_mask"), &json!("position_ids")));
    assert_eq!(form["state"].as_array().unwrap().len(), 4);
    assert_eq!(form["state"][0], json!({"from": "present.0.key", "to": "past_key_values.0.key", "grows": 2}));
    assert_eq!(form["axes"], json!({"sequence": "prompt", "past": 0}));
    assert_eq!(form["prompt"], json!([1, 64]));
    assert!(user_model.kind.evidence.iter().any(|sentence| sentence.contains("'present.0.key' continue its cache")));
}

#[test]
fn a_decoder_whose_cache_leads_nowhere_says_why_it_cannot_generate() {
    let folder = folder();
    let mut sample = Sample::decoder(1);
    sample.outputs.pop();
    let user_model = open(&sample.write(folder.path(), "model.onnx")).unwrap();
    assert!(manifest(&user_model).1.get("generation").is_none());
    assert!(
        user_model.notes[0].contains("no output continues its input 'past_key_values.0.value'"),
        "{:?}",
        user_model.notes
    );
}

/// An encoder that gives its keys and values, and the decoder that takes them.
fn pair(folder: &Path) {
    let mut encoder = Sample::encoder();
    encoder.outputs.push(port("present.0.encoder.key", FLOAT, &["batch_size", "2", "sequence_length", "4"]));
    encoder.nodes.push(node("Relu", &["c"], "present.0.encoder.key"));
    encoder.write(folder, "encoder_model.onnx");
    let mut decoder = Sample::decoder(1);
    decoder.inputs.push(port(
        "past_key_values.0.encoder.key",
        FLOAT,
        &["batch_size", "2", "encoder_sequence_length", "4"],
    ));
    decoder.inputs.push(port("encoder_attention_mask", INT64, &["batch_size", "encoder_sequence_length"]));
    decoder.write(folder, "decoder_model_merged.onnx");
}

#[test]
fn an_encoder_and_a_decoder_are_the_parts_of_one_model() {
    let folder = folder();
    pair(folder.path());
    let user_model = open(folder.path()).unwrap();
    let (parsed, manifest) = manifest(&user_model);
    assert_eq!(user_model.parts.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["encoder", "decoder"]);
    assert_eq!(manifest["pipeline"], json!(["encoder", "decoder"]));
    assert_eq!(user_model.kind.architecture, "encoder-decoder");
    assert_eq!(parsed.of_part("encoder").input("input_ids").unwrap().dims[1], DimRule::Of("encoder_sequence".into()));
    let form = &manifest["generation"];
    assert_eq!(form["decoder"], "decoder");
    assert_eq!(
        form["before"][0]["give"][0],
        json!({"from": "present.0.encoder.key", "to": "past_key_values.0.encoder.key"})
    );
    assert_eq!(form["axes"], json!({"encoder_sequence": "prompt", "sequence": 1, "past": 0}));
}

#[test]
fn an_encoder_that_keeps_its_keys_to_itself_leaves_the_pair_without_generation() {
    let folder = folder();
    pair(folder.path());
    Sample::encoder().write(folder.path(), "encoder_model.onnx");
    let user_model = open(folder.path()).unwrap();
    assert!(manifest(&user_model).1.get("generation").is_none());
    assert!(
        user_model.notes.iter().any(|note| note.contains("does not give 'past_key_values.0.encoder.key'")),
        "{:?}",
        user_model.notes
    );
}

#[test]
fn a_decoder_of_embeddings_generates_with_its_embedder_and_its_images() {
    let folder = folder();
    let mut decoder = Sample::decoder(1);
    decoder.inputs[0] = port("inputs_embeds", FLOAT, &["batch_size", "sequence_length", "8"]);
    decoder.nodes[0] = node("Relu", &["inputs_embeds"], "e");
    decoder.write(folder.path(), "decoder_model_merged.onnx");
    let ids = port("input_ids", INT64, &["batch_size", "sequence_length"]);
    let embeds = port("inputs_embeds", FLOAT, &["batch_size", "sequence_length", "8"]);
    let table = super::super::samples::weights("wte", &[100, 8]);
    let lookup = vec![node("Gather", &["wte", "input_ids"], "inputs_embeds")];
    Sample::new(vec![ids], vec![embeds], lookup, vec![table]).write(folder.path(), "embed_tokens.onnx");
    let mut vision = Sample::vision();
    vision.outputs[0] = port("image_features", FLOAT, &["batch_size", "49", "8"]);
    vision.nodes[1] = node("Relu", &["c"], "image_features");
    vision.write(folder.path(), "vision_encoder.onnx");
    let user_model = open(folder.path()).unwrap();
    let form = &manifest(&user_model).1["generation"];
    assert_eq!(form["tokens"], Value::Null);
    assert_eq!(
        form["embed"],
        json!({"part": "embed", "tokens": "input_ids", "from": "inputs_embeds", "to": "inputs_embeds"})
    );
    assert_eq!(form["image"], json!({"part": "vision", "from": "image_features"}));
    assert_eq!(form["axes"], json!({"height": 224, "past": 0, "sequence": "49+prompt", "width": 224}));
}

#[test]
fn a_pair_that_hears_has_no_prompt() {
    let folder = folder();
    pair(folder.path());
    let mut encoder = Sample::perceptron();
    encoder.inputs = vec![port("input_features", FLOAT, &["batch_size", "80", "3000"])];
    encoder.nodes[0] = node("MatMul", &["input_features", "w"], "h1");
    encoder.outputs.push(port("present.0.encoder.key", FLOAT, &["batch_size", "2", "1500", "4"]));
    encoder.nodes.push(node("Abs", &["h3"], "present.0.encoder.key"));
    encoder.write(folder.path(), "encoder_model.onnx");
    let mut decoder = Sample::decoder(1);
    let key = port("past_key_values.0.encoder.key", FLOAT, &["batch_size", "2", "encoder_sequence_length", "4"]);
    decoder.inputs.push(key);
    decoder.write(folder.path(), "decoder_model_merged.onnx");
    let user_model = open(folder.path()).unwrap();
    let form = &manifest(&user_model).1["generation"];
    assert_eq!(form["axes"], json!({"past": 0, "sequence": 1}), "{:?}", user_model.notes);
    assert_eq!(form.get("prompt"), None);
    assert_eq!(user_model.kind.category, "speech-text");
}

#[test]
fn a_folder_whose_skill_json_names_parts_is_taken_at_its_word() {
    let folder = folder();
    Sample::encoder().write(folder.path(), "a.onnx");
    Sample::vision().write(folder.path(), "b.onnx");
    put(
        folder.path(),
        "skill.json",
        r#"{"id": "two", "parts": [{"name": "vision", "graph": "b.onnx"}, {"name": "embed", "graph": "a.onnx"}]}"#,
    );
    let user_model = open(folder.path()).unwrap();
    assert_eq!((user_model.id.as_str(), user_model.parts.len()), ("two", 2));
    put(folder.path(), "skill.json", r#"{"id": "two"}"#);
    assert!(open(folder.path()).unwrap_err().to_string().contains("names no part"));
}

#[test]
fn a_name_is_a_path_only_where_it_looks_like_one() {
    for path in ["./model", "../model", "/model", "model.onnx", "deep/model.ONNX", "."] {
        assert!(is_path(path), "{path}");
    }
    for name in ["gpt2", "org/name", "bert-base-uncased"] {
        assert!(!is_path(name), "{name}");
    }
}

/// A model as hubs lay it: nameless contents, and a tree of links to them.
#[cfg(unix)]
fn hub_layout(cache: &Path) -> PathBuf {
    let written = folder();
    let files = [("model.onnx", "a1"), ("w.data", "b2"), ("config.json", "c3")];
    Sample::encoder().external("w.data").write(written.path(), "model.onnx");
    put(written.path(), "config.json", r#"{"model_type": "bert"}"#);
    let repository = cache.join("models--org--name");
    let snapshot = repository.join("snapshots").join("0".repeat(40));
    for folder in [&snapshot, &repository.join("blobs")] {
        std::fs::create_dir_all(folder).unwrap();
    }
    for (name, blob) in files {
        std::fs::copy(written.path().join(name), repository.join("blobs").join(blob)).unwrap();
        std::os::unix::fs::symlink(format!("../../blobs/{blob}"), snapshot.join(name)).unwrap();
    }
    snapshot
}

#[cfg(unix)]
#[test]
fn a_model_in_the_layout_of_a_hub_is_gathered_as_files_that_are_no_links() {
    let (folder, gathered) = (folder(), folder());
    let snapshot = hub_layout(folder.path());
    for path in [snapshot.clone(), snapshot.join("model.onnx")] {
        let user_model = open(&path).unwrap();
        assert_eq!(user_model.kind.evidence[0], "config.json: model_type is 'bert'");
        assert!(user_model.linked);
        let copy = gathered.path().join(path.extension().unwrap_or_default().to_os_string().len().to_string());
        user_model.gather(&copy).unwrap();
        let parts = user_model.parts_in(&copy);
        assert_eq!(parts, [(String::new(), copy.join("model.onnx"))]);
        for name in ["model.onnx", "w.data"] {
            assert!(std::fs::symlink_metadata(copy.join(name)).unwrap().is_file(), "{name} is no link");
            assert_eq!(std::fs::read(copy.join(name)).unwrap(), std::fs::read(snapshot.join(name)).unwrap());
        }
        assert!(!open(&parts[0].1).unwrap().linked);
    }
}

#[cfg(unix)]
#[test]
fn a_model_of_plain_files_stays_where_it_is() {
    let folder = folder();
    let path = Sample::encoder().external("w.data").write(folder.path(), "model.onnx");
    assert!(!open(&path).unwrap().linked);
    std::os::unix::fs::symlink(folder.path(), folder.path().join("elsewhere")).unwrap();
    assert!(!open(&folder.path().join("elsewhere/model.onnx")).unwrap().linked, "its folder may be named by a link");
}

#[cfg(unix)]
#[test]
fn a_link_to_a_file_of_somebody_else_is_refused_and_its_content_is_not_shown() {
    let (folder, other) = (folder(), folder());
    let secret = other.path().join("shadow");
    std::fs::write(&secret, "root:hash:".repeat(100)).unwrap();
    for name in ["model.onnx", "w.data", "config.json", "skill.json", "model.skill.json"] {
        let model = folder.path().join(name).with_extension("folder");
        let path = Sample::encoder().external("w.data").write(&model, "model.onnx");
        let link = model.join(name);
        drop(std::fs::remove_file(&link));
        std::os::unix::fs::symlink(&secret, &link).unwrap();
        let named = if name == "skill.json" { &model } else { &path };
        let said = open(named).unwrap_err().to_string();
        let expected = format!("{} leads to {}, which is outside", link.display(), secret.display());
        assert!(said.contains(&expected) && !said.contains("root:hash"), "{name}: {said}");
    }
}

#[cfg(unix)]
#[test]
fn a_repository_of_a_hub_may_not_lead_out_of_itself() {
    let (folder, other) = (folder(), folder());
    let snapshot = hub_layout(folder.path());
    let secret = other.path().join("shadow");
    std::fs::write(&secret, vec![0; 10_000]).unwrap();
    let blob = folder.path().join("models--org--name/blobs/b2");
    std::fs::remove_file(&blob).unwrap();
    std::os::unix::fs::symlink(&secret, &blob).unwrap();
    let said = open(&snapshot).unwrap_err().to_string();
    assert!(said.contains("w.data leads to") && said.contains("a model is not trusted with other files"), "{said}");
}

#[cfg(unix)]
#[test]
fn a_link_that_is_turned_elsewhere_before_it_is_gathered_is_refused() {
    let (folder, other) = (folder(), folder());
    let snapshot = hub_layout(folder.path());
    let user_model = open(&snapshot).unwrap();
    let secret = other.path().join("shadow");
    std::fs::write(&secret, vec![0; 10_000]).unwrap();
    std::fs::remove_file(snapshot.join("w.data")).unwrap();
    std::os::unix::fs::symlink(&secret, snapshot.join("w.data")).unwrap();
    let copy = other.path().join("copy");
    assert!(user_model.gather(&copy).unwrap_err().to_string().contains("w.data leads to"));
    assert!(!copy.exists(), "nothing was gathered");
    std::fs::remove_file(snapshot.join("w.data")).unwrap();
    std::fs::write(snapshot.join("w.data"), "other").unwrap();
    assert!(user_model.gather(&copy).unwrap_err().to_string().contains("was changed while"));
}

#[test]
fn a_graph_that_a_skill_json_names_outside_of_its_folder_is_refused() {
    let folder = folder();
    Sample::encoder().write(folder.path(), "a.onnx");
    let model = folder.path().join("model");
    std::fs::create_dir(&model).unwrap();
    put(&model, "skill.json", r#"{"id": "it", "parts": [{"name": "a", "graph": "../a.onnx"}]}"#);
    let said = open(&model).unwrap_err().to_string();
    assert!(said.contains("'../a.onnx' is not in the model's folder"), "{said}");
}
