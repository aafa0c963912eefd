//! Models that make tokens: what is measured, of which models, and on what.

use serde_json::Value;
use skillbench_tests::{World, cells, outcomes};

fn figure(cell: &Value, name: &str) -> f64 {
    cell["metrics"]["generation"][name]["median"].as_f64().unwrap_or_else(|| panic!("{name} of {cell:#}"))
}

#[test]
fn a_model_without_a_cache_is_measured_by_the_one_that_has_it_and_its_times_add_up() {
    let asked = ["--plugin", "rten,cpu", "--model", "llama-tiny", "--bench", "generation"];
    let (ran, document) =
        World::default().run(&[&asked[..], &["--prompt-lengths", "4,16", "--new-tokens", "6"]].concat());
    ran.exits_with(0);
    assert_eq!(outcomes(&document), ["measured"; 4]);
    for cell in cells(&document) {
        assert_eq!(cell["skill"], "llama-tiny-kv");
        assert_eq!(cell["axes"]["sequence"], cell["axes"]["prompt"], "the first run sees the whole prompt");
        let tokens = &cell["metrics"]["generation"];
        // With few sequences there is no interval.
        let few = tokens["end_to_end_ms"]["n"].as_u64().is_some_and(|n| n < 6);
        for name in ["time_to_first_token_ms", "time_per_output_token_ms"].into_iter().filter(|_| !few) {
            let [low, high] = [0, 1].map(|end| tokens[name]["ci95"][end].as_f64().unwrap());
            assert!(low <= figure(cell, name) && figure(cell, name) <= high, "{name}: {tokens:#}");
        }
        let (first, each) = (figure(cell, "time_to_first_token_ms"), figure(cell, "time_per_output_token_ms"));
        assert!(first > 0.0 && each > 0.0);
        let gaps = tokens["inter_token_ms"]["n"].as_u64().unwrap();
        let sequences = tokens["end_to_end_ms"]["n"].as_u64().unwrap();
        assert_eq!(gaps, 5 * sequences, "a gap before each token but the first");
        let mean = |name: &str| tokens[name]["mean"].as_f64().unwrap();
        let whole = mean("time_to_first_token_ms") + 5.0 * mean("time_per_output_token_ms");
        assert!((whole / mean("end_to_end_ms") - 1.0).abs() < 1e-3, "{tokens:#}");
        let decode = tokens["decode_tokens_per_s"].as_f64().unwrap();
        assert!((decode * mean("time_per_output_token_ms") / 1e3 - 1.0).abs() < 1e-6);
        assert_eq!(tokens["cache_kept_by_backend"], true);
        assert_eq!(cell["verification"]["status"], "passed");
    }
}

#[test]
fn an_encoder_and_its_decoder_generate_and_so_does_a_model_with_a_state() {
    let (ran, document) = World::default().run(&[
        "--plugin",
        "rten",
        "--model",
        "t5-efficient-tiny,mamba-130m-step",
        "--bench",
        "generation",
        "--prompt-lengths",
        "4",
        "--new-tokens",
        "3",
    ]);
    ran.exits_with(0);
    assert_eq!(outcomes(&document), ["measured"; 2]);
    let t5 = &cells(&document)[0];
    assert_eq!(t5["skill"], "t5-efficient-tiny-generate");
    let encoder = t5["metrics"]["series"]["part.encoder"]["stats"]["median"].as_f64().unwrap();
    assert!(
        encoder > 0.0 && encoder / 1e6 < figure(t5, "time_to_first_token_ms"),
        "the encoder is part of the first token"
    );
}

#[test]
fn what_makes_no_tokens_is_skipped_with_that_reason() {
    let (ran, document) = World::default().run(&["--plugin", "rten", "--model", "resnet-18", "--bench", "generation"]);
    ran.exits_with(4);
    assert_eq!(cells(&document)[0]["reason"]["code"], "not-generative");
}

#[test]
fn a_model_in_parts_has_a_figure_for_the_whole_and_one_for_each_part() {
    let asked = ["--plugin", "rten", "--model", "llava-tiny", "--bench", "inference", "--batch-sizes", "1"];
    let (ran, document) = World::default().run(&[&asked[..], &["--sequence-lengths", "16"]].concat());
    ran.exits_with(0);
    let metrics = &cells(&document)[0]["metrics"];
    let parts: Vec<&String> =
        metrics["series"].as_object().unwrap().keys().filter(|name| name.starts_with("latency.")).collect();
    assert!(parts.len() >= 2, "{parts:?}");
    assert!(metrics["latency_ms"]["median"].as_f64().unwrap() > 0.0);
}

#[test]
fn the_page_of_a_generation_decides_by_its_tokens() {
    let world = World::default();
    let asked = ["run", "--plugin", "rten,cpu", "--model", "llama-tiny", "--bench", "generation", "--report", "html"];
    let ran = world.host(&[&asked[..], &["--prompt-lengths", "8", "--new-tokens", "4", "--budget", "1"]].concat());
    ran.exits_with(0).tells("±");
    let page = std::fs::read_to_string(world.run_folder().join("report.html")).unwrap();
    for part in ["Time per token", "Tokens by hardware", " ms/token", "95% from"] {
        assert!(page.contains(part), "{part}");
    }
    let ends = "SELECT plugin, time_per_output_token_ci95_low_ms <= time_per_output_token_ms AS holds FROM benchmark_results ORDER BY 1";
    world.host(&["query", ends, "--format", "csv"]).exits_with(0).tells("cpu,true").tells("rten,true");
}

#[test]
fn a_denoising_network_runs_once_for_each_step_of_its_scheduler() {
    let asked =
        ["--plugin", "cpu", "--model", "stable-diffusion-reduced", "--bench", "inference", "--batch-sizes", "1"];
    let (ran, document) = World::default().run(&[&asked[..], &["--dim", "steps=3"]].concat());
    ran.exits_with(0);
    let cell = &cells(&document)[0];
    assert_eq!((&cell["axes"]["steps"], &cell["relation"]), (&3.into(), &"reduced".into()));
    // The host counts the runs of each part, and ends a cell in which there are too few; the tests of `inference` count them exactly. The whole
    // and its parts are timed seconds apart, so that their ratio says more of the machine: only what is timed as one adds up.
    let median = |series: &str| {
        let path = format!("/metrics/series/{series}/stats/median");
        cell.pointer(&path).and_then(Value::as_f64).unwrap_or_else(|| panic!("{path}: {cell:#}"))
    };
    let parts = ["text-encoder", "unet", "vae-decoder"];
    let first: f64 = parts.iter().map(|part| median(&format!("first_inference.{part}"))).sum();
    assert!((median("first_inference") - first).abs() < 1.0, "{cell:#}");
    assert!(parts.iter().all(|part| median(&format!("latency.{part}")) > 0.0) && median("latency") > 0.0, "{cell:#}");
}
