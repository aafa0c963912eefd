//! The data of tensors: whether it is there, and as long as the tensor's dimensions say. It is not read.

use super::Problem;
use crate::user_models::files::{FileError, Tree, stays_inside};
use skillbench_onnx::{External, Outline, OutlinedTensor};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The files that hold data, and which of them have been looked at.
struct Beside<'a> {
    tree: &'a Tree,
    folder: &'a Path,
    lengths: HashMap<PathBuf, u64>,
}

pub(super) fn check(outline: &Outline, tree: &Tree, folder: &Path) -> Result<(), Problem> {
    let mut beside = Beside { tree, folder, lengths: HashMap::new() };
    outline.tensors().try_for_each(|tensor| one(tensor, &mut beside))
}

fn one(tensor: &OutlinedTensor, beside: &mut Beside<'_>) -> Result<(), Problem> {
    let name = || if tensor.name.is_empty() { "(without a name)".to_string() } else { tensor.name.clone() };
    let dimensions = || Problem::Dimensions { tensor: name(), dims: tensor.dims.clone() };
    let count = tensor.count().ok_or_else(dimensions)?;
    let needs = match bits(tensor.element) {
        Some(bits) => Some(count.checked_mul(bits).ok_or_else(dimensions)?.div_ceil(8)),
        None => None,
    };
    match &tensor.external {
        Some(external) => outside(&name(), external, needs.unwrap_or(0), beside),
        None if tensor.inside == 0 && count > 0 && !tensor.sparse => Err(Problem::NoData(name())),
        None => match needs {
            Some(needs) if tensor.raw && tensor.inside < needs => {
                Err(Problem::ShortInside { tensor: name(), needs, has: tensor.inside })
            }
            _ => Ok(()),
        },
    }
}

fn outside(tensor: &str, external: &External, needs: u64, beside: &mut Beside<'_>) -> Result<(), Problem> {
    if !stays_inside(&external.location) {
        return Err(Problem::Escapes { tensor: tensor.into(), location: external.location.clone() });
    }
    let number = |key: &'static str, text: &Option<String>| match text {
        None => Ok(None),
        Some(text) => match text.trim().parse::<u64>() {
            Ok(number) => Ok(Some(number)),
            Err(_) => Err(Problem::Place { tensor: tensor.into(), key, value: text.clone() }),
        },
    };
    let offset = number("offset", &external.offset)?.unwrap_or(0);
    let length = number("length", &external.length)?;
    let file = beside.folder.join(&external.location);
    let has = match beside.lengths.get(&file) {
        Some(has) => *has,
        None => {
            let has = match beside.tree.open(&file) {
                Ok(opened) => opened.data.len(),
                Err(error @ FileError::Elsewhere { .. }) => return Err(Problem::Elsewhere(error)),
                Err(error) => return Err(missing(tensor, file, error.to_string())),
            };
            beside.lengths.insert(file.clone(), has);
            has
        }
    };
    if let Some(length) = length.filter(|length| *length < needs) {
        return Err(Problem::ShortInside { tensor: tensor.into(), needs, has: length });
    }
    let end = offset.saturating_add(length.unwrap_or(needs));
    match end <= has {
        true => Ok(()),
        false => Err(Problem::Short { tensor: tensor.into(), file, needs: end, has }),
    }
}

fn missing(tensor: &str, file: PathBuf, error: String) -> Problem {
    Problem::Missing { tensor: tensor.into(), file, error }
}

/// Bits of an element; `None` for strings and for types that are not known.
fn bits(element: i32) -> Option<u64> {
    match element {
        2 | 3 | 9 | 17..=20 | 24 => Some(8),
        4 | 5 | 10 | 16 => Some(16),
        1 | 6 | 12 => Some(32),
        7 | 11 | 13 | 14 => Some(64),
        15 => Some(128),
        21..=23 => Some(4),
        _ => None,
    }
}
