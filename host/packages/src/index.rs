//! An index: one static file, in JSON or TOML, that says which plugin packages there are and where. Anybody can host one.
//!
//! An index names; it makes nobody trusted. What it says of a package is held against the package.

use crate::brought::Wishes;
use crate::error::{PackageError, io};
use crate::fetch::Location;
use crate::manifest::{Checked, Library, Manifest};
use crate::stage::opened;
use crate::{ENDING, version};
use serde::{Deserialize, Serialize};
use skillbench_record::hash::sha256;
use skillbench_record::scratch::{Scratch, write_whole};
use skillbench_record::suggest;
use skillbench_signatures::{PublicKey, Signature, beside};
use std::io::Write;
use std::path::{Path, PathBuf};

const FORMAT: &str = "skillbench-index";
const FORM: u32 = 1;
const LARGEST: u64 = 32 << 20;
const NAME: &str = "index.json";

#[derive(Serialize, Deserialize)]
struct Document {
    format: String,
    form: u32,
    #[serde(default)]
    plugins: Vec<Indexed>,
}

/// A plugin package of an index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Indexed {
    pub id: String,
    pub version: String,
    #[serde(default)]
    pub vendor: String,
    #[serde(default)]
    pub license: String,
    /// An address, or a path from the index' own folder.
    pub url: String,
    pub sha256: String,
    /// "linux-x86_64"; empty: not said.
    #[serde(default)]
    pub platforms: Vec<String>,
    #[serde(default)]
    pub contract: String,
    /// The public key that it is signed with; null: not signed, or not known by which.
    #[serde(default)]
    pub key: Option<String>,
    #[serde(default)]
    pub checked: Option<Checked>,
}

/// One index, read.
#[derive(Clone, Debug)]
pub struct Index {
    pub(crate) at: Location,
    pub plugins: Vec<Indexed>,
}

impl Index {
    /// Reads an index from a file or an address.
    ///
    /// # Errors
    /// It cannot be reached, or is no index.
    pub(crate) fn read(at: &str, scratch: &Path) -> Result<Index, PackageError> {
        let wrong = |text: String| PackageError::Index { index: at.into(), text };
        let location = match Location::parse(at).map_err(wrong)? {
            Location::File(file) => Location::File(std::path::absolute(&file).map_err(io(&file))?),
            url => url,
        };
        let text = location.text(scratch, LARGEST)?.ok_or_else(|| location.not_there())?;
        let document: Document = match text.trim_start().starts_with('{') {
            true => serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?,
            false => toml::from_str(&text).map_err(|error| wrong(error.message().to_string()))?,
        };
        if document.format != FORMAT || document.form != FORM {
            return Err(wrong(format!("expected {FORMAT} {FORM}, found {} {}", document.format, document.form)));
        }
        Ok(Index { at: location, plugins: document.plugins })
    }
}

/// The package of a name: of the first index that knows the name, the newest version that this machine and host can use, or the one asked for.
pub(crate) fn choose<'i>(
    indexes: &'i [Index],
    name: &str,
    wanted: Option<&str>,
    wishes: &Wishes,
) -> Result<(&'i Index, &'i Indexed), PackageError> {
    let all = || indexes.iter().map(|index| index.at.to_string()).collect::<Vec<_>>().join(" and ");
    let Some(index) = indexes.iter().find(|index| index.plugins.iter().any(|one| one.id == name)) else {
        let known = indexes.iter().flat_map(|index| index.plugins.iter().map(|one| one.id.as_str()));
        let (hint, indexes) = (suggest::did_you_mean(name, known), all());
        return Err(match indexes.is_empty() {
            true => PackageError::NoIndex { name: name.into() },
            false => PackageError::NotInIndex { name: name.into(), indexes, hint },
        });
    };
    let mut versions: Vec<&Indexed> = index.plugins.iter().filter(|one| one.id == name).collect();
    versions.sort_by(|a, b| version::order(&b.version, &a.version));
    if let Some(wanted) = wanted {
        let found = versions.iter().find(|one| one.version == wanted);
        let has = || versions.iter().map(|one| one.version.as_str()).collect::<Vec<_>>().join(", ");
        return found.map(|found| (index, *found)).ok_or_else(|| PackageError::NoVersion {
            name: name.into(),
            version: wanted.into(),
            indexes: index.at.to_string(),
            has: has(),
        });
    }
    let major = format!("{}.", wishes.contract.major);
    let usable = |one: &&&Indexed| {
        let platform = one.platforms.is_empty() || one.platforms.contains(&wishes.here.platform);
        platform && (one.contract.is_empty() || one.contract.starts_with(&major))
    };
    match versions.iter().find(usable) {
        Some(found) => Ok((index, found)),
        None => {
            let platforms = |one: &&Indexed| format!("{} for {}", one.version, one.platforms.join(" and "));
            Err(PackageError::OtherPlatform {
                plugin: name.into(),
                has: versions.iter().map(platforms).collect::<Vec<_>>().join(", "),
                this: wishes.here.to_string(),
            })
        }
    }
}

/// Writes the index of a folder of plugin packages into it; each is unpacked and verified. Returns the index' file, and what it holds.
///
/// # Errors
/// A package that is not whole, whose signature does not fit the key that its manifest names, or the second one of one version.
pub fn write_index(folder: &Path, wishes: &Wishes) -> Result<(PathBuf, Vec<Indexed>), PackageError> {
    let entries = std::fs::read_dir(folder).map_err(io(folder))?.flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.retain(|file| file.is_file() && file.to_string_lossy().ends_with(ENDING));
    files.sort();
    let scratch = Scratch::in_folder(folder).map_err(io(folder))?;
    let mut plugins: Vec<Indexed> = vec![];
    for (number, file) in files.iter().enumerate() {
        let manifest = opened(file, &scratch.path().join(number.to_string()), &wishes.limits)?;
        if plugins.iter().any(|known| (&known.id, &known.version) == (&manifest.id, &manifest.version)) {
            let text = format!("{} is there twice: {}", manifest.title(), file.display());
            return Err(PackageError::Index { index: folder.display().to_string(), text });
        }
        plugins.push(indexed(file, manifest)?);
    }
    plugins.sort_by(|a, b| a.id.cmp(&b.id).then_with(|| version::order(&a.version, &b.version)));
    let index = folder.join(NAME);
    let document = Document { format: FORMAT.into(), form: FORM, plugins: plugins.clone() };
    let text = serde_json::to_string_pretty(&document).map_err(|error| io(&index)(error.into()))?;
    write_whole(&index, |out| writeln!(out, "{text}")).map_err(io(&index))?;
    Ok((index, plugins))
}

fn indexed(file: &Path, manifest: Manifest) -> Result<Indexed, PackageError> {
    let mut platforms: Vec<String> =
        manifest.libraries.iter().map(|Library { platform, .. }| platform.clone()).collect();
    platforms.dedup();
    Ok(Indexed {
        key: signed_with(file, &manifest)?,
        url: file.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        sha256: sha256(file).map_err(io(file))?,
        contract: manifest.contract.to_string(),
        platforms,
        id: manifest.id,
        version: manifest.version,
        vendor: manifest.vendor,
        license: manifest.license,
        checked: manifest.checked,
    })
}

/// The key that a package is signed with: the one that its manifest names, where the signature beside it fits.
fn signed_with(file: &Path, manifest: &Manifest) -> Result<Option<String>, PackageError> {
    let beside = beside(file);
    let (Ok(text), Some(key)) = (std::fs::read_to_string(&beside), &manifest.key) else { return Ok(None) };
    let key = PublicKey::parse(key)?;
    let signature = Signature::parse(&text, &beside.display().to_string())?;
    signature.verify(&key, file).map_err(|text| PackageError::BadSignature {
        plugin: manifest.title(),
        by: format!("the key {} that its manifest names", key.id()),
        text,
    })?;
    Ok(Some(key.line()))
}
