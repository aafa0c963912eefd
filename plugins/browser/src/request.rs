//! One lane of work in the page.
//!
//! Inputs go to the page when they are bound, and stay there; a run is one message there and one back, and leaves the
//! outputs in the page's memory; an output comes over when it is taken.

use crate::dtypes;
use crate::model::BrowserModel;
use serde_json::json;
use skillbench_plugin_api::sdk::{Bindings, Bound, Model, Request};
use skillbench_plugin_api::{DType, Error, HostTensor, OwnedTensor, Result, Timing};
use std::sync::Arc;
use std::time::Duration;

pub struct BrowserRequest {
    model: Arc<BrowserModel>,
    /// Its name in the page.
    id: String,
    /// Which outputs of the last run nobody has taken yet.
    there: Vec<bool>,
}

impl BrowserRequest {
    pub(crate) fn new(model: Arc<BrowserModel>, number: u64) -> BrowserRequest {
        let there = vec![false; model.outputs().len()];
        BrowserRequest { id: format!("{}.{number}", model.id), model, there }
    }

    /// Sends an input to the page.
    ///
    /// # Errors
    /// What the page says.
    pub fn send(&mut self, index: usize, dtype: DType, shape: &[usize], bytes: &[u8]) -> Result<()> {
        let message = json!({
            "op": "bind", "request": self.id, "model": self.model.id, "name": self.model.inputs[index].name,
            "type": dtypes::to_name(dtype), "dims": shape,
        });
        self.model.browser.call(message, Some(bytes), self.model.limit).map(|_| ())
    }

    /// Runs once with the inputs that were sent, and tells how long it took in the page, by the page's clock.
    ///
    /// # Errors
    /// What the page says.
    pub fn infer(&mut self) -> Result<Option<Duration>> {
        self.there.fill(false);
        let message = json!({ "op": "run", "request": self.id, "model": self.model.id });
        let reply = self.model.browser.call(message, None, self.model.limit)?;
        self.there.fill(true);
        let ran_ms = reply.value["ran_ms"].as_f64();
        Ok(ran_ms.and_then(|ms| Duration::try_from_secs_f64(ms * 1e-3).ok()))
    }

    /// Brings an output of the last run over.
    ///
    /// # Errors
    /// What the page says.
    pub fn receive(&mut self, index: usize) -> Result<HostTensor> {
        let port = &self.model.outputs[index];
        let message = json!({ "op": "output", "request": self.id, "name": port.name });
        let reply = self.model.browser.call(message, None, self.model.limit)?;
        let dims = reply.value["dims"].as_array().map(Vec::as_slice).unwrap_or_default();
        let shape: Vec<usize> = dims.iter().map(|dim| dim.as_u64().unwrap_or(0) as usize).collect();
        let found = reply.value["type"].as_str().unwrap_or_default();
        let mut tensor = HostTensor::zeroed(port.dtype, &shape)?;
        if dtypes::from_name(found) != Some(port.dtype) || tensor.bytes().len() != reply.bytes.len() {
            let (name, declared, bytes) = (&port.name, port.dtype.name(), reply.bytes.len());
            let text = format!("output '{name}' came as {bytes} bytes of {found} {shape:?}, declared {declared}");
            return Err(Error::internal(text));
        }
        tensor.bytes_mut().copy_from_slice(&reply.bytes);
        Ok(tensor)
    }
}

impl Request for BrowserRequest {
    fn bind_input(&mut self, index: usize, tensor: &Bound) -> Result<()> {
        let bytes = tensor.as_bytes().ok_or_else(|| Error::internal("an input that is not in host memory"))?;
        self.send(index, tensor.dtype(), tensor.shape(), bytes)
    }

    fn run(&mut self, bound: &Bindings) -> Result<Timing> {
        let (ran, around) = bound.timed(|| self.infer())?;
        Ok(within(around, ran).unwrap_or_default())
    }

    fn take_output(&mut self, index: usize) -> Result<Option<OwnedTensor>> {
        if !self.there.get(index).is_some_and(|there| *there) {
            return Ok(None);
        }
        let tensor = self.receive(index)?;
        self.there[index] = false;
        Ok(Some(OwnedTensor::from_host(tensor)))
    }
}

/// When the page worked: its clock tells how long, and not when between the message there and the one back. `None` for less than that
/// clock can tell.
fn within(around: Timing, ran: Option<Duration>) -> Option<Timing> {
    /// The clock of a page that is isolated moves in steps of 5 us.
    const STEP_NS: u64 = 5_000;
    let ran_ns = u64::try_from(ran?.as_nanos()).ok().filter(|ns| *ns >= 4 * STEP_NS)?;
    let (from, to) = (around.start_ns?, around.end_ns?);
    let off = to.checked_sub(from)?.checked_sub(ran_ns)? / 2;
    let start_ns = from + off;
    Some(Timing {
        start_ns: Some(start_ns),
        end_ns: Some(start_ns + ran_ns),
        clock_error_ns: Some(off),
        ..Timing::default()
    })
}

impl Drop for BrowserRequest {
    fn drop(&mut self) {
        // A browser that is lost has nothing left to free.
        let _ = self.model.browser.call(json!({ "op": "forget", "request": self.id }), None, self.model.limit);
    }
}
