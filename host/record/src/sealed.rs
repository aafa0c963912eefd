//! Files whose content a run relies on: their hash, and what shows that it is still the same file.

use crate::hash::sha256_reader;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

/// What the system keeps of a file and changes with its content. The time of change cannot be set by programs.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FileId {
    pub device: u64,
    pub inode: u64,
    pub size: u64,
    /// Seconds and nanoseconds of the last change of content and of the last change at all.
    pub modified: (i64, i64),
    pub changed: (i64, i64),
}

impl FileId {
    /// Of the file that is at a path now.
    ///
    /// # Errors
    /// None is, or it cannot be read.
    pub fn at(path: &Path) -> io::Result<FileId> {
        FileId::of(&File::open(path)?)
    }

    #[cfg(unix)]
    fn of(file: &File) -> io::Result<FileId> {
        use std::os::unix::fs::MetadataExt;
        let data = file.metadata()?;
        let (modified, changed) = ((data.mtime(), data.mtime_nsec()), (data.ctime(), data.ctime_nsec()));
        Ok(FileId { device: data.dev(), inode: data.ino(), size: data.size(), modified, changed })
    }

    #[cfg(not(unix))]
    fn of(file: &File) -> io::Result<FileId> {
        let data = file.metadata()?;
        let since = data.modified()?.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let modified = (since.as_secs() as i64, i64::from(since.subsec_nanos()));
        Ok(FileId { device: 0, inode: 0, size: data.len(), modified, changed: modified })
    }
}

/// A file as it was when its hash was taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sealed {
    pub path: PathBuf,
    /// Lower-case hex.
    pub sha256: String,
    pub id: FileId,
}

/// A file is another one than when its hash was taken.
#[derive(Debug, thiserror::Error)]
pub enum SealError {
    #[error("{path} was replaced: its SHA-256 was {then} when the run began, and is {now}; start the run again")]
    Replaced { path: PathBuf, then: String, now: String },
    #[error("{path}: {error}")]
    File { path: PathBuf, error: io::Error },
}

impl Sealed {
    /// Takes the hash of a file, through the one descriptor that its identity is read from. A file that did not change since it was
    /// last hashed by this process is not read again.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn of(path: &Path) -> io::Result<Sealed> {
        static KNOWN: OnceLock<Mutex<HashMap<FileId, String>>> = OnceLock::new();
        let known = KNOWN.get_or_init(Mutex::default);
        let file = File::open(path)?;
        let id = FileId::of(&file)?;
        let found = known.lock().unwrap_or_else(PoisonError::into_inner).get(&id).cloned();
        let sha256 = match found {
            Some(hash) => hash,
            None => {
                let hash = sha256_reader(&file)?;
                if FileId::of(&file)? != id {
                    return Err(io::Error::other("it changed while it was read"));
                }
                known.lock().unwrap_or_else(PoisonError::into_inner).insert(id.clone(), hash.clone());
                hash
            }
        };
        Ok(Sealed { path: path.into(), sha256, id })
    }

    /// Whether the file at this path is still the one that was hashed; where it is another one, whether it holds the same.
    ///
    /// # Errors
    /// It holds something else, or cannot be read.
    pub fn check(&self) -> Result<(), SealError> {
        let failed = |error| SealError::File { path: self.path.clone(), error };
        let file = File::open(&self.path).map_err(failed)?;
        if FileId::of(&file).map_err(failed)? == self.id {
            return Ok(());
        }
        let now = sha256_reader(&file).map_err(failed)?;
        match now == self.sha256 {
            true => Ok(()),
            false => Err(SealError::Replaced { path: self.path.clone(), then: self.sha256.clone(), now }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_was_replaced_is_found_out_and_a_copy_of_the_same_passes() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("a"), folder.path().join("b"));
        std::fs::write(&path, "one").unwrap();
        let sealed = Sealed::of(&path).unwrap();
        sealed.check().unwrap();
        std::fs::write(&other, "one").unwrap();
        std::fs::rename(&other, &path).unwrap();
        sealed.check().unwrap();
        std::fs::write(&other, "two").unwrap();
        std::fs::rename(&other, &path).unwrap();
        assert!(matches!(sealed.check(), Err(SealError::Replaced { .. })));
    }

    #[test]
    fn a_file_that_is_changed_in_place_is_found_out() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, "one").unwrap();
        let sealed = Sealed::of(&path).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(20));
        std::fs::write(&path, "two").unwrap();
        assert!(sealed.check().is_err());
        assert_ne!(Sealed::of(&path).unwrap().sha256, sealed.sha256, "the hash is not remembered for it");
    }
}
