//! Bringing what a user named to this machine: nothing of it is believed yet.

use crate::ENDING;
use crate::archive::{Limits, unpack_carrier};
use crate::clients::{self, ClientError};
use crate::error::{PackageError, io};
use crate::fetch::Location;
use crate::index::{Index, choose};
use crate::manifest::{Contract, MANIFEST};
use crate::platform::Here;
use crate::source::Source;
use skillbench_signatures::beside;
use std::path::{Path, PathBuf};

const LARGEST_SIGNATURE: u64 = 16 << 10;

/// What a user allows, and what a package has to fit.
#[derive(Clone, Debug)]
pub struct Wishes {
    /// Packages that nobody signed are taken.
    pub unsigned: bool,
    /// Files and addresses of indexes, in the order in which they count.
    pub indexes: Vec<String>,
    pub here: Here,
    /// The contract of this host.
    pub contract: Contract,
    pub limits: Limits,
}

/// What lies in the scratch folder now.
#[derive(Debug)]
pub(crate) struct Brought {
    pub form: Form,
    /// The text of its signature, and where that was.
    pub signature: Option<(String, String)>,
    /// As a receipt has it.
    pub from: String,
    /// What an index said of it.
    pub expected: Option<Expected>,
}

#[derive(Debug)]
pub(crate) enum Form {
    /// The file of a plugin package.
    Packed(PathBuf),
    /// A folder with a manifest and its files, among others.
    Loose(PathBuf),
}

#[derive(Debug)]
pub(crate) struct Expected {
    pub index: String,
    pub id: String,
    pub version: String,
    pub sha256: String,
    pub key: Option<String>,
}

pub(crate) fn bring(source: &Source, wishes: &Wishes, scratch: &Path) -> Result<Brought, PackageError> {
    match source {
        Source::Library(path) => Err(PackageError::NothingInside { what: path.display().to_string() }),
        Source::File(path) => {
            let path = std::path::absolute(path).map_err(io(path))?;
            packed(&Location::File(path), None, wishes, scratch)
        }
        Source::Url(url) => packed(&Location::Url(url.clone()), None, wishes, scratch),
        Source::Named { name, version } => {
            let indexes: Vec<Index> =
                wishes.indexes.iter().map(|at| Index::read(at, scratch)).collect::<Result<_, _>>()?;
            let (index, found) = choose(&indexes, name, version.as_deref(), wishes)?;
            let at = index.at.to_string();
            let wrong =
                |text: String| PackageError::Index { index: at.clone(), text: format!("'{}': {text}", found.url) };
            let location = index.at.join(&found.url).map_err(wrong)?;
            let expected = Expected {
                index: at.clone(),
                id: found.id.clone(),
                version: found.version.clone(),
                sha256: found.sha256.to_lowercase(),
                key: found.key.clone(),
            };
            packed(&location, Some(expected), wishes, scratch)
        }
        Source::PyPi { name, version } => {
            let what = version.as_ref().map_or(name.clone(), |version| format!("{name}=={version}"));
            let into = folder(scratch)?;
            let wheel = clients::wheel(&what, &[], &into).map_err(client)?;
            carried(&wheel, format!("pypi:{what}"), wishes, scratch)
        }
        Source::Npm { name, version } => {
            let what = version.as_ref().map_or(name.clone(), |version| format!("{name}@{version}"));
            let into = folder(scratch)?;
            let archive = clients::npm_archive(&what, &into).map_err(client)?;
            carried(&archive, format!("npm:{what}"), wishes, scratch)
        }
    }
}

/// An empty folder that clients download into.
fn folder(scratch: &Path) -> Result<PathBuf, PackageError> {
    let folder = scratch.join("downloaded");
    std::fs::create_dir_all(&folder).map_err(io(&folder))?;
    Ok(folder)
}

fn client(error: ClientError) -> PackageError {
    match error {
        ClientError::NotFound { client } => PackageError::NoClient { client },
        ClientError::Failed { client, what, text } => PackageError::Client { client, what, text },
    }
}

fn packed(
    location: &Location,
    expected: Option<Expected>,
    wishes: &Wishes,
    scratch: &Path,
) -> Result<Brought, PackageError> {
    let file = scratch.join("package.tar.gz");
    if !location.bring(&file, wishes.limits.bytes)? {
        return Err(location.not_there());
    }
    let signature = location.signature();
    let text = signature.text(scratch, LARGEST_SIGNATURE)?;
    Ok(Brought {
        form: Form::Packed(file),
        signature: text.map(|text| (text, signature.to_string())),
        from: location.to_string(),
        expected,
    })
}

/// A plugin package, or a manifest with its files, within the archive of another package manager.
fn carried(archive: &Path, from: String, wishes: &Wishes, scratch: &Path) -> Result<Brought, PackageError> {
    let folder = scratch.join("carrier");
    unpack_carrier(archive, &folder, &wishes.limits)?;
    let mut found = vec![];
    files(&folder, &mut found).map_err(io(&folder))?;
    let one = |ends: &dyn Fn(&Path) -> bool| -> Result<Option<PathBuf>, PackageError> {
        let all: Vec<&PathBuf> = found.iter().filter(|path| ends(path)).collect();
        match all[..] {
            [] => Ok(None),
            [one] => Ok(Some(one.clone())),
            _ => Err(PackageError::Source {
                text: from.clone(),
                why: format!("holds {} plugin packages, expected one", all.len()),
            }),
        }
    };
    let package = one(&|path| path.to_string_lossy().ends_with(ENDING))?;
    let (form, signed) = match package {
        Some(package) => (Form::Packed(package.clone()), package),
        None => match one(&|path| path.ends_with(MANIFEST))? {
            Some(manifest) => {
                let folder = manifest.parent().unwrap_or(&folder).to_path_buf();
                (Form::Loose(folder), manifest)
            }
            None => return Err(PackageError::NothingInside { what: from }),
        },
    };
    let name = signed.file_name().unwrap_or_default().to_string_lossy().into_owned() + skillbench_signatures::SUFFIX;
    let signature = std::fs::read_to_string(beside(&signed)).ok().map(|text| (text, name));
    Ok(Brought { form, signature, from, expected: None })
}

fn files(folder: &Path, into: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        match entry.file_type()?.is_dir() {
            true => files(&entry.path(), into)?,
            false => into.push(entry.path()),
        }
    }
    into.sort();
    Ok(())
}
