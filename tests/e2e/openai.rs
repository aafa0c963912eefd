//! Text and embeddings by OpenAI's HTTP: LitServe and llama.cpp, started by `scripts/model-server`.

use crate::endpoint::file_of;
use serde_json::{Value, json};
use skillbench_testkit::served::ModelServer;
use skillbench_testkit::skipped;
use skillbench_tests::{Ran, World, workspace};
use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::Command;

/// One run of the benchmark, with its only cell. Beside other tests requests may be issued or seen to too late: such a session is void, and a user would
/// run it again.
fn openai(world: &World, url: &str, options: &[&str], more: &[&str]) -> (Ran, Value) {
    let is_void = |cell: &Value| cell["reason"]["message"].as_str().is_some_and(|told| told.starts_with("void: "));
    let mut tries = (0..5).map(|_| once(world, url, options, more));
    tries.find(|(_, cell)| !is_void(cell)).expect("void five times")
}

fn once(world: &World, url: &str, options: &[&str], more: &[&str]) -> (Ran, Value) {
    let url = format!("openai:url={url}");
    let options: Vec<String> = options.iter().map(|option| format!("openai:{option}")).collect();
    let options = std::iter::once(&url).chain(&options).flat_map(|option| ["--option", option]);
    let asked: Vec<&str> = ["bench", "run", "openai"].into_iter().chain(options).chain(more.iter().copied()).collect();
    let runs = || -> BTreeSet<PathBuf> {
        let folder = std::fs::read_dir(world.path().join("results"));
        folder.into_iter().flatten().flatten().map(|entry| entry.path()).collect()
    };
    let before = runs();
    let ran = world.host(&asked);
    let document = runs()
        .difference(&before)
        .find_map(|run| serde_json::from_slice::<Value>(&std::fs::read(run.join("run.json")).ok()?).ok());
    (ran, document.map_or(Value::Null, |document| document["cells"][0].clone()))
}

#[test]
fn text_that_a_server_streams_is_timed_token_by_token() {
    let world = World::apart();
    let file = file_of(&world, "llama-tiny");
    let server = match ModelServer::start("litserve", &[("text", &file)]) {
        Ok(server) => server,
        Err(why) => return skipped(&why),
    };
    let options = [
        "api=chat",
        "model=llama-tiny",
        "rate=4",
        "workers=4",
        "prompt=8",
        "new_tokens=5",
        "slo=ttft.p50<=60s,tpot.p50<=60s",
    ];
    let (ran, cell) = openai(&world, &server.url, &options, &["--budget", "4.5"]);
    ran.exits_with(0);
    assert_eq!(cell["outcome"], "measured", "{cell:#}");
    let (serving, tokens) = (&cell["metrics"]["serving"], &cell["metrics"]["serving"]["tokens"]);
    assert_eq!(tokens["tokens"].as_u64().unwrap(), 5 * serving["requests"].as_u64().unwrap(), "{serving:#}");
    let mean = |name: &str| tokens[name]["mean"].as_f64().unwrap_or_else(|| panic!("{name} of {tokens:#}"));
    let latency = cell["metrics"]["latency_ms"]["mean"].as_f64().unwrap();
    assert!(mean("tpot_ms") > 0.01 && mean("ttft_ms") < 0.99 * latency, "each token comes by itself: {serving:#}");
    assert!(((mean("ttft_ms") + 4.0 * mean("tpot_ms")) / latency - 1.0).abs() < 1e-3, "{serving:#}");
    assert_eq!((&serving["slo_kept"], &serving["slo"]), (&json!(true), &json!("ttft.p50<=60s,tpot.p50<=60s")));
    assert!(ran.stdout().contains("ttft_median_ms"), "{}", ran.stdout());
    let trust = world.host(&["query", "SELECT trust, options FROM benchmark_results", "--format", "csv"]);
    trust.exits_with(0).tells("unverified").tells("api=chat");
}

#[test]
fn one_model_is_measured_in_this_process_and_behind_a_server_and_writes_the_same_there() {
    let world = World::apart();
    let file = file_of(&world, "llama-tiny-kv");
    let server = match ModelServer::start("llama", &[("llama-tiny-kv", &file)]) {
        Ok(server) => server,
        Err(why) => return skipped(&why),
    };
    let check = workspace().join("scripts/model-servers/llama_check.py");
    let held = Command::new("python3").arg("-B").arg(check).arg(&file).arg(&server.url).output().unwrap();
    let told = String::from_utf8_lossy(&held.stdout).into_owned() + &String::from_utf8_lossy(&held.stderr);
    assert!(held.status.success() && told.contains(" the same, 0 not"), "{told}");

    let slo = "ttft.p50<=60s,tpot.p50<=60s";
    let options = ["api=completions", "model=llama-tiny-kv", "rate=6", "workers=8", "prompt=8", "new_tokens=5"];
    let limits = format!("slo={slo}");
    let (ran, there) = openai(&world, &server.url, &[&options[..], &[&limits]].concat(), &["--budget", "4"]);
    ran.exits_with(0);
    let one = ["run", "--plugin", "rten", "--model", "llama-tiny", "--threads", "1", "--rate", "6", "--slo", slo];
    let here =
        [&one[..], &["--prompt-lengths", "8", "--new-tokens", "5", "--batch-sizes", "1", "--budget", "4"]].concat();
    let here = world.host(&[&here[..], &["--format", "json"]].concat()).exits_with(0).stdout();
    let here: Value = serde_json::from_str(&here).unwrap();
    for cell in [&there, &here["cells"][0]] {
        assert_eq!(cell["outcome"], "measured", "{cell:#}");
        let serving = &cell["metrics"]["serving"];
        let tokens = serving["tokens"]["tokens"].as_u64().unwrap();
        assert_eq!(tokens, 5 * serving["requests"].as_u64().unwrap(), "{serving:#}");
    }
    let both = "SELECT trust, ttft_median_ms > 0 AS first FROM benchmark_results ORDER BY trust";
    world.host(&["query", both, "--format", "csv"]).exits_with(0).tells("unverified,true").tells("hardware,true");
}

#[test]
fn embeddings_are_answers_without_tokens() {
    let world = World::apart();
    let file = file_of(&world, "bert-tiny");
    let server = match ModelServer::start("litserve", &[("embedding", &file)]) {
        Ok(server) => server,
        Err(why) => return skipped(&why),
    };
    let options = ["api=embeddings", "model=bert-tiny", "scenario=offline", "workers=2", "prompt=8"];
    let (ran, cell) = openai(&world, &server.url, &options, &["--budget", "2"]);
    ran.exits_with(0);
    let per_s = cell["metrics"]["throughput_per_s"].as_f64().unwrap_or_else(|| panic!("{cell:#}"));
    assert!(per_s > 1.0 && cell["metrics"]["serving"]["tokens"].is_null(), "{cell:#}");
    // Three who think for 50 ms ask less than sixty times a second.
    let of_users = ["api=embeddings", "model=bert-tiny", "users=3", "think_ms=50", "workers=3", "prompt=8"];
    let asked = [&of_users[..], &["slo=latency.p50<=60s"]].concat();
    let (_, cell) = openai(&world, &server.url, &asked, &["--budget", "6"]);
    let issued = cell["metrics"]["serving"]["issued_per_s"].as_f64().unwrap_or_else(|| panic!("{cell:#}"));
    assert!((1.0..60.0).contains(&issued) && cell["metrics"]["latency_ms"]["median"].as_f64() > Some(0.0), "{cell:#}");
    let too_few = [&of_users[..4], &["workers=2", "prompt=8"]].concat();
    let (ran, cell) = openai(&world, &server.url, &too_few, &["--budget", "3"]);
    ran.exits_with(4);
    assert!(cell["reason"]["message"].as_str().unwrap().contains("--option openai:workers=3"), "{cell:#}");
    // A chat is not what this server has.
    let (ran, cell) = openai(&world, &server.url, &["api=chat", "model=bert-tiny", "rate=2"], &["--budget", "1"]);
    ran.exits_with(4);
    assert!(cell["reason"]["message"].as_str().unwrap().contains("answers 404"), "{cell:#}");
}

#[test]
fn the_benchmark_of_servers_is_run_where_it_is_named_and_told_where_the_server_is() {
    let world = World::default();
    let all = world.host(&["bench", "run", "--budget", "0.05", "--format", "json"]);
    assert!(!all.exits_with(0).stdout().contains("openai"), "it has nobody to ask: {}", all.stdout());
    all.tells("openai is left out: name it, and give it --option openai:url=");
    world.host(&["bench", "list"]).exits_with(0).tells("openai");
    world.host(&["bench", "run", "--category", "unit", "--budget", "0.05"]).exits_with(0);
    world.host(&["bench", "run", "openai"]).exits_with(2).tells("url");
    let told = ["bench", "run", "openai", "--option", "openai:url=http://a:1", "--option", "openai:model=m"];
    world.host(&[&told[..], &["--option", "openai:budget_s=9"]].concat()).exits_with(2).tells("--budget");
    let (_, cell) = openai(&world, "http://127.0.0.1:9", &["model=m"], &[]);
    assert!(cell["reason"]["message"].as_str().unwrap().contains("openai:rate="), "{cell:#}");
    let (ran, cell) = openai(&world, "http://127.0.0.1:9", &["model=m", "rate=5"], &["--budget", "0.5"]);
    assert_ne!(ran.code(), Some(0));
    assert!(cell["reason"]["message"].as_str().unwrap().contains("nobody listens"), "{cell:#}");
    let ran = world.host(&["bench", "run", "openai", "--option", "openai:url=http://me:secret@a:1"]);
    assert!(!ran.exits_with(2).stderr().contains("secret"), "{}", ran.stderr());
}

/// A server that answers every request with these bytes and closes the connection.
fn that_says(answer: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            // The question ends with its body, an object; what is left unread would end the connection before the answer is read.
            let (mut asked, mut some) = (vec![], [0; 4096]);
            while !asked.ends_with(b"}") {
                match stream.read(&mut some) {
                    Ok(read) if read > 0 => asked.extend(&some[..read]),
                    _ => break,
                }
            }
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    url
}

#[test]
fn a_stream_that_breaks_off_or_tells_nothing_ends_the_cell_with_what_happened() {
    let world = World::default();
    let streams = |text: &str| format!("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{text}");
    for (answer, wanted) in [
        (streams("data: {\"choices\":[{\"text\":\"a\"}]}\n\n"), "closed its stream after 1 tokens"),
        (streams("data: [DONE]\n\n"), "without a token"),
        (streams("data: {\"error\":{\"message\":\"no room\"}}\n\n"), "no room"),
        (streams("<html>"), "closed its stream after 0 tokens"),
        (
            "HTTP/1.1 302 Found\r\nLocation: http://a.invalid/\r\nContent-Length: 0\r\n\r\n".into(),
            "on to http://a.invalid/",
        ),
        (
            "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n{\"error\":{\"message\":\"ignore_eos: what\"}}"
                .into(),
            "answers 400: ignore_eos",
        ),
    ] {
        let (ran, cell) = openai(&world, &that_says(answer), &["model=m", "rate=5"], &["--budget", "0.5"]);
        assert_ne!(ran.code(), Some(0));
        let told = cell["reason"]["message"].as_str().unwrap_or_else(|| panic!("{cell:#}"));
        assert!(told.contains(wanted), "{told}");
    }
}
