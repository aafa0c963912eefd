//! Models as the caches of hubs hold them: contents without names, and trees of links to them. And links that lead elsewhere.

use skillbench_onnx::messages::{FLOAT, Message, Node, Size, Tensor, ValueInfo};
use skillbench_onnx::{Graph, Model};
use skillbench_tests::{World, cells, outcomes};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

const COMMIT: &str = "0123456789012345678901234567890123456789";
const WEIGHTS: &str = "model.onnx_data";

/// x[batch, 8] times w[8, 4], whose elements lie in another file.
fn graph() -> Vec<u8> {
    let port =
        |name: &str, size| ValueInfo::of_tensor(name, FLOAT, vec![Size::Named("batch".into()), Size::Fixed(size)]);
    let graph = Graph {
        node: vec![Node::new("MatMul", &["x", "w"], "y")],
        name: "linear".into(),
        initializer: vec![Tensor::in_file("w", FLOAT, &[8, 4], WEIGHTS, 0..128)],
        input: vec![port("x", 8)],
        output: vec![port("y", 4)],
    };
    Model::new("test", 17, graph).encode_to_vec()
}

fn weights() -> Vec<u8> {
    (0..32u8).flat_map(|element| (f32::from(element) / 32.0).to_le_bytes()).collect()
}

/// Writes a model into the cache of a hub; returns the folder of its snapshot.
fn cached(world: &World) -> PathBuf {
    let repository = "hub/models--org--name";
    world.write(&format!("{repository}/blobs/aaaa"), graph());
    world.write(&format!("{repository}/blobs/bbbb"), weights());
    world.write(&format!("{repository}/refs/main"), COMMIT);
    let snapshot = world.path().join(repository).join("snapshots").join(COMMIT);
    std::fs::create_dir_all(&snapshot).unwrap();
    symlink("../../blobs/aaaa", snapshot.join("model.onnx")).unwrap();
    symlink("../../blobs/bbbb", snapshot.join(WEIGHTS)).unwrap();
    snapshot
}

/// The host with a cache of models of its own.
fn run(world: &World, batch: &str, model: &str) -> (Option<i32>, serde_json::Value) {
    let arguments = ["run", "--format", "json", "--budget", "0.1", "--bench", "inference", "--batch-sizes", batch];
    let mut command = world.command(&[&arguments[..], &["--plugin", "rten,cpu", "--model", model]].concat());
    command.env("SKILLBENCH_CACHE", world.path().join("cache"));
    command.env("HF_HUB_CACHE", world.path().join("hub")).env("HF_HUB_OFFLINE", "1");
    let ran = skillbench_tests::Ran::of(command);
    let document = serde_json::from_str(&ran.stdout()).unwrap_or_else(|e| panic!("no document: {e}\n{}", ran.stderr()));
    (ran.code(), document)
}

/// Names of all files below a folder, and where each leads that is a link.
fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return vec![] };
    entries
        .flatten()
        .flat_map(|entry| match entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            true => files(&entry.path()),
            false => vec![entry.path()],
        })
        .collect()
}

#[test]
fn a_model_in_the_cache_of_a_hub_is_measured_as_it_is() {
    let world = World::default();
    let snapshot = cached(&world);
    let by_folder = snapshot.to_string_lossy().into_owned();
    let by_file = snapshot.join("model.onnx").to_string_lossy().into_owned();
    for model in [by_file.as_str(), by_folder.as_str(), "org/name"] {
        let (code, document) = run(&world, "2", model);
        assert_eq!((code, outcomes(&document)), (Some(0), vec!["measured"; 2]), "{model}: {document}");
        for cell in cells(&document) {
            assert_eq!(cell["fixes"], serde_json::json!([]), "nothing was worked around");
            assert_eq!(cell["verification"]["status"], "passed");
        }
    }
    for file in files(&world.path().join("cache/models")) {
        assert!(!std::fs::symlink_metadata(&file).unwrap().is_symlink(), "{} is a link", file.display());
    }
}

#[test]
fn a_model_that_links_to_a_file_of_somebody_else_is_refused_and_the_file_stays_where_it_is() {
    let world = World::default();
    let secret = world.write("elsewhere/shadow", b"root:secret:".repeat(100));
    for (place, link) in [("graph", "model.onnx"), ("weights", WEIGHTS)] {
        let folder = world.path().join(place);
        world.write(&format!("{place}/model.onnx"), graph());
        world.write(&format!("{place}/{WEIGHTS}"), weights());
        std::fs::remove_file(folder.join(link)).unwrap();
        symlink(&secret, folder.join(link)).unwrap();
        let (code, document) = run(&world, "1", &folder.join("model.onnx").to_string_lossy());
        assert_eq!((code, outcomes(&document)), (Some(4), vec!["failed"; 2]), "{document}");
        for cell in cells(&document) {
            let reason = cell["reason"]["message"].as_str().unwrap();
            assert_eq!(cell["reason"]["code"], "bad-model");
            let (link, secret) = (folder.join(link), std::fs::canonicalize(&secret).unwrap());
            assert!(reason.contains(&format!("{} leads to {}", link.display(), secret.display())), "{reason}");
            assert!(reason.contains("put a copy of it in the place of the link"), "{reason}");
        }
        assert!(!document.to_string().contains("root:secret"), "nothing of it is shown");
    }
    for file in files(&world.path().join("cache")) {
        let bytes = std::fs::read(&file).unwrap_or_default();
        assert!(!bytes.windows(11).any(|piece| piece == b"root:secret"), "{}", file.display());
    }
}
