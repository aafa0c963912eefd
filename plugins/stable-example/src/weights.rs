//! The numbers of a model's weights, from inside its file or from one beside it.

use crate::onnx::Weight;
use skillbench_plugin_api::{Error, Result, Why};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Component, Path};

/// Decodes a float32 weight of `count` elements; external data lies in `folder`.
pub fn read(weight: &Weight<'_>, count: usize, folder: &Path) -> Result<Vec<f32>> {
    let lost = |why: &str| Error::invalid(format!("weight '{}': {why}", weight.name)).because(Why::MODEL);
    let length = count * size_of::<f32>();
    if !weight.external.location.is_empty() {
        return match weight.external.length.is_none_or(|told| told == length as u64) {
            true => Ok(decode(&beside(weight, length, folder)?)),
            false => Err(lost("its external data is not as long as its shape says")),
        };
    }
    match weight.raw {
        Some(raw) if raw.len() == length => Ok(decode(raw)),
        None if count == 0 => Ok(vec![]),
        Some(_) => Err(lost("its data is not as long as its shape says")),
        None => {
            let text = format!("weight '{}' is stored neither as raw_data nor as external data", weight.name);
            Err(Error::unimplemented(Why::MODEL, text))
        }
    }
}

fn beside(weight: &Weight<'_>, length: usize, folder: &Path) -> Result<Vec<u8>> {
    let lost = |why: &str| Error::invalid(format!("weight '{}': {why}", weight.name)).because(Why::MODEL);
    let location = Path::new(weight.external.location);
    // ONNX allows only files beside the model or below.
    if location.components().any(|part| !matches!(part, Component::Normal(_) | Component::CurDir)) {
        return Err(lost("its data lies outside the model's folder"));
    }
    let path = folder.join(location);
    let mut file = File::open(&path).map_err(|error| {
        let text = format!("weight '{}': its file {}: {error}", weight.name, path.display());
        Error::not_found(text).because(Why::MODEL)
    })?;
    let mut bytes = Vec::new();
    let read = file
        .seek(SeekFrom::Start(weight.external.offset))
        .and_then(|_| file.take(length as u64).read_to_end(&mut bytes));
    match read {
        Ok(read) if read == length => Ok(bytes),
        Ok(_) => Err(lost("its file is too short")),
        Err(error) => Err(lost(&format!("its file {}: {error}", path.display()))),
    }
}

/// ONNX stores numbers with the low byte first, whatever machine reads them.
fn decode(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
}
