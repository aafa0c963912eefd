//! What a power cut or a full disk left at the end of a journal is set aside before anything is appended: behind half a line, a whole
//! one would be lost too.

use super::NAME;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// So many damaged ends are kept beside a journal.
const MOST: u32 = 1000;

/// Cuts a journal back to its first `whole` bytes, and keeps the rest in a file of its own. `None`: there was no rest.
///
/// # Errors
/// The rest cannot be kept; then nothing is cut.
pub(super) fn cut_back(folder: &Path, file: &File, bytes: &[u8], whole: usize) -> io::Result<Option<String>> {
    let rest = bytes.get(whole..).unwrap_or_default();
    if rest.is_empty() {
        return Ok(None);
    }
    let (mut aside, path) = new_file(folder)?;
    aside.write_all(rest)?;
    aside.sync_all()?;
    file.set_len(whole as u64)?;
    file.sync_all()?;
    let (journal, size) = (folder.join(NAME), rest.len());
    Ok(Some(format!("{}: {size} damaged bytes at its end were moved to {}", journal.display(), path.display())))
}

/// The first name that is free.
fn new_file(folder: &Path) -> io::Result<(File, PathBuf)> {
    for number in 1..=MOST {
        let path = folder.join(format!("journal.damaged-{number}"));
        match File::create_new(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return Ok((made?, path)),
        }
    }
    Err(io::Error::other(format!("{} has {MOST} of them already", folder.display())))
}
