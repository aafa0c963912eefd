//! The messages, in JSON. Each says which form it has; a reader takes fields that it does not know as if they were not there, and refuses
//! a message that names one of them in `must_understand`.

use crate::files::NamedFile;
use crate::names;
use crate::own::{OWN, OwnFiles};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skillbench_engine::bench::Found;
use skillbench_engine::run::Rejected;
use skillbench_record::hash::sha256_text;
use skillbench_record::{Axes, Cell, CellName, ClockOffset, Environment, Outcome as Ended, RunRequest, Selection};
use skillbench_worker::{Description, DeviceRecord};
use std::collections::{BTreeMap, BTreeSet};

pub const SUBMISSION: &str = "skillbench.submission/1";
pub const JOB: &str = "skillbench.job/1";
pub const OUTCOME: &str = "skillbench.outcome/1";
pub const LOT_END: &str = "skillbench.lot-end/1";
pub const MACHINE: &str = "skillbench.machine/1";

/// What this host understands beyond the forms themselves.
pub const UNDERSTOOD: [&str; 1] = [OWN];

/// A document that can be read, and must not be taken for what it says.
#[derive(Debug, thiserror::Error)]
pub enum FormError {
    #[error("it is no {form}: {error}")]
    Json { form: &'static str, error: serde_json::Error },
    #[error("it is '{found}', and this host reads '{form}': update the older of the two")]
    Other { form: &'static str, found: String },
    #[error("it has to be understood for {what}, which this host does not know: update it")]
    MustUnderstand { what: String },
}

/// What every message begins with.
#[derive(Deserialize)]
struct Head {
    schema: String,
    #[serde(default)]
    must_understand: Vec<String>,
}

/// Reads a message of this form.
///
/// # Errors
/// It is none, or asks for more than this host knows.
pub fn read<T: for<'d> Deserialize<'d>>(form: &'static str, text: &str) -> Result<T, FormError> {
    let json = |error| FormError::Json { form, error };
    let head: Head = serde_json::from_str(text).map_err(json)?;
    if head.schema != form {
        return Err(FormError::Other { form, found: head.schema.chars().take(80).collect() });
    }
    if let Some(what) = head.must_understand.iter().find(|what| !UNDERSTOOD.contains(&what.as_str())) {
        return Err(FormError::MustUnderstand { what: what.chars().take(80).collect() });
    }
    serde_json::from_str(text).map_err(json)
}

/// What one request asks of a fleet: a run on each of some machines.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Submission {
    pub schema: String,
    pub id: String,
    /// Who submitted it.
    pub by: String,
    /// When, in UTC.
    pub at: String,
    /// The command line, as runs keep it.
    pub command: Vec<String>,
    pub seed: u64,
    pub runs: Vec<MachineRun>,
    pub lots: Vec<Lot>,
    /// What it is measured with and machines do not have.
    #[serde(default, skip_serializing_if = "OwnFiles::is_empty")]
    pub own: OwnFiles,
    #[serde(default)]
    pub must_understand: Vec<String>,
}

/// The part of a submission that is a run of one machine.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct MachineRun {
    pub machine: String,
    pub request: RunRequest,
    /// As the machine announced it.
    pub environment: Environment,
    #[serde(default)]
    pub clock: Option<ClockOffset>,
    pub cells: Vec<AskedCell>,
    /// What is known of the cells ahead of measuring, but for their places and axes: the same for many.
    pub kinds: Vec<Cell>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AskedCell {
    pub key: String,
    pub name: CellName,
    /// Index into the kinds beside it. One that a stated rule skips is skipped in its kind, and is in no lot.
    pub kind: usize,
}

/// What tells under which host and on which machine figures were measured: what stays the same as long as an agent lives.
pub fn conditions(environment: &Environment) -> String {
    let Environment { machine, hostname, cpu_model, os, arch, kernel, host_version, .. } = environment;
    // A container has another name each time, on the same machine.
    let hostname = machine.is_none().then_some(hostname);
    let told = serde_json::json!([machine, hostname, cpu_model, os, arch, kernel, host_version]);
    sha256_text(&told.to_string())
}

/// What whoever reads a message with such files has to understand.
pub(crate) fn needed(own: &OwnFiles) -> Vec<String> {
    if own.is_empty() { vec![] } else { vec![OWN.into()] }
}

/// Whether a kind of cells is to be measured: no rule skips it.
pub fn is_planned(kind: &Cell) -> bool {
    kind.outcome == Cell::blank().outcome
}

impl AskedCell {
    /// The cell at a place of a plan, with an outcome that nobody measured.
    pub fn ended(&self, kinds: &[Cell], index: usize, outcome: Ended) -> Cell {
        let kind = kinds.get(self.kind).cloned().unwrap_or_else(Cell::blank);
        Cell { index, axes: self.name.axes.clone(), outcome, ..kind }
    }

    /// Whether a cell was tried in place of this one: the same with a smaller batch.
    pub fn stands_for(&self, cell: &Cell) -> bool {
        const BATCH: &str = "batch";
        let is_smaller = cell.axes.get(BATCH) < self.name.axes.get(BATCH);
        let others = |axes: &Axes| {
            let others = axes.iter().filter(|(name, _)| name.as_str() != BATCH);
            others.map(|(name, size)| (name.clone(), *size)).collect::<Vec<_>>()
        };
        let as_tried = CellName { axes: cell.axes.clone(), ..self.name.clone() };
        let is_tried = AskedCell { name: as_tried, ..self.clone() }.is(cell);
        is_smaller && is_tried && others(&cell.axes) == others(&self.name.axes)
    }

    /// Whether a cell is this one.
    pub fn is(&self, cell: &Cell) -> bool {
        let CellName { plugin, device, model, benchmark, axes } = &self.name;
        let is_device = device.is_none() || cell.device.is_empty() || *device == Some(cell.device.clone());
        let is_named = cell.plugin == *plugin && cell.skill == *model && cell.benchmark == *benchmark;
        is_named && is_device && cell.axes == *axes
    }
}

/// The key of a cell among those that were asked for; one that nobody asked for, which was tried in place of another, has a key of its own.
pub fn key_of(asked: &[AskedCell], cell: &Cell) -> String {
    let name = CellName::of(cell);
    let own = names::key(&name);
    let open = name.device.is_some().then(|| names::key(&CellName { device: None, ..name }));
    // One that was asked for on its very device comes before one that left the device open. Keys are sooner compared than names.
    let is_asked = |key: &&String| asked.iter().any(|asked| asked.key == **key);
    let known = std::iter::once(&own).chain(&open).find(is_asked).cloned();
    // A cell whose backend was never opened has no device.
    let by_name = || asked.iter().find(|asked| cell.device.is_empty() && asked.is(cell)).map(|asked| asked.key.clone());
    known.or_else(by_name).unwrap_or(own)
}

/// What is sent at once: the cells of one backend and one model on one machine, which share what was loaded and what was learnt.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Lot {
    pub id: String,
    /// Index into [`Submission::runs`].
    pub run: usize,
    /// Indices into its cells.
    pub cells: Vec<usize>,
}

/// What an agent is asked to measure.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Job {
    pub schema: String,
    pub submission: String,
    pub lot: String,
    pub machine: String,
    /// Of which these cells are measured.
    pub request: RunRequest,
    pub cells: Vec<AskedCell>,
    pub kinds: Vec<Cell>,
    /// SHA-256 of each plugin that it was planned for.
    pub plugins: BTreeMap<String, String>,
    /// What identifies each model's content.
    pub models: BTreeMap<String, String>,
    /// What its cells are measured with and the machine does not have.
    #[serde(default, skip_serializing_if = "OwnFiles::is_empty")]
    pub own: OwnFiles,
    #[serde(default)]
    pub must_understand: Vec<String>,
}

impl Job {
    /// The request for some of its cells, in order.
    pub fn request_for(&self, cells: &[&AskedCell]) -> RunRequest {
        RunRequest { exactly: cells.iter().map(|cell| cell.name.clone()).collect(), ..self.request.clone() }
    }
}

/// How a cell ended.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Outcome {
    pub schema: String,
    pub submission: String,
    pub lot: String,
    pub machine: String,
    pub key: String,
    /// Of the agent's process.
    pub session: String,
    /// So many times the cell was begun, this one counted.
    pub attempt: u64,
    /// When it ended by the machine's own clock, in UTC. A label: nothing is ordered by it.
    pub at: String,
    /// See [`conditions`]: of the machine and the host that measured it.
    pub conditions: String,
    /// The line of the journal, with its sum.
    pub line: String,
    /// What the cell left beside it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<NamedFile>,
    /// What of that could not be sent, each with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<String>,
}

/// All cells of a lot have outcomes, or none of it could be measured.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LotEnd {
    pub schema: String,
    pub submission: String,
    pub lot: String,
    pub machine: String,
    /// Why nothing of it could be measured.
    #[serde(default)]
    pub problem: Option<String>,
}

/// A machine and what it has, as its agent announces it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Machine {
    pub schema: String,
    pub name: String,
    /// Of the agent's process.
    pub session: String,
    /// The forms of jobs that it takes.
    pub accepts: Vec<String>,
    /// What it understands of them beyond their forms: see [`UNDERSTOOD`].
    #[serde(default)]
    pub understands: Vec<String>,
    /// With the hashes of all that it has.
    pub environment: Environment,
    pub backends: Vec<Announced>,
    /// Benchmarks that are plain functions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<Found>,
    /// Entries and libraries that are no usable plugins there.
    pub rejected: Vec<Rejected>,
    pub labels: BTreeMap<String, String>,
    /// What became of packages that it was offered, by the id of the offer: "installed", or why not.
    #[serde(default)]
    pub offers: BTreeMap<String, String>,
    /// By how much the server's clock is ahead of the machine's; filled in as it is announced.
    #[serde(default)]
    pub clock: Option<ClockOffset>,
    #[serde(default)]
    pub must_understand: Vec<String>,
}

/// A backend of a machine, opened to see its devices.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Announced {
    pub id: String,
    /// Other names that the registry gives it.
    pub aliases: Vec<String>,
    pub description: Description,
    pub devices: Vec<DeviceRecord>,
    /// Why no device can be used.
    pub why_not: Option<String>,
}

/// A sign of life, which may be lost.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Beat {
    pub session: String,
    pub doing: Doing,
}

/// What an agent does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "is")]
pub enum Doing {
    Idle,
    /// Cell `place` of `of` of a lot.
    Measuring {
        submission: String,
        lot: String,
        place: usize,
        of: usize,
        cell: String,
    },
}

impl Machine {
    /// Whether it measures with files of a submitter's.
    pub fn takes_files(&self) -> bool {
        self.understands.iter().any(|what| what == OWN)
    }
}

impl Submission {
    /// Whether its parts belong together: names become folders and subjects, and who signed it is who it says.
    ///
    /// # Errors
    /// What does not.
    pub fn check(&self, id: &str, signer: &str) -> Result<(), String> {
        if self.id != id || self.by != signer {
            return Err(format!("'{signer}' signed it as that of {} with the id {}", self.by, self.id));
        }
        self.own.check()?;
        let mut machines = BTreeSet::new();
        for run in &self.runs {
            names::check(&run.machine).map_err(|error| error.to_string())?;
            if !machines.insert(&run.machine) {
                return Err(format!("{} has two runs", run.machine));
            }
            if let Some(cell) = run.cells.iter().find(|cell| cell.key != names::key(&cell.name)) {
                return Err(format!("{} has a key that is not its own", cell.name));
            }
        }
        for lot in &self.lots {
            names::check(&lot.id).map_err(|error| error.to_string())?;
            let run = self.runs.get(lot.run).ok_or_else(|| format!("lot {} is of no run", lot.id))?;
            if lot.cells.iter().any(|cell| *cell >= run.cells.len()) {
                return Err(format!("lot {} has a cell that is none", lot.id));
            }
        }
        Ok(())
    }

    /// The job of a lot.
    pub fn job(&self, lot: &Lot) -> Option<Job> {
        let run = self.runs.get(lot.run)?;
        let mut cells: Vec<AskedCell> = lot.cells.iter().filter_map(|index| run.cells.get(*index)).cloned().collect();
        let mut kinds: Vec<usize> = cells.iter().map(|cell| cell.kind).collect();
        kinds.sort_unstable();
        kinds.dedup();
        for cell in &mut cells {
            cell.kind = kinds.binary_search(&cell.kind).unwrap_or_default();
        }
        let models: BTreeMap<_, _> = cells
            .iter()
            .filter_map(|cell| run.environment.models.get_key_value(&cell.name.model))
            .map(|(name, content)| (name.clone(), content.clone()))
            .collect();
        let plugins: BTreeMap<_, _> = cells
            .iter()
            .flat_map(|cell| [&cell.name.plugin, &cell.name.benchmark])
            .filter_map(|id| run.environment.plugin_sha256.get_key_value(id))
            .map(|(id, sha256)| (id.clone(), sha256.clone()))
            .collect();
        let first = cells.first()?;
        let own = self.own.of_model(&first.name.model);
        let mut request = run.request.clone();
        // Paths of the submitter's lead nowhere on the machine: a lot names its one model.
        if !self.own.models.is_empty() || request.selection.custom.is_some() {
            request.models = vec![first.name.model.clone()];
            request.selection = Selection::default();
            request.names = BTreeMap::new();
        }
        request.backends.retain(|choice| choice.plugin == first.name.plugin && choice.device == first.name.device);
        Some(Job {
            schema: JOB.into(),
            submission: self.id.clone(),
            lot: lot.id.clone(),
            machine: run.machine.clone(),
            request,
            kinds: kinds.iter().filter_map(|kind| run.kinds.get(*kind)).cloned().collect(),
            cells,
            plugins,
            models,
            must_understand: needed(&own),
            own,
        })
    }

    pub fn lot(&self, id: &str) -> Option<&Lot> {
        self.lots.iter().find(|lot| lot.id == id)
    }

    /// The run of a machine, with its place.
    pub fn run_of(&self, machine: &str) -> Option<(usize, &MachineRun)> {
        self.runs.iter().enumerate().find(|(_, run)| run.machine == machine)
    }

    /// The id of the run of a machine.
    pub fn run_id(&self, machine: &str) -> String {
        format!("{}-{machine}", self.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_added_later_is_passed_over_and_what_must_be_understood_is_refused() {
        let end = r#"{"schema":"skillbench.lot-end/1","submission":"s","lot":"0","machine":"h","weather":"fine"}"#;
        assert_eq!(read::<LotEnd>(LOT_END, end).unwrap().lot, "0");
        let asked = end.replace("\"weather\":\"fine\"", "\"must_understand\":[\"weather\"]");
        assert!(
            matches!(read::<LotEnd>(LOT_END, &asked), Err(FormError::MustUnderstand { what }) if what == "weather")
        );
        let newer = end.replace("lot-end/1", "lot-end/2");
        assert!(matches!(read::<LotEnd>(LOT_END, &newer), Err(FormError::Other { .. })));
        assert!(matches!(read::<LotEnd>(LOT_END, "[]"), Err(FormError::Json { .. })));
    }
}
