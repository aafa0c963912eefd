//! A backend on whatever machine this is: it opens, or says in a sentence with evidence why it cannot. Both are looked at;
//! neither is skipped.

use crate::Listening;
use skillbench_plugin_api::client::{BackendRef, Instance};
use skillbench_plugin_api::host_tables::HostTable;
use skillbench_plugin_api::sdk::Backend;
use skillbench_plugin_api::{Code, Error, Options, Result, Why};

/// What came of opening.
pub struct Opened {
    pub instance: Result<Instance>,
    pub evidence: Vec<(String, String)>,
}

impl Opened {
    /// What was found where this was looked at.
    pub fn found(&self, what: &str) -> Option<&str> {
        self.evidence.iter().find(|(name, _)| name == what).map(|(_, found)| found.as_str())
    }
}

/// Opens the backend without options.
pub fn open<B: Backend>() -> Opened {
    let host: &'static Listening = Box::leak(Box::default());
    let instance = BackendRef::linked::<B>().unwrap().open(HostTable::leak(host), &Options::default());
    Opened { instance, evidence: host.heard() }
}

/// A GPU's backend that cannot run here names what is missing and the next step.
pub fn refused_with_a_next_step(error: &Error) {
    assert_eq!(error.code, Code::Unavailable, "{error}");
    assert!(error.why.0 & (Why::DRIVER.0 | Why::DEVICE.0 | Why::RUNTIME.0) != 0, "{error}");
    let steps = [": use ", "install", "check ", "start the container", "join the groups"];
    assert!(steps.iter().any(|step| error.message.contains(step)), "a next step: {error}");
    assert!(error.message.len() < 500, "it fits the contract's buffer: {error}");
}
