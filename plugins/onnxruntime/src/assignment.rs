//! Which provider each node of a session was given to, as the session recorded it.

use crate::errors::check;
use ort::AsPointer;
use ort::session::Session;
use skillbench_plugin_api::Result;
use std::collections::BTreeMap;
use std::ffi::{CStr, c_char};
use std::slice;

/// The configuration entry that makes a session record it.
pub(crate) const RECORD: (&str, &str) = ("session.record_ep_graph_assignment_info", "1");

/// Nodes of a session, by where they run.
#[derive(Default)]
pub(crate) struct Assignment {
    pub total: u64,
    /// Those that run on the provider that was asked for.
    pub on_provider: u64,
    /// How many of which operator run elsewhere.
    pub elsewhere: BTreeMap<String, u64>,
    /// The nodes that run elsewhere, by name and operator; of one without a name an empty text.
    pub names: Vec<(String, String)>,
}

impl Assignment {
    /// The same without so many nodes that run elsewhere: the engine's name has them.
    pub fn without(self, elsewhere: u64) -> Assignment {
        Assignment { total: self.total - elsewhere.min(self.total), ..self }
    }

    /// Counts the nodes as they were when they were given out: later fusions make fewer of them. `None` where the session
    /// cannot tell.
    pub fn read(session: &Session, provider: &str) -> Option<Assignment> {
        // SAFETY: the session is alive and lends its records; a provider's name and list of nodes are part of them.
        unsafe { count(session, provider) }.ok().filter(|found| found.total > 0)
    }
}

/// # Safety
/// The session was made with [`RECORD`].
unsafe fn count(session: &Session, provider: &str) -> Result<Assignment> {
    let api = ort::api();
    let mut found = Assignment::default();
    let (mut parts, mut part_count) = (std::ptr::null(), 0);
    // SAFETY: pointers to locals are writable; what comes back belongs to the session and holds as many elements as said.
    unsafe {
        check((api.Session_GetEpGraphAssignmentInfo)(session.ptr(), &raw mut parts, &raw mut part_count))?;
        if parts.is_null() {
            return Ok(found);
        }
        for part in slice::from_raw_parts(parts, part_count) {
            let (mut name, mut nodes, mut node_count) = (std::ptr::null(), std::ptr::null(), 0);
            check((api.EpAssignedSubgraph_GetEpName)(*part, &raw mut name))?;
            check((api.EpAssignedSubgraph_GetNodes)(*part, &raw mut nodes, &raw mut node_count))?;
            found.total += node_count as u64;
            if !name.is_null() && CStr::from_ptr(name).to_bytes() == provider.as_bytes() {
                found.on_provider += node_count as u64;
                continue;
            }
            for node in slice::from_raw_parts(nodes, node_count) {
                let (mut operator, mut name) = (std::ptr::null(), std::ptr::null());
                check((api.EpAssignedNode_GetOperatorType)(*node, &raw mut operator))?;
                check((api.EpAssignedNode_GetName)(*node, &raw mut name))?;
                let text = |text: *const c_char| match text.is_null() {
                    true => String::new(),
                    false => CStr::from_ptr(text).to_string_lossy().into_owned(),
                };
                let (name, operator) = (text(name), text(operator));
                if !operator.is_empty() {
                    *found.elsewhere.entry(operator.clone()).or_default() += 1;
                }
                found.names.push((name, operator));
            }
        }
    }
    Ok(found)
}
