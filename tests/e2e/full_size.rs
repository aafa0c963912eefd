//! A name leads to the model that it is the name of, at its published size, or to an error; and what each cell says of its model. Weights
//! in several forms.

use serde_json::Value;
use skillbench_tests::World;

const ONE: [&str; 6] = ["--bench", "inference", "--batch-sizes", "2", "--sequence-lengths", "16"];

fn cells(world: &World, arguments: &[&str]) -> Vec<Value> {
    let (ran, document) = world.run(arguments);
    ran.exits_with(0);
    document["cells"].as_array().unwrap().clone()
}

#[test]
fn tinyllama_makes_tokens_with_1_1_billion_parameters_in_4_bits() {
    let world = World::default();
    let model = ["--model", "TinyLlama/TinyLlama-1.1B-Chat-v1.0", "--plugin", "cpu", "--precision", "int4"];
    let generation = ["--bench", "generation", "--prompt-lengths", "16", "--new-tokens", "4"];
    let cells = cells(&world, &[&model[..], &generation].concat());
    let cell = &cells[0];
    assert_eq!((&cell["skill"], &cell["relation"]), (&"tinyllama-1.1b-kv".into(), &"full".into()));
    assert_eq!(cell["parameters"], 1_100_048_421_u64);
    assert_eq!((&cell["placement"]["precision"], &cell["verification"]["status"]), (&"int4".into(), &"passed".into()));
    for rate in ["prefill_tokens_per_s", "decode_tokens_per_s"] {
        assert!(cell["metrics"].to_string().contains(rate), "{}", cell["metrics"]);
    }
    let matrix = world.host(&["matrix", "--format", "markdown"]);
    matrix.exits_with(0).tells("tinyllama-1.1b-kv (full, 1.1 B)");
    let rows = world.host(&["query", "SELECT relation, parameter_count FROM benchmark_results", "--format", "csv"]);
    rows.exits_with(0).tells("full,1100048421");
}

#[test]
fn a_model_that_does_not_fit_is_refused_with_figures_and_a_precision_that_fits() {
    let world = World::default();
    let model = ["--model", "tinyllama-1.1b-kv", "--plugin", "rten", "--memory-limit", "1000"];
    let (ran, document) = world.run(&[&model[..], &ONE].concat());
    ran.exits_with(4);
    let reason = document["cells"][0]["reason"].to_string();
    for part in ["4.4 GB of memory", "there are 1.0 GB", "--precision int4 needs 0.8 GB"] {
        assert!(reason.contains(part), "{reason}");
    }
}

#[test]
fn a_name_of_which_only_a_reduced_form_is_here_is_refused_with_that_form() {
    let world = World::default();
    world.host(&["run", "--model", "persimmon", "--plugin", "rten"]).exits_with(2).tells("persimmon-reduced-kv");
    world
        .host(&["run", "--model", "flamingo", "--plugin", "rten"])
        .exits_with(2)
        .tells("there is no model 'flamingo' here");
}

#[test]
fn a_precision_that_an_engine_has_not_is_stored_and_computed_in_float32() {
    let world = World::default();
    let model = ["--model", "bert-tiny", "--plugin", "rten", "--precision", "float16"];
    let cells = cells(&world, &[&model[..], &ONE].concat());
    assert_eq!(cells[0]["placement"]["precision"], "float16-stored");
    assert_eq!(cells[0]["fixes"][0]["to"], "float16-stored");
    assert_eq!(cells[0]["verification"]["status"], "passed");
}

#[test]
fn weights_in_4_bits_are_multiplied_as_such_and_held_against_the_same_graph_in_another_engine() {
    let world = World::default();
    let model = ["--model", "bert-tiny,gpt2-kv", "--plugin", "rten,cpu", "--precision", "int4"];
    for cell in cells(&world, &[&model[..], &ONE].concat()) {
        assert_eq!((&cell["outcome"], &cell["placement"]["precision"]), (&"measured".into(), &"int4".into()), "{cell}");
        assert!(cell["fixes"].as_array().unwrap().is_empty(), "{cell}");
    }
}

#[test]
fn what_an_engine_cannot_read_is_unsupported() {
    let world = World::default();
    let model = ["--model", "bert-tiny", "--plugin", "rten", "--precision", "bfloat16-stored", "--no-fix"];
    let (_, document) = world.run(&[&model[..], &ONE].concat());
    assert_eq!(document["cells"][0]["outcome"], "unsupported");
}
