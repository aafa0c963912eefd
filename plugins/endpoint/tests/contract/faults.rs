//! A server that dies, stalls, answers wrong, answers late, closes streams, sends garbage or redirects elsewhere.

use crate::opened;
use crate::server::{Answer, Asked, Server, good, json};
use skillbench_onnx::messages::FLOAT;
use skillbench_plugin_api::client::{Model, Request};
use skillbench_plugin_api::{Code, Direction, Load, Result, Why};
use skillbench_testkit::{floats, graphs, load_of, refused, taken};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};

struct Graph {
    _folder: tempfile::TempDir,
    load: Load,
}

fn same() -> Graph {
    let folder = tempfile::tempdir().unwrap();
    let load = load_of(&graphs::write(folder.path(), graphs::graph("Identity", FLOAT)));
    Graph { _folder: folder, load }
}

fn bound<'m>(model: &'m Model, numbers: &[f32]) -> Request<'m> {
    let mut request = model.request().unwrap();
    request.bind(Direction::Input, 0, floats(&[numbers.len()], numbers)).unwrap();
    request
}

/// A server that answers well, but the second inference like this.
fn failing_once(answer: impl Fn() -> Answer + Send + Sync + 'static) -> Server {
    let seen = AtomicUsize::new(0);
    Server::start(move |asked: &Asked| match asked.path.ends_with("/infer") && seen.fetch_add(1, SeqCst) == 1 {
        true => answer(),
        false => good(asked),
    })
}

#[test]
fn each_fault_has_its_reason_and_the_next_request_its_answer() {
    type Fault = (&'static str, fn() -> Answer, Code, &'static str);
    let faults: [Fault; 13] = [
        ("dies", || Answer::Raw(b""), Code::Internal, "lost"),
        (
            "dies within",
            || Answer::Raw(b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{\"outp"),
            Code::Internal,
            "lost",
        ),
        ("garbage", || Answer::Raw(b"\x00\xff\x16\x03\x01 garbage \r\n\r\n"), Code::Internal, "http"),
        ("stalls", || Answer::Silence(Duration::from_secs(3)), Code::DeadlineExceeded, "did not answer within 0.5 s"),
        ("no JSON", || json("<html>"), Code::WrongOutput, "is no answer"),
        (
            "another type",
            || json(r#"{"outputs":[{"name":"y","datatype":"FP64","shape":[2],"data":[1,2]}]}"#),
            Code::WrongOutput,
            "FP64, not FP32",
        ),
        (
            "too little",
            || json(r#"{"outputs":[{"name":"y","datatype":"FP32","shape":[2],"data":[1]}]}"#),
            Code::WrongOutput,
            "1 elements",
        ),
        ("nothing", || json(r#"{"outputs":[]}"#), Code::WrongOutput, "no output 'y'"),
        (
            "redirects",
            || Answer::Http(307, "Location: http://elsewhere.invalid/v2\r\n", String::new()),
            Code::InvalidArgument,
            "sends requests on to http://elsewhere.invalid/v2",
        ),
        ("overloaded", || Answer::Http(503, "", "busy".into()), Code::ResourceExhausted, "503: busy"),
        ("forbidden", || Answer::Http(401, "", "{}".into()), Code::Unavailable, "SKILLBENCH_ENDPOINT_KEY"),
        (
            "fails",
            || Answer::Http(500, "", "{\"error\":\"out of \\u001b[31mmemory\"}".into()),
            Code::Internal,
            "500: out of  [31mmemory",
        ),
        (
            "lies of its length",
            || Answer::Http(200, "Inference-Header-Content-Length: 999\r\n", "{}".into()),
            Code::WrongOutput,
            "within its JSON",
        ),
    ];
    for (name, answer, code, text) in faults {
        let server = failing_once(answer);
        let (instance, graph) = (server.opened(&[("timeout_s", "0.5")]), same());
        let model = instance.load(&graph.load).unwrap();
        let mut request = bound(&model, &[1.5, -2.0]);
        request.run().unwrap();
        let error = request.run().unwrap_err();
        assert_eq!(error.code, code, "{name}: {error}");
        assert!(error.message.contains(text), "{name}: {error}");
        assert_eq!(
            request.take_output(0).err().unwrap().code,
            Code::FailedPrecondition,
            "{name}: a run that failed left an output"
        );
        request.run().unwrap_or_else(|error| panic!("{name}: the server has recovered: {error}"));
        assert_eq!(taken::<f32>(&mut request, 0), [1.5, -2.0], "{name}");
        assert_eq!(server.asked.load(SeqCst), 3, "{name}: nothing is tried twice");
    }
}

#[test]
fn what_is_late_counts_as_late_and_not_as_lost() {
    let server = Server::start(|asked: &Asked| {
        if asked.path.ends_with("/infer") {
            std::thread::sleep(Duration::from_millis(120));
        }
        good(asked)
    });
    let (instance, graph) = (server.opened(&[]), same());
    let model = instance.load(&graph.load).unwrap();
    let mut request = bound(&model, &[1.0]);
    let start = Instant::now();
    request.run().unwrap();
    assert!(start.elapsed() >= Duration::from_millis(120));
}

#[test]
fn each_request_keeps_a_connection_of_its_own() {
    let server = Server::start(good);
    let (instance, graph) = (server.opened(&[]), same());
    let model = instance.load(&graph.load).unwrap();
    let before = server.connections.load(SeqCst);
    let mut requests = [bound(&model, &[1.0]), bound(&model, &[2.0])];
    for _ in 0..20 {
        requests.iter_mut().try_for_each(|request| request.run().map(drop)).unwrap();
    }
    assert_eq!(server.connections.load(SeqCst) - before, 2);
}

#[test]
fn who_does_not_answer_or_is_no_model_server_is_told_when_it_is_opened() {
    let gone = Server::start(good).url.clone();
    let told = |url: &str| opened(url, &[]).err().expect("it is not opened");
    std::thread::sleep(Duration::from_millis(50));
    let error = told(&gone);
    assert_eq!((error.code, error.why), (Code::Unavailable, Why::RUNTIME), "{error}");
    assert!(error.message.contains("start the server"), "{error}");
    let page = Server::start(|_: &Asked| json("<html>a page</html>"));
    assert!(told(&page.url).message.contains("not of the protocol"));
    let elsewhere = Server::start(|_: &Asked| Answer::Http(302, "Location: /login\r\n", String::new()));
    assert!(told(&elsewhere.url).message.contains("sends requests on to /login"));
}

#[test]
fn of_several_models_with_the_same_ports_one_has_to_be_named() {
    let server = Server::start(|asked: &Asked| match asked.path.as_str() {
        "/v2/repository/index" => json(r#"[{"name":"same","state":"READY"},{"name":"twin","state":"READY"}]"#),
        path => good(&Asked { path: path.replace("twin", "same"), body: asked.body.clone() }),
    });
    let graph = same();
    let error = refused(&server.opened(&[]), &graph.load);
    assert!(error.message.contains("same, twin") && error.message.contains("endpoint:model=NAME"), "{error}");
    assert!(server.opened(&[("model", "twin")]).load(&graph.load).is_ok());
}

#[test]
fn a_server_that_does_not_list_its_models_is_asked_for_the_one_that_is_named() {
    let server = Server::start(|asked: &Asked| match asked.path.as_str() {
        "/v2/repository/index" => Answer::Http(404, "", String::new()),
        _ => good(asked),
    });
    let graph = same();
    assert!(refused(&server.opened(&[]), &graph.load).message.contains("does not list its models"));
    assert!(server.opened(&[("model", "same")]).load(&graph.load).is_ok());
}

#[test]
fn numbers_that_json_cannot_carry_are_refused_and_not_sent_as_others() -> Result<()> {
    let server = Arc::new(Server::start(good));
    let (instance, graph) = (server.opened(&[]), same());
    let model = instance.load(&graph.load)?;
    let error = bound(&model, &[1.0, f32::NAN]).run().unwrap_err();
    assert!(error.message.contains("no numbers"), "{error}");
    assert_eq!(server.asked.load(SeqCst), 0);
    Ok(())
}
