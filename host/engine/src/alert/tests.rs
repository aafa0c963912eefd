use super::*;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

fn alert(run: &str) -> Alert {
    let cell = CellName { plugin: "cpu".into(), model: "bert-tiny".into(), ..CellName::default() };
    let figures = Figures { metric: "latency_ms".into(), after: Some(2.0), ..Figures::default() };
    Alert::new(Kind::Change, "lab", cell, figures, run, "bert-tiny on cpu is 2.00x slower")
}

/// A server that answers one request after the other with these texts, and hands over what it was sent. With an empty text it keeps
/// the connection open and says nothing.
fn server(answers: Vec<&'static str>) -> (Webhook, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/secret/token", listener.local_addr().unwrap());
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut silent = vec![];
        for answer in answers {
            let Ok((stream, _)) = listener.accept() else { return };
            let mut reader = BufReader::new(stream);
            let (mut head, mut length) = (String::new(), 0);
            loop {
                let mut line = String::new();
                if reader.read_line(&mut line).is_err() || line.trim().is_empty() {
                    break;
                }
                if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
                head += &line;
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            let _ = sender.send(head + "\n" + &String::from_utf8(body).unwrap());
            match answer {
                "" => silent.push(reader),
                answer => drop(reader.get_mut().write_all(answer.as_bytes())),
            }
        }
        std::thread::sleep(Duration::from_secs(60));
        drop(silent);
    });
    (address.parse().unwrap(), receiver)
}

const OK: &str = "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n";
const BROKEN: &str = "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
const MOVED: &str =
    "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:9/\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
const UNKNOWN: &str = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

#[test]
fn a_webhook_receives_all_alerts_in_one_document() {
    let (webhook, received) = server(vec![OK]);
    let told = webhook.post(&[alert("a"), alert("b")]).unwrap();
    assert!(told.ends_with(": received") && !told.contains("secret"), "{told}");
    let request = received.recv().unwrap();
    assert!(request.starts_with("POST /secret/token HTTP/1.1"), "{request}");
    assert!(request.to_lowercase().contains("content-type: application/json"), "{request}");
    let body: serde_json::Value = serde_json::from_str(request.split_once("\n\n").unwrap().1).unwrap();
    assert_eq!(body["schema"], "skillbench.alerts/1");
    assert_eq!(body["alerts"][1]["run"], "b");
    assert_eq!(body["alerts"][0]["kind"], "change");
    assert_eq!(body["alerts"][0]["figures"]["before"], serde_json::Value::Null);
    assert_eq!(body["text"], "bert-tiny on cpu is 2.00x slower\nbert-tiny on cpu is 2.00x slower");
}

#[test]
fn a_server_that_fails_is_asked_once_more() {
    let (webhook, received) = server(vec![BROKEN, OK]);
    assert!(webhook.post(&[alert("a")]).unwrap().ends_with("received at the second attempt"));
    assert_eq!(received.try_iter().count(), 2);
    let (webhook, received) = server(vec![BROKEN, BROKEN, OK]);
    let failure = webhook.post(&[alert("a")]).unwrap_err();
    assert_eq!(failure.why, "it answered 500, twice");
    assert_eq!(received.try_iter().count(), 2);
}

#[test]
fn a_redirect_and_a_refusal_are_told_and_not_followed() {
    let (webhook, received) = server(vec![MOVED, OK]);
    assert_eq!(webhook.post(&[alert("a")]).unwrap_err().why, "it answered 302: redirects are not followed");
    assert_eq!(received.try_iter().count(), 1);
    let (webhook, _received) = server(vec![UNKNOWN, OK]);
    assert_eq!(webhook.post(&[alert("a")]).unwrap_err().why, "it answered 404");
}

#[test]
fn a_server_that_never_answers_is_given_up_on() {
    let (webhook, _received) = server(vec!["", ""]);
    let begun = std::time::Instant::now();
    let failure = webhook.post(&[alert("a")]).unwrap_err();
    assert_eq!(failure.why, "no answer within 5 s, twice");
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
    assert!(!failure.to_string().contains("secret"), "{failure}");
}

#[test]
fn a_server_that_is_not_there_is_told() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let failure = format!("http://{free}/").parse::<Webhook>().unwrap().post(&[alert("a")]).unwrap_err();
    assert!(failure.why.to_lowercase().contains("refused") || failure.why.contains("no connection"), "{failure}");
}

#[test]
fn only_addresses_of_the_web_are_webhooks() {
    for bad in ["", "example.com/hook", "ftp://example.com", "file:///etc/passwd", "http://", "https:// x"] {
        assert_eq!(bad.parse::<Webhook>(), Err(BadAddress), "{bad}");
    }
    assert!("https://example.com:8443/hook?token=1".parse::<Webhook>().is_ok());
}

#[test]
fn a_file_has_each_alert_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("deep/alerts.ndjson");
    let targets = Targets { file: Some(file.clone()), ..Targets::default() };
    assert_eq!(send(&targets, &[]), []);
    assert!(!file.exists());
    send(&targets, &[alert("a"), alert("b")]).remove(0).unwrap();
    let told = send(&targets, &[alert("b"), alert("c")]).remove(0).unwrap();
    assert!(told.ends_with("1 written, 1 stood there already"), "{told}");
    let text = std::fs::read_to_string(&file).unwrap();
    let runs: Vec<String> = text.lines().map(|line| serde_json::from_str::<Alert>(line).unwrap().run).collect();
    assert_eq!(runs, ["a", "b", "c"]);
}

#[cfg(unix)]
#[test]
fn a_command_reads_all_alerts_and_its_failure_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("got");
    command::run(&format!("cat > '{}'", file.display()), &[alert("a")]).unwrap();
    let got: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert_eq!(got["alerts"][0]["run"], "a");
    let failure = command::run("exit 7", &[alert("a")]).unwrap_err();
    assert!(failure.why.contains('7'), "{failure}");
    // It does not read, and the document is larger than what a pipe holds.
    let many: Vec<Alert> = (0..2_000).map(|run| alert(&run.to_string())).collect();
    command::run("true", &many).unwrap();
}
