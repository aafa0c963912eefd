//! The browser's DevTools: a thin client, as much as opening a page and learning its fate takes.

use serde_json::{Value, json};
use skillbench_plugin_api::{Code, Error, Result};
use std::io::ErrorKind;
use std::net::TcpStream;
use std::time::{Duration, Instant};
use tungstenite::{Message, WebSocket};

pub(crate) struct DevTools {
    socket: WebSocket<TcpStream>,
    next: u64,
    /// The session of the page, once there is one.
    page: Option<String>,
    /// What became of the page, once it is known.
    crash: Option<String>,
    /// What the browser told without being asked, where someone wants to know.
    events: Option<Vec<Value>>,
}

impl DevTools {
    /// # Errors
    /// `Internal` where the browser does not answer in time.
    pub fn connect(address: &str, limit: Duration) -> Result<DevTools> {
        let host = address.strip_prefix("ws://").and_then(|rest| rest.split('/').next()).unwrap_or_default();
        let failed = |error: String| Error::internal(format!("the browser's DevTools at {address}: {error}"));
        let stream = TcpStream::connect(host).map_err(|error| failed(error.to_string()))?;
        let set = stream.set_nodelay(true).and_then(|()| stream.set_read_timeout(Some(limit)));
        set.map_err(|error| failed(error.to_string()))?;
        let (socket, _) = tungstenite::client(address, stream).map_err(|error| failed(error.to_string()))?;
        Ok(DevTools { socket, next: 0, page: None, crash: None, events: None })
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
        let domain = method.split('.').next().unwrap_or_default();
        match (&self.page, domain) {
            (_, "Browser" | "Target" | "SystemInfo") | (None, _) => {}
            (Some(page), _) => message["sessionId"] = json!(page),
        }
        let failed = |error: String| Error::internal(format!("the browser's DevTools, {method}: {error}"));
        self.socket.send(Message::text(message.to_string())).map_err(|error| failed(error.to_string()))?;
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

    /// The next message; events are looked at on the way. `None`: none came in time.
    fn read(&mut self, wait: Duration) -> Result<Option<Value>, String> {
        if wait.is_zero() {
            return Ok(None);
        }
        self.socket.get_ref().set_read_timeout(Some(wait)).map_err(|error| error.to_string())?;
        match self.socket.read() {
            Ok(message) => {
                let message: Value =
                    message.to_text().ok().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
                if message["method"] == "Target.targetCrashed" {
                    let status = message["params"]["status"].as_str().unwrap_or("unknown status");
                    self.crash = Some(format!("the tab crashed ({status})"));
                }
                if let (Some(events), true) = (&mut self.events, message.get("method").is_some()) {
                    events.push(message.clone());
                }
                Ok(Some(message))
            }
            Err(tungstenite::Error::Io(error))
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) =>
            {
                Ok(None)
            }
            Err(error) => Err(error.to_string()),
        }
    }
}
