//! A model that is loaded in the page.

use crate::browser::Browser;
use crate::request::BrowserRequest;
use serde_json::json;
use skillbench_plugin_api::sdk::Model;
use skillbench_plugin_api::{Placement, Port, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A session of ONNX Runtime Web. Its requests share it; the page runs one at a time.
pub struct BrowserModel {
    pub(crate) browser: Arc<Browser>,
    /// Its number in the page.
    pub(crate) id: u64,
    /// For each of its calls.
    pub(crate) limit: Duration,
    pub(crate) inputs: Vec<Port>,
    pub(crate) outputs: Vec<Port>,
    pub(crate) placement: Placement,
    pub(crate) requests: AtomicU64,
}

impl Model for BrowserModel {
    type Request = BrowserRequest;

    fn placement(&self) -> Placement {
        self.placement.clone()
    }

    fn inputs(&self) -> &[Port] {
        &self.inputs
    }

    fn outputs(&self) -> &[Port] {
        &self.outputs
    }

    fn request(self: &Arc<Self>) -> Result<BrowserRequest> {
        let number = self.requests.fetch_add(1, Ordering::Relaxed);
        Ok(BrowserRequest::new(Arc::clone(self), number))
    }
}

impl Drop for BrowserModel {
    fn drop(&mut self) {
        // A browser that is lost has nothing left to free.
        let _ = self.browser.call(json!({ "op": "unload", "model": self.id }), None, self.limit);
    }
}
