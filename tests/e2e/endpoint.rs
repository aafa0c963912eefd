//! Models behind a server: MLServer, started by `scripts/model-server`.

use crate::docs::{commands, page, shell_in};
use serde_json::{Value, json};
use skillbench_onnx::messages::{FLOAT, Message, Node, Size, Tensor, ValueInfo};
use skillbench_onnx::{Graph, Model};
use skillbench_testkit::served::ModelServer;
use skillbench_testkit::skipped;
use skillbench_tests::{Ran, World, cells};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

/// Where the file of a model of the zoo is.
pub fn file_of(world: &World, model: &str) -> PathBuf {
    let rows: Vec<Value> =
        serde_json::from_str(&world.host(&["why", "rten", model, "--format", "json"]).exits_with(0).stdout()).unwrap();
    let row = rows.iter().find(|row| row.as_object().unwrap().values().any(|text| text == "model")).expect("its file");
    let path = row.as_object().unwrap().values().filter_map(Value::as_str).find(|text| text.ends_with(".onnx"));
    path.expect("a path").into()
}

/// A model with the ports of `probe-mlp` that computes something else.
fn impostor() -> Vec<u8> {
    let rows = |columns| vec![Size::Named("batch".into()), Size::Fixed(columns)];
    let weights: Vec<u8> = (0..64 * 32).flat_map(|at| ((at % 7) as f32 - 3.0).to_le_bytes()).collect();
    let graph = Graph {
        node: vec![Node::new("MatMul", &["x", "w"], "y")],
        input: vec![ValueInfo::of_tensor("x", FLOAT, rows(64))],
        output: vec![ValueInfo::of_tensor("y", FLOAT, rows(32))],
        initializer: vec![Tensor::of_bytes("w", FLOAT, &[64, 32], weights)],
        ..Graph::default()
    };
    Model::new("impostor", 17, graph).encode_to_vec()
}

const CELL: [&str; 8] = ["--model", "probe-mlp", "--bench", "inference", "--batch-sizes", "1", "--threads", "1"];

fn at(server: &ModelServer) -> String {
    format!("endpoint:url={}", server.url)
}

#[test]
fn a_model_behind_a_server_is_verified_measured_and_never_ranked_beside_what_is_here() {
    let world = World::apart();
    let file = file_of(&world, "probe-mlp");
    let server = match ModelServer::start("mlserver", &[("probe-mlp", &file)]) {
        Ok(server) => server,
        Err(why) => return skipped(&why),
    };
    let option = at(&server);
    let (ran, document) = world.run(&[&["--plugin", "rten,endpoint", "--option", &option], &CELL[..]].concat());
    ran.exits_with(0);
    let [here, there] = &cells(&document)[..] else { panic!("two cells: {document:#}") };
    assert_eq!((&here["outcome"], &here["remote"]), (&json!("measured"), &Value::Null));
    assert_eq!((&there["outcome"], &there["remote"]), (&json!("measured"), &json!(true)), "{there:#}");
    assert_eq!(there["verification"]["status"], "passed", "{there:#}");
    assert!(there["audit"]["inputs"].as_u64().unwrap() > 1, "looked at while it was timed: {there:#}");
    let engine = there["placement"]["engine"].as_str().unwrap();
    assert!(engine.starts_with("mlserver 1.7.1: probe-mlp"), "{engine}");

    for of_this_machine in ["cpu_ms", "memory_mb", "energy"] {
        let figures = there["metrics"][of_this_machine].to_string();
        assert!(!figures.chars().any(|char| char.is_ascii_digit()), "{of_this_machine} is the server's: {figures}");
    }

    let trust = world.host(&["query", "SELECT plugin, trust FROM benchmark_results ORDER BY cell", "--format", "csv"]);
    trust.exits_with(0).tells("rten,hardware").tells("endpoint,remote");
    let ranked = world.host(&["recommend", "--model", "probe-mlp", "--format", "json"]);
    let rows: Value = serde_json::from_str(&ranked.exits_with(0).stdout()).unwrap();
    let text = rows.to_string();
    assert!(text.contains("\"remote\""), "{rows:#}");
    world
        .host(&["recommend", "--model", "probe-mlp"])
        .tells("not ranked, being emulated, unverified or remote: endpoint");

    // At a rate, as any other backend.
    let asked =
        ["run", "--plugin", "endpoint", "--option", &option, "--model", "probe-mlp", "--rate", "40", "--threads", "1"];
    let served = world.host(&[&asked[..], &["--batch-sizes", "1", "--budget", "1.5", "--format", "json"]].concat());
    let document: Value = serde_json::from_str(&served.stdout()).unwrap();
    let cell = &cells(&document)[0];
    // On a machine under load the generator may be late, which is told in place of a figure.
    assert!(cell["outcome"] == "measured" || cell["reason"].to_string().contains("void"), "{cell:#}");

    let against = format!("endpoint@url={}", server.url);
    let compared = world.host(&[
        "compare",
        "--interleave",
        "rten",
        &against,
        "--model",
        "probe-mlp",
        "--threads",
        "1",
        "--batch-sizes",
        "1",
        "--format",
        "json",
    ]);
    assert!(matches!(compared.code(), Some(0 | 3)), "{}", compared.stderr());
    assert!(compared.stdout().contains("\"remote\""), "the pair is labelled: {}", compared.stdout());
}

#[test]
fn a_model_behind_a_server_keeps_the_rules_of_the_contract() {
    let world = World::default();
    let file = file_of(&world, "probe-mlp");
    let server = match ModelServer::start("mlserver", &[("probe-mlp", &file)]) {
        Ok(server) => server,
        Err(why) => return skipped(&why),
    };
    let url = format!("url={}", server.url);
    let why = world.host(&["why", "endpoint", "probe-mlp", "--option", &url]);
    assert!(why.exits_with(0).stdout().contains("usable, remote"), "{}", why.stdout());
    world.host(&["why", "endpoint", "--option", "rten:threads=1"]).exits_with(2).tells("is for 'rten'");
    world.host(&["plugin", "check", "endpoint", "--option", &url]).exits_with(0).tells("0 broken, 0 not checked");
}

#[test]
fn a_server_whose_model_computes_something_else_is_wrong() {
    let world = World::default();
    let file = world.write("impostor.onnx", impostor());
    let server = match ModelServer::start("mlserver", &[("probe-mlp", &file)]) {
        Ok(server) => server,
        Err(why) => return skipped(&why),
    };
    let (ran, document) = world.run(&[&["--plugin", "endpoint", "--option", &at(&server)], &CELL[..]].concat());
    ran.exits_with(6);
    assert_eq!(cells(&document)[0]["outcome"], "wrong", "{document:#}");
}

#[test]
fn a_server_that_dies_costs_its_cell_and_is_told() {
    let world = World::default();
    let file = file_of(&world, "probe-mlp");
    let server = match ModelServer::start("mlserver", &[("probe-mlp", &file)]) {
        Ok(server) => server,
        Err(why) => return skipped(&why),
    };
    let option = at(&server);
    // At a rate, so that it goes on for as long as the budget.
    let asked =
        ["run", "--plugin", "endpoint", "--option", &option, "--rate", "20", "--budget", "20", "--format", "json"];
    let cell = ["--model", "probe-mlp", "--batch-sizes", "1", "--threads", "1"];
    let mut command = world.command(&[&asked[..], &cell[..]].concat());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_secs(4));
    drop(server);
    let ran = Ran(child.wait_with_output().unwrap());
    let document: Value = serde_json::from_str(&ran.stdout()).unwrap();
    let cell = &cells(&document)[0];
    assert!(ran.code() != Some(0) && cell["outcome"] != "measured", "{cell:#}");
    let told = cell["reason"].to_string();
    assert!(["was lost", "start the server", "cannot be reached"].iter().any(|text| told.contains(text)), "{told}");
}

#[test]
fn without_a_server_it_says_how_to_name_one_and_is_in_no_run_that_does_not_ask() {
    let world = World::default();
    let ran = world.host(&[&["run", "--plugin", "endpoint"], &CELL[..]].concat());
    ran.exits_with(5).tells("--option endpoint:url=http://HOST:PORT");
    let world = World::default();
    let ran = world.host(
        &[&["run", "--plugin", "endpoint", "--option", "endpoint:url=http://me:secret@127.0.0.1:1"], &CELL[..]]
            .concat(),
    );
    ran.exits_with(2).tells("give it in the environment");
    assert!(!ran.stderr().contains("me:secret") && !world.path().join("results").exists(), "{}", ran.stderr());
}

#[test]
fn every_command_of_the_page_runs_against_a_real_server() {
    let world = World::default();
    let file = file_of(&world, "bert-tiny");
    let server = match ModelServer::start("triton", &[("bert-tiny", &file)]) {
        Ok(server) => server,
        Err(why) => return skipped(&why),
    };
    let page = page("docs/endpoint.md");
    let commands = commands(&page);
    assert!(commands.len() >= 3, "{commands:?}");
    for command in commands {
        let ran = shell_in(&world, &command.replace("http://127.0.0.1:8000", &server.url));
        // Beside other work the generator may be late, which is told in place of a figure.
        let void = command.contains("--rate") && ran.stdout().contains("void");
        assert!(ran.code() == Some(0) || void, "$ {command}\n{}\n{}", ran.stdout(), ran.stderr());
    }
}

/// A server that lets in who has the key, and serves nothing.
fn locked(key: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut asked = [0; 4096];
            let length = stream.read(&mut asked).unwrap_or_default();
            let has_key = String::from_utf8_lossy(&asked[..length]).contains(&format!("Bearer {key}"));
            let (status, body) = match has_key {
                true => ("200 OK", r#"{"name":"locked","version":"3"}"#),
                false => ("401 Unauthorized", r#"{"error":"no key"}"#),
            };
            let length = body.len();
            let _ = write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}");
        }
    });
    url
}

#[test]
fn a_key_goes_from_the_environment_to_the_server_and_into_no_file() {
    let world = World::default();
    let option = format!("endpoint:url={}", locked("sesame"));
    let asked = [&["run", "--plugin", "endpoint", "--option", &option], &CELL[..]].concat();
    world.host(&asked).exits_with(5).tells("no key: give its key as SKILLBENCH_ENDPOINT_KEY in the environment");
    let mut command = world.command(&asked);
    let ran = Ran(command.env("SKILLBENCH_ENDPOINT_KEY", "sesame").output().unwrap());
    // It is let in, and finds no model there.
    ran.exits_with(4);
    assert!(!ran.stderr().contains("sesame") && !ran.stderr().contains("401"), "{}", ran.stderr());
    world.shell("grep -r sesame results").exits_with(1);
}
