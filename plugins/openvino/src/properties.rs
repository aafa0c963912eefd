//! What OpenVINO is asked for when it compiles.

use crate::devices::Found;
use crate::precision;
use crate::settings::Settings;
use skillbench_openvino_runtime::Compiled;
use skillbench_plugin_api::{DeviceKind, Error, Load, Result, Why};

/// Whether a model records what its operators cost.
const PERF_COUNT: &str = "PERF_COUNT";

/// The properties for a load on a device; those that it does not know are left out, and what came of them is read back.
///
/// # Errors
/// `Unimplemented` for a device that records no operators, where that is asked for; `InvalidArgument` for a cache folder that cannot be named.
pub(crate) fn of(load: &Load, device: &Found, settings: &Settings) -> Result<Vec<(String, String)>> {
    let mut wanted: Vec<(&str, String)> = vec![];
    // Float32 unless another is asked for: the defaults are narrower (bfloat16 on many processors, float16 on GPUs). An NPU
    // computes in what it computes in.
    if let Some(hint) = precision::hint(load.precision.as_deref(), device.device.kind) {
        wanted.push(("INFERENCE_PRECISION_HINT", hint.into()));
    }
    // By default activations are quantized before weights of 8 bits, and keys and values kept in 8, whatever the hint.
    wanted.push(("EXECUTION_MODE_HINT", "ACCURACY".into()));
    if settings.throughput {
        wanted.push(("PERFORMANCE_HINT", "THROUGHPUT".into()));
    } else {
        wanted.push(("PERFORMANCE_HINT", "LATENCY".into()));
        wanted.push(("NUM_STREAMS", "1".into()));
    }
    if device.device.kind == DeviceKind::Cpu {
        wanted.push(("INFERENCE_NUM_THREADS", settings.threads.to_string()));
        // Pinning moves the threads to their cores and back in every inference (2 us of CPU time on one thread), and keeps
        // them where something else may be running.
        wanted.push(("ENABLE_CPU_PINNING", "NO".into()));
    }
    if load.profile {
        if !device.takes.iter().any(|known| known == PERF_COUNT) {
            let text = format!("{} does not tell what its operators cost: it has no {PERF_COUNT}", device.device.id);
            return Err(Error::unimplemented(Why::DEVICE, text));
        }
        wanted.push((PERF_COUNT, "YES".into()));
    }
    wanted.retain(|(key, _)| device.takes.iter().any(|known| known == key));
    if let Some(folder) = &load.cache_dir {
        // The core's own property, whatever the device.
        let folder = folder.to_str().ok_or_else(|| Error::invalid("the cache folder's path is not UTF-8"))?;
        wanted.push(("CACHE_DIR", folder.into()));
    }
    Ok(wanted.into_iter().map(|(key, value)| (key.to_string(), value)).collect())
}

/// Whether compiled code came from the cache; `None` where that cannot be told.
pub(crate) fn cache_hit(compiled: &Compiled) -> Option<bool> {
    match compiled.property("LOADED_FROM_CACHE").ok()?.to_uppercase().as_str() {
        "YES" | "TRUE" | "1" => Some(true),
        "NO" | "FALSE" | "0" => Some(false),
        _ => None,
    }
}
