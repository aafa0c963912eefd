//! Taking the files out of a plugin package that somebody else made.

use super::{Limits, outside};
use crate::error::{PackageError, io};
use flate2::read::GzDecoder;
use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read};
use std::path::Path;
use std::rc::Rc;
use tar::{Archive, EntryType};

/// Unpacks a plugin package into a new folder: plain files and folders inside it, and nothing else. A file is written once, with
/// permissions of ours.
///
/// # Errors
/// What the archive holds that it may not, or that it is not whole.
pub(crate) fn unpack(file: &Path, into: &Path, limits: &Limits) -> Result<(), PackageError> {
    walk(file, into, limits, &|path, kind| match (kind, outside(path)) {
        (EntryType::Regular | EntryType::Directory, None) => Ok(Some(path.to_string())),
        (EntryType::Regular | EntryType::Directory, Some(why)) => Err(why),
        (EntryType::Link | EntryType::Symlink, _) => Err("a link"),
        _ => Err("which is no plain file and no folder"),
    })
}

/// Where an entry goes; `None`: nowhere; or why the archive is refused.
pub(super) type Place<'p> = &'p dyn Fn(&str, EntryType) -> Result<Option<String>, &'static str>;

pub(super) fn walk(file: &Path, into: &Path, limits: &Limits, place: Place<'_>) -> Result<(), PackageError> {
    let packed = File::open(file).map_err(io(file))?;
    let most = limits.of(packed.metadata().map_err(io(file))?.len());
    let ran_over = Rc::new(Cell::new(false));
    let bounded = Bounded { inner: GzDecoder::new(BufReader::new(packed)), left: most, ran_over: ran_over.clone() };
    let broken = |error: io::Error| match ran_over.get() {
        true => too_large(file, format!("{} MB", most / 1_000_000)),
        false => PackageError::Archive { file: file.into(), text: said(&error) },
    };
    std::fs::create_dir_all(into).map_err(io(into))?;
    let mut archive = Archive::new(bounded);
    let mut count = 0;
    // Raw: an extension of a header may be as large as it likes, and no package of ours has one.
    for entry in archive.entries().map_err(broken)?.raw(true) {
        let mut entry = entry.map_err(broken)?;
        count += 1;
        if count > limits.files {
            return Err(too_large(file, format!("{} files", limits.files)));
        }
        let path = String::from_utf8_lossy(&entry.path_bytes()).trim_end_matches('/').to_string();
        let kind = entry.header().entry_type();
        let refused = |why: &str| PackageError::Entry { file: file.into(), entry: path.clone(), why: why.into() };
        let Some(place) = place(&path, kind).map_err(refused)? else { continue };
        let target = into.join(place);
        if kind == EntryType::Directory {
            std::fs::create_dir_all(&target).map_err(io(&target))?;
            continue;
        }
        let folder = target.parent().unwrap_or(into);
        std::fs::create_dir_all(folder).map_err(io(folder))?;
        let mut out = match File::create_new(&target) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => return Err(refused("which it holds twice")),
            made => made.map_err(io(&target))?,
        };
        let program = entry.header().mode().is_ok_and(|mode| mode & 0o111 != 0);
        let announced = entry.size();
        let written = copy(&mut entry, &mut out).map_err(|failed| match failed {
            Failed::Read(error) => broken(error),
            Failed::Write(error) => io(&target)(error),
        })?;
        if written != announced {
            return Err(PackageError::Archive { file: file.into(), text: format!("'{path}' is cut off") });
        }
        permit(&target, program).map_err(io(&target))?;
    }
    // What stands behind the end of the files is read too: gzip's own sum lies there.
    io::copy(&mut archive.into_inner(), &mut io::sink()).map_err(broken)?;
    Ok(())
}

fn too_large(file: &Path, most: String) -> PackageError {
    PackageError::TooLarge { file: file.into(), most }
}

/// An error of the decoder, as somebody understands it who has only the file.
fn said(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::UnexpectedEof => "it is cut off".into(),
        _ => error.to_string(),
    }
}

/// Which side of a copy failed: the archive, or the disk.
pub(super) enum Failed {
    Read(io::Error),
    Write(io::Error),
}

pub(super) fn copy(from: &mut impl Read, to: &mut impl io::Write) -> Result<u64, Failed> {
    let (mut buffer, mut sum) = (vec![0; 1 << 16], 0);
    loop {
        match from.read(&mut buffer).map_err(Failed::Read)? {
            0 => return Ok(sum),
            read => {
                to.write_all(&buffer[..read]).map_err(Failed::Write)?;
                sum += read as u64;
            }
        }
    }
}

#[cfg(unix)]
pub(super) fn permit(file: &Path, program: bool) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(if program { 0o755 } else { 0o644 }))
}

#[cfg(not(unix))]
pub(super) fn permit(_file: &Path, _program: bool) -> io::Result<()> {
    Ok(())
}

/// A reader that ends with an error where more comes than may.
struct Bounded<R> {
    inner: R,
    left: u64,
    ran_over: Rc<Cell<bool>>,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        match self.left.checked_sub(read as u64) {
            Some(left) => self.left = left,
            None => {
                self.ran_over.set(true);
                return Err(io::Error::other("more comes out of it than may"));
            }
        }
        Ok(read)
    }
}
