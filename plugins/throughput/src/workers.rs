//! The option that both benchmarks take.

use skillbench_plugin_api::{Error, Options, Result};
use std::ffi::CStr;

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

pub fn count(options: &Options) -> Result<usize> {
    match options.parse("workers")?.unwrap_or(4) {
        workers @ 1..=256 => Ok(workers),
        other => Err(Error::invalid(format!("option workers: {other} is not between 1 and 256"))),
    }
}
