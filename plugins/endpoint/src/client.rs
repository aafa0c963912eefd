//! HTTP to one server, over one connection. No redirect is followed and nothing is tried twice: either would be part of a figure.

use crate::failure::{busy, late, lost, moved, plain, refused, silent, unheard, unknown};
use crate::settings::Settings;
use serde::de::DeserializeOwned;
use skillbench_plugin_api::{Error, Result, Why};
use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;
use ureq::http::{HeaderMap, Response};
use ureq::{Agent, Body, RequestBuilder};

/// How long a server may take to accept a connection.
pub const CONNECT: Duration = Duration::from_secs(10);
/// Bytes of what a server says of itself.
const LONGEST_DESCRIPTION: u64 = 16 << 20;
/// Bytes of one answer with outputs.
const LONGEST_ANSWER: u64 = 4 << 30;

pub struct Client {
    agent: Agent,
    url: String,
    timeout: Duration,
    key: Option<String>,
    /// The server answered something.
    was_heard: AtomicBool,
}

/// An answer whose body is still to be read.
pub struct Answer {
    pub headers: HeaderMap,
    body: Body,
}

impl Client {
    pub fn new(settings: &Settings) -> Client {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .user_agent(concat!("skillbench/", env!("CARGO_PKG_VERSION")))
            .accept_encoding("identity")
            .proxy(None)
            .max_idle_age(Duration::from_secs(24 * 3600))
            .max_idle_connections(1)
            .max_idle_connections_per_host(1)
            .timeout_connect(Some(CONNECT.min(settings.timeout)))
            .timeout_global(Some(settings.timeout))
            .build();
        Client {
            agent: config.into(),
            url: settings.url.clone(),
            timeout: settings.timeout,
            key: settings.key.clone(),
            was_heard: AtomicBool::new(false),
        }
    }

    /// What the server says there.
    ///
    /// # Errors
    /// What the server says in its place; `Unavailable` where none answers.
    pub fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T> {
        self.described(path, self.fetch(path))
    }

    /// Whether the server says that all is well there.
    ///
    /// # Errors
    /// As for [`Client::get`].
    pub fn check(&self, path: &str) -> Result<()> {
        self.accepted(self.fetch(path)).map(drop)
    }

    fn fetch(&self, path: &str) -> Result<Response<Body>, ureq::Error> {
        self.authorized(self.agent.get(format!("{}{path}", self.url))).call()
    }

    fn authorized<B>(&self, request: RequestBuilder<B>) -> RequestBuilder<B> {
        match &self.key {
            Some(key) => request.header("Authorization", format!("Bearer {key}")),
            None => request,
        }
    }

    /// # Errors
    /// As for [`Client::get`].
    pub fn ask<T: DeserializeOwned>(&self, path: &str, question: &str) -> Result<T> {
        self.described(path, self.send(path, "application/json", None, question.as_bytes()))
    }

    fn described<T: DeserializeOwned>(&self, path: &str, answer: Result<Response<Body>, ureq::Error>) -> Result<T> {
        let mut bytes = vec![];
        let answer = self.accepted(answer)?;
        self.read_up_to(LONGEST_DESCRIPTION, answer, &mut bytes)?;
        serde_json::from_slice(&bytes).map_err(|error| {
            let text = format!("{}{path} answers what is not of the protocol: {error}", self.url);
            Error::invalid(text).because(Why::RUNTIME)
        })
    }

    /// Sends a request, and returns when the head of the answer is there. `header_length`: of the JSON before the bytes.
    ///
    /// # Errors
    /// What the server says in its place.
    pub fn post(&self, path: &str, header_length: Option<usize>, body: &[u8]) -> Result<Answer> {
        let kind = if header_length.is_some() { "application/octet-stream" } else { "application/json" };
        self.accepted(self.send(path, kind, header_length, body))
    }

    fn send(
        &self,
        path: &str,
        kind: &str,
        header_length: Option<usize>,
        body: &[u8],
    ) -> Result<Response<Body>, ureq::Error> {
        let request = self.agent.post(format!("{}{path}", self.url)).header("Content-Type", kind);
        let mut request = self.authorized(request);
        if let Some(length) = header_length {
            request = request.header(HEADER_LENGTH, length.to_string());
        }
        request.send(body)
    }

    /// The body of an answer, to the end.
    ///
    /// # Errors
    /// Where it does not come whole.
    pub fn read(&self, answer: Answer, into: &mut Vec<u8>) -> Result<()> {
        self.read_up_to(LONGEST_ANSWER, answer, into)
    }

    fn read_up_to(&self, limit: u64, answer: Answer, into: &mut Vec<u8>) -> Result<()> {
        into.clear();
        let read = answer.body.into_with_config().limit(limit).reader().read_to_end(into);
        read.map(drop).map_err(|error| match error.get_ref().and_then(|inner| inner.downcast_ref::<ureq::Error>()) {
            Some(inner) => self.failed(inner),
            None => lost(&self.url, &error),
        })
    }

    fn accepted(&self, answer: Result<Response<Body>, ureq::Error>) -> Result<Answer> {
        let (head, body) = answer.map_err(|error| self.failed(&error))?.into_parts();
        self.was_heard.store(true, Relaxed);
        let status = head.status.as_u16();
        let answer = Answer { headers: head.headers, body };
        if (200..300).contains(&status) {
            return Ok(answer);
        }
        if (300..400).contains(&status) {
            return Err(moved(&self.url, answer.headers.get("location")));
        }
        let mut said = vec![];
        // The status says enough where the reason does not come whole.
        let _ = self.read_up_to(LONGEST_DESCRIPTION, answer, &mut said);
        Err(refused(&self.url, status, &said))
    }

    fn failed(&self, error: &ureq::Error) -> Error {
        let url = &self.url;
        match error {
            ureq::Error::Timeout(ureq::Timeout::Connect) if self.was_heard.load(Relaxed) => {
                busy(url, CONNECT.min(self.timeout))
            }
            ureq::Error::Timeout(ureq::Timeout::Connect) => silent(url),
            ureq::Error::Timeout(_) => late(url, self.timeout, "endpoint"),
            ureq::Error::HostNotFound => unknown(url),
            ureq::Error::ConnectionFailed => {
                Error::unavailable(Why::RUNTIME, format!("{url} cannot be reached: is the server running?"))
            }
            ureq::Error::Io(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => unheard(url),
            ureq::Error::Io(error) => lost(url, error),
            ureq::Error::BodyExceedsLimit(bytes) => {
                Error::invalid(format!("{url} answers with more than {bytes} bytes")).because(Why::RUNTIME)
            }
            error => Error::internal(format!("{url}: {}", plain(&error.to_string()))).because(Why::RUNTIME),
        }
    }
}

/// How many bytes of a body are JSON, where others come behind it.
pub const HEADER_LENGTH: &str = "Inference-Header-Content-Length";
