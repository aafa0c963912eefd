//! Messages to the page and their answers, one at a time, over a WebSocket that the page opened.
//!
//! A run is one message there and one back. No thread stands in between: the caller itself waits at the socket.

use crate::server::authority;
use crate::steady::Steady;
use serde_json::Value;
use skillbench_plugin_api::{Error, Result};
use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};
use tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tungstenite::http::StatusCode;
use tungstenite::protocol::WebSocketConfig;
use tungstenite::{Bytes, Message, WebSocket};

/// Why there is no answer.
pub(crate) enum Failure {
    /// The page answers that it could not do it.
    Refused(String),
    /// The page says that its device is gone.
    DeviceLost(String),
    /// The link broke: the tab, or the whole browser, is gone.
    Broken(String),
    Late,
}

pub(crate) struct Reply {
    pub value: Value,
    pub bytes: Bytes,
}

/// Where the page is awaited.
pub(crate) struct Awaited {
    listener: TcpListener,
    secret: String,
}

impl Awaited {
    /// # Errors
    /// `Internal` where this machine lets nobody listen on loopback.
    pub fn listen() -> Result<Awaited> {
        let failed = |error: io::Error| Error::internal(format!("cannot listen on 127.0.0.1: {error}"));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        Ok(Awaited { listener, secret: crate::server::secret()? })
    }

    fn port(&self) -> u16 {
        self.listener.local_addr().map_or(0, |address| address.port())
    }

    pub fn url(&self) -> String {
        format!("ws://{}/{}", authority(self.port()), self.secret)
    }

    /// Waits for the page of this origin; `None`: it did not come in time. Whoever does not know the secret is turned away, and
    /// whoever says nothing keeps nobody else waiting.
    pub fn accept(self, origin: &str, limit: Duration) -> Option<Link> {
        let started = Instant::now();
        let expected = Arc::new(Expected {
            path: format!("/{}", self.secret),
            host: authority(self.port()),
            origin: origin.into(),
        });
        let (found, arrived) = mpsc::channel();
        while started.elapsed() < limit {
            if let Ok((stream, _)) = self.listener.accept() {
                let (found, expected) = (found.clone(), Arc::clone(&expected));
                let greet = move || {
                    if let Some(link) = shake_hands(stream, &expected) {
                        // Another was sooner.
                        let _ = found.send(link);
                    }
                };
                // A connection that fails is the page's to notice.
                let _ = thread::Builder::new().name("browser-link".into()).spawn(greet);
            }
            if let Ok(link) = arrived.recv_timeout(Duration::from_millis(2)) {
                return Some(link);
            }
        }
        None
    }
}

/// What only our page asks for.
struct Expected {
    path: String,
    host: String,
    origin: String,
}

impl Expected {
    fn is(&self, request: &Request) -> bool {
        let says = |name: &str, value: &str| {
            let mut said = request.headers().get_all(name).iter();
            said.next().is_some_and(|said| said == value) && said.next().is_none()
        };
        request.uri().path() == self.path && says("host", &self.host) && says("origin", &self.origin)
    }
}

fn shake_hands(stream: TcpStream, expected: &Expected) -> Option<Link> {
    let limit = Some(Duration::from_secs(30));
    stream.set_nonblocking(false).ok()?;
    stream.set_nodelay(true).ok()?;
    stream.set_read_timeout(limit).ok()?;
    // The shape of the callback is the library's.
    #[allow(clippy::result_large_err)]
    let known = |request: &Request, response: Response| match expected.is(request) {
        true => Ok(response),
        false => {
            let mut refusal = ErrorResponse::new(None);
            *refusal.status_mut() = StatusCode::NOT_FOUND;
            Err(refusal)
        }
    };
    let config = WebSocketConfig::default().max_message_size(None).max_frame_size(None);
    let socket = tungstenite::accept_hdr_with_config(Steady(stream), known, Some(config)).ok()?;
    Some(Link { socket, next: 0, limit: Duration::ZERO })
}

pub(crate) struct Link {
    socket: WebSocket<Steady<TcpStream>>,
    next: u64,
    /// The deadline that the socket is set to.
    limit: Duration,
}

impl Link {
    /// Sends a message, with bytes where it needs some, and waits for the answer.
    ///
    /// # Errors
    /// See [`Failure`]. After all but a refusal the link is of no use.
    pub fn call(&mut self, mut message: Value, payload: Option<&[u8]>, limit: Duration) -> Result<Reply, Failure> {
        self.next += 1;
        message["id"] = self.next.into();
        let text = message.to_string();
        let message = match payload {
            None => Message::text(text),
            Some(payload) => Message::binary([&(text.len() as u32).to_le_bytes(), text.as_bytes(), payload].concat()),
        };
        if self.limit != limit {
            let stream = &self.socket.get_ref().0;
            let set = stream.set_read_timeout(Some(limit)).and_then(|()| stream.set_write_timeout(Some(limit)));
            set.map_err(|error| Failure::Broken(error.to_string()))?;
            self.limit = limit;
        }
        self.socket.send(message).map_err(failure)?;
        loop {
            let reply = unpack(self.socket.read().map_err(failure)?)?;
            if reply.value["id"] != self.next {
                continue;
            }
            let lost = reply.value["lost"] == true;
            return match reply.value["error"].as_str() {
                None => Ok(reply),
                Some(error) if lost => Err(Failure::DeviceLost(error.into())),
                Some(error) => Err(Failure::Refused(error.into())),
            };
        }
    }
}

fn failure(error: tungstenite::Error) -> Failure {
    match error {
        tungstenite::Error::Io(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
            Failure::Late
        }
        other => Failure::Broken(other.to_string()),
    }
}

fn unpack(message: Message) -> Result<Reply, Failure> {
    let garbled = || Failure::Broken("the page sent what is no message".into());
    let parse = |text: &[u8]| serde_json::from_slice(text).map_err(|_| garbled());
    match message {
        Message::Text(text) => Ok(Reply { value: parse(text.as_bytes())?, bytes: Bytes::new() }),
        Message::Binary(whole) => {
            let length = whole.first_chunk().map(|bytes| u32::from_le_bytes(*bytes) as usize).ok_or_else(garbled)?;
            let text = whole.get(4..4 + length).ok_or_else(garbled)?;
            Ok(Reply { value: parse(text)?, bytes: whole.slice(4 + length..) })
        }
        Message::Close(_) => Err(Failure::Broken("the page closed the link".into())),
        _ => Ok(Reply { value: Value::Null, bytes: Bytes::new() }),
    }
}

#[cfg(test)]
mod tests {
    use super::Awaited;
    use std::io::{Read, Write};
    use std::net::TcpStream;
    use std::thread;
    use std::time::Duration;

    const ORIGIN: &str = "http://127.0.0.1:1";

    fn ask(port: u16, path: &str, host: &str, origin: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: {host}\r\nOrigin: {origin}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).unwrap();
        String::from_utf8_lossy(&answer).into()
    }

    #[test]
    fn only_the_page_that_knows_the_secret_and_comes_from_here_gets_the_link() {
        let awaited = Awaited::listen().unwrap();
        let (port, path) = (awaited.port(), format!("/{}", awaited.secret));
        let host = format!("127.0.0.1:{port}");
        let link = thread::spawn(move || awaited.accept(ORIGIN, Duration::from_secs(20)));
        // Whoever says nothing keeps nobody waiting.
        let silent = TcpStream::connect(("127.0.0.1", port)).unwrap();
        for (path, host, origin) in [
            ("/", &*host, ORIGIN),
            ("/0123456789abcdef0123456789abcdef", &host, ORIGIN),
            (&path, "localhost", ORIGIN),
            (&path, "attacker.example", ORIGIN),
            (&path, &host, "http://attacker.example"),
            (&path, &host, "null"),
        ] {
            assert_eq!(ask(port, path, host, origin), "HTTP/1.1 404", "{path} {host} {origin}");
        }
        assert_eq!(ask(port, &path, &host, ORIGIN), "HTTP/1.1 101");
        assert!(link.join().unwrap().is_some());
        drop(silent);
    }
}
