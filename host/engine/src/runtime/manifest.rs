//! What lies beside the pieces of a packed package: a JSON file that says what they are pieces of, and how to check them.
//!
//! `pack` writes it and `carried` reads it. It is data of whoever carried it: what it says is held against the registry of this
//! host, which alone decides what is installed, and no name in it becomes a path.

use super::kept::KeptFile;
use super::{RuntimeError, io};
use crate::registry::{Hash, Package, PackageFile, platform};
use serde::{Deserialize, Serialize};
use std::path::Path;

const FORMAT: &str = "skillbench-runtime";
const VERSION: u32 = 1;

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
    let platform = if package.files.contains_key(&platform()) { platform() } else { "any".into() };
    plain(&format!("{}-{}.{platform}", package.name, package.version))
}

/// The name of a piece, counted from 1.
pub(super) fn piece_name(stem: &str, archive: &str, number: usize) -> String {
    format!("{stem}.{archive}.{number:03}")
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
    pub(super) fn new(package: &Package, wanted: &PackageFile, kept: Vec<KeptFile>, archive: &str) -> Manifest {
        Manifest {
            format: FORMAT.into(),
            version: VERSION,
            package: package.name.clone(),
            package_version: package.version.clone(),
            platform: if package.files.contains_key(&platform()) { platform() } else { "any".into() },
            source: format!("{} {}", package.source.client(), package.source.name()),
            pinned: pin(&wanted.hash).into(),
            kept_sha256: wanted.keep.as_ref().map(|keep| keep.sha256.clone()),
            kept,
            archive: archive.into(),
            pieces: vec![],
        }
    }

    pub(super) fn write(&self, file: &Path) -> Result<(), RuntimeError> {
        let text = serde_json::to_string_pretty(self).map_err(|error| io(file)(error.into()))?;
        std::fs::write(file, text + "\n").map_err(io(file))
    }

    /// Reads the manifest of this very package; `None` where there is none.
    ///
    /// # Errors
    /// One that is no manifest, of a later host, or of other contents than the registry pins.
    pub(super) fn read(file: &Path, package: &Package, wanted: &PackageFile) -> Result<Option<Manifest>, RuntimeError> {
        let bytes = match std::fs::read(file) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(io(file)(error)),
        };
        let broken = |text: String| RuntimeError::Manifest { file: file.into(), text };
        let manifest: Manifest = serde_json::from_slice(&bytes).map_err(|error| broken(error.to_string()))?;
        if manifest.format != FORMAT || manifest.version != VERSION {
            return Err(broken(format!("expected {FORMAT} {VERSION}, found {} {}", manifest.format, manifest.version)));
        }
        let pins = (manifest.pinned.as_str(), manifest.kept_sha256.as_deref());
        let own = (pin(&wanted.hash), wanted.keep.as_ref().map(|keep| keep.sha256.as_str()));
        if pins != own {
            let text =
                |(hash, kept): (&str, Option<&str>)| kept.map_or(hash.into(), |kept| format!("{hash}, kept {kept}"));
            return Err(RuntimeError::Hash {
                file: file.display().to_string(),
                found: format!("the pin {}", text(pins)),
                pinned: text(own),
            });
        }
        if (&manifest.package, &manifest.package_version) != (&package.name, &package.version) {
            let found = format!("{} {}", manifest.package, manifest.package_version);
            return Err(broken(format!("it is of {found}, not of {} {}", package.name, package.version)));
        }
        if !matches!(&*manifest.archive, "zip" | "whl" | "tgz") {
            return Err(broken(format!("'{}' is no archive that is known: zip, whl, tgz", manifest.archive)));
        }
        Ok(Some(manifest))
    }
}
