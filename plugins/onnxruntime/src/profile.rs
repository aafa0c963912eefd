//! What operators cost, by ONNX Runtime's own profile: a file of events that a session writes once, when its profiling ends.

use crate::errors::check;
use crate::provider::CPU;
use ort::AsPointer;
use ort::session::Session;
use serde::Deserialize;
use skillbench_plugin_api::sdk::Profile;
use skillbench_plugin_api::{Code, Device, DeviceKind, Error, Operator, Result};
use std::collections::HashSet;
use std::ffi::{CStr, c_void};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tempfile::TempDir;

/// The profiler keeps no more events than these, and passes over the rest in silence.
const MOST: usize = 1_000_000;
/// Operators that run others, which have events of their own.
const AROUND_OTHERS: [&str; 3] = ["If", "Loop", "Scan"];

/// The folder that a session writes its profile into.
pub(crate) struct Scratch(TempDir);

impl Scratch {
    pub fn new() -> Result<Scratch> {
        let failed = |error: std::io::Error| Error::internal(format!("a folder for the profile: {error}"));
        tempfile::tempdir().map(Scratch).map_err(failed)
    }

    /// The beginning of the file's path.
    pub fn prefix(&self) -> PathBuf {
        self.0.path().join("profile")
    }
}

/// The profile of one session.
pub(crate) struct Recorder {
    session: Arc<Session>,
    /// Where operators run that the CPU's provider does not.
    device: Device,
    /// Since the load.
    runs: AtomicU64,
    state: Mutex<State>,
    _scratch: Scratch,
}

#[derive(Clone, Copy)]
enum State {
    Ready,
    /// As many runs came before it.
    Began(u64),
    Over,
}

impl Recorder {
    pub fn new(session: Arc<Session>, device: Device, scratch: Scratch) -> Recorder {
        Recorder { session, device, runs: AtomicU64::new(0), state: Mutex::new(State::Ready), _scratch: scratch }
    }

    /// A run is about to begin.
    pub fn count(&self) {
        self.runs.fetch_add(1, Ordering::SeqCst);
    }

    /// Ends the profiling, and returns the file.
    fn end_profiling(&self) -> Result<PathBuf> {
        let allocator = self.session.allocator().ptr().cast_mut();
        let mut name = std::ptr::null_mut();
        // SAFETY: the session is alive and no run is under way; the name is the allocator's, read before it is given back, once.
        unsafe {
            check((ort::api().SessionEndProfiling)(self.session.ptr().cast_mut(), allocator, &raw mut name))?;
            if name.is_null() {
                return Err(Error::internal("ONNX Runtime does not tell where its profile is"));
            }
            let path = PathBuf::from(CStr::from_ptr(name).to_string_lossy().into_owned());
            check((ort::api().AllocatorFree)(allocator, name.cast::<c_void>()))?;
            Ok(path)
        }
    }
}

impl Profile for Recorder {
    fn begin(&self) -> Result<()> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match *state {
            State::Over => {
                let text = "ONNX Runtime records once for each load: load the model again";
                Err(Error::new(Code::FailedPrecondition, text))
            }
            _ => {
                *state = State::Began(self.runs.load(Ordering::SeqCst));
                Ok(())
            }
        }
    }

    fn end(&self) -> Result<Vec<Operator>> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let State::Began(before) = *state else {
            return Err(Error::new(Code::FailedPrecondition, "nothing is being recorded: begin first"));
        };
        *state = State::Over;
        let events = read(&self.end_profiling()?)?;
        Ok(operators(&events, before as usize, &self.device))
    }
}

#[derive(Deserialize)]
struct Event {
    #[serde(default)]
    cat: String,
    #[serde(default)]
    name: String,
    /// In microseconds.
    #[serde(default)]
    ts: u64,
    #[serde(default)]
    dur: u64,
    #[serde(default)]
    args: Arguments,
}

#[derive(Default, Deserialize)]
struct Arguments {
    #[serde(default)]
    op_name: String,
    #[serde(default)]
    provider: String,
    #[serde(default)]
    parent_name: String,
}

fn read(path: &Path) -> Result<Vec<Event>> {
    let failed = |text: String| Error::internal(format!("ONNX Runtime's profile {}: {text}", path.display()));
    let bytes = std::fs::read(path).map_err(|error| failed(error.to_string()))?;
    let events: Vec<Event> = serde_json::from_slice(&bytes).map_err(|error| failed(error.to_string()))?;
    match events.len() >= MOST {
        true => {
            let text = format!("it holds {MOST} events and no more, so some are missing: record fewer runs");
            Err(Error::new(Code::ResourceExhausted, text))
        }
        false => Ok(events),
    }
}

/// The operators of all runs but the first `before`, in the order in which they began.
///
/// Where a provider records what its device did, that counts; of the others that work behind the host's back, all that is known is how
/// long the host's call took.
fn operators(events: &[Event], before: usize, device: &Device) -> Vec<Operator> {
    let mut runs: Vec<u64> =
        events.iter().filter(|event| event.cat == "Session" && event.name == "model_run").map(|run| run.ts).collect();
    runs.sort_unstable();
    // The run that began last before a moment.
    let run_of = |ts: u64| runs.partition_point(|began| *began <= ts).checked_sub(1).filter(|run| *run >= before);
    let on_device: HashSet<usize> =
        events.iter().filter(|event| event.cat == "Kernel").filter_map(|event| run_of(event.ts)).collect();
    let operator = |event: &Event| {
        let run = run_of(event.ts)?;
        let own = event.args.provider != CPU;
        let kernel = event.cat == "Kernel";
        let node = event.cat == "Node" && event.name.ends_with("_kernel_time");
        if !kernel && !node || AROUND_OTHERS.contains(&&*event.args.op_name) {
            return None;
        }
        let behind = node && own && device.kind == DeviceKind::Gpu;
        if behind && on_device.contains(&run) {
            return None;
        }
        let name = match kernel {
            true => event.args.parent_name.clone(),
            false => event.name.trim_end_matches("_kernel_time").to_string(),
        };
        let or = |text: &String, other: &String| if text.is_empty() { other.clone() } else { text.clone() };
        Some(Operator {
            run: Some((run - before) as u64),
            start_ns: Some((event.ts - runs[run]) * 1_000),
            duration_ns: event.dur * 1_000,
            as_seen_by_host: behind,
            name,
            kind: or(&event.args.op_name, &event.name),
            kernel: if kernel { event.name.clone() } else { event.args.provider.clone() },
            // What goes to the CPU's provider beside another one is not on the device.
            device: if own || device.kind == DeviceKind::Cpu { device.id.clone() } else { "cpu".into() },
        })
    };
    let mut found: Vec<Operator> = events.iter().filter_map(operator).collect();
    found.sort_by_key(|operator| (operator.run, operator.start_ns));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(ts: u64) -> String {
        format!(r#"{{"cat": "Session", "ts": {ts}, "dur": 90, "ph": "X", "name": "model_run", "args": {{}}}}"#)
    }

    fn node(ts: u64, operator: &str, provider: &str) -> String {
        format!(
            r#"{{"cat": "Node", "ts": {ts}, "dur": 7, "name": "{operator}_1_kernel_time",
                "args": {{"op_name": "{operator}", "provider": "{provider}", "node_index": "3"}}}}"#
        )
    }

    fn describe(events: &[String], before: usize, kind: DeviceKind) -> Vec<Operator> {
        let text = format!("[{}]", events.join(","));
        let events: Vec<Event> = serde_json::from_str(&text).unwrap();
        operators(&events, before, &Device::new("it", "a device", kind))
    }

    #[test]
    fn an_operator_belongs_to_the_run_that_it_began_in() {
        // A run is written when it is over.
        let events = [node(11, "Conv", CPU), run(10), node(105, "MatMul", CPU), node(101, "Add", CPU), run(100)];
        let [add, multiply] = &describe(&events, 1, DeviceKind::Cpu)[..] else { panic!("the second run's two") };
        assert_eq!((add.kind.as_str(), add.run, add.start_ns), ("Add", Some(0), Some(1_000)));
        assert_eq!((multiply.name.as_str(), multiply.duration_ns), ("MatMul_1", 7_000));
        assert_eq!((multiply.device.as_str(), multiply.kernel.as_str()), ("it", CPU));
        assert_eq!(describe(&events, 0, DeviceKind::Cpu).len(), 3);
    }

    #[test]
    fn of_a_loop_what_runs_within_it_is_told() {
        let events = [run(10), node(11, "Loop", CPU), node(12, "Mul", CPU)];
        let kinds: Vec<String> =
            describe(&events, 0, DeviceKind::Cpu).into_iter().map(|operator| operator.kind).collect();
        assert_eq!(kinds, ["Mul"]);
    }

    #[test]
    fn the_times_of_a_gpu_are_the_hosts_unless_its_provider_records_kernels() {
        let seen = [run(10), node(11, "MatMul", "GpuProvider"), node(19, "Shape", CPU)];
        let [multiply, shape] = &describe(&seen, 0, DeviceKind::Gpu)[..] else { panic!("two operators") };
        assert!(multiply.as_seen_by_host && !shape.as_seen_by_host);
        assert_eq!((multiply.device.as_str(), shape.device.as_str()), ("it", "cpu"));

        let kernel = r#"{"cat": "Kernel", "ts": 14, "dur": 30, "name": "gemm_128x64",
            "args": {"op_name": "MatMul", "parent_name": "MatMul_1", "stream": "7"}}"#;
        let with_kernels = [&seen[..], &[kernel.to_string()]].concat();
        let [kernel, shape] = &describe(&with_kernels, 0, DeviceKind::Gpu)[..] else { panic!("not told twice") };
        assert_eq!((kernel.kind.as_str(), kernel.name.as_str()), ("MatMul", "MatMul_1"));
        assert_eq!((kernel.kernel.as_str(), kernel.duration_ns), ("gemm_128x64", 30_000));
        assert!(!kernel.as_seen_by_host && shape.kind == "Shape");
    }
}
