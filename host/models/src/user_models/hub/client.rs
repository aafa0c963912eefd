//! Requests: redirects are followed here, so that the token goes to the endpoint alone, and what may pass is tried again.

use super::{HubError, Settings, defaults};
use serde::de::DeserializeOwned;
use std::time::Duration;
use ureq::http::{HeaderMap, Response};
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, Body};

pub(super) struct Client<'a> {
    agent: Agent,
    pub settings: &'a Settings,
}

/// Redirects of one request.
const HOPS: usize = 10;
/// Bytes of a list of files.
const LONGEST_LIST: u64 = 64 << 20;

impl<'a> Client<'a> {
    pub fn new(settings: &'a Settings) -> Client<'a> {
        let seconds = |seconds: f64| Some(Duration::from_secs_f64(seconds));
        let mut tls = TlsConfig::builder();
        if !settings.certificates.is_empty() {
            tls = tls.root_certs(RootCerts::new_with_certs(&settings.certificates));
        }
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .user_agent(concat!("skillbench/", env!("CARGO_PKG_VERSION")))
            .proxy(settings.proxy.clone())
            .tls_config(tls.build())
            .timeout_connect(seconds(defaults().connect_s))
            .timeout_recv_response(seconds(defaults().answer_s))
            .timeout_per_read(Some(settings.read_timeout))
            .build();
        Client { agent: config.into(), settings }
    }

    /// One attempt, with its redirects; from this byte on.
    pub fn get(&self, url: &str, from: u64) -> Result<Response<Body>, HubError> {
        let mut url = url.to_string();
        for _ in 0..HOPS {
            let network = |error: ureq::Error| HubError::Network { url: url.clone(), error: error.to_string() };
            let mut request = self.agent.get(&url);
            if let Some(token) =
                self.settings.token.as_ref().filter(|_| origin(&url) == origin(&self.settings.endpoint))
            {
                request = request.header("Authorization", format!("Bearer {token}"));
            }
            if from > 0 {
                request = request.header("Range", format!("bytes={from}-"));
            }
            let answer = request.call().map_err(network)?;
            if !matches!(answer.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
                return Ok(answer);
            }
            let unclear = |what: &str| HubError::Answer { url: url.clone(), what: what.into() };
            let to = header(answer.headers(), "location").ok_or_else(|| unclear("a redirect to nowhere"))?;
            let next = joined(&url, to);
            if url.starts_with("https://") && !next.starts_with("https://") {
                return Err(unclear("a redirect to an address that is not encrypted"));
            }
            url = next;
        }
        Err(HubError::Answer { url, what: format!("more than {HOPS} redirects") })
    }

    /// An answer in JSON, or the status that stands in its place.
    pub fn json<T: DeserializeOwned>(&self, url: &str) -> Result<Result<T, (u16, HeaderMap)>, HubError> {
        let mut attempt = 0;
        loop {
            attempt += 1;
            let failed = match self.get(url, 0) {
                Ok(answer) if answer.status().is_success() => match self.read(url, answer) {
                    Ok(value) => return Ok(Ok(value)),
                    Err(error @ HubError::Network { .. }) => (error, None),
                    Err(error) => return Err(error),
                },
                Ok(answer) if !passes(answer.status().as_u16()) => {
                    return Ok(Err((answer.status().as_u16(), answer.headers().clone())));
                }
                Ok(answer) => {
                    let status = answer.status().as_u16();
                    (HubError::Server { url: url.into(), status, attempts: attempt }, retry_after(answer.headers()))
                }
                Err(error @ HubError::Network { .. }) => (error, None),
                Err(error) => return Err(error),
            };
            if attempt >= self.settings.attempts {
                return Err(failed.0);
            }
            self.pause(attempt, failed.1);
        }
    }

    fn read<T: DeserializeOwned>(&self, url: &str, answer: Response<Body>) -> Result<T, HubError> {
        let read = answer.into_body().into_with_config().limit(LONGEST_LIST).read_to_vec();
        let bytes = read.map_err(|error| HubError::Network { url: url.into(), error: error.to_string() })?;
        serde_json::from_slice(&bytes).map_err(|error| HubError::Answer { url: url.into(), what: error.to_string() })
    }

    /// Waits after a failed attempt, longer after each; as long as the server asks, within reason.
    pub fn pause(&self, attempt: u32, asked: Option<Duration>) {
        let longest = Duration::from_secs_f64(defaults().longest_pause_s);
        let own = self.settings.pause.saturating_mul(1 << attempt.saturating_sub(1).min(16));
        std::thread::sleep(asked.unwrap_or(own).min(longest));
    }
}

/// Whether a status says that another attempt may do.
pub(super) fn passes(status: u16) -> bool {
    matches!(status, 408 | 429 | 500..=599)
}

pub(super) fn header<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok().map(str::trim)
}

pub(super) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    header(headers, "retry-after")?.parse().ok().map(Duration::from_secs)
}

/// Scheme, host and port.
fn origin(url: &str) -> &str {
    let after = url.find("://").map_or(0, |at| at + 3);
    url[after..].find(['/', '?', '#']).map_or(url, |end| &url[..after + end])
}

/// Where a redirect leads.
fn joined(from: &str, to: &str) -> String {
    match () {
        () if to.starts_with("http://") || to.starts_with("https://") => to.into(),
        () if to.starts_with("//") => format!("{}:{to}", from.split_once(':').map_or("https", |(scheme, _)| scheme)),
        () if to.starts_with('/') => format!("{}{to}", origin(from)),
        () => {
            let path = from.split(['?', '#']).next().unwrap_or(from);
            let folder = path.rfind('/').filter(|at| *at >= origin(from).len()).map_or(path, |at| &path[..at]);
            format!("{folder}/{to}")
        }
    }
}

/// A piece of an address: what has a meaning there is written as numbers.
pub(super) fn encoded(text: &str, keep: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) || keep.as_bytes().contains(&byte);
    text.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirects_lead_where_they_say() {
        let from = "https://hub.test:8/api/models/a?x=/y";
        for (to, expected) in [
            ("https://cdn.test/f", "https://cdn.test/f"),
            ("//cdn.test/f", "https://cdn.test/f"),
            ("/b/c", "https://hub.test:8/b/c"),
            ("c", "https://hub.test:8/api/models/c"),
        ] {
            assert_eq!(joined(from, to), expected);
        }
        assert_eq!(joined("https://hub.test", "c"), "https://hub.test/c");
        assert_eq!(origin("https://hub.test?x"), "https://hub.test");
    }

    #[test]
    fn names_are_written_so_that_they_stay_names() {
        assert_eq!(encoded("refs/pr/1", ""), "refs%2Fpr%2F1");
        assert_eq!(encoded("onnx/a b+é.onnx", "/"), "onnx/a%20b%2B%C3%A9.onnx");
    }
}
