//! Rules about what a plugin does once it is timed: inputs that change where they lie, long rows of runs, the memory of outputs, and
//! the rows of a batch.

use super::backend::{ensure, floats, for_batch, input, open, text};
use super::{Finding, Test};
use crate::CheckJob;
use crate::child::Services;
use skillbench_plugin_api::client::{Model, Request};
use skillbench_plugin_api::{Code, DType, Direction, HostTensor};
use skillbench_record::defaults::defaults;
use std::sync::Arc;

const ROWS: usize = 2;
/// A plugin may behave otherwise after so many.
const MANY: u64 = 1_100;
/// Contents that come again and again, each held against what a fresh request gives.
const KNOWN: u64 = 8;

/// Outputs of the known contents, each of a request that ran nothing else.
fn fresh(model: &Model<'_>) -> Result<Vec<Vec<f32>>, Finding> {
    let one = |variant: u64| {
        let mut request = model.request().map_err(text)?;
        request.bind(Direction::Input, 0, Arc::new(input(ROWS, variant)?)).map_err(text)?;
        request.run().map_err(text)?;
        Ok(floats(&request.take_output(0).map_err(text)?))
    };
    (0..KNOWN).map(one).collect()
}

/// Writes other contents where the input lies, and binds it again.
fn renew(request: &mut Request<'_>, variant: u64) -> Result<(), Finding> {
    let written = request.rewrite(0, |tensor| {
        tensor
            .bytes_mut()
            .copy_from_slice(input(ROWS, variant).map_err(skillbench_plugin_api::Error::internal)?.bytes());
        Ok(())
    });
    Ok(written.map_err(text)?)
}

/// A request whose input is bound, and its output where the engine can write into memory.
fn bound<'m>(model: &'m Model<'_>) -> Result<(Request<'m>, bool), Finding> {
    let mut request = model.request().map_err(text)?;
    request.bind(Direction::Input, 0, Arc::new(input(ROWS, 0)?)).map_err(text)?;
    let memory = Arc::new(HostTensor::zeroed(DType::F32, &[ROWS, 32]).map_err(text)?);
    match request.bind(Direction::Output, 0, memory) {
        Ok(()) => Ok((request, true)),
        Err(error) if error.code == Code::Unimplemented => Ok((request, false)),
        Err(error) => Err(format!("binding an output: {error}").into()),
    }
}

/// What came out of the last run.
fn output(request: &mut Request<'_>) -> Result<Vec<f32>, Finding> {
    if let Some(tensor) = request.bound(Direction::Output, 0) {
        return Ok(tensor.as_slice::<f32>().unwrap_or_default().to_vec());
    }
    Ok(floats(&request.take_output(0).map_err(text)?))
}

pub(super) fn same_address(services: &'static Services, job: &CheckJob) -> Test {
    let opened = open(services, job)?;
    let model = opened.instance.load(&for_batch(&job.probe, ROWS as i64)).map_err(text)?;
    let known = fresh(&model)?;
    let (mut request, _) = bound(&model)?;
    for variant in [0, 3, 1, 3, 2] {
        renew(&mut request, variant)?;
        request.run().map_err(text)?;
        let right = output(&mut request)? == known[variant as usize];
        ensure(right, "contents that changed at the same address, and were bound again, are not those that were run")?;
    }
    Ok(())
}

pub(super) fn within_bounds(services: &'static Services, job: &CheckJob) -> Test {
    let opened = open(services, job)?;
    let model = opened.instance.load(&for_batch(&job.probe, ROWS as i64)).map_err(text)?;
    let (mut request, is_bound) = bound(&model)?;
    if !is_bound {
        return Ok(());
    }
    for variant in 0..50 {
        renew(&mut request, variant)?;
        request.run().map_err(text)?;
    }
    let intact = |direction| request.bound(direction, 0).is_none_or(HostTensor::is_intact);
    ensure(intact(Direction::Output), "something was written beside the memory of the output")?;
    ensure(intact(Direction::Input), "something was written beside the memory of the input")
}

pub(super) fn keeps_working(services: &'static Services, job: &CheckJob) -> Test {
    let opened = open(services, job)?;
    let model = opened.instance.load(&for_batch(&job.probe, ROWS as i64)).map_err(text)?;
    let known = fresh(&model)?;
    let (mut request, is_bound) = bound(&model)?;
    for run in 0..MANY {
        let variant = (run * 5 + run / KNOWN) % KNOWN;
        renew(&mut request, variant)?;
        if is_bound {
            let mark = |tensor: &mut HostTensor| {
                tensor.bytes_mut().fill(0xFF);
                Ok(())
            };
            request.change(Direction::Output, 0, mark).map_err(text)?;
        }
        request.run().map_err(text)?;
        let right = output(&mut request)? == known[variant as usize];
        ensure(right, format!("in run {} the output is not that of its input", run + 1))?;
    }
    Ok(())
}

pub(super) fn rows_apart(services: &'static Services, job: &CheckJob) -> Test {
    let opened = open(services, job)?;
    const BATCH: usize = 4;
    let whole = opened.instance.load(&for_batch(&job.probe, BATCH as i64)).map_err(text)?;
    let mut request = whole.request().map_err(text)?;
    let all = input(BATCH, 7)?;
    let rows: Vec<Vec<u8>> = all.bytes().chunks(all.bytes().len() / BATCH).map(<[u8]>::to_vec).collect();
    request.bind(Direction::Input, 0, Arc::new(all)).map_err(text)?;
    request.run().map_err(text)?;
    let together = floats(&request.take_output(0).map_err(text)?);
    let precision = whole.placement().map_err(text)?.precision;
    let tolerance = defaults().tolerance.get(&precision).copied().unwrap_or(0.05) as f32;
    let single = opened.instance.load(&for_batch(&job.probe, 1)).map_err(text)?;
    for (row, bytes) in rows.iter().enumerate() {
        let mut request = single.request().map_err(text)?;
        let mut tensor = input(1, 0)?;
        tensor.bytes_mut().copy_from_slice(bytes);
        request.bind(Direction::Input, 0, Arc::new(tensor)).map_err(text)?;
        request.run().map_err(text)?;
        let alone = floats(&request.take_output(0).map_err(text)?);
        let among = &together[row * alone.len()..(row + 1) * alone.len()];
        let scale = alone.iter().fold(0f32, |most, value| most.max(value.abs()));
        let apart = alone.iter().zip(among).map(|(a, b)| (a - b).abs()).fold(0f32, f32::max);
        ensure(apart <= 2.0 * tolerance * scale, format!("row {row} of a batch is not what the row alone gives"))?;
    }
    Ok(())
}
