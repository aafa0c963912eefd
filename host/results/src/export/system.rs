//! The machine, as the suite form tells it.

use serde_json::{Value, json};
use skillbench_record::{Outcome, Run};

pub(super) fn json(run: &Run) -> Value {
    let environment = &run.environment;
    let platform = [Some(environment.os.as_str()), environment.kernel.as_deref(), Some(environment.arch.as_str())];
    json!({
        "platform": platform.into_iter().flatten().collect::<Vec<_>>().join("-"),
        "processor": environment.cpu_model,
        "hostname": environment.hostname,
        "cpu_count": environment.cpus_usable,
        "memory_total_mb": environment.memory_total_mb,
        "cuda_available": cuda_available(run),
        "cuda_version": cuda_version(run),
        "cuda_driver": cuda_driver(run),
        "host_version": environment.host_version,
    })
}

/// Whether a cell reached a device of CUDA; `None`: nobody tried.
fn cuda_available(run: &Run) -> Option<bool> {
    let mut cells = run.cells.iter().filter(|cell| cell.plugin == "cuda").peekable();
    match cells.peek() {
        None => run.left_out.contains_key("cuda").then_some(false),
        Some(_) => cells
            .filter(|cell| !matches!(cell.outcome, Outcome::Skipped(_)))
            .map(|cell| !matches!(cell.outcome, Outcome::Unavailable(_)))
            .reduce(|one, other| one || other),
    }
}

fn cuda_driver(run: &Run) -> Option<&str> {
    let cuda = run.cells.iter().filter(|cell| cell.plugin == "cuda");
    cuda.filter_map(|cell| cell.hardware.as_ref())
        .map(|hardware| hardware.driver.as_str())
        .find(|text| !text.is_empty())
}

/// Where a driver or an engine names the version of CUDA itself.
fn cuda_version(run: &Run) -> Option<String> {
    let cuda = run.cells.iter().filter(|cell| cell.plugin == "cuda");
    let told = cuda.flat_map(|cell| {
        let driver = cell.hardware.as_ref().map(|hardware| hardware.driver.as_str());
        driver.into_iter().chain(cell.placement.as_ref().map(|placement| placement.engine.as_str()))
    });
    told.filter_map(|text| {
        let (_, after) = text.split_once("CUDA ")?;
        let version: String = after.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
        (!version.is_empty()).then_some(version)
    })
    .next()
}
