//! What was measured, on what, and how it ended.

use super::{Column, Kind, Row, Source, Value};
use crate::{HardwareRecord, Verification, Workaround, options_text};
use std::borrow::Cow;

macro_rules! column {
    ($name:literal, $kind:ident, $meaning:literal, $of:expr) => {
        Column { name: $name, kind: Kind::$kind, unit: "", meaning: $meaning, of: Source::Cell($of) }
    };
}

fn joined(parts: Vec<String>) -> Value<'static> {
    if parts.is_empty() { Value::Null } else { Value::Text(parts.join("; ").into()) }
}

fn hardware<'a>(row: Row<'a>, pick: impl Fn(&'a HardwareRecord) -> &'a str) -> Value<'a> {
    Value::some(row.cell.hardware.as_ref(), |hardware| Value::filled(pick(hardware)))
}

/// How outputs were checked: against another engine, against the same engine in another process, or not; and whom they outvoted.
fn verified(verification: &Verification) -> Cow<'static, str> {
    match verification {
        Verification::Passed { same_engine: true, .. } => "itself".into(),
        Verification::Passed { dissent, .. } if !dissent.is_empty() => {
            let outvoted: Vec<&str> = dissent.iter().map(|one| one.reference.as_str()).collect();
            format!("yes, against {}", outvoted.join(", ")).into()
        }
        Verification::Passed { .. } => "yes".into(),
        Verification::NoReference { .. } => "finite only".into(),
        Verification::Off => "off".into(),
    }
}

pub(super) static COLUMNS: &[Column] = &[
    column!("run", Text, "The run, and the name of its folder", |row| Value::Text(row.run.run_id.as_str().into())),
    column!("timestamp", Time, "When the run began, in UTC", |row| Value::some(row.started, Value::Time)),
    column!("machine", Text, "What tells the machine from others", |row| {
        Value::Text(row.run.environment.machine_id().unwrap_or_else(|| row.run.run_id.clone()).into())
    }),
    column!("hostname", Text, "Name of the machine, or of the container", |row| {
        Value::some(row.run.environment.hostname.as_deref(), Value::filled)
    }),
    column!("cpu_model", Text, "Its processor", |row| {
        Value::some(row.run.environment.cpu_model.as_deref(), Value::filled)
    }),
    column!("cell", Int, "Place in the run's plan", |row| Value::Int(row.cell.index as i64)),
    column!("plugin", Text, "The backend, which is the hardware id: cpu, cuda, openvino ...", |row| {
        Value::filled(&row.cell.plugin)
    }),
    column!("plugin_version", Text, "Version of its plugin", |row| Value::filled(&row.cell.plugin_version)),
    column!("plugin_door", Text, "The way into its library: C table, abi_stable root module", |row| {
        Value::some(row.cell.plugin_door.as_deref(), Value::filled)
    }),
    column!("device_id", Text, "The device among those of the backend", |row| Value::filled(&row.cell.device)),
    column!("device_name", Text, "What the backend calls it", |row| hardware(row, |h| &h.name)),
    column!("device_kind", Text, "cpu, gpu, npu, browser ...", |row| hardware(row, |h| &h.kind)),
    column!("driver_version", Text, "Its driver", |row| hardware(row, |h| &h.driver)),
    column!("emulated", Flag, "The device is emulated, so that its times are no hardware's", |row| {
        Value::Flag(row.cell.emulated)
    }),
    column!("model_id", Text, "The model: a skill, or a file of the user's", |row| Value::filled(&row.cell.skill)),
    column!(
        "family",
        Text,
        "embedding, text_generation, vision, audio, multimodal; function: a benchmark that is a plain function",
        |row| Value::filled(&row.cell.family)
    ),
    column!("category", Text, "text-encoders, vision, video ...; of functions unit, integration, performance", |row| {
        Value::filled(&row.cell.category)
    }),
    column!("architecture_type", Text, "encoder-only, decoder-only, vision ...", |row| {
        Value::filled(&row.cell.architecture)
    }),
    column!("task", Text, "fill-mask, image-classification ...", |row| Value::filled(&row.cell.task)),
    column!("parameter_count", Int, "Parameters of the model", |row| {
        Value::some(row.cell.parameters, |n| Value::Int(n as i64))
    }),
    column!("relation", Text, "To the model it is known as: full, reduced, part; null: not published", |row| {
        Value::some(row.cell.relation.as_deref(), Value::filled)
    }),
    column!("about", Text, "The model that a function is about", |row| {
        Value::some(row.cell.about.as_deref(), Value::filled)
    }),
    column!("benchmark", Text, "inference, throughput-load, generation ...", |row| Value::filled(&row.cell.benchmark)),
    column!("benchmark_version", Text, "Version of its plugin", |row| Value::filled(&row.cell.benchmark_version)),
    column!("axes", Text, "The point of the workload grid: \"batch=4 sequence=32\"", |row| {
        Value::Text(row.cell.axes.to_string().into())
    }),
    column!("batch_size", Int, "Its batch", |row| Value::some(row.cell.axes.get("batch").copied(), Value::Int)),
    column!("sequence_length", Int, "Its sequence", |row| {
        Value::some(row.cell.axes.get("sequence").copied(), Value::Int)
    }),
    column!("precision_requested", Text, "What was asked for; null: the graph's own", |row| {
        Value::some(row.cell.precision_requested.as_deref(), Value::filled)
    }),
    column!("precision", Text, "What ran, read back from the loaded model", |row| {
        Value::some(row.cell.placement.as_ref().and_then(|p| p.precision.as_deref()), Value::filled)
    }),
    column!("engine", Text, "What ran it, with its version", |row| {
        Value::some(row.cell.placement.as_ref(), |placement| Value::filled(&placement.engine))
    }),
    column!("nodes_total", Int, "Nodes of the loaded graph", |row| {
        Value::some(row.cell.placement.as_ref().and_then(|p| p.nodes_total), |n| Value::Int(n as i64))
    }),
    column!("nodes_on_device", Int, "Of them on the device", |row| {
        Value::some(row.cell.placement.as_ref().and_then(|p| p.nodes_on_device), |n| Value::Int(n as i64))
    }),
    column!("cache_hit", Flag, "The load came out of a compile cache", |row| {
        Value::some(row.cell.placement.as_ref().and_then(|p| p.cache_hit), Value::Flag)
    }),
    column!("threads", Int, "Threads the backend was given", |row| {
        Value::some(row.cell.threads, |n| Value::Int(n as i64))
    }),
    column!("workers", Int, "Requests at once, of a benchmark that takes a number of them", |row| {
        Value::some(row.cell.workers, |n| Value::Int(n as i64))
    }),
    column!("options", Text, "Options of the plugin that differ from its defaults; null: none", |row| {
        Value::some(options_text(&row.cell.options), |options| Value::Text(options.into()))
    }),
    column!("beside", Text, "Backends that ran at the same time on other cores (--parallel); null: none", |row| {
        let beside = row.cell.parallel.as_ref().map(|parallel| parallel.beside.join(", "));
        Value::some(beside.filter(|beside| !beside.is_empty()), |beside| Value::Text(beside.into()))
    }),
    column!("outcome", Text, "measured, failed, crashed, timed-out, unavailable, unsupported, wrong, skipped", |row| {
        Value::Text(row.cell.outcome.name().into())
    }),
    column!("reason_code", Text, "Why it is not measured, in a stable word", |row| {
        Value::some(row.cell.outcome.reason(), |reason| Value::filled(&reason.code))
    }),
    column!("reason", Text, "Why it is not measured, and what to do next", |row| {
        Value::some(row.cell.outcome.reason(), |reason| Value::filled(&reason.message))
    }),
    column!("stable", Flag, "The interval became tight within the time", |row| Value::Flag(row.cell.stable)),
    column!("verified", Text, "How outputs were checked: yes, itself, finite only, off; null: not reached", |row| {
        Value::some(row.cell.verification.as_ref(), |verification| Value::Text(verified(verification)))
    }),
    column!(
        "audited",
        Text,
        "Rounds and inputs whose outputs were held against the reference while it was timed",
        |row| { Value::some(row.cell.audit.as_ref(), |audit| Value::Text(audit.describe().into())) }
    ),
    column!("audited_rounds", Int, "Measured rounds in which an unseen input was held against the reference", |row| {
        Value::some(row.cell.audit.as_ref(), |audit| Value::Int(audit.rounds as i64))
    }),
    column!("audited_inputs", Int, "Inputs that were held against it, the first included", |row| {
        Value::some(row.cell.audit.as_ref(), |audit| Value::Int(audit.inputs as i64))
    }),
    column!("weak", Text, "Why passing the checks proves little; null: it proves what it should", |row| {
        Value::some(row.cell.audit.as_ref().and_then(|audit| audit.weak.as_deref()), Value::filled)
    }),
    column!(
        "undecidable",
        Text,
        "Which lower precision might pass for the one that was read back; null: none",
        |row| { Value::some(row.cell.audit.as_ref().and_then(|audit| audit.undecidable.as_deref()), Value::filled) }
    ),
    column!("implausible", Text, "Why the figures cannot be; null: nothing speaks against them", |row| {
        joined(row.cell.implausible.clone())
    }),
    column!("trust", Text, "hardware, remote, unverified, emulated or implausible; null: not measured", |row| {
        Value::some(row.cell.trust(), |trust| Value::Text(trust.name().into()))
    }),
    column!("has_figures", Flag, "It has a figure; of a cell whose outputs were only checked it has none", |row| {
        Value::Flag(row.cell.has_figures())
    }),
    column!("output_difference", Float, "Largest difference from the reference, over its size", |row| {
        match &row.cell.verification {
            Some(Verification::Passed { max_relative_difference, .. }) => Value::Float(*max_relative_difference),
            _ => Value::Null,
        }
    }),
    column!("other_cores", Float, "Cores that other programs kept busy while it was measured", |row| {
        Value::some(row.cell.conditions.as_ref().and_then(|seen| seen.other_cores), Value::Float)
    }),
    column!("stolen_cores", Float, "Cores that a hypervisor gave to others meanwhile", |row| {
        Value::some(row.cell.conditions.as_ref().and_then(|seen| seen.stolen_cores), Value::Float)
    }),
    column!("frequency_mhz", Float, "Clock frequency meanwhile, the mean of all cores", |row| {
        Value::some(row.cell.conditions.as_ref().and_then(|seen| seen.frequency_mhz), Value::Float)
    }),
    column!("temperature_c", Float, "The highest temperature meanwhile", |row| {
        Value::some(row.cell.conditions.as_ref().and_then(|seen| seen.temperature_c), Value::Float)
    }),
    column!("throttled", Int, "How often cores were slowed down for their heat meanwhile", |row| {
        Value::some(row.cell.conditions.as_ref().and_then(|seen| seen.throttled), |n| Value::Int(n as i64))
    }),
    column!("fixes", Text, "What was done otherwise than asked, so that it could be measured", |row| {
        joined(row.cell.fixes.iter().map(Workaround::describe).collect())
    }),
    column!("seed", Text, "Seed of the inputs", |row| Value::Text(row.run.seed.to_string().into())),
    column!("plugin_sha256", Text, "Hash of the plugin's library", |row| {
        Value::some(row.run.environment.plugin_sha256.get(&row.cell.plugin), |hash| Value::filled(hash))
    }),
    column!("runtime_sha256", Text, "Hash of the vendor's library it was opened with", |row| {
        Value::some(row.run.environment.runtime_sha256.get(&row.cell.plugin), |hash| Value::filled(hash))
    }),
    column!("key", Text, "Digest by which measurements are the same; see docs/results.md", |row| {
        Value::Text(row.cell.key(row.run).digest().into())
    }),
    column!("attempt", Text, "Digest by which tries are the same, by what was asked for", |row| {
        Value::Text(row.cell.key(row.run).attempt_digest().into())
    }),
    column!("model_content", Text, "What identifies the model's content", |row| {
        Value::some(row.run.environment.models.get(&row.cell.skill), |content| Value::filled(content))
    }),
];
