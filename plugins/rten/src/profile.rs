//! What operators cost, as rten times them. It tells nobody but the process's output, so that a run that is recorded has a file in
//! place of it: what rten prints is read from there, and nothing reaches the output itself.
//!
//! Only on Unix, where an output can be put in another's place without unsafe code.

use rten::RunOptions;
use skillbench_plugin_api::sdk::Profile;
use skillbench_plugin_api::{Code, Error, Operator, Result};
use std::sync::{Mutex, PoisonError};

/// Whether rten's words can be had on this system.
pub(crate) const POSSIBLE: bool = cfg!(unix);
/// Operators that run others, which are timed themselves.
const AROUND_OTHERS: [&str; 2] = ["If", "Loop"];

pub(crate) struct Recorder {
    device: String,
    state: Mutex<Option<Recorded>>,
}

#[derive(Default)]
struct Recorded {
    runs: u64,
    operators: Vec<Operator>,
}

impl Recorder {
    pub fn new(device: &str) -> Recorder {
        Recorder { device: device.into(), state: Mutex::default() }
    }

    /// Runs; while something is recorded, with rten telling every operator.
    ///
    /// # Errors
    /// `Internal` where its words cannot be had.
    pub fn run<T>(&self, options: RunOptions, work: impl FnOnce(RunOptions) -> Result<T>) -> Result<T> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(recorded) = state.as_mut() else { return work(options) };
        let (done, text) = printed(|| work(options.with_verbose(true)))?;
        let done = done?;
        let run = Some(recorded.runs);
        recorded.runs += 1;
        let before = recorded.operators.len();
        let operator = |(kind, name, duration_ns): (&str, &str, u64)| Operator {
            run,
            duration_ns,
            name: name.into(),
            kind: kind.into(),
            device: self.device.clone(),
            ..Operator::default()
        };
        recorded.operators.extend(operators(&text).map(operator));
        match recorded.operators.len() > before {
            true => Ok(done),
            false => Err(Error::internal("rten told no operator: something else has taken the process's output")),
        }
    }
}

impl Profile for Recorder {
    fn begin(&self) -> Result<()> {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = Some(Recorded::default());
        Ok(())
    }

    fn end(&self) -> Result<Vec<Operator>> {
        let recorded = self.state.lock().unwrap_or_else(PoisonError::into_inner).take();
        let text = "nothing is being recorded: begin first";
        Ok(recorded.ok_or_else(|| Error::new(Code::FailedPrecondition, text))?.operators)
    }
}

/// Kind, node and nanoseconds of each operator: "#3 MatMul (/layer.0/MatMul)", lines about its tensors, "  time: 0.123ms".
fn operators(text: &str) -> impl Iterator<Item = (&str, &str, u64)> {
    let mut current = None;
    text.lines().filter_map(move |line| {
        if let Some(head) = line.strip_prefix('#') {
            current = head.split_once(' ').filter(|(step, _)| step.parse::<u32>().is_ok()).map(|(_, rest)| rest);
            return None;
        }
        let milliseconds: f64 = line.strip_prefix("  time: ")?.strip_suffix("ms")?.parse().ok()?;
        let (kind, name) = current.take()?.split_once(" (")?;
        let name = name.strip_suffix(')')?;
        (!AROUND_OTHERS.contains(&kind)).then(|| (kind, name, (milliseconds * 1e6).round() as u64))
    })
}

/// Works, with a file in the place of the process's output, and returns what was written there.
#[cfg(unix)]
fn printed<T>(work: impl FnOnce() -> T) -> Result<(T, String)> {
    use rustix::stdio::dup2_stdout;
    use std::io::{Read, Seek, Write, stdout};
    use std::os::fd::{AsFd, OwnedFd};

    /// Puts the output back, also where the work panics.
    struct Back(OwnedFd);
    impl Drop for Back {
        fn drop(&mut self) {
            let _ = stdout().flush();
            let _ = dup2_stdout(&self.0);
        }
    }

    // A process has but one output.
    static OUTPUT: Mutex<()> = Mutex::new(());
    let _alone = OUTPUT.lock().unwrap_or_else(PoisonError::into_inner);
    let failed = |error: std::io::Error| Error::internal(format!("rten's words cannot be had: {error}"));
    let mut file = tempfile::tempfile().map_err(failed)?;
    stdout().flush().map_err(failed)?;
    let back = Back(stdout().as_fd().try_clone_to_owned().map_err(failed)?);
    dup2_stdout(&file).map_err(|error| failed(error.into()))?;
    let done = work();
    drop(back);
    let mut bytes = vec![];
    file.rewind().and_then(|()| file.read_to_end(&mut bytes)).map_err(failed)?;
    Ok((done, String::from_utf8_lossy(&bytes).into_owned()))
}

#[cfg(not(unix))]
fn printed<T>(_work: impl FnOnce() -> T) -> Result<(T, String)> {
    let text = "rten tells its times to the process's output alone, which cannot be read on this system";
    Err(Error::unimplemented(skillbench_plugin_api::Why::PLATFORM, text))
}

#[cfg(test)]
mod tests {
    use super::operators;

    #[test]
    fn what_rten_prints_is_read_operator_by_operator() {
        let text = "#0 Gather (/embeddings (words)/Gather)\n  input 0: weights (f32 [8, 4])\n  output 0: x ([1, 4])\n  time: 0.012ms\n\
                    #0 Add (inside)\n  time: 1.000ms\n#1 If (branch)\n  time: 1.100ms\n#2 Softmax ()\n  time: 0.000ms\n\
                    4 ops evaluated in 1.112ms\nPool allocs 1 hits 0\n";
        let found: Vec<_> = operators(text).collect();
        let expected =
            [("Gather", "/embeddings (words)/Gather", 12_000), ("Add", "inside", 1_000_000), ("Softmax", "", 0)];
        assert_eq!(found, expected, "a branch is not counted beside what runs within it");
    }
}
