//! A path becomes a described skill: a model's file, or a folder that an exporter or a hub left. The graphs are examined, what
//! they say of themselves becomes axes and rules for inputs, and what a `skill.json` of the user's own says counts first.

mod fills;
mod folder;
mod ports;
mod trace;
mod whole;

use super::classify::{Config, Generation, Kind, classify, generation};
use super::examine::{BadModel, examine_in};
use super::files::{FileError, Opened, Tree};
use crate::count::{self, Uncounted};
use crate::{Manifest, SkillDescription};
use folder::Graphs;
pub(super) use folder::known_set;
use ports::Ports;
use serde_json::{Map, Value, json};
use skillbench_onnx::Outline;
use skillbench_record::suggest::did_you_mean;
use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;
pub use whole::Whole;

/// No limit that anybody knows.
pub const NO_LIMIT: i64 = i32::MAX as i64;

/// A user's model, described.
#[derive(Clone, Debug)]
pub struct UserModel {
    pub id: String,
    /// The file or folder, in full.
    pub path: PathBuf,
    /// The text of its skill.json; paths in it are full.
    pub manifest: String,
    /// Its graphs, by the names of its parts.
    pub parts: Vec<(String, PathBuf)>,
    /// All files of it: graphs, what holds their weights, a skill.json.
    pub files: Vec<PathBuf>,
    /// Configuration that was read to tell what it is.
    pub described_by: Vec<PathBuf>,
    /// Some of them are links, so that engines are given a folder without any: [`UserModel::gather`].
    pub linked: bool,
    /// Bytes of all its files.
    pub bytes: u64,
    tree: Tree,
    /// What it is, and what says so.
    pub kind: Kind,
    /// The highest opset of its parts.
    pub opset: i64,
    pub operators: BTreeSet<String>,
    /// What was left aside, or is not known, for people.
    pub notes: Vec<String>,
    /// Changes whenever a file of it does.
    pub content: String,
}

impl UserModel {
    /// Gives it another name, also in its skill.json.
    pub fn rename(&mut self, id: &str) {
        self.id = id.into();
        if let Ok(Value::Object(mut manifest)) = serde_json::from_str(&self.manifest) {
            manifest.insert("id".into(), id.into());
            self.manifest = Value::Object(manifest).to_string();
        }
    }

    /// Writes a folder in which every file of the model is a real one, each at its place. The folder is empty and nobody else's.
    ///
    /// # Errors
    /// A file that leads elsewhere by now or is another one than before, and what the file system did not let happen.
    pub fn gather(&self, folder: &Path) -> Result<(), LocalError> {
        let mut opened = open_all(&self.tree, &self.files)?;
        if content(&self.path, &self.files, &opened) != self.content {
            return Err(LocalError::Changed { path: self.path.clone() });
        }
        for (path, file) in self.files.iter().zip(&mut opened) {
            let target = self.gathered(path, folder);
            file.place(&target).map_err(|error| LocalError::Gather { path: target.clone(), error })?;
        }
        Ok(())
    }

    /// SHA-256 of each of its files that can be read.
    pub fn hashes(&self) -> Vec<String> {
        self.files.iter().filter_map(|file| self.tree.open(file).ok()?.sha256()).collect()
    }

    /// Its graphs in a folder that [`UserModel::gather`] wrote.
    pub fn parts_in(&self, folder: &Path) -> Vec<(String, PathBuf)> {
        self.parts.iter().map(|(name, path)| (name.clone(), self.gathered(path, folder))).collect()
    }

    fn gathered(&self, path: &Path, folder: &Path) -> PathBuf {
        self.tree.within(path, folder).unwrap_or_else(|| folder.join(path.file_name().unwrap_or_default()))
    }

    /// Its description, as a skillset would give it.
    ///
    /// # Errors
    /// What a skill.json of the user's own says that cannot be.
    pub fn description(&self) -> Result<SkillDescription, String> {
        Manifest::parse(&self.manifest).map(|manifest| manifest.description)
    }
}

#[derive(Debug, thiserror::Error)]
pub enum LocalError {
    #[error(transparent)]
    Bad(#[from] BadModel),
    #[error("there is no file or folder {}{hint}", path.display())]
    NotThere { path: PathBuf, hint: String },
    #[error("{} is no model: a model's file ends in .onnx; export it to one", path.display())]
    NoModel { path: PathBuf },
    #[error("the folder {} holds no ONNX file{}; name the folder of an exported model", folder.display(), of(found))]
    Nothing { folder: PathBuf, found: Vec<String> },
    #[error(
        "the folder {} holds several graphs, and they are no set that is known: {}; name one of them, or say in a skill.json \
         there which parts they are",
        folder.display(),
        graphs.join(", ")
    )]
    Several { folder: PathBuf, graphs: Vec<String> },
    #[error("{text}; correct it, or take it away")]
    Sidecar { text: String },
    #[error("the model {} was changed while it was looked at; try again when it is whole", path.display())]
    Changed { path: PathBuf },
    #[error("{}: {error}; SKILLBENCH_CACHE names another folder for it", path.display())]
    Gather { path: PathBuf, error: std::io::Error },
    #[error("the model {}: {text}", path.display())]
    Port { path: PathBuf, text: String },
}

fn of(found: &[String]) -> String {
    match found {
        [] => " (it is empty)".into(),
        found => format!(" (it holds {})", found.join(", ")),
    }
}

/// Whether a name is meant as a path, not as the name of a skill or of a model on a hub.
pub fn is_path(name: &str) -> bool {
    let path = Path::new(name);
    let starts = ["./", "../", ".\\", "..\\", "~/"].iter().any(|start| name.starts_with(start));
    starts || name == "." || name == ".." || path.is_absolute() || ends_in_onnx(path)
}

fn ends_in_onnx(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("onnx"))
}

/// Describes a model's file, or the model in a folder.
///
/// # Errors
/// What is wrong with it, with the file and what to do.
pub fn open(path: &Path) -> Result<UserModel, LocalError> {
    open_as(path, None)
}

/// As [`open`], under another name than the path's.
///
/// # Errors
/// As for [`open`].
pub fn open_as(path: &Path, id: Option<&str>) -> Result<UserModel, LocalError> {
    let path = skillbench_record::paths::expand(&path.to_string_lossy());
    let Ok(full) = std::fs::canonicalize(&path) else { return Err(not_there(path)) };
    // The name that the user gave is the model's, also where it is a link into a cache of nameless files.
    let named = std::path::absolute(&path).unwrap_or(full);
    let tree = Tree::of(&named).map_err(|error| in_file(&named, error))?;
    let graphs = match named.is_dir() {
        true => folder::graphs(&tree, &named)?,
        false if ends_in_onnx(&named) => folder::of_file(&named)?,
        false => return Err(LocalError::NoModel { path: named }),
    };
    let own = named.file_stem().filter(|_| named.is_file()).or(named.file_name()).unwrap_or_default();
    let id = id.map_or_else(|| own.to_string_lossy().into_owned(), str::to_string);
    describe(&named, tree, id, graphs)
}

fn in_file(file: &Path, error: FileError) -> LocalError {
    BadModel { file: file.into(), problem: error.into() }.into()
}

fn not_there(path: PathBuf) -> LocalError {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let there: Vec<String> = std::fs::read_dir(folder)
        .map(|entries| entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect())
        .unwrap_or_default();
    let hint = did_you_mean(&name, there.iter().map(String::as_str));
    LocalError::NotThere { path, hint }
}

fn describe(named: &Path, tree: Tree, id: String, graphs: Graphs) -> Result<UserModel, LocalError> {
    let mut outlines: Vec<(String, Outline)> = vec![];
    for (part, path) in &graphs.parts {
        outlines.push((part.clone(), examine_in(&tree, path)?));
    }
    let config = match &graphs.configured {
        Some(folder) => Config::beside(folder, &tree).map_err(|text| LocalError::Sidecar { text })?,
        None => None,
    };
    let mut kind = classify(config.as_ref(), &outlines);
    let mut ports = Ports::default();
    for ((part, outline), (_, path)) in outlines.iter().zip(&graphs.parts) {
        let with_encoder = graphs.parts.iter().any(|(name, _)| name == "encoder");
        let read = ports.read(part, outline, config.as_ref(), with_encoder);
        read.map_err(|text| LocalError::Port { path: path.clone(), text })?;
    }
    let mut notes = graphs.notes;
    notes.append(&mut ports.notes);
    let generates = generation(&outlines, &ports.inputs, &ports.axes, &ports.usual, config.as_ref());
    kind.evidence.append(&mut ports.evidence);
    let mut own = Map::new();
    own.insert("schema".into(), "skillbench.skill/1".into());
    own.insert("id".into(), id.clone().into());
    for (key, value) in [
        ("family", &kind.family),
        ("architecture", &kind.architecture),
        ("category", &kind.category),
        ("task", &kind.task),
    ] {
        own.insert(key.into(), value.as_str().into());
    }
    own.insert("parameters".into(), parameters(&outlines).into());
    own.insert("axes".into(), json!(ports.axes));
    own.insert("usual".into(), json!(ports.usual));
    own.insert("dimensions".into(), json!(ports.dimensions));
    own.insert("weights".into(), "the user's own".into());
    let part = |(name, path): &(String, PathBuf)| json!({"name": name, "graph": path.to_string_lossy()});
    own.insert("parts".into(), graphs.parts.iter().map(part).collect());
    own.insert("inputs".into(), json!(ports.inputs));
    if graphs.parts.len() > 1 {
        let runs = graphs.parts.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>();
        own.insert("pipeline".into(), json!(runs));
    }
    match generates {
        Generation::Found { form, mut evidence } => {
            kind.evidence.append(&mut evidence);
            own.insert("generation".into(), form);
        }
        Generation::Refused(why) => notes.push(why),
        Generation::None => {}
    }
    let files = files(&graphs.parts, &outlines, graphs.manifest.as_deref());
    let opened = open_all(&tree, &files)?;
    let content = content(named, &files, &opened);
    own.insert("content".into(), content.clone().into());
    if let Some(path) = &graphs.manifest {
        merge(&mut own, &tree, path, &mut kind)?;
    }
    own.insert("evidence".into(), json!(kind.evidence));
    if let Err(why) = count_work(&mut own, &outlines) {
        notes.push(format!("its work is not counted, so that nothing predicts it and no efficiency is told: {why}"));
    }
    let opset = outlines.iter().filter_map(|(_, outline)| outline.opset()).max().unwrap_or_default();
    let operators =
        outlines.iter().flat_map(|(_, outline)| outline.nodes()).map(|node| node.operator.clone()).collect();
    let id = own.get("id").and_then(Value::as_str).map_or(id, str::to_string);
    let manifest = Value::from(own).to_string();
    Ok(UserModel {
        id,
        path: named.into(),
        manifest,
        parts: graphs.parts,
        files,
        described_by: config.map(|config| config.files).unwrap_or_default(),
        linked: opened.iter().any(|file| file.linked),
        bytes: opened.iter().map(|file| file.data.len()).sum(),
        tree,
        kind,
        opset,
        operators,
        notes,
        content,
    })
}

/// Counts the work of one inference; what the user's own skill.json says of it stands.
fn count_work(own: &mut Map<String, Value>, outlines: &[(String, Outline)]) -> Result<(), Uncounted> {
    const WORK: [&str; 4] = ["flops", "elements", "kernels", "parameters_read"];
    if WORK.iter().all(|key| own.contains_key(*key)) {
        return Ok(());
    }
    let manifest = Manifest::parse(&Value::from(own.clone()).to_string()).map_err(Uncounted::Sizes)?;
    let counted = count::counted(&manifest, outlines)?;
    let found =
        [json!(counted.operations), json!(counted.elements), json!(counted.kernels), json!(counted.parameters_read)];
    for (key, value) in WORK.into_iter().zip(found) {
        own.entry(key).or_insert(value);
    }
    Ok(())
}

/// What stands in a user's own skill.json counts first; its inputs one by one.
fn merge(own: &mut Map<String, Value>, tree: &Tree, path: &Path, kind: &mut Kind) -> Result<(), LocalError> {
    let bad = |text: String| LocalError::Sidecar { text: format!("{}: {text}", path.display()) };
    let text = tree.text(path).map_err(|error| bad(error.to_string()))?.unwrap_or_default();
    let mut given: Map<String, Value> = serde_json::from_str(&text).map_err(|error| bad(error.to_string()))?;
    given.remove("parts");
    if let Some(Value::Array(inputs)) = given.remove("inputs") {
        let text = |input: &Value, key: &str| input.get(key).and_then(Value::as_str).map(String::from);
        let name = |input: &Value| (text(input, "part").unwrap_or_default(), text(input, "name"));
        let given: HashSet<_> = inputs.iter().map(name).collect();
        let read = own.remove("inputs").and_then(|read| read.as_array().cloned()).unwrap_or_default();
        let others = read.into_iter().filter(|read| !given.contains(&name(read)));
        let all: Vec<Value> = inputs.iter().cloned().chain(others).collect();
        own.insert("inputs".into(), all.into());
    }
    let fields = [
        ("family", &mut kind.family),
        ("architecture", &mut kind.architecture),
        ("category", &mut kind.category),
        ("task", &mut kind.task),
    ];
    for (key, field) in fields {
        if let Some(value) = given.get(key).and_then(Value::as_str) {
            *field = value.into();
            kind.evidence.push(format!("{}: {key} is '{value}'", path.display()));
        }
    }
    own.extend(given);
    match Manifest::parse(&Value::from(own.clone()).to_string()) {
        Ok(_) => Ok(()),
        Err(text) => Err(bad(text)),
    }
}

/// Elements of the trained weights.
fn parameters(outlines: &[(String, Outline)]) -> u64 {
    let graphs = outlines.iter().flat_map(|(_, outline)| outline.graphs());
    let weights = graphs.flat_map(|graph| &graph.weights).filter(|weight| count::is_trained(weight));
    weights.filter_map(skillbench_onnx::OutlinedTensor::count).fold(0, u64::saturating_add)
}

/// All files of a model, each once.
fn files(parts: &[(String, PathBuf)], outlines: &[(String, Outline)], own: Option<&Path>) -> Vec<PathBuf> {
    let mut files: BTreeSet<PathBuf> = own.map(Path::to_path_buf).into_iter().collect();
    for ((_, path), (_, outline)) in parts.iter().zip(outlines) {
        let folder = path.parent().unwrap_or(Path::new("."));
        files.insert(path.clone());
        files.extend(outline.locations().into_iter().map(|location| folder.join(location)));
    }
    files.into_iter().collect()
}

fn open_all(tree: &Tree, files: &[PathBuf]) -> Result<Vec<Opened>, LocalError> {
    files.iter().map(|file| tree.open(file).map_err(|error| in_file(file, error))).collect()
}

/// The files of a model by length and time.
fn content(named: &Path, files: &[PathBuf], opened: &[Opened]) -> String {
    let told = files.iter().zip(opened).map(|(file, Opened { data, .. })| {
        let modified = data.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
        format!("{}|{}|{}", file.display(), data.len(), modified.as_nanos())
    });
    let text = told.collect::<Vec<_>>().join("\n");
    format!("{}|{}", named.display(), skillbench_record::hash::sha256_text(&text))
}

#[cfg(test)]
mod tests;
