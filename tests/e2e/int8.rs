//! Weights and data in 8 bits: what engines make of the points where to quantize, as it is read back from them.

use serde_json::Value;
use skillbench_tests::{World, workspace};

const ONE: [&str; 6] = ["--bench", "inference", "--batch-sizes", "2", "--sequence-lengths", "16"];

fn cells(world: &World, model: &str, plugins: &str, precision: &str) -> Vec<Value> {
    let asked = ["--model", model, "--plugin", plugins, "--precision", precision];
    let (ran, document) = world.run(&[&asked[..], &ONE].concat());
    ran.exits_with(0);
    document["cells"].as_array().unwrap().clone()
}

fn precision_of(cell: &Value) -> (&str, &str) {
    let text = |value: &'static str, of: &'static str| cell[value][of].as_str().unwrap_or("none");
    (text("placement", "plugin"), text("placement", "precision"))
}

#[test]
fn engines_with_integer_kernels_multiply_integers_and_one_without_says_that_weights_alone_are_stored_so() {
    let world = World::default();
    for model in ["bert-tiny", "resnet-18"] {
        let cells = cells(&world, model, "cpu,rten,openvino", "int8");
        assert_eq!(cells.len(), 3, "{model}");
        for cell in &cells {
            let expected = if cell["plugin"] == "rten" { "int8-stored" } else { "int8" };
            assert_eq!(cell["placement"]["precision"], expected, "{model}: {:?}", precision_of(cell));
            assert_eq!(cell["verification"]["status"], "passed", "{model}: {cell}");
            assert!(cell["fixes"].as_array().unwrap().is_empty(), "{cell}");
        }
    }
}

#[test]
fn integers_and_float32_come_so_close_on_the_same_graph_that_the_check_proves_something() {
    let world = World::default();
    for model in ["bert-tiny", "resnet-18"] {
        for cell in cells(&world, model, "cpu", "int8") {
            let (audit, verification) = (&cell["audit"], &cell["verification"]);
            // One element that is rounded to its other neighbour is 1e-2, of the tolerance a tenth.
            assert!(audit["furthest"].as_f64() < verification["tolerance"].as_f64().map(|most| most / 2.0), "{audit}");
            assert!(audit["weak"].is_null(), "{model}: {audit}");
            assert!(verification["reference"].as_str().unwrap().starts_with("rten"), "{verification}");
        }
    }
}

#[test]
fn weights_alone_in_8_bits_are_computed_with_in_float32() {
    let world = World::default();
    for cell in cells(&world, "bert-tiny", "rten,cpu", "int8-stored") {
        assert_eq!(cell["placement"]["precision"], "int8-stored", "{cell}");
        assert_eq!(cell["verification"]["status"], "passed", "{cell}");
    }
}

#[test]
fn a_skill_whose_ranges_were_not_measured_is_refused_in_int8_with_the_reason_and_what_it_has() {
    let world = World::default();
    let asked = ["--model", "sd15-vae-decoder", "--plugin", "cpu", "--precision", "int8"];
    let (_, document) = world.run(&[&asked[..], &ONE, &["--no-fix", "--no-verify"]].concat());
    let cell = &document["cells"][0];
    assert_eq!(cell["outcome"], "unsupported");
    let reason = cell["reason"].to_string();
    for part in ["is not written in int8", "scripts/zoo-ranges", "it has float16-stored, bfloat16-stored, int8-stored"]
    {
        assert!(reason.contains(part), "{reason}");
    }
}

#[test]
fn a_model_of_ones_own_is_not_quantized_and_the_cell_says_in_what_it_was_measured() {
    let world = World::default();
    world.write("probe.onnx", std::fs::read(workspace().join("host/worker/data/probe.onnx")).unwrap());
    let cells = cells(&world, "probe.onnx", "cpu", "int8");
    assert_eq!(cells[0]["placement"]["precision"], "float32");
    assert_eq!(
        (&cells[0]["fixes"][0]["from"], &cells[0]["fixes"][0]["to"]),
        (&"int8".into(), &"that of the graph".into())
    );
}
