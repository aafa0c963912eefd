//! Against MLServer, which takes tensors as JSON, and Triton, which takes them as bytes, too.

use crate::opened;
use skillbench_plugin_api::client::Instance;
use skillbench_plugin_api::{Code, Why};
use skillbench_testkit::served::ModelServer;
use skillbench_testkit::{Sizes, errors, graphs, load_of, probe, refused, running, skipped};

const TWICE: &str = "twice-and-inverse";

/// What holds for every way of asking.
fn holds(instance: &Instance) {
    running::the_probe_model_answers_as_computed_by_hand(instance, Sizes::Open);
    running::outputs_go_where_they_are_bound(instance, vec![]);
    running::requests_run_at_once_and_do_not_mix(instance, Sizes::Open, 20);
    errors::a_format_that_is_not_onnx_is_refused(instance);
    errors::a_precision_is_not_replaced_by_another(instance, Sizes::Open);
}

/// Serves the probe and a model of integers and booleans.
fn with(server: &str, encodings: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let twice = graphs::write(folder.path(), graphs::twice_and_inverse());
    let running = match ModelServer::start(server, &[("probe-mlp", &probe::path()), (TWICE, &twice)]) {
        Ok(running) => running,
        Err(why) => return skipped(&why),
    };
    for encoding in encodings {
        let instance = opened(&running.url, &[("encoding", encoding)]).unwrap();
        holds(&instance);
        let placement = instance.load(&load_of(&probe::path())).unwrap().placement().unwrap();
        assert!(placement.engine.starts_with(server) && placement.engine.contains("probe-mlp"), "{}", placement.engine);
        assert_eq!(
            (placement.precision.as_str(), placement.compile_ns),
            ("", None),
            "what it does not tell is not told"
        );
        let device = &instance.devices().unwrap()[0];
        assert!(device.remote && device.name.contains("127.0.0.1"), "{device:?}");
    }
    let instance = opened(&running.url, &[]).unwrap();
    // 2^62: beyond what a double holds exactly.
    running::integers_booleans_and_nothing_at_all(&instance, (1 << 61) + 1);
    let other = graphs::write(folder.path(), graphs::weighted_by("weights"));
    let error = refused(&instance, &load_of(&other));
    assert_eq!((error.code, error.why), (Code::NotFound, Why::RUNTIME));
    assert!(error.message.contains("probe-mlp (its input 'x' has 2 dimensions, not 1)"), "{}", error.message);

    let instance = opened(&running.url, &[("model", "bert")]).unwrap();
    assert!(refused(&instance, &load_of(&probe::path())).message.contains("404"));
    let instance = opened(&running.url, &[("model", TWICE)]).unwrap();
    let error = refused(&instance, &load_of(&probe::path()));
    assert!(error.message.contains("'twice-and-inverse' is not this model: it has no input 'x'"), "{}", error.message);
}

#[test]
fn mlserver_answers_as_an_engine_in_this_process_does() {
    with("mlserver", &["auto", "json"]);
}

#[test]
fn triton_answers_as_an_engine_in_this_process_does() {
    with("triton", &["auto", "json", "binary"]);
}
