//! One request and its answer, over a connection that was kept or a new one.

use super::answer::Answer;
use super::body::Drawn;
use super::connection::Open;
use super::door::Door;
use super::noticed::Noticed;
use super::options::Question;
use crate::failure::{lost, moved, refused};
use crate::settings::Settings;
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{
    ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONNECTION, CONTENT_TYPE, HOST, HeaderMap, HeaderValue, USER_AGENT,
};
use hyper::{Method, Request, Uri};
use skillbench_plugin_api::{Error, Result, Why};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// Bytes of what a server says in place of an answer.
const LONGEST_REFUSAL: usize = 1 << 20;
/// Bytes that are read behind an answer, so that its connection is used again.
const LONGEST_REST: usize = 1 << 20;

pub struct Asker {
    pub door: Door,
    url: String,
    path: Uri,
    headers: HeaderMap,
    question: Question,
    /// Of a request, to the end of its answer.
    timeout: Duration,
    noticed: Arc<Noticed>,
}

impl Asker {
    /// # Errors
    /// `InvalidArgument` for an address or a key that HTTP has no words for.
    pub fn new(settings: &Settings, question: &Question, noticed: &Arc<Noticed>) -> Result<Asker> {
        Ok(Asker {
            door: Door::new(settings)?,
            url: settings.url.clone(),
            path: path(&settings.url, question.api.path())?,
            headers: headers(settings)?,
            question: question.clone(),
            timeout: settings.timeout,
            noticed: Arc::clone(noticed),
        })
    }

    /// Has the server close each connection behind its answer from now on: it does so anyway, and a request that was sent meanwhile would be lost.
    pub fn keep_no_connection(&mut self) {
        self.headers.insert(CONNECTION, HeaderValue::from_static("close"));
        self.noticed.closes_connections.store(true, Relaxed);
    }

    /// Asks, and waits for all of the answer: when each token was there, by the clock `now`; none of embeddings. `kept` is a connection that may be
    /// used, and afterwards the one that may be used again.
    ///
    /// # Errors
    /// Whatever went wrong. Nothing that was sent is sent again.
    pub async fn ask(&self, kept: &mut Option<Open>, asked: Drawn, now: impl Fn() -> u64) -> Result<Vec<u64>> {
        let Drawn { body, tokens: wanted } = asked;
        let mut answer = Answer::new(&self.url, &self.question);
        match tokio::time::timeout(self.timeout, self.exchange(kept, body, &mut answer, &now)).await {
            Ok(exchanged) => exchanged?,
            // Only its connection is lost.
            Err(_) if answer.is_done() => {}
            Err(_) => return Err(answer.late(self.timeout)),
        }
        let told = answer.end(now())?;
        let pieces = told.pieces.len() as u64;
        if told.tokens.is_some_and(|tokens| tokens != pieces) {
            self.noticed.counts_otherwise.store(true, Relaxed);
        }
        // One more may be what was held back until the end.
        if told.tokens.is_none() && pieces > wanted as u64 + 1 {
            let text = format!(
                "{} sends {pieces} pieces of text for at most {wanted} tokens, and does not say how many tokens they are (usage): no figure can be by token",
                self.url
            );
            return Err(Error::invalid(text).because(Why::RUNTIME));
        }
        if self.question.ignore_eos && told.tokens.is_some_and(|tokens| tokens < wanted as u64) {
            self.noticed.ends_early.store(true, Relaxed);
        }
        Ok(told.pieces)
    }

    /// The connection is in `kept` only where it may be used again.
    async fn exchange(
        &self,
        kept: &mut Option<Open>,
        question: Bytes,
        answer: &mut Answer<'_>,
        now: &impl Fn() -> u64,
    ) -> Result<()> {
        let mut sent = None;
        if let Some(mut open) = kept.take() {
            let head = open.send(self.request(&question)).await.map_err(|error| answer.lost(&error))?;
            sent = head.map(|head| (open, head));
        }
        let (mut open, head) = match sent {
            Some(sent) => sent,
            // None was kept, or the server closed it in between: nothing was sent over it.
            None => {
                let mut open = self.door.open().await?;
                let head = open.send(self.request(&question)).await.map_err(|error| answer.lost(&error))?;
                (open, head.ok_or_else(|| lost(&self.url, &"it was closed at once"))?)
            }
        };
        let (head, mut body) = head.into_parts();
        if head.status.is_redirection() {
            return Err(moved(&self.url, head.headers.get("location")));
        }
        if !head.status.is_success() {
            let (said, is_whole) = said(&mut open, &mut body).await;
            *kept = Some(open).filter(|open| is_whole && self.keeps(open));
            return Err(refused(&self.url, head.status.as_u16(), &said));
        }
        answer.begin();
        let mut rest = 0;
        while let Some(frame) = open.next(&mut body).await {
            let at = now();
            match frame {
                Ok(frame) if !answer.is_done() => {
                    frame.data_ref().map_or(Ok(()), |bytes| answer.take(bytes, at))?;
                }
                Ok(frame) if rest <= LONGEST_REST => rest += frame.data_ref().map_or(0, Bytes::len),
                Err(error) if !answer.is_done() => return Err(answer.lost(&error)),
                // The answer is there, and its connection is not used again.
                Ok(_) | Err(_) => return Ok(()),
            }
        }
        *kept = Some(open).filter(|open| self.keeps(open));
        Ok(())
    }

    fn keeps(&self, open: &Open) -> bool {
        open.is_kept() && !self.headers.contains_key(CONNECTION)
    }

    fn request(&self, question: &Bytes) -> Request<Full<Bytes>> {
        let mut request = Request::new(Full::new(question.clone()));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.path.clone();
        *request.headers_mut() = self.headers.clone();
        request
    }
}

/// What a server says in place of an answer, and whether that was all. Its status says enough where this does not come whole.
async fn said(open: &mut Open, body: &mut Incoming) -> (Vec<u8>, bool) {
    let mut said = vec![];
    while let Some(frame) = open.next(body).await {
        match frame {
            Ok(frame) if said.len() < LONGEST_REFUSAL => said.extend(frame.data_ref().into_iter().flatten()),
            Ok(_) | Err(_) => return (said, false),
        }
    }
    (said, true)
}

/// The path of a request. Who names an address with its `/v1` means the same.
fn path(url: &str, path: &str) -> Result<Uri> {
    let wrong = |_| Error::invalid(format!("{url} is no address: it has the form http://HOST:PORT"));
    let before = url.parse::<Uri>().map_err(wrong)?.path().trim_end_matches('/').to_string();
    let path = if before.ends_with("/v1") { path.trim_start_matches("/v1") } else { path };
    format!("{before}{path}").parse().map_err(wrong)
}

fn headers(settings: &Settings) -> Result<HeaderMap> {
    let fixed = HeaderValue::from_static;
    let host = HeaderValue::from_str(&settings.authority)
        .map_err(|_| Error::invalid(format!("{} names a host that HTTP has no letters for", settings.url)))?;
    let mut headers = HeaderMap::from_iter([
        (HOST, host),
        (USER_AGENT, fixed(concat!("skillbench/", env!("CARGO_PKG_VERSION")))),
        (ACCEPT, fixed("*/*")),
        (ACCEPT_ENCODING, fixed("identity")),
        (CONTENT_TYPE, fixed("application/json")),
    ]);
    if let Some(key) = &settings.key {
        let mut key = HeaderValue::from_str(&format!("Bearer {key}"))
            .map_err(|_| Error::invalid("SKILLBENCH_ENDPOINT_KEY has letters that a header of HTTP cannot have"))?;
        key.set_sensitive(true);
        headers.insert(AUTHORIZATION, key);
    }
    Ok(headers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_with_and_without_its_version_means_the_same() {
        for (url, wanted) in [
            ("http://a:1", "/v1/completions"),
            ("http://a:1/v1", "/v1/completions"),
            ("https://a/team", "/team/v1/completions"),
            ("https://a/team/v1", "/team/v1/completions"),
        ] {
            assert_eq!(path(url, "/v1/completions").unwrap(), wanted, "{url}");
        }
    }
}
