//! A server of one model, `y` = `x`, that does what a test tells it in place of what it should.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

/// What came in.
pub struct Asked {
    pub path: String,
    pub body: Vec<u8>,
}

pub enum Answer {
    /// A status, further lines of the head, and the body.
    Http(u16, &'static str, String),
    /// Bytes as they are; then the connection is closed.
    Raw(&'static [u8]),
    /// Nothing, for so long; then the connection is closed.
    Silence(Duration),
}

pub struct Server {
    pub url: String,
    stopped: Arc<AtomicBool>,
    pub asked: Arc<AtomicUsize>,
    pub connections: Arc<AtomicUsize>,
}

pub fn json(text: &str) -> Answer {
    Answer::Http(200, "", text.into())
}

/// What a good server answers.
pub fn good(asked: &Asked) -> Answer {
    match asked.path.as_str() {
        "/v2" => json(r#"{"name":"fixture","version":"1","extensions":[]}"#),
        "/v2/repository/index" => json(r#"[{"name":"same","state":"READY"},{"name":"later","state":"LOADING"}]"#),
        "/v2/models/same" => json(
            r#"{"name":"same","inputs":[{"name":"x","datatype":"FP32","shape":[-1]}],
                "outputs":[{"name":"y","datatype":"FP32","shape":[-1]}]}"#,
        ),
        "/v2/models/same/ready" => Answer::Http(200, "", String::new()),
        "/v2/models/same/infer" => {
            let value: serde_json::Value = serde_json::from_slice(&asked.body).unwrap();
            let input = &value["inputs"][0];
            json(&format!(
                r#"{{"model_name":"same","outputs":[{{"name":"y","datatype":"FP32","shape":{},"data":{}}}]}}"#,
                input["shape"], input["data"]
            ))
        }
        _ => Answer::Http(404, "", r#"{"error":"there is no such thing"}"#.into()),
    }
}

impl Server {
    pub fn start(answer: impl Fn(&Asked) -> Answer + Send + Sync + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (stopped, asked, connections) = <(Arc<AtomicBool>, Arc<AtomicUsize>, Arc<AtomicUsize>)>::default();
        let server = Server { url, stopped: stopped.clone(), asked: asked.clone(), connections: connections.clone() };
        let answer = Arc::new(answer);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if stopped.load(SeqCst) {
                    return;
                }
                connections.fetch_add(1, SeqCst);
                let (answer, asked) = (answer.clone(), asked.clone());
                std::thread::spawn(move || serve(stream, &*answer, &asked));
            }
        });
        server
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stopped.store(true, SeqCst);
        let _ = TcpStream::connect(self.url.trim_start_matches("http://"));
    }
}

fn serve(stream: TcpStream, answer: &dyn Fn(&Asked) -> Answer, count: &AtomicUsize) -> Option<()> {
    let mut from = BufReader::new(stream.try_clone().ok()?);
    let mut to = stream;
    loop {
        let asked = read(&mut from)?;
        if asked.path.ends_with("/infer") {
            count.fetch_add(1, SeqCst);
        }
        match answer(&asked) {
            Answer::Http(status, head, body) => {
                write!(to, "HTTP/1.1 {status} Said\r\n{head}Content-Length: {}\r\n\r\n{body}", body.len()).ok()?;
            }
            Answer::Raw(bytes) => {
                to.write_all(bytes).ok()?;
                return None;
            }
            Answer::Silence(time) => {
                std::thread::sleep(time);
                return None;
            }
        }
    }
}

fn read(from: &mut impl BufRead) -> Option<Asked> {
    let mut line = String::new();
    from.read_line(&mut line).ok()?;
    let path = line.split(' ').nth(1)?.to_string();
    let mut length = 0;
    loop {
        line.clear();
        from.read_line(&mut line).ok()?;
        if line.trim().is_empty() {
            break;
        }
        if let Some(number) = line.to_lowercase().strip_prefix("content-length:") {
            length = number.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    from.read_exact(&mut body).ok()?;
    Some(Asked { path, body })
}
