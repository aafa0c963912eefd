//! The roles of a fleet, and what each may do on the server.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Measures, on the one machine that has its name.
    Agent,
    /// Measures, on machines of any name: for a cluster whose nodes share a pass.
    Site,
    /// Asks for runs, and reads what came of them.
    Submitter,
    /// Reads.
    Viewer,
    /// Makes what the fleet needs on its server.
    Keeper,
}

impl Role {
    pub const ALL: [Role; 5] = [Role::Agent, Role::Site, Role::Submitter, Role::Viewer, Role::Keeper];

    pub fn name(self) -> &'static str {
        match self {
            Role::Agent => "agent",
            Role::Site => "site",
            Role::Submitter => "submitter",
            Role::Viewer => "viewer",
            Role::Keeper => "keeper",
        }
    }

    pub fn measures(self) -> bool {
        matches!(self, Role::Agent | Role::Site)
    }

    /// Subjects that may be published to, and those that may be listened to, as a scope of the account has them.
    pub(super) fn template(self) -> Value {
        let (publish, subscribe) = match self {
            Role::Agent => (of_agents("{{name()}}"), vec!["_INBOX.{{name()}}.>"]),
            Role::Site => (of_agents("*"), vec!["_INBOX.{{name()}}.>"]),
            Role::Viewer => (texts(READING), vec!["_INBOX.{{name()}}.>"]),
            Role::Submitter => (texts(&[READING, SUBMITTING].concat()), vec!["_INBOX.{{name()}}.>"]),
            Role::Keeper => (texts(&[">"]), vec![">"]),
        };
        json!({ "pub": { "allow": publish }, "sub": { "allow": subscribe }, "subs": -1, "data": -1, "payload": -1 })
    }
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_string()).collect()
}

const READING: &[&str] = &[
    "$JS.API.INFO",
    "$JS.API.STREAM.INFO.*",
    "$JS.API.DIRECT.GET.>",
    "$JS.API.STREAM.MSG.GET.*",
    "$JS.API.CONSUMER.CREATE.SKB_SUBMISSIONS",
    "$JS.API.CONSUMER.CREATE.SKB_SUBMISSIONS.>",
    "$JS.API.CONSUMER.DELETE.SKB_SUBMISSIONS.*",
    "$JS.API.CONSUMER.INFO.SKB_SUBMISSIONS.*",
    "$JS.API.CONSUMER.MSG.NEXT.SKB_SUBMISSIONS.*",
    "$JS.API.CONSUMER.CREATE.SKB_FILES",
    "$JS.API.CONSUMER.CREATE.SKB_FILES.>",
    "$JS.API.CONSUMER.DELETE.SKB_FILES.*",
    "$JS.API.CONSUMER.INFO.SKB_FILES.*",
    "$JS.API.CONSUMER.MSG.NEXT.SKB_FILES.*",
    "$JS.API.CONSUMER.CREATE.KV_SKB_AGENTS",
    "$JS.API.CONSUMER.CREATE.KV_SKB_AGENTS.>",
    "$JS.API.CONSUMER.CREATE.KV_SKB_MACHINES",
    "$JS.API.CONSUMER.CREATE.KV_SKB_MACHINES.>",
    "$JS.API.CONSUMER.CREATE.KV_SKB_STATES",
    "$JS.API.CONSUMER.CREATE.KV_SKB_STATES.>",
    "$JS.API.CONSUMER.DELETE.KV_SKB_AGENTS.*",
    "$JS.API.CONSUMER.DELETE.KV_SKB_MACHINES.*",
    "$JS.API.CONSUMER.DELETE.KV_SKB_STATES.*",
    "$JS.FC.>",
];

const SUBMITTING: &[&str] = &[
    "skb.job.>",
    "skb.of.*.head",
    "skb.file.>",
    "$KV.SKB_STATES.>",
    "$JS.API.STREAM.PURGE.SKB_JOBS",
    "$JS.API.STREAM.PURGE.SKB_FILES",
];

/// Templates of permissions work on whole words: the word of the machine is its name, or any.
fn of_agents(machine: &str) -> Vec<String> {
    let subjects = [
        "$KV.SKB_AGENTS.{}",
        "$KV.SKB_MACHINES.{}",
        "$KV.SKB_LEASES.{}.>",
        "skb.of.*.cell.{}.*",
        "skb.of.*.end.{}.*",
        "skb.file.>",
        "$JS.API.INFO",
        "$JS.API.STREAM.INFO.*",
        "$JS.API.DIRECT.GET.SKB_SUBMISSIONS.>",
        "$JS.API.DIRECT.GET.SKB_FILES.>",
        "$JS.API.DIRECT.GET.KV_SKB_AGENTS.>",
        "$JS.API.DIRECT.GET.KV_SKB_LEASES.>",
        "$JS.API.DIRECT.GET.KV_SKB_STATES.>",
        "$JS.API.CONSUMER.INFO.SKB_JOBS.{}",
        "$JS.API.CONSUMER.CREATE.SKB_JOBS.{}.skb.job.v1.{}.>",
        "$JS.API.CONSUMER.MSG.NEXT.SKB_JOBS.{}",
        "$JS.ACK.SKB_JOBS.{}.>",
    ];
    subjects.iter().map(|subject| subject.replace("{}", machine)).collect()
}
