//! What goes wrong on the way to a server and back, in words: what happened and what to do next.

use crate::settings::without_query;
use serde::Deserialize;
use skillbench_plugin_api::{Code, Error, Why};
use std::time::Duration;
use ureq::http::HeaderValue;

/// Characters that are shown of what a server says went wrong.
const SHOWN: usize = 300;

/// Nothing comes back of a connection that is asked for.
pub fn silent(url: &str) -> Error {
    Error::unavailable(Why::RUNTIME, format!("{url} does not answer: is the server running?"))
}

/// The same of a server that accepted one before: it is at its limit.
pub fn busy(url: &str, patience: Duration) -> Error {
    let text = format!("{url} accepted no connection within {} s, though it did before", patience.as_secs_f64());
    Error::new(Code::DeadlineExceeded, text)
}

/// The whole of a request took longer than it may. `whose`: the prefix of the option.
pub fn late(url: &str, timeout: Duration, whose: &str) -> Error {
    let seconds = timeout.as_secs_f64();
    let text = format!("{url} did not answer within {seconds} s: raise `--option {whose}:timeout_s=`");
    Error::new(Code::DeadlineExceeded, text)
}

/// The name of the host leads nowhere.
pub fn unknown(url: &str) -> Error {
    Error::unavailable(Why::RUNTIME, format!("{url}: there is no such host"))
}

/// A connection is refused.
pub fn unheard(url: &str) -> Error {
    Error::unavailable(Why::RUNTIME, format!("nobody listens at {url}: start the server"))
}

/// A connection ended that was made.
pub fn lost(url: &str, error: &dyn std::fmt::Display) -> Error {
    Error::internal(format!("the connection to {url} was lost: {error}: see the server's log")).because(Why::RUNTIME)
}

/// A redirect, which nobody follows.
pub fn moved(url: &str, to: Option<&HeaderValue>) -> Error {
    let to = to.and_then(|to| to.to_str().ok()).unwrap_or("nowhere");
    let text = format!("{url} sends requests on to {}: name that address, if you mean it", plain(without_query(to)));
    Error::invalid(text).because(Why::RUNTIME)
}

/// What a server says in place of an answer.
pub fn refused(url: &str, status: u16, said: &[u8]) -> Error {
    #[derive(Deserialize)]
    struct Said {
        error: Reason,
    }
    /// As the Open Inference Protocol has it, and as OpenAI's.
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Reason {
        Text(String),
        Object { message: String },
    }
    let said = match serde_json::from_slice::<Said>(said) {
        Ok(Said { error: Reason::Text(text) | Reason::Object { message: text } }) => text,
        Err(_) => String::from_utf8_lossy(said).into(),
    };
    let text = format!("{url} answers {status}: {}", plain(&said));
    match status {
        401 | 403 => {
            let next = "give its key as SKILLBENCH_ENDPOINT_KEY in the environment";
            Error::unavailable(Why::RUNTIME, format!("{text}: {next}"))
        }
        404 => Error::not_found(text).because(Why::RUNTIME),
        400 | 422 => Error::invalid(text).because(Why::RUNTIME),
        408 | 504 => Error::new(Code::DeadlineExceeded, text),
        429 | 503 => Error::new(Code::ResourceExhausted, format!("{text}: it is overloaded, or not ready")),
        _ => Error::internal(text).because(Why::RUNTIME),
    }
}

/// A server's words, as far as they can be shown.
pub fn plain(text: &str) -> String {
    let text: String = text.chars().map(|char| if char.is_control() { ' ' } else { char }).take(SHOWN).collect();
    if text.trim().is_empty() { "without a reason".into() } else { text.trim().into() }
}
