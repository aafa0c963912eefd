//! What is wrong with a model's file, found before any engine sees it: an engine's own words rarely say what to do, and some
//! engines take the process down. Only the structure is read: weights are skipped, and a file that cannot be whole is not opened.

mod data;
mod order;
mod problem;

pub use problem::{BadModel, Problem};

use super::files::{FileError, Tree};
use super::opset;
use skillbench_onnx::{Outline, messages::ValueInfo};
use std::collections::HashSet;
use std::io::{Read, Seek};
use std::path::Path;

/// The structure of a model that an engine may be given.
///
/// # Errors
/// The first thing that is wrong with it, with the file and what to do.
pub fn examine(path: &Path) -> Result<Outline, BadModel> {
    let tree = Tree::of(path).map_err(|error| BadModel { file: path.into(), problem: error.into() })?;
    examine_in(&tree, path)
}

/// As [`examine`], of a model whose files may lie elsewhere than beside the graph.
///
/// # Errors
/// As for [`examine`].
pub fn examine_in(tree: &Tree, path: &Path) -> Result<Outline, BadModel> {
    let bad = |problem: Problem| BadModel { file: path.into(), problem };
    let outline = read(tree, path).map_err(bad)?;
    check(&outline, tree, path.parent().unwrap_or(Path::new("."))).map_err(bad)?;
    Ok(outline)
}

/// A protobuf cannot be larger: every reader counts in 32 bits.
pub(in crate::user_models) const PROTOBUF_LIMIT: u64 = 1 << 31;

/// Inputs, or outputs, of a graph without its weights; and dimensions of one of them. More is no model that anybody wrote, and what
/// is made of a model takes them for few.
const MOST_PORTS: usize = 4096;
const MOST_DIMENSIONS: usize = 64;

fn read(tree: &Tree, path: &Path) -> Result<Outline, Problem> {
    let unreadable = |error: std::io::Error| Problem::Unreadable(error.to_string());
    let opened = tree.open(path)?;
    match opened.data.len() {
        0 => return Err(Problem::Empty),
        bytes if bytes >= PROTOBUF_LIMIT => return Err(Problem::TooLarge { bytes }),
        _ => {}
    }
    let mut file = opened.file;
    let mut start = vec![];
    file.by_ref().take(512).read_to_end(&mut start).map_err(unreadable)?;
    if let Some(problem) = no_protobuf(&start) {
        return Err(problem);
    }
    file.rewind().map_err(unreadable)?;
    Outline::read(file).map_err(|error| Problem::Broken(error.to_string()))
}

/// What the first bytes of a file say where they are no protobuf.
fn no_protobuf(start: &[u8]) -> Option<Problem> {
    const FORMATS: [(&[u8], &str); 5] = [
        (b"PK\x03\x04", "a zip archive, such as a PyTorch checkpoint"),
        (b"\x1F\x8B", "compressed with gzip"),
        (b"\x28\xB5\x2F\xFD", "compressed with zstd"),
        (b"\x89HDF", "an HDF5 file"),
        (b"GGUF", "a GGUF file"),
    ];
    if let Some((_, what)) = FORMATS.iter().find(|(magic, _)| start.starts_with(magic)) {
        return Some(Problem::OtherFormat(what));
    }
    // The last letter may be cut in two.
    let text = match std::str::from_utf8(start) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() => std::str::from_utf8(&start[..error.valid_up_to()]).ok()?,
        Err(_) => return None,
    };
    if text.chars().any(|c| c.is_control() && !c.is_whitespace()) {
        return None;
    }
    let line: String = text.lines().next().unwrap_or_default().chars().take(60).collect();
    Some(if line.contains("git-lfs") { Problem::Pointer } else { Problem::Text(line) })
}

fn check(outline: &Outline, tree: &Tree, folder: &Path) -> Result<(), Problem> {
    versions(outline)?;
    ports("inputs", &outline.graph.ports())?;
    ports("outputs", &outline.graph.outputs.iter().collect::<Vec<_>>())?;
    order::check(&outline.graph)?;
    data::check(outline, tree, folder)
}

fn ports(which: &'static str, ports: &[&ValueInfo]) -> Result<(), Problem> {
    match ports.len() {
        0 => return Err(Problem::NoPorts(which)),
        count if count > MOST_PORTS => return Err(Problem::ManyPorts { which, count }),
        _ => {}
    }
    for port in ports {
        if port.of.as_ref().is_some_and(|of| of.tensor.is_none()) {
            return Err(Problem::NoTensor(port.name.clone()));
        }
        let count = port.dims().map_or(0, <[_]>::len);
        if count > MOST_DIMENSIONS {
            return Err(Problem::ManyDimensions { port: port.name.clone(), count });
        }
    }
    Ok(())
}

fn versions(outline: &Outline) -> Result<(), Problem> {
    let (highest, highest_format) = (opset::table().highest, opset::table().highest_format);
    match outline.format.map(|format| format.value) {
        None | Some(..=0) => return Err(Problem::NoFormat),
        Some(found) if found > highest_format => return Err(Problem::Format { found, highest: highest_format }),
        Some(_) => {}
    }
    match outline.opset() {
        Some(found) if !(1..=highest).contains(&found) => return Err(Problem::Opset { found, highest }),
        _ => {}
    }
    let imported: HashSet<&str> = outline.opsets.iter().map(|set| set.domain.as_str()).collect();
    match outline.nodes().find(|node| !imported.contains(node.domain.as_str())) {
        None => Ok(()),
        Some(node) => Err(Problem::NoOpset { domain: node.domain.clone(), operator: node.operator.clone() }),
    }
}

impl From<FileError> for Problem {
    fn from(error: FileError) -> Problem {
        match error {
            FileError::Elsewhere { .. } => Problem::Elsewhere(error),
            other => Problem::Unreadable(other.to_string()),
        }
    }
}

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod tests;
