//! A browser's fresh profile: a folder of its own that goes with the browser.
//!
//! A worker that is killed leaves its folder behind. Each holds a file that its worker keeps locked, so the next one can
//! tell which are left, and removes them.

use skillbench_plugin_api::{Error, Result};
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::thread;
use std::time::Duration;
use tempfile::TempDir;

const PREFIX: &str = "skillbench-browser-";
const LOCK: &str = "in-use";

pub(crate) struct Profile {
    folder: Option<TempDir>,
    lock: Option<File>,
}

impl Profile {
    /// # Errors
    /// `Internal` where the temporary folder cannot be written.
    pub fn create() -> Result<Profile> {
        let parent = std::env::temp_dir();
        sweep(&parent);
        create(&parent).map_err(|error| {
            let text = format!("cannot make a browser profile in {}: {error}: set TMPDIR", parent.display());
            Error::internal(text)
        })
    }

    pub fn path(&self) -> &Path {
        self.folder.as_ref().map_or(Path::new(""), TempDir::path)
    }
}

fn create(parent: &Path) -> io::Result<Profile> {
    let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent)?;
    // It gets its name once it is locked, so that no other worker sees it unlocked.
    let unnamed = folder.path().join("new");
    let lock = File::create(&unnamed)?;
    lock.lock()?;
    fs::rename(unnamed, folder.path().join(LOCK))?;
    Ok(Profile { folder: Some(folder), lock: Some(lock) })
}

/// Removes the profiles of workers that are gone. What cannot be removed belongs to someone else.
fn sweep(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let ours = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        let left = || File::open(entry.path().join(LOCK)).is_ok_and(|lock| lock.try_lock().is_ok());
        if ours && left() {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

impl Drop for Profile {
    fn drop(&mut self) {
        let Some(folder) = self.folder.take() else { return };
        let path = folder.keep();
        // Some systems remove no file that is open.
        self.lock = None;
        // The browser's helpers end a moment after it, and still write until then.
        for _ in 0..20 {
            match fs::remove_dir_all(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => thread::sleep(Duration::from_millis(25)),
                _ => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LOCK, PREFIX, create, sweep};
    use std::fs;

    #[test]
    fn a_profile_is_swept_only_once_its_worker_is_gone() {
        let parent = tempfile::tempdir().unwrap();
        let left = parent.path().join(format!("{PREFIX}left"));
        fs::create_dir(&left).unwrap();
        fs::write(left.join(LOCK), "").unwrap();
        let used = create(parent.path()).unwrap();
        sweep(parent.path());
        assert!(!left.exists());
        let path = used.path().to_path_buf();
        assert!(path.exists());
        drop(used);
        assert!(!path.exists());
    }
}
