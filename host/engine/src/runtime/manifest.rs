//! The JSON file that goes with the pieces of a packed package: what they are pieces of, and how to check them.
//!
//! `pack` writes it and `carried` reads it. It is data of whoever carried it: what it says is held against the registry of this
//! host, which alone decides what is installed, and no name in it becomes a path.

use super::kept::{self, KeptFile};
use super::{RuntimeError, io};
use crate::registry::{Hash, Package, PackageFile, Source, platform};
use serde::{Deserialize, Serialize};
use skillbench_record::scratch::write_whole;
use skillbench_record::shown::line;
use std::io::{Read, Write};
use std::path::Path;

const FORMAT: &str = "skillbench-runtime";
const VERSION: u32 = 1;
/// Bytes that no manifest of ours has.
const TOO_LARGE: u64 = 16 << 20;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Always "skillbench-runtime".
    pub format: String,
    /// Of this form.
    pub version: u32,
    pub package: String,
    pub package_version: String,
    /// "linux-x86_64", or "any".
    pub platform: String,
    /// Where it came from: "pip onnxruntime-gpu".
    pub source: String,
    /// The hash of the package that the registry pins, as it stands there.
    pub pinned: String,
    /// The hash of the kept files' listing that the registry pins; null: the pieces are those of the package as it was downloaded.
    pub kept_sha256: Option<String>,
    /// What was kept; empty where all was.
    pub kept: Vec<KeptFile>,
    /// What the pieces are when they are joined: "zip", "whl" or "tgz".
    pub archive: String,
    /// In their order.
    pub pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Piece {
    pub file: String,
    /// In bytes.
    pub size: u64,
    pub sha256: String,
}

/// How the files of a packed package begin: "onnxruntime-1.31.1.linux-x86_64".
pub(super) fn stem(package: &Package) -> String {
    plain(&format!("{}-{}.{}", package.name, package.version, platform_of(package)))
}

/// The platform that a package is packed for: this one, or any.
pub(super) fn platform_of(package: &Package) -> String {
    if package.files.contains_key(&platform()) { platform() } else { "any".into() }
}

/// What the pieces of a package are when they are joined.
pub(super) fn archive_form(package: &Package, wanted: &PackageFile) -> &'static str {
    match (&wanted.keep, &package.source) {
        (Some(_), _) => "zip",
        (None, Source::PyPi(_)) => "whl",
        (None, Source::Npm(_)) => "tgz",
    }
}

/// The name of a piece, counted from 1.
pub(super) fn piece_name(stem: &str, archive: &str, number: usize) -> String {
    format!("{stem}.{archive}.{number:03}")
}

/// Somebody's text as it may stand in a message.
pub(super) fn shown(text: &str) -> String {
    const MOST: usize = 200;
    line(&text.chars().take(MOST).collect::<String>())
}

/// A text as it may stand in a file's name.
fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' }).collect()
}

/// A pin as a registry writes it.
pub(super) fn pin(hash: &Hash) -> &str {
    match hash {
        Hash::Sha256(text) | Hash::Integrity(text) => text,
    }
}

impl Manifest {
    pub(super) fn new(package: &Package, wanted: &PackageFile, kept: Vec<KeptFile>) -> Manifest {
        Manifest {
            format: FORMAT.into(),
            version: VERSION,
            package: package.name.clone(),
            package_version: package.version.clone(),
            platform: platform_of(package),
            source: format!("{} {}", package.source.client(), package.source.name()),
            pinned: pin(&wanted.hash).into(),
            kept_sha256: wanted.keep.as_ref().map(|keep| keep.sha256.clone()),
            kept,
            archive: archive_form(package, wanted).into(),
            pieces: vec![],
        }
    }

    /// Whole or not at all.
    pub(super) fn write(&self, file: &Path) -> Result<(), RuntimeError> {
        let text = serde_json::to_string_pretty(self).map_err(|error| io(file)(error.into()))?;
        write_whole(file, |out| writeln!(out, "{text}")).map_err(io(file))
    }

    /// Any manifest, whatever it is of; `None` where the file is none.
    pub(super) fn of_any(file: &Path) -> Option<Manifest> {
        serde_json::from_slice(&bytes(file).ok()??).ok()
    }

    /// Reads the manifest of this very package; `None` where there is none.
    ///
    /// # Errors
    /// One that is no manifest, of a later host, or of other contents than the registry pins.
    pub(super) fn read(file: &Path, package: &Package, wanted: &PackageFile) -> Result<Option<Manifest>, RuntimeError> {
        let broken = |text: String| RuntimeError::Manifest { file: file.into(), text };
        let Some(bytes) = bytes(file).map_err(io(file))? else { return Ok(None) };
        if bytes.len() as u64 > TOO_LARGE {
            return Err(broken(format!("it has more than {TOO_LARGE} bytes, which no manifest has")));
        }
        let manifest: Manifest = serde_json::from_slice(&bytes).map_err(|error| broken(error.to_string()))?;
        if manifest.format != FORMAT || manifest.version != VERSION {
            let found = format!("{} {}", shown(&manifest.format), manifest.version);
            return Err(broken(format!("expected {FORMAT} {VERSION}, found {found}")));
        }
        let own = Manifest::new(package, wanted, vec![]);
        let of = |of: &Manifest| format!("{} {} {} as {}", of.package, of.package_version, of.platform, of.archive);
        if of(&manifest) != of(&own) {
            return Err(broken(format!("it is of {}, not of {}", shown(&of(&manifest)), of(&own))));
        }
        if (&manifest.pinned, &manifest.kept_sha256) != (&own.pinned, &own.kept_sha256) {
            let text = |of: &Manifest| {
                format!(
                    "{}{}",
                    of.pinned,
                    of.kept_sha256.iter().map(|kept| format!(", kept {kept}")).collect::<String>()
                )
            };
            let found = format!("the pin {}", shown(&text(&manifest)));
            return Err(RuntimeError::Hash { file: file.display().to_string(), found, pinned: text(&own) });
        }
        if let Some(keep) = &wanted.keep {
            // Told before anything else is carried; and after it the sizes are known to be right.
            kept::check(package, keep, &manifest.kept)?;
        }
        Ok(Some(manifest))
    }
}

/// The bytes of a plain file, and no more than tells that there are too many; `None` where it is none.
fn bytes(file: &Path) -> std::io::Result<Option<Vec<u8>>> {
    if !file.is_file() {
        return Ok(None);
    }
    let mut bytes = vec![];
    std::fs::File::open(file)?.take(TOO_LARGE + 1).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}
