//! What an alert says: `skillbench.alert/2`.

use serde::{Deserialize, Serialize};
use skillbench_record::hash::sha256_text;
use skillbench_record::shown::markdown;
use skillbench_record::time::now_utc;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A comparison found it worse.
    Regression,
    /// An absolute limit is broken.
    Limit,
    /// A history changed for the worse.
    Change,
}

/// What was measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CellName {
    pub plugin: String,
    pub device: String,
    pub model: String,
    pub benchmark: String,
    /// The point of the workload grid: "batch=4 sequence=32".
    pub axes: String,
    pub precision: Option<String>,
    pub threads: Option<i64>,
    /// Options of the plugin that differ from its defaults.
    #[serde(default)]
    pub options: Option<String>,
    /// `hardware`, `remote`, `emulated` or `unverified`.
    #[serde(alias = "standing")]
    pub trust: String,
}

/// The evidence. What a kind of alert has no use for is null.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    pub metric: String,
    pub unit: String,
    pub before: Option<f64>,
    pub before_n: Option<u64>,
    pub after: Option<f64>,
    pub after_n: Option<u64>,
    /// After over before.
    pub ratio: Option<f64>,
    pub ratio_interval: Option<[f64; 2]>,
    pub p: Option<f64>,
    pub limit: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Alert {
    pub schema: String,
    /// The same finding has the same id, whenever it is found.
    pub id: String,
    pub kind: Kind,
    pub made_at: String,
    pub machine: String,
    pub cell: CellName,
    pub figures: Figures,
    /// The run it is about.
    pub run: String,
    /// In a sentence.
    pub message: String,
}

impl Alert {
    pub fn new(kind: Kind, machine: &str, cell: CellName, figures: Figures, run: &str, message: &str) -> Alert {
        let told = serde_json::to_string(&(kind, machine, &cell, &figures.metric, run)).unwrap_or_default();
        Alert {
            schema: "skillbench.alert/2".into(),
            id: sha256_text(&told)[..16].into(),
            kind,
            made_at: now_utc(),
            machine: machine.into(),
            cell,
            figures,
            run: run.into(),
            message: message.into(),
        }
    }
}

/// All alerts of one finding, with a text that services for chats show as it is: no name in it calls anybody or links anywhere.
#[derive(Serialize)]
struct Envelope<'a> {
    schema: &'static str,
    text: String,
    alerts: &'a [Alert],
}

/// What commands and webhooks are given: `skillbench.alerts/1`.
pub fn envelope(alerts: &[Alert]) -> Vec<u8> {
    let text = alerts.iter().map(|alert| markdown::line(&alert.message)).collect::<Vec<_>>().join("\n");
    serde_json::to_vec(&Envelope { schema: "skillbench.alerts/1", text, alerts }).unwrap_or_default()
}
