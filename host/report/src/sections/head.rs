//! The top of a report: one sentence, how far the figures can be trusted, and where they come from.

use super::rows::{Rows, now};
use super::{About, SectionError};
use crate::page::{Badge, Tone};
use polars::prelude::*;
use skillbench_record::catalog::column;
use skillbench_record::{Environment, FUNCTION, Run};
use skillbench_results::Stored;
use skillbench_results::questions::{clocks, latest};
use std::collections::BTreeSet;

/// From this share of time on, what the hypervisor took is worth a warning.
const STEAL: f64 = 0.02;

pub fn title(stored: &Stored, about: About) -> String {
    let runs = match stored.runs.as_slice() {
        [] => "no run".to_string(),
        [run] => format!("run {}", run.run_id),
        several => format!("{} runs", several.len()),
    };
    match about {
        About::Run => format!("Benchmark report, {runs}"),
        About::Comparison => format!("Hardware compared, {runs}"),
        About::Optimization => format!("What to change, {runs}"),
        About::Drawings => format!("Plots, {runs}"),
    }
}

fn distinct<'a>(rows: &Rows<'a>, column: &str, of: impl Fn(usize) -> bool) -> BTreeSet<&'a str> {
    (0..rows.len()).filter(|row| of(*row)).filter_map(|row| rows.text(row, column)).collect()
}

pub fn plural(count: usize, one: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {one}s") }
}

/// How much was measured, and whether it settled.
pub fn verdict(cells: &DataFrame) -> Result<String, SectionError> {
    let frame = now(cells.clone())?;
    let rows = Rows(&frame);
    let measured = |row: usize| rows.text(row, column::OUTCOME) == Some("measured");
    let count = (0..rows.len()).filter(|row| measured(*row)).count();
    if rows.len() == 0 {
        return Ok("Nothing was run.".into());
    }
    if count == 0 {
        let outcomes = distinct(&rows, column::OUTCOME, |_| true).into_iter().collect::<Vec<_>>().join(", ");
        return Ok(format!("None of {} was measured: {outcomes}.", plural(rows.len(), column::CELL)));
    }
    let is_function = |row: usize| rows.text(row, column::FAMILY) == Some(FUNCTION);
    let of_models = |row: usize| measured(row) && !is_function(row);
    let (hardware, models) = (distinct(&rows, "hardware", of_models), distinct(&rows, column::MODEL_ID, of_models));
    let functions = (0..rows.len()).filter(|row| measured(*row) && is_function(*row)).count();
    let parts = [
        (!models.is_empty())
            .then(|| format!("on {} with {}", plural(hardware.len(), "backend"), plural(models.len(), "model"))),
        (functions > 0).then(|| plural(functions, FUNCTION)),
    ];
    let parts = parts.into_iter().flatten().collect::<Vec<_>>().join(", ");
    let mut text = format!("{count} of {} measured, {parts}.", plural(rows.len(), column::CELL));
    let unsettled =
        (0..rows.len()).filter(|row| rows.flag(*row, column::STABLE) == Some(false) && measured(*row)).count();
    if unsettled * 2 > count {
        text += " Most figures did not settle: take them as a hint, and no verdict.";
    }
    Ok(text)
}

/// How far the figures can be trusted.
pub fn badges(cells: &DataFrame) -> Result<Vec<Badge>, SectionError> {
    let frame = now(cells.clone())?;
    let rows = Rows(&frame);
    let count = |test: &dyn Fn(usize) -> bool| (0..rows.len()).filter(|row| test(*row)).count();
    let measured = count(&|row| rows.text(row, column::OUTCOME) == Some("measured"));
    let of_trust = |name: &'static str| count(&|row| rows.text(row, column::TRUST) == Some(name));
    let noisy = count(&|row| rows.text(row, column::TRUST).is_some() && rows.flag(row, column::STABLE) == Some(false));
    let fixed = count(&|row| rows.text(row, column::FIXES).is_some());
    let beside = count(&|row| rows.text(row, column::BESIDE).is_some());
    let again = count(&|row| rows.text(row, "newer_outcome").is_some());
    let set = count(&|row| rows.text(row, column::OPTIONS).is_some());
    let skipped = count(&|row| rows.text(row, column::OUTCOME) == Some("skipped"));
    let unmeasured = rows.len() - measured - skipped;
    let mut badges = vec![];
    let mut add = |count: usize, text: &str, tone: Tone, why: String| {
        if count > 0 {
            badges.push(Badge { text: text.into(), tone, why });
        }
    };
    let valid = of_trust(latest::HARDWARE);
    let of = plural(measured, "measured cell");
    add(valid, "valid", Tone::Good, format!("{valid} of {of}: outputs were checked before they were timed"));
    add(noisy, "noisy", Tone::Warn, format!("{noisy} of {of}: the interval stayed wider than asked for"));
    let (emulated, unverified) = (of_trust(latest::EMULATED), of_trust(latest::UNVERIFIED));
    add(
        emulated,
        column::EMULATED,
        Tone::Emulated,
        format!("{emulated} of {of}: the device is emulated; its times are no hardware's"),
    );
    add(unverified, "unverified", Tone::Warn, format!("{unverified} of {of}: outputs were held against nothing"));
    let remote = of_trust(latest::REMOTE);
    let text = format!("{remote} of {of}: measured over a network; never ranked beside hardware that is here");
    add(remote, latest::REMOTE, Tone::Info, text);
    let implausible = of_trust(latest::IMPLAUSIBLE);
    let text = format!("{implausible} of {of}: the figures contradict the host's own clock or what the device can do");
    add(implausible, column::IMPLAUSIBLE, Tone::Bad, text);
    add(
        unmeasured,
        "not measured",
        Tone::Bad,
        format!("{}, each with its reason below", plural(unmeasured, column::CELL)),
    );
    add(
        skipped,
        "skipped",
        Tone::Info,
        format!("{} by a rule, each with its reason below", plural(skipped, column::CELL)),
    );
    add(
        fixed,
        "fixed",
        Tone::Info,
        format!("{}: something was done otherwise than asked", plural(fixed, column::CELL)),
    );
    add(
        again,
        "newer try failed",
        Tone::Warn,
        format!(
            "{}: the figures are of the newest measurement, and a newer try failed or is believed less",
            plural(again, column::CELL)
        ),
    );
    add(
        set,
        column::OPTIONS,
        Tone::Info,
        format!("{}: options of the plugin differ from its defaults", plural(set, column::CELL)),
    );
    add(
        beside,
        "side by side",
        Tone::Info,
        format!("{}: other backends ran at the same time on other cores", plural(beside, column::CELL)),
    );
    Ok(badges)
}

/// Warnings in plain words.
pub fn notes(stored: &Stored) -> Result<Vec<String>, SectionError> {
    let mut notes = vec![];
    for run in &stored.runs {
        let (id, machine) = (&run.run_id, &run.environment);
        if let (Some(load), Some(cpus)) = (machine.load_1min, machine.cpus_usable)
            && load > cpus as f64
        {
            notes.push(format!("{id}: the machine was busy when it began (load {load:.1} on {cpus} processors)"));
        }
        if let Some(steal) = machine.steal_share.filter(|share| *share > STEAL) {
            notes.push(format!("{id}: the hypervisor took {:.0}% of the time since boot", steal * 100.0));
        }
        if let Some(governor) = machine.governor.as_deref().filter(|governor| *governor != "performance") {
            notes.push(format!("{id}: the processor's governor is '{governor}', so that its frequency moves"));
        }
    }
    let machines: BTreeSet<_> = stored.runs.iter().map(|run| run.environment.machine_id()).collect();
    if machines.len() > 1 {
        notes.push(format!("the runs are of {} machines: nothing is compared across them", machines.len()));
    }
    let frame = clocks(stored.cells.clone())?;
    let rows = Rows(&frame);
    let on_cpu = |row: usize| rows.text(row, column::DEVICE_KIND) == Some("cpu");
    let waits = (0..rows.len()).filter(|row| on_cpu(*row) && rows.text(*row, "direction") == Some("waits")).count();
    let exceeds = (0..rows.len()).filter(|row| rows.text(*row, "direction") == Some("exceeds")).count();
    if waits > 0 {
        notes.push(format!(
            "{} on processors used far less CPU time than its threads had: they waited, for other work on the machine or for each other",
            plural(waits, column::CELL)
        ));
    }
    if exceeds > 0 {
        notes.push(format!(
            "{} used more CPU time than its threads can: more ran than was given",
            plural(exceeds, column::CELL)
        ));
    }
    let all = Rows(&stored.cells);
    if (0..all.len()).any(|row| all.text(row, column::FAMILY) != Some(FUNCTION)) {
        notes.push(
            "models of the zoo have random weights: latency and memory are real, accuracy is not, and neither is what depends on the data"
                .into(),
        );
    }
    Ok(notes)
}

/// Where the figures come from.
pub fn facts(stored: &Stored) -> Vec<(String, String)> {
    match stored.runs.as_slice() {
        [run] => facts_of(run),
        runs => runs
            .iter()
            .map(|run| (run.run_id.clone(), format!("{}, {}", run.started_at, run.command.join(" "))))
            .collect(),
    }
}

/// "0.1.0, commit 4e3a1b1, ..."; of an older host its version alone.
fn host_of(machine: &Environment) -> String {
    let build = machine.host_build.as_ref().map(|build| format!(", {}", build.line())).unwrap_or_default();
    format!("{}{build}", machine.host_version)
}

fn facts_of(run: &Run) -> Vec<(String, String)> {
    let machine = &run.environment;
    let number = |value: Option<f64>, unit: &str| value.map(|value| format!("{value:.1} {unit}"));
    let mut facts: Vec<(String, Option<String>)> = vec![
        (column::RUN.into(), Some(run.run_id.clone())),
        ("began".into(), Some(run.started_at.clone())),
        ("command".into(), Some(run.command.join(" "))),
        (column::SEED.into(), Some(run.seed.to_string())),
        ("host".into(), Some(host_of(machine))),
        (column::MACHINE.into(), machine.hostname.clone()),
        ("system".into(), Some(format!("{} {}", machine.os, machine.arch))),
        ("kernel".into(), machine.kernel.clone()),
        ("processor".into(), machine.cpu_model.clone()),
        ("processors usable".into(), machine.cpus_usable.map(|n| n.to_string())),
        ("CPU time granted".into(), number(machine.cgroup_cpus, "cores")),
        ("governor".into(), machine.governor.clone()),
        ("frequency".into(), number(machine.frequency_mhz, "MHz")),
        ("turbo".into(), machine.turbo.map(|on| if on { "on" } else { "off" }.to_string())),
        ("memory".into(), number(machine.memory_total_mb, "MiB")),
        ("load when it began".into(), number(machine.load_1min, "")),
        ("temperature".into(), number(machine.temperature_c, "°C")),
        ("clock".into(), machine.clock_resolution_ns.map(|ns| format!("{}, step {ns} ns", machine.clock))),
    ];
    for (what, hashes) in
        [(column::PLUGIN, &machine.plugin_sha256), ("runtime", &machine.runtime_sha256), ("model", &machine.models)]
    {
        facts.extend(hashes.iter().map(|(id, hash)| (format!("{what} {id}"), Some(hash.clone()))));
    }
    let known = |(name, value): (String, Option<String>)| {
        (
            name,
            value.map(|value| value.trim().to_string()).filter(|value| !value.is_empty()).unwrap_or("unknown".into()),
        )
    };
    facts.into_iter().map(known).collect()
}
