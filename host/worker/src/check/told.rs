//! Rules about what a backend tells of its devices and its operators: each says nothing about one that tells nothing.

use super::backend::{ensure, for_batch, input, open, text};
use super::{Finding, Test};
use crate::CheckJob;
use crate::child::Services;
use skillbench_plugin_api::{Code, Direction, Load};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

const ROWS: usize = 2;
/// How often a sensor is read, and how far apart.
const READINGS: usize = 5;
const APART: Duration = Duration::from_millis(20);
/// How many runs are recorded.
const RUNS: usize = 5;

pub(super) fn memory(services: &'static Services, job: &CheckJob) -> Test {
    let opened = open(services, job)?;
    let mut tells = false;
    for (index, device) in opened.devices.iter().enumerate() {
        let memory = match opened.instance.memory(index as u32) {
            Err(error) if error.code == Code::Unimplemented => continue,
            memory => memory.map_err(text)?,
        };
        tells = true;
        let id = &device.id;
        ensure(memory.total != Some(0), format!("device '{id}' has 0 bytes of memory; unknown is SB_UNKNOWN"))?;
        let within = |less: Option<u64>, more: Option<u64>| less.zip(more).is_none_or(|(less, more)| less <= more);
        ensure(within(memory.used, memory.total), format!("device '{id}' uses more memory than it has"))?;
        ensure(within(memory.used, memory.peak), format!("device '{id}' uses more memory than it ever did"))?;
    }
    if tells { Ok(()) } else { Err(Finding::NotOffered) }
}

pub(super) fn energy(services: &'static Services, job: &CheckJob) -> Test {
    let opened = open(services, job)?;
    let mut tells = false;
    for index in 0..opened.devices.len() as u32 {
        let mut last = None;
        for _ in 0..READINGS {
            let Some(energy) = opened.instance.energy(index).map_err(text)? else { break };
            tells = true;
            ensure(!energy.source.is_empty(), "an energy counter does not say where it comes from")?;
            let grows = last.is_none_or(|last| energy.microjoules >= last);
            ensure(grows, format!("the energy counter {} goes back", energy.source))?;
            last = Some(energy.microjoules);
            std::thread::sleep(APART);
        }
    }
    if tells { Ok(()) } else { Err(Finding::NotOffered) }
}

pub(super) fn counters(services: &'static Services, job: &CheckJob) -> Test {
    let opened = open(services, job)?;
    let mut tells = false;
    for index in 0..opened.devices.len() as u32 {
        let names = || {
            let read = opened.instance.counters(index).map_err(text)?;
            Ok::<Vec<String>, Finding>(read.into_iter().map(|counter| counter.name).collect())
        };
        let first = names()?;
        tells |= !first.is_empty();
        let unique: HashSet<&String> = first.iter().collect();
        ensure(unique.len() == first.len(), format!("two counters have the same name, of {}", first.join(", ")))?;
        ensure(!first.iter().any(String::is_empty), "a counter has no name")?;
        for _ in 1..READINGS {
            std::thread::sleep(APART);
            let again = names()?;
            ensure(again == first, format!("counters are {}, and then {}", first.join(", "), again.join(", ")))?;
        }
    }
    if tells { Ok(()) } else { Err(Finding::NotOffered) }
}

pub(super) fn operators(services: &'static Services, job: &CheckJob) -> Test {
    let opened = open(services, job)?;
    if !opened.instance.profiles() {
        return Err(Finding::NotOffered);
    }
    let load = Load { profile: true, ..for_batch(&job.probe, ROWS as i64) };
    let model = match opened.instance.load(&load) {
        Err(error) if error.code == Code::Unimplemented => return Err(Finding::NotOffered),
        model => model.map_err(text)?,
    };
    let recording =
        opened.instance.recording(&model).ok_or("a model that was loaded to be profiled records nothing")?;
    let mut request = model.request().map_err(text)?;
    request.bind(Direction::Input, 0, Arc::new(input(ROWS, 0)?)).map_err(text)?;
    request.run().map_err(text)?;
    recording.begin().map_err(text)?;
    let began = Instant::now();
    for _ in 0..RUNS {
        request.run().map_err(text)?;
    }
    let took = began.elapsed().as_nanos() as u64;
    let told = recording.end().map_err(text)?;
    ensure(!told.is_empty(), "no operator is told of the runs that were recorded")?;
    ensure(told.iter().all(|operator| !operator.kind.is_empty()), "an operator does not say what it is")?;
    let beyond = told.iter().filter_map(|operator| operator.run).find(|run| *run >= RUNS as u64);
    ensure(beyond.is_none(), format!("an operator of run {} is told, and there were {RUNS}", beyond.unwrap_or(0)))?;
    // A mean over all runs of the model counts runs before the recording, too.
    let of_runs = told.iter().filter(|operator| operator.run.is_some());
    let longest = of_runs.map(|operator| operator.duration_ns).max().unwrap_or(0);
    ensure(longest <= took, format!("an operator took {longest} ns, and all runs together {took}"))
}
