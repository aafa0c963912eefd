//! Any page, in a browser of its own: what tests of pages need.

use crate::account::RunAs;
use crate::devtools::DevTools;
use crate::launch::launch;
use crate::process::{Process, Started};
use serde_json::{Value, json};
use skillbench_plugin_api::{Error, Result};
use std::path::Path;
use std::time::Duration;

/// A browser with one empty tab. It ends when this is dropped.
pub struct Tab {
    devtools: DevTools,
    limit: Duration,
    _process: Process,
}

impl Tab {
    /// Starts a browser; `limit` is for the start and for each call.
    ///
    /// # Errors
    /// `Unavailable` for what does not start or is no browser.
    pub fn open(browser: &Path, limit: Duration) -> Result<Tab> {
        // Its pages are the caller's own files.
        let Started { process, mut devtools, .. } = launch(browser, &RunAs::Own, limit)?.started;
        devtools.open("about:blank", limit)?;
        Ok(Tab { devtools, limit, _process: process })
    }

    /// Calls a method of the DevTools protocol.
    ///
    /// # Errors
    /// `DeadlineExceeded` without an answer in time, `Internal` for what the browser says.
    pub fn call(&mut self, method: &str, params: Value) -> Result<Value> {
        self.devtools.call(method, params, self.limit)
    }

    /// What an expression comes to in the page, promises awaited.
    ///
    /// # Errors
    /// As for a call, and `Internal` for what the expression throws.
    pub fn value(&mut self, expression: &str) -> Result<Value> {
        let params = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let mut answer = self.call("Runtime.evaluate", params)?;
        match answer.get("exceptionDetails") {
            Some(thrown) => Err(Error::internal(format!("{expression}: {thrown}"))),
            None => Ok(answer["result"]["value"].take()),
        }
    }

    /// The events of the domains that were enabled, since the last time this was asked. The first time begins to keep them.
    pub fn events(&mut self, wait: Duration) -> Vec<Value> {
        self.devtools.events(wait)
    }
}
