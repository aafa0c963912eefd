//! What the plugin contract costs: one inference through the C table of the cpu backend, against a loop over `OrtApi::Run`.
//!
//!     cargo bench --profile release -p skillbench-onnxruntime --bench overhead [-- MODEL.onnx]
//!
//! `ORT_DYLIB_PATH` names libonnxruntime. Both sides run the two-layer model that comes with the host, on one thread, in one
//! process, in turns; the figure is the median of the ratios of the rounds, and the goal is 1.05. With a model as argument
//! it also shows that eight requests on it add no copy of its weights.

#[path = "overhead/raw.rs"]
mod raw;

use raw::RawSession;
use skillbench_cpu::CpuBackend;
use skillbench_plugin_api::client::{Instance, Model, Request};
use skillbench_plugin_api::{DType, Dim, Direction, Error, HostTensor, Load, Port, Result, Source};
use std::alloc::{GlobalAlloc, Layout, System};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

const ROUNDS: usize = 61;
const ITERATIONS: u32 = 10_000;

/// Counts what this side of the C API allocates; ONNX Runtime has an allocator of its own.
struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: everything is the system's; counting changes nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() -> Result<()> {
    let instance = skillbench_testkit::open::<CpuBackend>(&[("threads", "1")])?;
    overhead(&instance)?;
    // Cargo's own argument is `--bench`.
    match std::env::args().skip(1).find(|argument| !argument.starts_with("--")) {
        Some(path) => weights(&instance, &PathBuf::from(path)),
        None => Ok(()),
    }
}

/// Interleaved rounds of both sides.
fn overhead(instance: &Instance) -> Result<()> {
    let path = skillbench_testkit::probe::path();
    let model = instance.load(&Load { dims: vec![Dim::fixed("batch", 1)], ..Load::new(Source::onnx(&path)) })?;
    println!("{}", model.placement()?.engine);
    let mut request = bound(&model, true)?;
    let mut raw = RawSession::open(&path, &[("batch", 1)], [1, 64], [1, 32])?;

    // Both sides warm, then in turns, each first in every other round.
    time(|| request.run())?;
    time(|| raw.run())?;
    let mut rounds = vec![];
    for round in 0..ROUNDS {
        let (plugin, native) = match round % 2 {
            0 => (time(|| request.run())?, time(|| raw.run())?),
            _ => {
                let native = time(|| raw.run())?;
                (time(|| request.run())?, native)
            }
        };
        rounds.push((plugin, native, plugin / native));
    }
    println!("plugin contract  {:7.1} ns per run", median(rounds.iter().map(|round| round.0)));
    println!("OrtApi::Run      {:7.1} ns per run", median(rounds.iter().map(|round| round.1)));
    println!(
        "ratio            {:7.3}    (median of {ROUNDS} rounds of {ITERATIONS})",
        median(rounds.iter().map(|r| r.2))
    );
    println!("allocations per run: contract {}, raw {}", counted(|| request.run())?, counted(|| raw.run())?);
    Ok(())
}

/// Resident memory before and after eight requests that have each run once.
fn weights(instance: &Instance, path: &Path) -> Result<()> {
    let before = resident_kb()?;
    let model = instance.load(&Load::new(Source::onnx(path)))?;
    println!("{}: resident {before} kB, loaded {} kB", path.display(), resident_kb()?);
    let mut requests: Vec<Request> = vec![];
    for count in 1..=8 {
        let mut request = bound(&model, false)?;
        request.run()?;
        requests.push(request);
        println!("  {count} requests: {} kB", resident_kb()?);
    }
    Ok(())
}

/// A request with zeros at every input, and memory for its outputs where they are wanted and their shapes are fixed.
fn bound<'m>(model: &'m Model<'_>, outputs: bool) -> Result<Request<'m>> {
    let mut request = model.request()?;
    for (index, port) in (0..).zip(model.inputs()) {
        request.bind(Direction::Input, index, zeros(port)?)?;
    }
    for (index, port) in (0..).zip(model.outputs()).filter(|_| outputs) {
        request.bind(Direction::Output, index, zeros(port)?)?;
    }
    Ok(request)
}

/// A tensor for a port; open dimensions are 1 for a batch and 64 for all else. Masks are ones.
fn zeros(port: &Port) -> Result<Arc<HostTensor>> {
    let size = |(size, name): (&Option<usize>, &Option<String>)| {
        size.unwrap_or(if name.as_deref() == Some("batch") { 1 } else { 64 })
    };
    let shape: Vec<usize> = port.shape.iter().zip(&port.dim_names).map(size).collect();
    let mut tensor = HostTensor::zeroed(port.dtype, &shape)?;
    if port.name.contains("mask") && port.dtype == DType::I64 {
        tensor.bytes_mut().iter_mut().step_by(8).for_each(|byte| *byte = 1);
    }
    Ok(Arc::new(tensor))
}

/// Nanoseconds per run of a round.
fn time(mut run: impl FnMut() -> Result<()>) -> Result<f64> {
    let started = Instant::now();
    for _ in 0..ITERATIONS {
        run()?;
    }
    Ok(started.elapsed().as_nanos() as f64 / f64::from(ITERATIONS))
}

fn counted(mut run: impl FnMut() -> Result<()>) -> Result<f64> {
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    for _ in 0..ITERATIONS {
        run()?;
    }
    Ok((ALLOCATIONS.load(Ordering::Relaxed) - before) as f64 / f64::from(ITERATIONS))
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn resident_kb() -> Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next()).and_then(|number| number.parse().ok());
    number.ok_or_else(|| Error::internal("no VmRSS in /proc/self/status"))
}
