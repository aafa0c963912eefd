//! A hub on the loopback interface, for the tests beside this file: a list of files, redirects to another address for large ones,
//! pieces of files, and whatever goes wrong out there.

use super::super::samples::Sample;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

/// What a test lets go wrong.
#[derive(Clone, Default)]
pub struct Faults {
    /// So many first requests for the list or a file are answered with this status.
    pub status: Option<(u16, usize)>,
    /// An error code of the hub, with a status, on every request for the list.
    pub refused: Option<(u16, &'static str)>,
    /// The bodies of so many first requests for files end after so many bytes.
    pub cut: Option<(usize, usize)>,
    /// Nothing comes for so long in the middle of a first body.
    pub stall: Option<Duration>,
    /// Pieces are not served: every body is whole.
    pub no_pieces: bool,
    /// The bytes served are not those that were announced.
    pub wrong: bool,
    /// Without sizes and names of contents in the list.
    pub bare: bool,
    /// Files ask for this token.
    pub token: Option<&'static str>,
}

#[derive(Default)]
pub struct Log {
    /// Path, range and authorization of each request.
    pub requests: Vec<(String, Option<String>, Option<String>)>,
    failed: usize,
    cut: usize,
    stalled: bool,
}

pub struct Server {
    pub endpoint: String,
    pub log: Arc<Mutex<Log>>,
}

pub type Files = BTreeMap<String, Vec<u8>>;

/// A model as an exporter leaves it, with its weights beside it.
pub fn model() -> Files {
    let sample = Sample::encoder().external("model.onnx_data");
    let weights: Vec<u8> = (0..(122 * 8 * 4)).map(|index: u32| index as u8).collect();
    Files::from([
        ("README.md".into(), b"# a model".to_vec()),
        ("config.json".into(), br#"{"model_type": "bert", "vocab_size": 100}"#.to_vec()),
        ("onnx/model.onnx".into(), sample.bytes()),
        ("onnx/model.onnx_data".into(), weights),
        ("onnx/model_int8.onnx".into(), Sample::vision().bytes()),
        ("pytorch_model.bin".into(), vec![0; 10]),
    ])
}

impl Server {
    pub fn start(files: Files, faults: Faults) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let log = Arc::new(Mutex::new(Log::default()));
        let shared = (Arc::new(files), Arc::new(faults), log.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (files, faults, log) = shared.clone();
                std::thread::spawn(move || drop(serve(stream, &files, &faults, &log)));
            }
        });
        Server { endpoint, log }
    }

    /// The paths that were asked for.
    pub fn paths(&self) -> Vec<String> {
        self.log.lock().unwrap().requests.iter().map(|(path, ..)| path.clone()).collect()
    }

    pub fn asked(&self, end: &str) -> usize {
        self.paths().iter().filter(|path| path.ends_with(end)).count()
    }
}

fn serve(stream: TcpStream, files: &Files, faults: &Faults, log: &Mutex<Log>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let path = line.split(' ').nth(1).unwrap_or_default().to_string();
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 || line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':') {
            headers.insert(name.to_lowercase(), value.trim().to_string());
        }
    }
    let (range, authorization) = (headers.get("range").cloned(), headers.get("authorization").cloned());
    // Through a proxy the whole address is asked for.
    let path = path.strip_prefix("http://").and_then(|rest| Some(rest[rest.find('/')?..].to_string())).unwrap_or(path);
    let mut failing = false;
    {
        let mut log = log.lock().unwrap();
        log.requests.push((path.clone(), range.clone(), authorization.clone()));
        if let Some((_, times)) = faults.status {
            failing = log.failed < times;
            log.failed += 1;
        }
    }
    let mut answer = Answer { stream, faults, log };
    if let (true, Some((status, _))) = (failing, faults.status) {
        return answer.give(status, "Retry-After: 0\r\n", b"not now");
    }
    if path.starts_with("/api/models/") {
        return match faults.refused {
            Some((status, code)) => answer.give(status, &format!("X-Error-Code: {code}\r\n"), b"{}"),
            None if path.starts_with("/api/models/org/tiny/revision/") => {
                answer.give(200, "", list(files, faults).as_bytes())
            }
            None => answer.give(404, "X-Error-Code: RepoNotFound\r\n", b"{}"),
        };
    }
    if let Some(token) = faults.token.filter(|_| path.contains("/resolve/")) {
        let given = authorization.unwrap_or_default();
        if given != format!("Bearer {token}") {
            let status = if given.is_empty() { 401 } else { 403 };
            return answer.give(status, "X-Error-Code: GatedRepo\r\n", b"{}");
        }
    }
    // Large files lie elsewhere.
    if let Some(name) = path.strip_prefix(&format!("/org/tiny/resolve/{COMMIT}/")) {
        if name.ends_with(".json") {
            return answer.file(files.get(name), range.as_deref());
        }
        return answer.give(302, &format!("Location: /cdn/{name}?signature=a%2Fb\r\n"), b"");
    }
    let name = path.strip_prefix("/cdn/").and_then(|name| name.split('?').next()).unwrap_or_default();
    answer.file(files.get(name), range.as_deref())
}

fn list(files: &Files, faults: &Faults) -> String {
    let of = |(name, bytes): (&String, &Vec<u8>)| {
        let sha256: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        match () {
            () if faults.bare => serde_json::json!({"rfilename": name}),
            () if name.contains("onnx") => serde_json::json!({
                "rfilename": name, "size": bytes.len(), "blobId": "a".repeat(40), "lfs": {"sha256": sha256, "size": bytes.len()}
            }),
            () => serde_json::json!({"rfilename": name, "size": bytes.len(), "blobId": sha256[..40]}),
        }
    };
    let mut siblings: Vec<_> = files.iter().map(of).collect();
    siblings.push(serde_json::json!({"rfilename": "../outside.json", "size": 1}));
    serde_json::json!({"sha": COMMIT, "siblings": siblings}).to_string()
}

struct Answer<'a> {
    stream: TcpStream,
    faults: &'a Faults,
    log: &'a Mutex<Log>,
}

impl Answer<'_> {
    fn give(&mut self, status: u16, headers: &str, body: &[u8]) -> std::io::Result<()> {
        let head =
            format!("HTTP/1.1 {status} Status\r\nContent-Length: {}\r\nConnection: close\r\n{headers}\r\n", body.len());
        self.stream.write_all(head.as_bytes())?;
        self.stream.write_all(body)
    }

    fn file(&mut self, bytes: Option<&Vec<u8>>, range: Option<&str>) -> std::io::Result<()> {
        let Some(bytes) = bytes else { return self.give(404, "X-Error-Code: EntryNotFound\r\n", b"") };
        let mut bytes = bytes.clone();
        if self.faults.wrong {
            bytes.iter_mut().for_each(|byte| *byte ^= 1);
        }
        let from = range.and_then(|range| range.strip_prefix("bytes=")?.strip_suffix('-')?.parse::<usize>().ok());
        let (status, from) = match from.filter(|_| !self.faults.no_pieces) {
            Some(from) if from >= bytes.len() => return self.give(416, "", b""),
            Some(from) => (206, from),
            None => (200, 0),
        };
        let (body, whole) = (&bytes[from..], bytes.len());
        let last = whole.saturating_sub(1);
        let piece =
            if status == 206 { format!("Content-Range: bytes {from}-{last}/{whole}\r\n") } else { String::new() };
        let head =
            format!("HTTP/1.1 {status} OK\r\nContent-Length: {}\r\nConnection: close\r\n{piece}\r\n", body.len());
        self.stream.write_all(head.as_bytes())?;
        let mut log = self.log.lock().unwrap();
        if let Some((after, times)) = self.faults.cut
            && log.cut < times
            && body.len() > after
        {
            log.cut += 1;
            return self.stream.write_all(&body[..after]);
        }
        if let Some(stall) = self.faults.stall
            && !log.stalled
            && body.len() > 100
        {
            log.stalled = true;
            drop(log);
            self.stream.write_all(&body[..100])?;
            std::thread::sleep(stall);
            return Ok(());
        }
        drop(log);
        self.stream.write_all(body)
    }
}
