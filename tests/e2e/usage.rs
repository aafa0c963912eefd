//! Slips at the keyboard: exit code 2, and the nearest name.

use skillbench_tests::World;

#[track_caller]
fn describe(arguments: &[&str], text: &str) {
    World::default().host(arguments).exits_with(2).tells(text);
}

#[test]
fn an_unknown_plugin_is_told_with_the_nearest() {
    describe(&["run", "--plugin", "rtenn"], "did you mean rten?");
}

#[test]
fn an_unknown_model_is_told_with_the_nearest() {
    describe(&["run", "--plugin", "rten", "--model", "bert-tinny"], "bert-tiny");
}

#[test]
fn an_unknown_flag_is_told_with_the_nearest() {
    describe(&["run", "--plugn", "rten"], "--plugin");
}

#[test]
fn an_unknown_benchmark_is_told_with_the_nearest() {
    describe(&["run", "--plugin", "rten", "--bench", "inferense"], "did you mean inference");
}

#[test]
fn an_option_that_no_plugin_takes_is_not_lost_in_silence() {
    describe(&["run", "--plugin", "rten", "--option", "thread=2"], "option 'thread'");
}

#[test]
fn an_option_with_a_wrong_value_names_the_option() {
    describe(&["run", "--plugin", "rten", "--option", "rten:threads=many"], "option 'threads'");
}

#[test]
fn a_skillset_is_no_backend() {
    describe(&["run", "--plugin", "zoo"], "is no backend");
}

#[test]
fn a_model_file_that_is_not_there_is_told_as_such() {
    describe(&["run", "--plugin", "rten", "--model", "nowhere.onnx"], "there is no file or folder nowhere.onnx");
}

#[test]
fn numbers_out_of_range_are_refused() {
    describe(&["run", "--batch-sizes", "0"], "0 is not in");
    describe(&["run", "--timeout", "0"], "above 0");
}

#[test]
fn names_are_found_with_either_dash_and_by_their_published_id() {
    let world = World::default();
    for name in ["bert_tiny", "prajjwal1/bert-tiny", "BERT-tiny"] {
        let (_, document) = world.run(&[
            "--plugin",
            "rten",
            "--model",
            name,
            "--verify-only",
            "--batch-sizes",
            "1",
            "--sequence-lengths",
            "8",
        ]);
        assert_eq!(document["cells"][0]["skill"], "bert-tiny");
    }
}

#[test]
fn lists_take_commas_repeats_and_spaces_alike() {
    let world = World::default();
    let base = ["--plugin", "rten", "--model", "probe-mlp", "--verify-only"];
    for sizes in
        [&["--batch-sizes", "1,2"][..], &["--batch-sizes", "1", "2"], &["--batch-sizes", "1", "--batch-sizes", "2"]]
    {
        let (_, document) = world.run(&[&base[..], sizes].concat());
        assert_eq!(document["cells"].as_array().unwrap().len(), 2, "{sizes:?}");
    }
}
