//! Where the files of a repository lie, as other tools lay them: contents in `blobs`, named by what they are; trees of links to
//! them in `snapshots`, one for each commit; in `refs`, which commit a branch was at.

use super::HubError;
use skillbench_record::scratch::Scratch;
use std::fs::File;
use std::path::{Path, PathBuf};

pub(super) struct Cache {
    /// The repository's own folder.
    pub folder: PathBuf,
    locks: PathBuf,
}

/// Whether a revision is a commit, which never changes.
pub(super) fn is_commit(text: &str) -> bool {
    text.len() == 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

impl Cache {
    pub fn new(all: &Path, repository: &str) -> Cache {
        let name = format!("models--{}", repository.replace('/', "--"));
        Cache { folder: all.join(&name), locks: all.join(".locks").join(name) }
    }

    /// The commit of a revision, as far as it is known here.
    pub fn commit(&self, revision: &str) -> Option<String> {
        if is_commit(revision) {
            return Some(revision.into());
        }
        let text = std::fs::read_to_string(self.folder.join("refs").join(revision)).ok()?;
        Some(text.trim().to_string()).filter(|text| is_commit(text))
    }

    pub fn snapshot(&self, commit: &str) -> PathBuf {
        self.folder.join("snapshots").join(commit)
    }

    pub fn blob(&self, name: &str) -> PathBuf {
        self.folder.join("blobs").join(name)
    }

    /// Remembers the commit of a revision.
    pub fn point(&self, revision: &str, commit: &str) -> Result<(), HubError> {
        if is_commit(revision) || self.commit(revision).as_deref() == Some(commit) {
            return Ok(());
        }
        let path = self.folder.join("refs").join(revision);
        let io = |error| HubError::Io { path: path.clone(), error };
        let (scratch, new) = self.new_file(&path).map_err(io)?;
        std::fs::write(&new, commit).and_then(|()| std::fs::rename(&new, &path)).map_err(io)?;
        drop(scratch);
        Ok(())
    }

    /// Keeps other processes, also those of other tools, from fetching the same content. Given up when it is dropped.
    pub fn lock(&self, blob: &str) -> Result<File, HubError> {
        let path = self.locks.join(format!("{blob}.lock"));
        let io = |error| HubError::Io { path: path.clone(), error };
        std::fs::create_dir_all(&self.locks).map_err(io)?;
        let file = File::options().create(true).truncate(false).write(true).open(&path).map_err(io)?;
        file.lock().map_err(io)?;
        Ok(file)
    }

    /// Puts a content into the tree of a commit. Returns its path there.
    pub fn link(&self, commit: &str, path: &str, blob: &str) -> Result<PathBuf, HubError> {
        let place = self.snapshot(commit).join(path);
        let io = |error| HubError::Io { path: place.clone(), error };
        let source = self.blob(blob);
        let there = std::fs::canonicalize(&place).ok();
        if there.is_some() && there == std::fs::canonicalize(&source).ok() {
            return Ok(place);
        }
        // Apart first, so that nobody sees it missing.
        let (scratch, new) = self.new_file(&place).map_err(io)?;
        attach(&source, &up(path, blob), &new).and_then(|()| std::fs::rename(&new, &place)).map_err(io)?;
        drop(scratch);
        Ok(place)
    }

    /// A name for a file that is to be moved to this place, whose folder is made. It lies in the repository's folder, where other tools
    /// do not look.
    fn new_file(&self, place: &Path) -> std::io::Result<(Scratch, PathBuf)> {
        std::fs::create_dir_all(place.parent().unwrap_or(&self.folder))?;
        let scratch = Scratch::in_folder(&self.folder)?;
        let new = scratch.path().join("new");
        Ok((scratch, new))
    }
}

/// From a file of a snapshot to a blob.
fn up(path: &str, blob: &str) -> String {
    let depth = 2 + path.matches('/').count();
    format!("{}blobs/{blob}", "../".repeat(depth))
}

#[cfg(unix)]
fn attach(_source: &Path, relative: &str, new: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(relative, new)
}

/// Where links need rights that few users have.
#[cfg(not(unix))]
fn attach(source: &Path, _relative: &str, new: &Path) -> std::io::Result<()> {
    std::fs::hard_link(source, new).or_else(|_| std::fs::copy(source, new).map(drop))
}
