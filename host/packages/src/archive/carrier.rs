//! The archives of other package managers, which may carry a plugin package: a wheel (.whl), npm's (.tgz).
//!
//! They hold much else, so what cannot be taken is left there; what is taken is held against the manifest afterwards.

use super::read::{Failed, copy, permit, walk};
use super::{Limits, outside};
use crate::error::{PackageError, io};
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;
use tar::EntryType;
use zip::ZipArchive;

/// Unpacks what may be taken into a new folder.
///
/// # Errors
/// The archive is not whole, or more comes out of it than may.
pub(crate) fn unpack_carrier(file: &Path, into: &Path, limits: &Limits) -> Result<(), PackageError> {
    match file.extension().is_some_and(|ending| ending == "whl" || ending == "zip") {
        true => wheel(file, into, limits),
        false => walk(file, into, limits, &|path, kind| {
            let takes = matches!(kind, EntryType::Regular) && outside(path).is_none();
            Ok(takes.then(|| path.to_string()))
        }),
    }
}

fn wheel(file: &Path, into: &Path, limits: &Limits) -> Result<(), PackageError> {
    let broken = |error: zip::result::ZipError| PackageError::Archive { file: file.into(), text: error.to_string() };
    let packed = File::open(file).map_err(io(file))?;
    let most = limits.of(packed.metadata().map_err(io(file))?.len());
    let mut zip = ZipArchive::new(BufReader::new(packed)).map_err(broken)?;
    if zip.len() > limits.files {
        return Err(PackageError::TooLarge { file: file.into(), most: format!("{} files", limits.files) });
    }
    std::fs::create_dir_all(into).map_err(io(into))?;
    let mut left = most;
    for index in 0..zip.len() {
        let inner = zip.by_index(index).map_err(broken)?;
        let name = inner.name().map(String::from).unwrap_or_default();
        if !inner.is_file() || outside(&name).is_some() {
            continue;
        }
        let program = inner.unix_mode().is_some_and(|mode| mode & 0o111 != 0);
        let target = into.join(&name);
        let folder = target.parent().unwrap_or(into);
        std::fs::create_dir_all(folder).map_err(io(folder))?;
        let mut out = File::create(&target).map_err(io(&target))?;
        let written = copy(&mut inner.take(left + 1), &mut out).map_err(|failed| match failed {
            Failed::Read(error) => PackageError::Archive { file: file.into(), text: error.to_string() },
            Failed::Write(error) => io(&target)(error),
        })?;
        left = left
            .checked_sub(written)
            .ok_or_else(|| PackageError::TooLarge { file: file.into(), most: format!("{} MB", most / 1_000_000) })?;
        permit(&target, program).map_err(io(&target))?;
    }
    Ok(())
}
