//! Rules about slots that a backend may leave out: each says nothing about one that does.

use super::backend::{ensure, floats, for_batch, input, open, text};
use super::{Finding, Test};
use crate::CheckJob;
use crate::child::{Opened, Services};
use skillbench_plugin_api::client::{Model, Request};
use skillbench_plugin_api::host_tables::HostServices;
use skillbench_plugin_api::{Code, Direction, HostTensor, Load, Result, Source, Timing};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

const ROWS: usize = 2;
/// Clocks are read at different moments.
const SLACK_NS: u64 = 2_000;
/// No run of the probe takes so long.
const LONG: Duration = Duration::from_secs(10);

/// Opens a backend that has a slot.
fn open_with(services: &'static Services, job: &CheckJob, slot: &str) -> std::result::Result<Opened, Finding> {
    let opened = open(services, job)?;
    match opened.instance.backend().has(slot) {
        true => Ok(opened),
        false => Err(Finding::NotOffered),
    }
}

fn probe(job: &CheckJob) -> Load {
    for_batch(&job.probe, ROWS as i64)
}

fn bind(request: &mut Request<'_>, variant: u64) -> Test {
    Ok(request.bind(Direction::Input, 0, Arc::new(input(ROWS, variant)?)).map_err(text)?)
}

fn taken(request: &mut Request<'_>) -> std::result::Result<Vec<f32>, Finding> {
    Ok(floats(&request.take_output(0).map_err(text)?))
}

/// What a request that runs nothing else gives.
fn alone(model: &Model<'_>, variant: u64) -> std::result::Result<Vec<f32>, Finding> {
    let mut request = model.request().map_err(text)?;
    bind(&mut request, variant)?;
    request.run().map_err(text)?;
    taken(&mut request)
}

pub(super) fn times(services: &'static Services, job: &CheckJob) -> Test {
    let opened = open(services, job)?;
    let model = opened.instance.load(&probe(job)).map_err(text)?;
    let mut request = model.request().map_err(text)?;
    let mut tells = false;
    for variant in 0..20 {
        bind(&mut request, variant)?;
        let start = services.now_ns();
        let timing = request.run_with_timing().map_err(text)?;
        let end = services.now_ns();
        tells |= timing != Timing::default();
        within(&timing, start, end)?;
        taken(&mut request)?;
    }
    if tells { Ok(()) } else { Err(Finding::NotOffered) }
}

fn within(timing: &Timing, start: u64, end: u64) -> Test {
    let slack = SLACK_NS + timing.clock_error_ns.unwrap_or(0);
    let (from, to) = (start.saturating_sub(slack), end.saturating_add(slack));
    for (name, told) in [("submit", timing.submit_ns), ("start", timing.start_ns), ("end", timing.end_ns)] {
        let Some(told) = told else { continue };
        let text = format!("the {name} of a run is told as {told}, and the run was from {start} to {end}");
        ensure((from..=to).contains(&told), text)?;
    }
    let in_order = timing.start_ns.zip(timing.end_ns).is_none_or(|(start, end)| start <= end);
    ensure(in_order, "a run ends before it starts")?;
    let parts = [timing.device_ns(), timing.host_to_device_ns, timing.device_to_host_ns];
    let whole = parts.into_iter().flatten().fold(0, u64::saturating_add);
    let text = format!("the parts of a run take {whole} ns, and all of it took {} ns", end - start);
    ensure(whole <= end - start + SLACK_NS, text)
}

pub(super) fn supports(services: &'static Services, job: &CheckJob) -> Test {
    let opened = open_with(services, job, "supports")?;
    let instance = &opened.instance;
    instance.supports(&probe(job)).map_err(|error| format!("the probe is refused: {error}"))?;
    ensure(instance.load(&probe(job)).is_ok(), "it supports the probe, and cannot load it")?;
    let unknown = Load { precision: Some("float7".into()), ..probe(job) };
    ensure(instance.supports(&unknown).is_err(), "precision 'float7' is supported")?;
    let elsewhere = Load { devices: vec![opened.devices.len() as u32 + 7], ..probe(job) };
    ensure(instance.supports(&elsewhere).is_err(), "a device that is not there is supported")?;
    for precision in ["float16", "bfloat16", "int8"] {
        let load = Load { precision: Some(precision.into()), ..probe(job) };
        let (supported, loaded) = (instance.supports(&load), instance.load(&load).map(drop));
        // What only a compiler finds out may be refused later, and nothing that is refused here may load.
        let text = format!("{precision} is refused by `supports`, and loads");
        ensure(supported.is_ok() || loaded.is_err(), text)?;
    }
    Ok(())
}

pub(super) fn from_memory(services: &'static Services, job: &CheckJob) -> Test {
    let opened = open(services, job)?;
    let bytes = std::fs::read(&job.probe).map_err(text)?;
    let load = |bytes: &[u8]| Load { source: Source::onnx_in_memory(bytes.to_vec()), ..probe(job) };
    let model = match opened.instance.load(&load(&bytes)) {
        Err(error) if error.code == Code::Unimplemented => {
            return ensure(!error.message.trim().is_empty(), "bytes are refused without a message");
        }
        model => model.map_err(text)?,
    };
    let file = opened.instance.load(&probe(job)).map_err(text)?;
    for variant in 0..3 {
        ensure(
            alone(&model, variant)? == alone(&file, variant)?,
            "the bytes of a model give other outputs than its file",
        )?;
    }
    ensure(opened.instance.load(&load(&bytes[..bytes.len() / 2])).is_err(), "half of a model's bytes are loaded")?;
    ensure(opened.instance.load(&load(&[])).is_err(), "no bytes at all are loaded")
}

/// Submits a run, and gives what its callbacks will tell.
fn submit(request: &mut Request<'_>) -> Result<Receiver<Result<Timing>>> {
    let (came, ended) = channel();
    request.submit(move |how| _ = came.send(how))?;
    Ok(ended)
}

/// How a submitted run ended, once its request can be used again.
fn ended(request: &Request<'_>, ended: &Receiver<Result<Timing>>) -> std::result::Result<Result<Timing>, Finding> {
    let how = ended.recv_timeout(LONG).map_err(|_| format!("no callback within {} s of a submit", LONG.as_secs()))?;
    request.wait();
    Ok(how)
}

pub(super) fn submitted(services: &'static Services, job: &CheckJob) -> Test {
    let opened = open_with(services, job, "submit")?;
    let model = opened.instance.load(&probe(job)).map_err(text)?;
    let mut requests = (0..4).map(|_| model.request().map_err(text)).collect::<std::result::Result<Vec<_>, _>>()?;
    ensure(requests[0].submit(|_| {}).is_err(), "a run without inputs is taken")?;
    for round in 0..50 {
        let mut under_way = vec![];
        for (variant, request) in requests.iter_mut().enumerate() {
            bind(request, variant as u64 + round % 3)?;
            under_way.push((services.now_ns(), submit(request).map_err(text)?));
        }
        for (variant, (request, (start, callback))) in requests.iter_mut().zip(under_way).enumerate() {
            let timing = ended(request, &callback)?.map_err(text)?;
            within(&timing, start, services.now_ns())?;
            let right = taken(request)? == alone(&model, variant as u64 + round % 3)?;
            ensure(right, "the outputs of a submitted run are not those of a run that is waited for")?;
        }
    }
    Ok(())
}

pub(super) fn cancelled(services: &'static Services, job: &CheckJob) -> Test {
    let opened = open_with(services, job, "cancel")?;
    let model = opened.instance.load(&probe(job)).map_err(text)?;
    let mut request = model.request().map_err(text)?;
    match request.cancel() {
        Err(error) if error.code == Code::Unimplemented => return Err(Finding::NotOffered),
        idle => idle.map_err(|error| format!("to cancel while nothing is under way is an error: {error}"))?,
    }
    for variant in 0..50 {
        bind(&mut request, variant)?;
        let callback = submit(&mut request).map_err(text)?;
        request.cancel().map_err(text)?;
        match ended(&request, &callback)? {
            Err(error) if error.code == Code::Cancelled => {}
            // It had ended before.
            how => drop(how.map_err(|error| format!("a run that is cancelled fails otherwise: {error}"))?),
        }
        bind(&mut request, variant)?;
        request.run().map_err(|error| format!("after a cancelled run: {error}"))?;
        ensure(taken(&mut request)? == alone(&model, variant)?, "after a cancelled run the outputs are others")?;
    }
    Ok(())
}

pub(super) fn reset(services: &'static Services, job: &CheckJob) -> Test {
    let opened = open_with(services, job, "reset")?;
    let model = opened.instance.load(&probe(job)).map_err(text)?;
    let mut request = model.request().map_err(text)?;
    for variant in 0..5 {
        bind(&mut request, variant + 1)?;
        request.run().map_err(text)?;
        request.reset().map_err(text)?;
        bind(&mut request, variant)?;
        request.run().map_err(|error| format!("after `reset`: {error}"))?;
        ensure(taken(&mut request)? == alone(&model, variant)?, "after `reset` the outputs are others")?;
    }
    Ok(())
}

/// next = state + x, and y = Relu(next).
pub(crate) const STATE: &[u8] = include_bytes!("../../data/state.onnx");
/// Its ports.
const X: u32 = 0;
const PREVIOUS: u32 = 1;
const NEXT: u32 = 1;

pub(super) fn state_kept(services: &'static Services, job: &CheckJob) -> Test {
    let opened = open_with(services, job, "alias")?;
    let path = job.scratch.join("state.onnx");
    std::fs::write(&path, STATE).map_err(text)?;
    let model = opened.instance.load(&for_batch(&path, ROWS as i64)).map_err(text)?;
    let mut request = model.request().map_err(text)?;
    match request.alias(NEXT, PREVIOUS) {
        Err(error) if error.code == Code::Unimplemented => return Err(Finding::NotOffered),
        kept => kept.map_err(text)?,
    }
    let of = |variant: u64| Ok::<_, Finding>(Arc::new(input(ROWS, variant)?));
    let floats_of = |tensor: &HostTensor| tensor.as_slice::<f32>().unwrap_or_default().to_vec();
    // A second sequence, which a tensor at the input begins, is one of its own.
    for sequence in 0..2 {
        let begins = of(sequence)?;
        let mut sum = floats_of(&begins);
        request.bind(Direction::Input, PREVIOUS, begins).map_err(text)?;
        for step in 1..5 {
            let x = of(10 * sequence + step)?;
            sum.iter_mut().zip(floats_of(&x)).for_each(|(sum, x)| *sum += x);
            request.bind(Direction::Input, X, x).map_err(text)?;
            request.run().map_err(text)?;
            let right = taken(&mut request)?
                .iter()
                .zip(&sum)
                .all(|(y, sum)| (y - sum.max(0.0)).abs() <= 1e-2 * (1.0 + sum.abs()));
            ensure(right, format!("in step {step} the input is not what the output held after the step before"))?;
            ensure(request.take_output(NEXT).is_err(), "an output that is kept for an input is given away")?;
        }
    }
    Ok(())
}
