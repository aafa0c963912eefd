//! The lock that lets one benchmark at a time measure on a machine.
//!
//! It is a lock of the kernel on a file: it ends with the process that holds it, so that none is ever left behind. What stands in the
//! file is only for telling who holds it.

use parking_lot::Mutex;
use skillbench_record::Holder;
use skillbench_worker::Stop;
use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

/// Names the file in place of the machine's own.
pub const VARIABLE: &str = "SKILLBENCH_LOCK";

const NAME: &str = "skillbench.lock";

/// Between two looks at a lock that is held.
const LOOK: Duration = Duration::from_millis(100);

#[derive(Debug, thiserror::Error)]
pub enum LockError {
    #[error(
        "{} measures on this machine, and did after {} s of waiting; wait longer with --lock-wait, or measure beside it with --no-lock",
        describe(.holder), .waited.as_secs()
    )]
    Busy { holder: Option<Holder>, waited: Duration },
    #[error("the wait for the lock was stopped")]
    Stopped,
    #[error("{}: no lock can be had there: {error}; {VARIABLE} names another file", path.display())]
    Unlockable { path: PathBuf, error: io::Error },
}

fn describe(holder: &Option<Holder>) -> String {
    holder.as_ref().map_or("another benchmark".into(), Holder::to_string)
}

/// The lock, as long as this lives.
#[derive(Debug)]
pub struct Guard {
    file: File,
}

impl Drop for Guard {
    fn drop(&mut self) {
        // Whoever looks next is not told of one that has ended.
        let _ = self.file.set_len(0);
        let _ = self.file.unlock();
    }
}

/// The lock's file: what [`VARIABLE`] names, else the machine's.
pub fn place() -> PathBuf {
    match std::env::var_os(VARIABLE).filter(|value| !value.is_empty()) {
        Some(file) => PathBuf::from(file),
        None => shared_folder().join(NAME),
    }
}

/// A folder in which every user may make files. Which one it is depends on the machine alone, so that all users come to the same.
fn shared_folder() -> PathBuf {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        const STICKY_FOR_ALL: u32 = 0o1002;
        let shared = |folder: &&str| {
            let mode = std::fs::metadata(folder).map_or(0, |data| data.permissions().mode());
            mode & STICKY_FOR_ALL == STICKY_FOR_ALL
        };
        if let Some(folder) = ["/run/lock", "/tmp"].iter().find(|folder| shared(folder)) {
            return PathBuf::from(folder);
        }
    }
    std::env::temp_dir()
}

/// Holds the lock; waits while another process has it, `most` at the longest. `tell` is called with the holder. A hold within a hold of the same
/// process is the same one.
///
/// # Errors
/// It is held for too long, the wait was stopped, or the place takes no lock.
pub fn hold(
    path: &Path,
    most: Option<Duration>,
    stop: &Stop,
    tell: &mut dyn FnMut(&str),
) -> Result<Arc<Guard>, LockError> {
    static HELD: Mutex<Option<(PathBuf, Weak<Guard>)>> = Mutex::new(None);
    let mut held = HELD.lock();
    if let Some((known, guard)) = &*held
        && known == path
        && let Some(guard) = guard.upgrade()
    {
        return Ok(guard);
    }
    let guard = Arc::new(wait(path, most, stop, tell)?);
    *held = Some((path.to_path_buf(), Arc::downgrade(&guard)));
    Ok(guard)
}

fn wait(path: &Path, most: Option<Duration>, stop: &Stop, tell: &mut dyn FnMut(&str)) -> Result<Guard, LockError> {
    let unlockable = |error| LockError::Unlockable { path: path.to_path_buf(), error };
    let mut file = open(path).map_err(unlockable)?;
    let began = Instant::now();
    let mut known = None;
    loop {
        match file.try_lock() {
            Ok(()) => break,
            Err(TryLockError::Error(error)) => return Err(unlockable(error)),
            Err(TryLockError::WouldBlock) => {}
        }
        if stop.asked() {
            return Err(LockError::Stopped);
        }
        let holder = Holder::read(&mut file);
        if most.is_some_and(|most| began.elapsed() >= most) {
            return Err(LockError::Busy { holder, waited: began.elapsed() });
        }
        // One that has just begun has not said yet who it is.
        let news = holder.is_some() && known.as_ref() != Some(&holder);
        if news || (known.is_none() && began.elapsed() > 5 * LOOK) {
            tell(&describe(&holder));
            known = Some(holder);
        }
        std::thread::sleep(LOOK);
    }
    // A file of another user that is not ours to write is locked all the same.
    let _ = Holder::own().write(&mut file);
    Ok(Guard { file })
}

/// Opens the file, or makes it for all users. In a folder where everybody writes, a name may be anything: a link is not followed, and
/// what is no plain file of one name is not touched.
fn open(path: &Path) -> io::Result<File> {
    // A file that vanishes between two tries is made again; not for ever.
    for _ in 0..10 {
        let found = match existing(path, true) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => existing(path, false),
            found => found,
        };
        match found {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            found => return found,
        }
        match new(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made,
        }
    }
    Err(io::Error::other("it comes and goes"))
}

fn existing(path: &Path, write: bool) -> io::Result<File> {
    let mut options = File::options();
    options.read(true).write(write);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        // Opening a pipe must not wait for its other end.
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        options.custom_flags(flags.bits() as i32);
    }
    let file = options.open(path)?;
    let data = file.metadata()?;
    #[cfg(unix)]
    let names = std::os::unix::fs::MetadataExt::nlink(&data);
    #[cfg(not(unix))]
    let names = 1;
    match data.is_file() && names == 1 {
        true => Ok(file),
        false => Err(io::Error::other("it is no plain file of its own")),
    }
}

fn new(path: &Path) -> io::Result<File> {
    let file = File::options().read(true).write(true).create_new(true).open(path)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        file.set_permissions(std::fs::Permissions::from_mode(0o666))?;
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at_once(path: &Path) -> Result<Guard, LockError> {
        wait(path, Some(Duration::ZERO), &Stop::default(), &mut |_| {})
    }

    #[test]
    fn the_second_waits_for_the_first_and_is_told_who_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let first = at_once(&path).unwrap();
        let busy = at_once(&path).unwrap_err();
        assert!(busy.to_string().contains(&format!("process {}", std::process::id())), "{busy}");
        let mut told = vec![];
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(3 * LOOK);
                drop(first);
            });
            wait(&path, Some(Duration::from_secs(60)), &Stop::default(), &mut |who| told.push(who.to_string()))
                .unwrap();
        });
        assert_eq!(told.len(), 1, "once, not at every look: {told:?}");
        assert!(told[0].starts_with(&format!("process {} ", std::process::id())), "{told:?}");
        assert_eq!(std::fs::read(&path).unwrap(), b"", "one that has ended is not told of");
        at_once(&path).unwrap();
    }

    #[test]
    fn a_hold_within_a_hold_is_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let outer = hold(&path, Some(Duration::ZERO), &Stop::default(), &mut |_| {}).unwrap();
        let inner = hold(&path, Some(Duration::ZERO), &Stop::default(), &mut |_| {}).unwrap();
        drop(outer);
        assert!(matches!(at_once(&path), Err(LockError::Busy { .. })));
        drop(inner);
        at_once(&path).unwrap();
    }

    #[test]
    fn a_file_that_a_killed_process_left_is_no_lock() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let dead = Holder { pid: 1, host: None, command: "host run".into(), since: "2020-01-01T00:00:00Z".into() };
        std::fs::write(&path, serde_json::to_vec(&dead).unwrap()).unwrap();
        drop(at_once(&path).unwrap());
    }

    #[cfg(unix)]
    #[test]
    fn a_file_of_all_users_is_made_and_neither_links_nor_other_things_are_touched() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        drop(at_once(&at("lock")).unwrap());
        assert_eq!(std::fs::metadata(at("lock")).unwrap().permissions().mode() & 0o777, 0o666);

        std::fs::write(at("precious"), "kept").unwrap();
        std::os::unix::fs::symlink(at("precious"), at("link")).unwrap();
        std::os::unix::fs::symlink(at("nowhere"), at("dangling")).unwrap();
        std::fs::hard_link(at("precious"), at("second-name")).unwrap();
        std::fs::create_dir(at("folder")).unwrap();
        for name in ["link", "dangling", "second-name", "folder", "no/such/folder"] {
            assert!(matches!(at_once(&at(name)), Err(LockError::Unlockable { .. })), "{name}");
        }
        assert_eq!(std::fs::read(at("precious")).unwrap(), b"kept");
        assert!(!at("nowhere").exists());
    }
}
