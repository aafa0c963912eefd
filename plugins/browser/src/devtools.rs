//! The browser's DevTools: a thin client, as much as opening a page and learning its fate takes.
//!
//! A message is JSON that ends with a zero byte, either way.

use crate::pipe::{self, Pipe};
use crate::steady::Steady;
use serde_json::{Value, json};
use skillbench_plugin_api::{Code, Error, Result};
use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Write};
use std::time::{Duration, Instant};

pub(crate) struct DevTools {
    pipe: Steady<Pipe>,
    /// What came of a message that has not come whole.
    begun: Vec<u8>,
    /// Messages that came and were not read.
    whole: VecDeque<Value>,
    next: u64,
    /// The session of the page, once there is one.
    page: Option<String>,
    /// What became of the page, once it is known.
    crash: Option<String>,
    /// What the browser told without being asked, where someone wants to know.
    events: Option<Vec<Value>>,
}

impl DevTools {
    pub fn new(pipe: Pipe) -> DevTools {
        DevTools {
            pipe: Steady(pipe),
            begun: vec![],
            whole: VecDeque::new(),
            next: 0,
            page: None,
            crash: None,
            events: None,
        }
    }

    /// Opens a page and watches over it.
    ///
    /// # Errors
    /// What the browser says.
    pub fn open(&mut self, url: &str, limit: Duration) -> Result<()> {
        self.call("Target.setDiscoverTargets", json!({ "discover": true }), limit)?;
        let target = self.call("Target.createTarget", json!({ "url": url }), limit)?;
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let attached = self.call("Target.attachToTarget", attach, limit)?;
        self.page = attached["sessionId"].as_str().map(str::to_string);
        Ok(())
    }

    /// Calls a method of the browser where it is one of `Browser`, `Target` or `SystemInfo`, and of the page otherwise.
    ///
    /// # Errors
    /// `DeadlineExceeded` without an answer in time, `Internal` for what the browser says.
    pub fn call(&mut self, method: &str, params: Value, limit: Duration) -> Result<Value> {
        self.next += 1;
        let id = self.next;
        let mut message = json!({ "id": id, "method": method, "params": params });
        let of_page = !matches!(method.split('.').next(), Some("Browser" | "Target" | "SystemInfo"));
        if let (Some(page), true) = (&self.page, of_page) {
            message["sessionId"] = json!(page);
        }
        let failed = |error: String| Error::internal(format!("the browser's DevTools, {method}: {error}"));
        self.send(&message, limit).map_err(failed)?;
        let started = Instant::now();
        loop {
            let left = limit.saturating_sub(started.elapsed());
            let Some(mut answer) = self.read(left).map_err(failed)? else {
                let text = format!("the browser did not answer {method} within {} s", limit.as_secs_f64());
                return Err(Error::new(Code::DeadlineExceeded, text));
            };
            if answer["id"] == id {
                return match answer.get("error") {
                    Some(error) => Err(failed(error["message"].as_str().unwrap_or("no message").into())),
                    None => Ok(answer["result"].take()),
                };
            }
            // A page that is gone does not answer.
            if let (Some(crash), true) = (&self.crash, of_page) {
                return Err(failed(crash.clone()));
            }
        }
    }

    /// The events since the last call, and from now on: nothing is kept before the first.
    pub fn events(&mut self, wait: Duration) -> Vec<Value> {
        self.events.get_or_insert_default();
        let started = Instant::now();
        while let Ok(Some(_)) = self.read(wait.saturating_sub(started.elapsed())) {}
        self.events.replace(vec![]).unwrap_or_default()
    }

    /// What became of the page, waiting a little for the news. `None`: it is not known to have crashed.
    pub fn crash(&mut self, wait: Duration) -> Option<String> {
        let started = Instant::now();
        while self.crash.is_none() {
            match self.read(wait.saturating_sub(started.elapsed())) {
                Ok(Some(_)) => {}
                Ok(None) | Err(_) => break,
            }
        }
        self.crash.clone()
    }

    fn send(&mut self, message: &Value, limit: Duration) -> Result<(), String> {
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        let sent = pipe::limit(&self.pipe.0, limit).and_then(|()| self.pipe.write_all(&bytes));
        sent.map_err(|error| error.to_string())
    }

    /// The next message; events are looked at on the way. `None`: none came in time.
    fn read(&mut self, wait: Duration) -> Result<Option<Value>, String> {
        let started = Instant::now();
        loop {
            if let Some(message) = self.whole.pop_front() {
                self.look_at(&message);
                return Ok(Some(message));
            }
            let left = wait.saturating_sub(started.elapsed());
            if left.is_zero() {
                return Ok(None);
            }
            pipe::limit(&self.pipe.0, left).map_err(|error| error.to_string())?;
            let mut bytes = [0; 1 << 16];
            match self.pipe.read(&mut bytes) {
                Ok(0) => return Err("the browser closed its pipe".into()),
                Ok(count) => self.take(&bytes[..count]),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => return Ok(None),
                Err(error) => return Err(error.to_string()),
            }
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        let mut parts = bytes.split(|byte| *byte == 0);
        self.begun.extend_from_slice(parts.next().unwrap_or_default());
        for part in parts {
            let message = std::mem::replace(&mut self.begun, part.to_vec());
            self.whole.push_back(serde_json::from_slice(&message).unwrap_or_default());
        }
    }

    fn look_at(&mut self, message: &Value) {
        if message["method"] == "Target.targetCrashed" {
            let status = message["params"]["status"].as_str().unwrap_or("unknown status");
            self.crash = Some(format!("the tab crashed ({status})"));
        }
        if let (Some(events), true) = (&mut self.events, message.get("method").is_some()) {
            events.push(message.clone());
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::DevTools;
    use crate::pipe::Pipe;
    use serde_json::json;
    use skillbench_plugin_api::Code;
    use std::io::Write;
    use std::time::Duration;

    #[test]
    fn messages_come_in_any_pieces_and_the_end_of_the_pipe_is_an_error() {
        let (ours, mut theirs) = Pipe::pair().unwrap();
        let mut devtools = DevTools::new(ours);
        let limit = Duration::from_millis(50);
        theirs.write_all(b"{\"method\":\"a\"}\0{\"id\":1,\"resu").unwrap();
        assert_eq!(devtools.call("Browser.x", json!({}), limit).unwrap_err().code, Code::DeadlineExceeded);
        theirs.write_all(b"lt\":5}\0{\"id\":2,\"result\":7}\0").unwrap();
        assert_eq!(devtools.call("Browser.x", json!({}), limit).unwrap(), 7);
        drop(theirs);
        assert_eq!(devtools.call("Browser.x", json!({}), limit).unwrap_err().code, Code::Internal);
    }
}
