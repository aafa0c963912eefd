//! A safe way around for a graph whose opset an engine does not know: a copy that is marked with a lower one, where every
//! operator that the graph uses means the same under both. Nothing but the numbers is changed: not a node, not a weight.
//!
//! A definition that merely takes more types (`widened` in the table) is no obstacle: what both definitions take, both compute
//! alike, and an engine refuses a type that it does not take.

use super::files::{FileError, NO_LINKS, Tree, stays_inside};
use serde::Deserialize;
use skillbench_onnx::{Outline, Version};
use skillbench_record::scratch::Scratch;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// `data/opsets.toml`, typed.
#[derive(Debug, Deserialize)]
pub struct Table {
    /// The version of the Python package that it comes from.
    pub onnx: String,
    pub highest: i64,
    pub highest_format: i64,
    formats: BTreeMap<String, i64>,
    operators: BTreeMap<String, Operator>,
}

#[derive(Debug, Deserialize)]
struct Operator {
    /// The opset it came with, and those that changed it.
    changed: Vec<i64>,
    /// The opsets at which it came to take more types.
    #[serde(default)]
    #[allow(dead_code, reason = "told for people; it hinders nothing")]
    widened: Vec<i64>,
    removed: Option<i64>,
}

/// What is compiled in. A test reads it, so that a slip in the file cannot ship.
pub fn table() -> &'static Table {
    static TABLE: LazyLock<Table> =
        LazyLock::new(|| toml::from_str(include_str!("../../data/opsets.toml")).expect("data/opsets.toml is valid"));
    &TABLE
}

impl Table {
    /// The version of the file format that came with an opset.
    fn format(&self, opset: i64) -> Option<i64> {
        let known = self.formats.iter().filter_map(|(of, format)| Some((of.parse::<i64>().ok()?, *format)));
        known.filter(|(of, _)| *of <= opset).max().map(|(_, format)| format)
    }
}

/// What a copy of a model would be marked with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lowered {
    pub from: i64,
    pub to: i64,
    /// The versions of the file format, before and after.
    pub format: (i64, i64),
}

impl std::fmt::Display for Lowered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Lowered { from, to, .. } = self;
        write!(f, "marked with opset {to} in place of {from}: all its operators mean the same there")
    }
}

#[derive(Debug, thiserror::Error)]
pub enum OpsetError {
    #[error("the graph does not say its opset; export it again")]
    Unsaid,
    #[error("its opset is {from} already, which is not above {to}")]
    NotAbove { from: i64, to: i64 },
    #[error(
        "opset {from} cannot be marked as {to}: {}; the lowest opset that would do is {lowest}; export it for opset {to}",
        named(in_the_way)
    )]
    InTheWay { from: i64, to: i64, lowest: i64, in_the_way: Vec<String> },
    #[error(
        "the model defines functions of its own ({0}), which would have to change too; export it for a lower opset"
    )]
    Functions(String),
    #[error("{}: {error}; {NO_LINKS}", path.display())]
    Source { path: PathBuf, error: FileError },
    #[error("{}: {error}; give a folder that can be written and has space", path.display())]
    Io { path: PathBuf, error: std::io::Error },
    #[error("{}: its opset does not stand where it should; export it again", path.display())]
    Unusual { path: PathBuf },
}

/// The first few of a list, and how many more there are.
fn named(all: &[String]) -> String {
    const SHOWN: usize = 12;
    match all.get(SHOWN..).unwrap_or_default() {
        [] => all.join(", "),
        more => format!("{} and {} more", all[..SHOWN].join(", "), more.len()),
    }
}

/// The lowest opset under which every operator of the graph means the same.
pub fn lowest(outline: &Outline) -> i64 {
    let from = outline.opset().unwrap_or(1);
    let of = |operator: &str| table().operators.get(operator).and_then(|known| known.newest(from)).unwrap_or(from);
    standard_operators(outline).into_iter().map(of).max().unwrap_or(1)
}

/// Whether a copy of a graph can be marked with a lower opset.
///
/// # Errors
/// The operators that stand in the way, each with the opset that it needs.
pub fn lower(outline: &Outline, to: i64) -> Result<Lowered, OpsetError> {
    let from = outline.opset().ok_or(OpsetError::Unsaid)?;
    if to >= from || to < 1 {
        return Err(OpsetError::NotAbove { from, to });
    }
    if let Some(function) = outline.functions.first() {
        return Err(OpsetError::Functions(function.name.clone()));
    }
    let in_the_way: Vec<String> =
        standard_operators(outline).into_iter().filter_map(|operator| table().obstacle(operator, from, to)).collect();
    if !in_the_way.is_empty() {
        return Err(OpsetError::InTheWay { from, to, lowest: lowest(outline), in_the_way });
    }
    let format = outline.format.map_or(0, |format| format.value);
    let lowered = table().format(to).map_or(format, |of| of.max(OLDEST_FORMAT).min(format));
    Ok(Lowered { from, to, format: (format, lowered) })
}

/// Since this version of the file format weights are no inputs, and nothing that came later changes what a graph means.
const OLDEST_FORMAT: i64 = 8;

impl Operator {
    /// The newest change up to an opset; `None` before the operator came.
    fn newest(&self, opset: i64) -> Option<i64> {
        self.changed.iter().copied().filter(|changed| *changed <= opset).max()
    }
}

impl Table {
    fn obstacle(&self, operator: &str, from: i64, to: i64) -> Option<String> {
        let Some(known) = self.operators.get(operator) else {
            return Some(format!("{operator} (no standard operator)"));
        };
        if known.removed.is_some_and(|removed| removed <= from) {
            return Some(format!("{operator} (not in opset {from})"));
        }
        match (known.newest(from), known.newest(to)) {
            (Some(now), Some(then)) if now == then => None,
            (Some(now), Some(_)) => Some(format!("{operator} (changed in {now})")),
            (Some(now), None) => Some(format!("{operator} (since {now})")),
            (None, _) => Some(format!("{operator} (not in opset {from})")),
        }
    }
}

/// Each operator once, in order.
fn standard_operators(outline: &Outline) -> std::collections::BTreeSet<&str> {
    outline.nodes().filter(|node| node.domain.is_empty()).map(|node| node.operator.as_str()).collect()
}

/// Writes a copy of a model marked with a lower opset. Where the copy is in another folder, its external data is linked there,
/// or copied where it cannot be linked.
///
/// # Errors
/// As for [`lower`]; files that cannot be read or written.
pub fn write(model: &Path, outline: &Outline, to: i64, target: &Path) -> Result<Lowered, OpsetError> {
    let lowered = lower(outline, to)?;
    let io = |path: &Path| {
        let path = path.to_path_buf();
        move |error| OpsetError::Io { path, error }
    };
    let folder = target.parent().unwrap_or(Path::new("."));
    let source = |error| OpsetError::Source { path: model.into(), error };
    let tree = Tree::of(model).map_err(source)?;
    std::fs::create_dir_all(folder).map_err(io(folder))?;
    data_beside(&tree, model, outline, folder)?;
    let scratch = Scratch::in_folder(folder).map_err(io(folder))?;
    let new = scratch.path().join("new");
    let mut copy = File::options().read(true).write(true).create_new(true).open(&new).map_err(io(&new))?;
    let mut source = tree.open(model).map_err(source)?;
    std::io::copy(&mut source.file, &mut copy).map_err(io(target))?;
    let sets = outline.opsets.iter().filter(|set| set.domain.is_empty()).map(|set| (set.version, lowered.to));
    let format = outline.format.map(|version| (version, lowered.format.1));
    for (place, value) in sets.chain(format) {
        patch(&mut copy, place, value)
            .map_err(io(target))?
            .ok_or_else(|| OpsetError::Unusual { path: model.into() })?;
    }
    copy.sync_all().map_err(io(target))?;
    std::fs::rename(&new, target).map_err(io(target))?;
    Ok(lowered)
}

/// Replaces a number by a lower one in as many bytes. `None`: it is not what stands there.
fn patch(file: &mut File, place: Version, value: i64) -> std::io::Result<Option<()>> {
    let (Ok(old), Ok(new)) = (u64::try_from(place.value), u64::try_from(value)) else { return Ok(None) };
    let (before, Some(after)) = (varint(old, 1), varint_of(new, varint(old, 1).len())) else { return Ok(None) };
    let Some(start) = place.end.checked_sub(before.len() as u64) else { return Ok(None) };
    let mut found = vec![0; before.len()];
    file.seek(SeekFrom::Start(start))?;
    file.read_exact(&mut found)?;
    if found != before {
        return Ok(None);
    }
    file.seek(SeekFrom::Start(start))?;
    file.write_all(&after)?;
    Ok(Some(()))
}

fn varint_of(value: u64, length: usize) -> Option<Vec<u8>> {
    Some(varint(value, length)).filter(|bytes| bytes.len() == length)
}

/// A number in at least so many bytes.
fn varint(mut value: u64, least: usize) -> Vec<u8> {
    let mut bytes = vec![];
    loop {
        let last = value < 0x80 && bytes.len() + 1 >= least;
        bytes.push((value & 0x7F) as u8 | if last { 0 } else { 0x80 });
        value >>= 7;
        if last {
            return bytes;
        }
    }
}

/// The external data of a model, in a folder for a copy of it.
fn data_beside(tree: &Tree, model: &Path, outline: &Outline, folder: &Path) -> Result<(), OpsetError> {
    let from = model.parent().unwrap_or(Path::new("."));
    for file in outline.locations().into_iter().filter(|file| stays_inside(file)) {
        let (path, target) = (from.join(file), folder.join(file));
        let io = |error| OpsetError::Io { path: target.clone(), error };
        if std::fs::canonicalize(&target).is_ok_and(|there| std::fs::canonicalize(&path).is_ok_and(|of| of == there)) {
            continue;
        }
        let mut source = tree.open(&path).map_err(|error| OpsetError::Source { path, error })?;
        // What an earlier copy left may be of another model.
        match std::fs::remove_file(&target) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(io(error)),
            _ => {}
        }
        source.place(&target).map_err(io)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::samples::{Sample, node};
    use super::*;

    fn outline(sample: &Sample) -> Outline {
        Outline::of(&sample.bytes()).unwrap()
    }

    #[test]
    fn the_table_is_there_and_says_where_it_comes_from() {
        assert!(table().highest >= 28 && table().operators.len() > 150 && !table().onnx.is_empty());
        assert_eq!(table().format(17), Some(8));
        assert_eq!(table().format(23), Some(11));
    }

    #[test]
    fn a_graph_whose_operators_stayed_the_same_is_marked_lower() {
        let sample = Sample::perceptron().opset(25);
        let lowered = lower(&outline(&sample), 17).unwrap();
        assert_eq!((lowered.from, lowered.to), (25, 17));
        assert_eq!(lowest(&outline(&sample)), 14, "Add and Relu changed in 14");
    }

    #[test]
    fn the_operators_that_stand_in_the_way_are_named_with_the_opset_they_need() {
        let mut sample = Sample::perceptron().opset(23);
        sample.nodes.push(node("Gelu", &["h3"], "g"));
        sample.nodes.push(node("AveragePool", &["g"], "p"));
        let error = lower(&outline(&sample), 17).unwrap_err().to_string();
        assert!(error.contains("AveragePool (changed in 22), Gelu (since 20)"), "{error}");
        assert!(error.contains("the lowest opset that would do is 22"), "{error}");
    }

    #[test]
    fn an_operator_that_nobody_knows_or_that_was_removed_stands_in_the_way() {
        for (operator, said) in [("Upsample", "not in opset 12"), ("Frobnicate", "no standard operator")] {
            let mut sample = Sample::perceptron().opset(12);
            sample.nodes.push(node(operator, &["h3"], "g"));
            let error = lower(&outline(&sample), 11).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
    }

    #[test]
    fn a_copy_differs_in_its_two_numbers_and_finds_its_data() {
        let folder = tempfile::tempdir().unwrap();
        let sample = Sample::perceptron().opset(25).external("w.data");
        let model = sample.write(folder.path(), "model.onnx");
        let target = folder.path().join("lower/model.onnx");
        let before = std::fs::read(&model).unwrap();
        let lowered = write(&model, &outline(&sample), 18, &target).unwrap();
        let after = std::fs::read(&target).unwrap();
        assert_eq!(before.len(), after.len());
        assert_eq!(
            before.iter().zip(&after).filter(|(a, b)| a != b).count(),
            1,
            "its format is as low as can be already"
        );
        assert_eq!(lowered.to_string(), "marked with opset 18 in place of 25: all its operators mean the same there");
        let copy = super::super::examine::examine(&target).unwrap();
        assert_eq!(copy.opset(), Some(18));
        assert_eq!(copy.graph, outline(&sample).graph);
        write(&model, &outline(&sample), 18, &target).expect("again over what is there");
    }

    #[test]
    fn only_a_lower_opset_is_a_way_around() {
        let sample = Sample::perceptron().opset(17);
        assert!(lower(&outline(&sample), 17).unwrap_err().to_string().contains("not above 17"));
        assert!(lower(&outline(&sample), 0).is_err());
    }

    #[test]
    fn numbers_keep_their_length() {
        assert_eq!(varint(300, 1), [0xAC, 2]);
        assert_eq!(varint(17, 2), [0x91, 0]);
        assert_eq!(varint_of(300, 1), None);
    }
}
