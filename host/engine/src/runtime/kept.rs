//! The files of a package that are needed, and the one hash that they are checked by.

use super::{RuntimeError, io};
use crate::registry::{Keep, Package};
use serde::{Deserialize, Serialize};
use skillbench_record::hash::{sha256, sha256_text};
use std::path::Path;

/// A file of a package.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptFile {
    /// Inside the package, with '/' between folders.
    pub path: String,
    /// In bytes.
    pub size: u64,
    pub sha256: String,
}

/// All files below a folder, in the order of their paths.
pub(super) fn files(folder: &Path) -> Result<Vec<KeptFile>, RuntimeError> {
    let mut files = vec![];
    collect(folder, "", &mut files)?;
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

fn collect(folder: &Path, prefix: &str, into: &mut Vec<KeptFile>) -> Result<(), RuntimeError> {
    for entry in std::fs::read_dir(folder).map_err(io(folder))? {
        let entry = entry.map_err(io(folder))?;
        let (at, path) = (entry.path(), format!("{prefix}{}", entry.file_name().to_string_lossy()));
        if entry.file_type().map_err(io(&at))?.is_dir() {
            collect(&at, &format!("{path}/"), into)?;
        } else {
            let size = entry.metadata().map_err(io(&at))?.len();
            into.push(KeptFile { path, size, sha256: sha256(&at).map_err(io(&at))? });
        }
    }
    Ok(())
}

/// The hash of a listing, as a registry pins it in `kept_sha256`.
pub(super) fn listing(files: &[KeptFile]) -> String {
    let lines: String = files.iter().map(|file| format!("{}  {}\n", file.sha256, file.path)).collect();
    sha256_text(&lines)
}

/// Holds a listing against what the registry pins.
pub(super) fn check(package: &Package, keep: &Keep, files: &[KeptFile]) -> Result<(), RuntimeError> {
    let found = listing(files);
    match found == keep.sha256 {
        true => Ok(()),
        false => Err(RuntimeError::Hash {
            file: format!("the listing of the kept files of {} {}", package.name, package.version),
            found: format!("the hash {found}"),
            pinned: keep.sha256.clone(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listing_is_what_sha256sum_prints_in_the_order_of_the_paths() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("lib")).unwrap();
        std::fs::write(folder.path().join("lib/b"), "b").unwrap();
        std::fs::write(folder.path().join("a"), "a").unwrap();
        let files = files(folder.path()).unwrap();
        assert_eq!(files.iter().map(|file| (&*file.path, file.size)).collect::<Vec<_>>(), [("a", 1), ("lib/b", 1)]);
        let lines = format!("{}  a\n{}  lib/b\n", sha256_text("a"), sha256_text("b"));
        assert_eq!(listing(&files), sha256_text(&lines));
    }
}
