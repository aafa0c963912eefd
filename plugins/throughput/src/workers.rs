//! The options that say how much is under way at once.

use skillbench_plugin_api::{Error, Options, Result};
use std::ffi::CStr;

/// Of loads.
pub const OPTIONS_SCHEMA: &CStr = cr#"{
    "type": "object",
    "properties": {
        "workers": {
            "type": "integer",
            "minimum": 1,
            "maximum": 256,
            "default": 4,
            "description": "How many loads or inferences are under way at once"
        }
    },
    "additionalProperties": false
}"#;

/// Of inferences.
pub const WITH_QUEUE: &CStr = cr#"{
    "type": "object",
    "properties": {
        "workers": {
            "type": "integer",
            "minimum": 1,
            "maximum": 256,
            "default": 4,
            "description": "How many inferences are under way at once, each with a thread of its own that waits for it"
        },
        "queue_depth": {
            "type": "integer",
            "minimum": 1,
            "maximum": 256,
            "description": "In place of workers: one thread submits so many inferences to the backend's queue, and each anew as it comes back"
        }
    },
    "additionalProperties": false
}"#;

/// How deep a backend's queue is to be; `None`: its inferences are waited for, each by a thread.
pub fn queue_depth(options: &Options) -> Result<Option<usize>> {
    match options.parse("queue_depth")? {
        None => Ok(None),
        Some(depth @ 1..=256) => Ok(Some(depth)),
        Some(other) => Err(Error::invalid(format!("option queue_depth: {other} is not between 1 and 256"))),
    }
}

pub fn count(options: &Options) -> Result<usize> {
    match options.parse("workers")?.unwrap_or(4) {
        workers @ 1..=256 => Ok(workers),
        other => Err(Error::invalid(format!("option workers: {other} is not between 1 and 256"))),
    }
}
