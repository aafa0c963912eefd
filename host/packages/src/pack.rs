//! Making a plugin package: from a folder with a manifest, or from libraries alone.

use crate::archive::{outside, write};
use crate::error::{PackageError, io};
use crate::manifest::{Checked, Hashes, MANIFEST, Manifest, read};
use crate::platform::Here;
use crate::{file_name, glibc};
use skillbench_record::hash::{sha256, sha256_bytes};
use skillbench_record::scratch::Scratch;
use skillbench_record::time::{moment, now_utc};
use skillbench_signatures::Signer;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// How a package is made.
#[derive(Default)]
pub struct Packing {
    /// The folder that gets it.
    pub into: PathBuf,
    pub signer: Option<Signer>,
    /// What a check of one of its libraries said, with that one's hash, in place of what the manifest says.
    pub checked: Option<(Checked, String)>,
}

/// What was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packed {
    pub file: PathBuf,
    pub sha256: String,
    pub signature: Option<PathBuf>,
    pub manifest: Manifest,
    /// Paths of the folder that the manifest does not list, and that stayed there.
    pub left_out: Vec<String>,
}

/// Packs what the manifest of a folder lists, with its hashes filled in. A `[[file]]` may name a folder: all files below it go in.
///
/// # Errors
/// The manifest is wrong, or what it lists is not there.
pub fn folder(folder: &Path, packing: &Packing) -> Result<Packed, PackageError> {
    let file = folder.join(MANIFEST);
    let text = std::fs::read_to_string(&file).map_err(io(&file))?;
    let manifest = read(&text, &file, Hashes::ToFill)?;
    let table: Table =
        toml::from_str(&text).map_err(|error| PackageError::Manifest { problems: vec![error.to_string()] })?;
    let mut files: Vec<(String, PathBuf)> = vec![];
    for library in &manifest.libraries {
        add(&mut files, &library.file, folder.join(&library.file));
    }
    for other in &manifest.files {
        below(&mut files, &other.path, &folder.join(&other.path))?;
    }
    let left_out = left_out(folder, &files, &manifest);
    Ok(Packed { left_out, ..write_out(table, &manifest, &files, packing)? })
}

/// Packs libraries by platform, with a manifest made of what one of them says of itself.
///
/// # Errors
/// A library cannot be read, or two have one platform.
pub fn libraries(
    described: Manifest,
    libraries: &[(String, PathBuf)],
    packing: &Packing,
) -> Result<Packed, PackageError> {
    let mut manifest = Manifest { libraries: vec![], ..described };
    let mut files = vec![];
    let several = libraries.len() > 1;
    for (platform, library) in libraries {
        let name = library.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let path = if several { format!("{platform}/{name}") } else { name };
        if manifest.libraries.iter().any(|known| known.platform == *platform) {
            let why = format!("is the second library for {platform}");
            return Err(PackageError::Source { text: library.display().to_string(), why });
        }
        let one = crate::Library { platform: platform.clone(), glibc: None, file: path.clone(), sha256: String::new() };
        manifest.libraries.push(one);
        files.push((path, library.clone()));
    }
    write_out(manifest.table(), &manifest, &files, packing)
}

/// The library of a folder for this machine, to be asked what it says of itself; `None` where the folder has none for it.
///
/// # Errors
/// The manifest is wrong.
pub fn library_of(folder: &Path, here: &Here) -> Result<Option<(Manifest, PathBuf)>, PackageError> {
    let file = folder.join(MANIFEST);
    let text = std::fs::read_to_string(&file).map_err(io(&file))?;
    let manifest = read(&text, &file, Hashes::ToFill)?;
    let library = here.library(&manifest).ok().map(|library| folder.join(&library.file));
    Ok(library.map(|library| (manifest, library)))
}

fn add(files: &mut Vec<(String, PathBuf)>, path: &str, file: PathBuf) {
    if !files.iter().any(|(known, _)| known == path) {
        files.push((path.into(), file));
    }
}

/// A file, or all files below a folder.
fn below(files: &mut Vec<(String, PathBuf)>, path: &str, at: &Path) -> Result<(), PackageError> {
    if !at.is_dir() {
        add(files, path, at.into());
        return Ok(());
    }
    let mut names: Vec<String> = vec![];
    for entry in std::fs::read_dir(at).map_err(io(at))? {
        names.push(entry.map_err(io(at))?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    names.iter().try_for_each(|name| below(files, &format!("{path}/{name}"), &at.join(name)))
}

/// What lies in the folder itself and is not listed, so that nobody misses it in silence.
fn left_out(folder: &Path, files: &[(String, PathBuf)], manifest: &Manifest) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    let own = file_name(&manifest.id, &manifest.version);
    let listed = |name: &str| files.iter().any(|(path, _)| path == name || path.starts_with(&format!("{name}/")));
    names.retain(|name| !name.starts_with('.') && name != MANIFEST && !name.starts_with(&own) && !listed(name));
    names.sort();
    names
}

fn write_out(
    mut table: Table,
    manifest: &Manifest,
    files: &[(String, PathBuf)],
    packing: &Packing,
) -> Result<Packed, PackageError> {
    fill(&mut table, manifest, files)?;
    if let Some((checked, _)) = &packing.checked {
        table.insert("checked".into(), checked.table());
    }
    if let Some(signer) = &packing.signer {
        let line = signer.public().line();
        if let Some(other) = manifest.key.as_ref().filter(|key| **key != line) {
            let text = format!("the manifest names the key {other}, and this is the secret key of {line}");
            return Err(PackageError::Key { what: manifest.title(), text });
        }
        table.insert("key".into(), line.into());
    }
    let wrong = |error: toml::ser::Error| PackageError::Manifest { problems: vec![error.to_string()] };
    let text = toml::to_string_pretty(&values_first(table)).map_err(wrong)?;
    let manifest = read(&text, Path::new(MANIFEST), Hashes::Given)?;
    if let Some((_, sha256)) = &packing.checked
        && manifest.libraries.iter().all(|library| library.sha256 != *sha256)
    {
        return Err(PackageError::OtherReport { plugin: manifest.title(), sha256: sha256.clone() });
    }

    let into = &packing.into;
    let scratch = Scratch::in_folder(into).map_err(io(into))?;
    let new = scratch.path().join("new");
    let out = File::create(&new).map_err(io(&new))?;
    write((MANIFEST, &text), files, BufWriter::new(out)).map_err(io(&new))?;
    let file = into.join(file_name(&manifest.id, &manifest.version));
    let hash = sha256(&new).map_err(io(&new))?;
    if file.exists() && sha256(&file).map_err(io(&file))? != hash {
        return Err(PackageError::Packed { file });
    }
    std::fs::rename(&new, &file).map_err(io(&file))?;
    let signature = packing
        .signer
        .as_ref()
        .map(|signer| signer.sign(&file, &comment(&manifest), "a skillbench plugin package"))
        .transpose()?;
    Ok(Packed { file, sha256: hash, signature, manifest, left_out: vec![] })
}

/// Hashes of all files, and the C library that libraries for Linux need.
fn fill(table: &mut Table, manifest: &Manifest, files: &[(String, PathBuf)]) -> Result<(), PackageError> {
    let is_library = |path: &str| manifest.libraries.iter().any(|library| library.file == path);
    let entries = table.get_mut("library").and_then(Value::as_array_mut).into_iter().flatten();
    for entry in entries.filter_map(Value::as_table_mut) {
        let path = entry.get("file").and_then(Value::as_str).unwrap_or_default().to_string();
        let Some((_, file)) = files.iter().find(|(known, _)| *known == path) else { continue };
        let bytes = std::fs::read(file).map_err(io(file))?;
        let is_linux = entry.get("platform").and_then(Value::as_str).is_some_and(|name| name.starts_with("linux-"));
        if let Some(needed) = glibc::needed(&bytes).filter(|_| is_linux && !entry.contains_key("glibc")) {
            entry.insert("glibc".into(), needed.into());
        }
        entry.insert("sha256".into(), sha256_bytes(&bytes).into());
    }
    let known = table.remove("file");
    let mut others = vec![];
    for (path, file) in files.iter().filter(|(path, _)| !is_library(path)) {
        if let Some(why) = outside(path) {
            return Err(PackageError::Source { text: path.clone(), why: format!("is a file {why}") });
        }
        // What else the vendor says of a file stays with it.
        let said = known.as_ref().and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_table);
        let mut said = said.filter(|one| one.get("path").and_then(Value::as_str) == Some(path));
        let mut one = said.next().cloned().unwrap_or_default();
        one.insert("path".into(), path.as_str().into());
        one.insert("sha256".into(), sha256(file).map_err(io(file))?.into());
        others.push(Value::Table(one));
    }
    if !others.is_empty() {
        table.insert("file".into(), Value::Array(others));
    }
    Ok(())
}

/// TOML has the values of a table before the tables in it.
fn values_first(table: Table) -> Table {
    let is_table = |value: &Value| {
        value.is_table() || value.as_array().is_some_and(|items| !items.is_empty() && items.iter().all(Value::is_table))
    };
    let (tables, values): (Vec<_>, Vec<_>) = table.into_iter().partition(|(_, value)| is_table(value));
    values.into_iter().chain(tables).collect()
}

/// What a signature says besides: it cannot be changed without the key.
fn comment(manifest: &Manifest) -> String {
    let seconds = moment(&now_utc()).unwrap_or_default() / 1_000_000;
    let file = file_name(&manifest.id, &manifest.version);
    format!("timestamp:{seconds}\tfile:{file}\tplugin:{} {}", manifest.id, manifest.version)
}
