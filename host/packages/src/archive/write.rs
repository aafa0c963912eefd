//! Writing a plugin package.

use flate2::{Compression, GzBuilder};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tar::{Builder, EntryType, Header};

/// The number that gzip has for an operating system that is not known: it would tell packages of several machines apart.
const ANY_SYSTEM: u8 = 255;

/// Writes the manifest, and then the files in the order of their paths. No time, owner or machine goes in: equal contents are equal
/// bytes.
pub(crate) fn write(manifest: (&str, &str), files: &[(String, PathBuf)], out: impl Write) -> io::Result<()> {
    let packed = GzBuilder::new().mtime(0).operating_system(ANY_SYSTEM).write(out, Compression::best());
    let mut tar = Builder::new(packed);
    let (name, text) = manifest;
    append(&mut tar, name, text.len() as u64, false, text.as_bytes())?;
    let mut files: Vec<&(String, PathBuf)> = files.iter().collect();
    files.sort();
    for (path, file) in files {
        let opened = std::fs::File::open(file)?;
        let size = opened.metadata()?.len();
        append(&mut tar, path, size, is_program(file), io::Read::take(opened, size))?;
    }
    tar.into_inner()?.finish()?.flush()
}

fn append(tar: &mut Builder<impl Write>, path: &str, size: u64, program: bool, data: impl io::Read) -> io::Result<()> {
    let mut header = Header::new_ustar();
    header.set_entry_type(EntryType::Regular);
    header.set_path(path)?;
    header.set_size(size);
    header.set_mode(if program { 0o755 } else { 0o644 });
    header.set_mtime(0);
    header.set_cksum();
    tar.append(&header, data)
}

#[cfg(unix)]
fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(file).is_ok_and(|data| data.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(_file: &Path) -> bool {
    false
}
