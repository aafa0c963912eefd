//! What a browser has of its own: a folder with its fresh profile and its log, that goes with the browser.
//!
//! A browser that runs as another user has the profile inside for itself, and may only pass through the folder around it.
//!
//! Should a worker and its guard be killed at once, the folder stays. Each holds a file that its worker keeps locked, so the
//! next one can tell which are left, and removes them.

use crate::account::Account;
use skillbench_plugin_api::{Error, Result};
use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
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
    pub fn create(account: Option<&Account>) -> Result<Profile> {
        let parent = std::env::temp_dir();
        sweep(&parent);
        create(&parent, account).map_err(|error| {
            let text = format!("cannot make a browser profile in {}: {error}: set TMPDIR", parent.display());
            Error::internal(text)
        })
    }

    /// The whole folder.
    pub fn path(&self) -> &Path {
        self.folder.as_ref().map_or(Path::new(""), TempDir::path)
    }

    /// What the browser writes to.
    pub fn data(&self) -> PathBuf {
        self.path().join("profile")
    }
}

fn create(parent: &Path, account: Option<&Account>) -> io::Result<Profile> {
    let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent)?;
    // It gets its name once it is locked, so that no other worker sees it unlocked.
    let unnamed = folder.path().join("new");
    let lock = File::create(&unnamed)?;
    lock.lock()?;
    fs::rename(unnamed, folder.path().join(LOCK))?;
    let profile = Profile { folder: Some(folder), lock: Some(lock) };
    permit(profile.path(), if account.is_some() { 0o711 } else { 0o700 })?;
    fs::create_dir(profile.data())?;
    permit(&profile.data(), 0o700)?;
    account.map_or(Ok(()), |account| account.own(&profile.data()))?;
    Ok(profile)
}

#[cfg(unix)]
fn permit(folder: &Path, mode: u32) -> io::Result<()> {
    fs::set_permissions(folder, std::os::unix::fs::PermissionsExt::from_mode(mode))
}

#[cfg(not(unix))]
fn permit(_: &Path, _: u32) -> io::Result<()> {
    Ok(())
}

/// Removes the folders of workers that are gone. What another user put there is not even opened.
fn sweep(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let named = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        let ours = named && entry.metadata().is_ok_and(|found| found.is_dir() && own(&found));
        let left = || File::open(entry.path().join(LOCK)).is_ok_and(|lock| lock.try_lock().is_ok());
        if ours && left() {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(unix)]
fn own(found: &Metadata) -> bool {
    std::os::unix::fs::MetadataExt::uid(found) == nix::unistd::geteuid().as_raw()
}

#[cfg(not(unix))]
fn own(_: &Metadata) -> bool {
    true
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
        let used = create(parent.path(), None).unwrap();
        sweep(parent.path());
        assert!(!left.exists());
        let path = used.path().to_path_buf();
        assert!(path.exists());
        drop(used);
        assert!(!path.exists());
    }

    #[test]
    #[cfg(unix)]
    fn what_only_has_the_name_of_a_profile_is_let_be() {
        let (parent, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(elsewhere.path().join(LOCK), "").unwrap();
        let link = parent.path().join(format!("{PREFIX}link"));
        std::os::unix::fs::symlink(elsewhere.path(), &link).unwrap();
        sweep(parent.path());
        assert!(link.exists() && elsewhere.path().join(LOCK).exists());
    }
}
