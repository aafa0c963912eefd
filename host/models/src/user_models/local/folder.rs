//! Which graphs of a folder make a model, and as which parts.

use super::{LocalError, ends_in_onnx, fills::table};
use crate::Manifest;
use crate::user_models::files::{Tree, stays_inside};
use std::path::{Path, PathBuf};

pub(super) struct Graphs {
    /// The graphs, by the names of their parts.
    pub parts: Vec<(String, PathBuf)>,
    /// Where the model's configuration may stand.
    pub configured: Option<PathBuf>,
    /// The user's own skill.json.
    pub manifest: Option<PathBuf>,
    pub notes: Vec<String>,
}

/// One graph alone. The configuration beside it is its own where the folder holds no other model.
pub(super) fn of_file(path: &Path) -> Result<Graphs, LocalError> {
    let folder = path.parent().unwrap_or(Path::new(".")).to_path_buf();
    let stems = stems(&folder);
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let base = without_variant(&stem, &stems);
    let is_usual = table().set.iter().flat_map(|set| &set.parts).any(|part| part.names.contains(&base));
    let own = path.with_extension("skill.json");
    Ok(Graphs {
        parts: vec![(String::new(), path.into())],
        configured: (is_usual || stems.len() == 1).then_some(folder),
        manifest: own.is_file().then_some(own),
        notes: vec![],
    })
}

/// The model in a folder, or in the `onnx` folder in it.
pub(super) fn graphs(tree: &Tree, folder: &Path) -> Result<Graphs, LocalError> {
    let inner = folder.join("onnx");
    for folder in [folder, &inner] {
        let own = folder.join("skill.json");
        if own.is_file() {
            return by_manifest(tree, folder, own);
        }
    }
    let places: Vec<(&Path, Vec<String>)> = [folder, &inner]
        .into_iter()
        .map(|place| (place, stems(place)))
        .filter(|(_, stems)| !stems.is_empty())
        .collect();
    let known = places.iter().find_map(|(place, stems)| {
        let set = known_set(stems)?;
        let parts = set.into_iter().map(|(part, stem)| (part, place.join(format!("{stem}.onnx"))));
        Some((place, stems, parts.collect::<Vec<_>>()))
    });
    if let Some((place, stems, parts)) = known {
        let taken = |stem: &&String| parts.iter().any(|(_, path)| path.file_stem().is_some_and(|s| s == stem.as_str()));
        let aside: Vec<&str> = stems.iter().filter(|stem| !taken(stem)).map(String::as_str).collect();
        let note = format!("left aside in {}: {}", place.display(), aside.join(", "));
        let notes = if aside.is_empty() { vec![] } else { vec![note] };
        return Ok(Graphs { parts, configured: Some(place.to_path_buf()), manifest: None, notes });
    }
    match places.as_slice() {
        [] => Err(LocalError::Nothing { folder: folder.into(), found: names(folder) }),
        [(place, stems)] if stems.len() == 1 => {
            let mut graphs = of_file(&place.join(format!("{}.onnx", stems[0])))?;
            graphs.configured = Some(place.to_path_buf());
            Ok(graphs)
        }
        places => {
            let within = |(place, stems): &(&Path, Vec<String>)| {
                let prefix = if *place == folder { "" } else { "onnx/" };
                stems.iter().map(|stem| format!("{prefix}{stem}.onnx")).collect::<Vec<_>>()
            };
            Err(LocalError::Several { folder: folder.into(), graphs: places.iter().flat_map(within).collect() })
        }
    }
}

/// The parts that a skill.json names, beside itself.
fn by_manifest(tree: &Tree, folder: &Path, own: PathBuf) -> Result<Graphs, LocalError> {
    let bad = |text: String| LocalError::Sidecar { text: format!("{}: {text}", own.display()) };
    let text = tree.text(&own).map_err(|error| bad(error.to_string()))?.unwrap_or_default();
    let manifest = Manifest::parse(&text).map_err(bad)?;
    if let Some(part) = manifest.parts.iter().find(|part| !stays_inside(&part.graph)) {
        return Err(bad(format!("the graph '{}' is not in the model's folder", part.graph)));
    }
    let parts: Vec<(String, PathBuf)> =
        manifest.parts.iter().map(|part| (part.name.clone(), folder.join(&part.graph))).collect();
    match parts.is_empty() {
        true => Err(LocalError::Sidecar { text: format!("{} names no part", own.display()) }),
        false => Ok(Graphs { parts, configured: Some(folder.into()), manifest: Some(own), notes: vec![] }),
    }
}

/// The first set of the table whose parts are all among these graphs: for each part its graph's name.
pub(in crate::user_models) fn known_set(stems: &[String]) -> Option<Vec<(String, String)>> {
    let found = |names: &[String]| names.iter().find(|name| stems.contains(name)).cloned();
    table().set.iter().find_map(|set| {
        set.parts.iter().map(|part| Some((part.part.clone(), found(&part.names)?))).collect::<Option<Vec<_>>>()
    })
}

/// The names of the ONNX files of a folder without their endings, in order.
fn stems(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else { return vec![] };
    let paths = entries.flatten().map(|entry| entry.path()).filter(|path| ends_in_onnx(path) && path.is_file());
    let mut stems: Vec<String> =
        paths.filter_map(|path| Some(path.file_stem()?.to_string_lossy().into_owned())).collect();
    stems.sort();
    stems
}

/// A graph's name without the ending that marks another precision of it.
fn without_variant(stem: &str, stems: &[String]) -> String {
    let endings = table().files.variants.iter().filter_map(|ending| stem.strip_suffix(ending.as_str()));
    let shortest = endings.min_by_key(|base| base.len());
    let known = |base: &&str| stems.iter().any(|stem| stem == base) || table().is_usual(base);
    shortest.filter(known).unwrap_or(stem).to_string()
}

fn names(folder: &Path) -> Vec<String> {
    /// Names that are shown.
    const SHOWN: usize = 8;
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .map(|entries| entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect())
        .unwrap_or_default();
    names.sort();
    if names.len() > SHOWN {
        let more = names.len() - SHOWN;
        names.truncate(SHOWN);
        names.push(format!("{more} more"));
    }
    names
}
