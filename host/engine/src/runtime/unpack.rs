//! Wheels, npm's archives, and the brotli files inside some of these.

use super::{RuntimeError, io};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

/// Unpacks a wheel (.whl) or an npm archive (.tgz, whose one folder `package` is left out) into a new folder.
pub(super) fn archive(archive: &Path, into: &Path) -> Result<(), RuntimeError> {
    let file = File::open(archive).map_err(io(archive))?;
    if archive.extension().is_some_and(|extension| extension == "whl") {
        let broken = |error: zip::result::ZipError| RuntimeError::Io { path: archive.into(), text: error.to_string() };
        return zip::ZipArchive::new(file).map_err(broken)?.extract(into).map_err(broken);
    }
    let outer = into.with_extension("outer");
    tar::Archive::new(flate2::read::GzDecoder::new(file)).unpack(&outer).map_err(io(archive))?;
    std::fs::rename(outer.join("package"), into).map_err(io(&outer))
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
