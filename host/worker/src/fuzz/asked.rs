//! What random use asks for: options that a schema allows, loads, and tensors that fit a port or do not.

use super::random::Random;
use crate::check::{PROBE, STATE};
use crate::{FuzzJob, options};
use serde_json::Value;
use skillbench_plugin_api::{DType, Dim, HostTensor, Load, Port, Source};
use skillbench_record::PluginOptions;

/// Options of the schema, on top of those that were given; those that were given stay as they are.
pub(super) fn plugin_options(random: &mut Random, given: &PluginOptions, schema: &str) -> PluginOptions {
    let mut made = given.clone();
    let parsed: Value = serde_json::from_str(schema).unwrap_or_default();
    for (key, property) in parsed["properties"].as_object().into_iter().flatten() {
        if !given.contains_key(key) && random.one_in(4) {
            made.extend(value(random, property).map(|value| (key.clone(), value)));
        }
    }
    // One that another forbids.
    if options::check(&made, schema, "the plugin").is_ok() { made } else { given.clone() }
}

/// A value of a property. Of texts there are none: they name files, which are their owner's.
fn value(random: &mut Random, property: &Value) -> Option<String> {
    if let Some(all) = property["enum"].as_array() {
        return random.pick(all).map(|value| value.as_str().map_or_else(|| value.to_string(), String::from));
    }
    match property["type"].as_str()? {
        "boolean" => Some(random.one_in(2).to_string()),
        "integer" => {
            let least = property["minimum"].as_i64().unwrap_or(0);
            // A machine has no more of what they count.
            let most = property["maximum"].as_i64().unwrap_or(least + 8).min(least.saturating_add(8));
            Some((least + random.below((most - least + 1).max(1) as usize) as i64).to_string())
        }
        _ => None,
    }
}

/// A load: mostly of a model that is whole. Its file, where it has one, lies in the job's scratch folder.
pub(super) fn load(random: &mut Random, job: &FuzzJob) -> std::io::Result<Load> {
    let mut bytes = if random.one_in(6) { STATE } else { PROBE }.to_vec();
    if random.one_in(3) && !job.whole_models {
        random.change(&mut bytes);
    }
    let source = if random.one_in(4) {
        Source::onnx_in_memory(bytes)
    } else {
        let path = job.scratch.join(format!("{}.onnx", random.below(4)));
        std::fs::write(&path, bytes)?;
        Source::onnx(&path)
    };
    let mut load = Load::new(source);
    if !random.one_in(5) {
        let odd: &[i64] = if random.one_in(8) { &[0, -1, i64::MAX] } else { &[1, 2, 2, 2, 3, 8] };
        load.dims.extend(random.pick(odd).map(|batch| Dim::fixed("batch", *batch)));
    }
    if random.one_in(8) {
        load.precision =
            random.pick(&["float32", "float16", "bfloat16", "int8", "float7", ""]).map(|name| name.to_string());
    }
    if random.one_in(8) {
        load.devices = vec![[0, 1, 99, u32::MAX][random.below(4)]];
    }
    load.allow_fallback = random.one_in(8);
    load.profile = random.one_in(8);
    Ok(load)
}

/// The batch that tensors have which fit.
const BATCH: usize = 2;
/// No tensor has more elements.
const ELEMENTS: usize = 1 << 16;

/// A tensor for a port: mostly one that fits.
pub(super) fn tensor(random: &mut Random, port: Option<&Port>) -> Option<HostTensor> {
    const TYPES: [DType; 8] =
        [DType::F32, DType::F64, DType::F16, DType::I64, DType::I32, DType::I8, DType::U8, DType::Bool];
    let fits = port.filter(|_| !random.one_in(4));
    let (dtype, shape) = match fits {
        Some(port) => (port.dtype, port.shape.iter().map(|size| size.unwrap_or(BATCH)).collect()),
        None => {
            let shape: Vec<usize> = (0..random.below(6)).map(|_| [0, 1, 2, 3, 32, 64, 65][random.below(7)]).collect();
            (TYPES[random.below(TYPES.len())], shape)
        }
    };
    if shape.iter().try_fold(1usize, |all, size| all.checked_mul(*size)).is_none_or(|all| all > ELEMENTS) {
        return None;
    }
    let mut tensor = HostTensor::zeroed(dtype, &shape).ok()?;
    // Zeros, any bytes at all (with infinities and what is no number), or small numbers.
    match random.below(3) {
        0 => {}
        1 if dtype != DType::Bool => tensor.bytes_mut().iter_mut().for_each(|byte| *byte = random.next() as u8),
        _ if dtype == DType::F32 => {
            for bytes in tensor.bytes_mut().chunks_exact_mut(4) {
                bytes.copy_from_slice(&(random.below(2000) as f32 / 1000.0 - 1.0).to_le_bytes());
            }
        }
        _ => {}
    }
    Some(tensor)
}
