//! A browser where another user can read it: many lie below a home folder that nobody else may enter.
//!
//! The files get a second name (a hard link), or are copied where that cannot be; nothing of the home folder is opened to
//! anybody, and their new folder to that user alone. Only the folder that the program lies in is taken, which has all that a packed browser needs.

use crate::account::Account;
use std::fs::{self, DirBuilder};
use std::io;
use std::path::{Path, PathBuf};

/// More than any browser has: whoever's program lies in a folder full of other things does not have all of it copied.
const FILES: usize = 2_000;
const COPIED: u64 = 1 << 30;

/// The program's other path, below `to`.
///
/// # Errors
/// Why there is none, in words.
pub(crate) fn stage(program: &Path, to: &Path, account: &Account) -> Result<PathBuf, String> {
    let failed = |error: io::Error| format!("it cannot be put where {} can read it ({error})", account.name);
    let program = program.canonicalize().map_err(failed)?;
    let (Some(folder), Some(name)) = (program.parent(), program.file_name()) else {
        return Err(failed(io::ErrorKind::InvalidInput.into()));
    };
    let mut left = Left { files: FILES, bytes: COPIED };
    let put = open_folder(to).and_then(|()| account.share(to)).and_then(|()| left.put(folder, to));
    put.map_err(failed)?;
    Ok(to.join(name))
}

/// What may still be put there.
struct Left {
    files: usize,
    bytes: u64,
}

impl Left {
    fn put(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            let (kind, source, target) = (entry.file_type()?, entry.path(), to.join(entry.file_name()));
            self.files = self.files.checked_sub(1).ok_or_else(too_much)?;
            if kind.is_dir() {
                open_folder(&target)?;
                self.put(&source, &target)?;
            } else if fs::hard_link(&source, &target).is_err() && kind.is_file() {
                self.bytes = self.bytes.checked_sub(entry.metadata()?.len()).ok_or_else(too_much)?;
                fs::copy(&source, &target)?;
            }
        }
        Ok(())
    }
}

fn too_much() -> io::Error {
    io::Error::other(format!("its folder has more than {FILES} files, or {} MiB to copy", COPIED >> 20))
}

/// A folder that whoever gets so far may read, whatever the worker's mask says.
fn open_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().create(path)?;
    #[cfg(unix)]
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
    Ok(())
}
