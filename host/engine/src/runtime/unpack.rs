//! Wheels, npm's archives, and the brotli files inside some of these.

use super::kept::KeptFile;
use super::{RuntimeError, io};
use crate::registry::Keep;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;
use zip::ZipArchive;

/// Unpacks a wheel (.whl, .zip) or an npm archive (.tgz, whose one folder `package` is left out) into a new folder; of a wheel
/// only what is to be kept. Where these files are listed, no byte more than listed is written, whatever the archive holds.
pub(super) fn archive(
    archive: &Path,
    keep: Option<&Keep>,
    listed: Option<&[KeptFile]>,
    into: &Path,
) -> Result<(), RuntimeError> {
    if is_zip(archive) {
        return match keep {
            Some(keep) => kept(archive, keep, listed, into),
            None => open(archive)?.extract(into).map_err(broken(archive)),
        };
    }
    let file = File::open(archive).map_err(io(archive))?;
    let outer = into.with_extension("outer");
    tar::Archive::new(flate2::read::GzDecoder::new(file)).unpack(&outer).map_err(io(archive))?;
    std::fs::rename(outer.join("package"), into).map_err(io(&outer))
}

fn is_zip(archive: &Path) -> bool {
    archive.extension().is_some_and(|extension| extension == "whl" || extension == "zip")
}

pub(super) fn open(archive: &Path) -> Result<ZipArchive<BufReader<File>>, RuntimeError> {
    let file = File::open(archive).map_err(io(archive))?;
    ZipArchive::new(BufReader::new(file)).map_err(broken(archive))
}

pub(super) fn broken(archive: &Path) -> impl Fn(zip::result::ZipError) -> RuntimeError + '_ {
    |error| match error {
        zip::result::ZipError::Io(error) => io(archive)(error),
        error => RuntimeError::Io { path: archive.into(), text: error.to_string() },
    }
}

/// How many bytes are written when a wheel is unpacked, by its own word; 0 for what is none.
pub(super) fn size(archive: &Path, keep: Option<&Keep>) -> Result<u64, RuntimeError> {
    if !is_zip(archive) {
        return Ok(0);
    }
    let mut zip = open(archive)?;
    let mut sum = 0_u64;
    for index in 0..zip.len() {
        let inner = zip.by_index_raw(index).map_err(broken(archive))?;
        let wanted = keep.is_none_or(|keep| inner.name().is_ok_and(|name| keep.takes(&name)));
        sum = sum.saturating_add(if wanted { inner.size() } else { 0 });
    }
    Ok(sum)
}

fn kept(archive: &Path, keep: &Keep, listed: Option<&[KeptFile]>, into: &Path) -> Result<(), RuntimeError> {
    let mut zip = open(archive)?;
    std::fs::create_dir_all(into).map_err(io(into))?;
    for index in 0..zip.len() {
        let inner = zip.by_index(index).map_err(broken(archive))?;
        let name = inner.name().map(String::from).unwrap_or_default();
        let most = match listed {
            None => Some(u64::MAX),
            Some(listed) => listed.iter().find(|file| file.path == name).map(|file| file.size),
        };
        let wanted = most.filter(|_| inner.is_file() && keep.takes(&name));
        let (Some(path), Some(most)) = (inner.enclosed_name(), wanted) else { continue };
        let target = into.join(path);
        let folder = target.parent().unwrap_or(into);
        std::fs::create_dir_all(folder).map_err(io(folder))?;
        let mut out = File::create(&target).map_err(io(&target))?;
        std::io::copy(&mut inner.take(most), &mut out).map_err(io(&target))?;
    }
    Ok(())
}

/// Unpacks a brotli file where it lies, and removes it: `x.tar.br` into its folder, `x.br` to `x`, which may be executed.
pub(super) fn brotli(file: &Path) -> Result<(), RuntimeError> {
    let failed = io(file);
    let packed = BufReader::new(File::open(file).map_err(&failed)?);
    let mut plain = brotli_decompressor::Decompressor::new(packed, 1 << 16);
    let target = file.with_extension("");
    if target.extension().is_some_and(|extension| extension == "tar") {
        tar::Archive::new(plain).unpack(file.parent().unwrap_or(Path::new("."))).map_err(&failed)?;
    } else {
        let mut out = File::create(&target).map_err(io(&target))?;
        std::io::copy(&mut plain, &mut out).map_err(&failed)?;
        executable(&target).map_err(io(&target))?;
    }
    std::fs::remove_file(file).map_err(&failed)
}

#[cfg(unix)]
fn executable(file: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn executable(_file: &Path) -> std::io::Result<()> {
    Ok(())
}
