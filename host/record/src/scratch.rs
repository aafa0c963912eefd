//! Temporary files and folders, which are gone once the process that made them is gone, however it ended.
//!
//! `ROOT/.skillbench-tmp/skillbench-PID-NUMBER` belongs to one process, which holds a lock on `skillbench-PID-NUMBER.lock` next to it. The kernel
//! gives the lock up when the process ends: what lies there with a free lock was left behind, and is removed by whoever makes something
//! temporary in the same root next, and by every start and end of the host ([`sweep`]). On a file system without locks
//! nobody can tell, and nothing is removed but by the process itself.
//!
//! - [`folder`]: an empty folder in the cache, as a temporary folder of the system would be.
//! - [`Scratch`]: the same in a root of one's choice, for what is renamed into that root: it has to lie on the same file system.
//! - [`write_whole`]: a file that is there in full, or not at all.

use crate::paths;
use std::fs::{DirBuilder, File, TryLockError};
use std::io::{self, BufWriter, ErrorKind, IntoInnerError};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{SystemTime, UNIX_EPOCH};

/// The folder in a root that has the folders of all processes.
const HOME: &str = ".skillbench-tmp";
const PREFIX: &str = "skillbench-";
const LOCK: &str = ".lock";

/// So often a folder is tried to be made while others remove theirs.
const MOST_TRIES: u32 = 100;

/// A folder of this process in some root. It is removed with all that is in it when this is dropped.
#[derive(Debug)]
pub struct Scratch {
    home: PathBuf,
    path: PathBuf,
    lock_path: PathBuf,
    #[expect(dead_code, reason = "held for its lock")]
    lock: File,
}

impl Scratch {
    /// A new folder in `root`, which is made where it is missing. What processes that have ended left there is removed.
    ///
    /// # Errors
    /// The folder cannot be made.
    pub fn in_folder(root: &Path) -> io::Result<Scratch> {
        let home = root.join(HOME);
        sweep_home(&home);
        Scratch::in_home(&home)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    fn in_home(home: &Path) -> io::Result<Scratch> {
        let mut failure = io::Error::from(ErrorKind::NotFound);
        for _ in 0..MOST_TRIES {
            match Scratch::attempt(home) {
                // Another process removed the home with its own folder, or took a lock that was not held yet for a free one.
                Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::AlreadyExists) => failure = error,
                made => return made,
            }
        }
        Err(failure)
    }

    fn attempt(home: &Path) -> io::Result<Scratch> {
        std::fs::create_dir_all(home)?;
        if home.ends_with(HOME) && !std::fs::symlink_metadata(home)?.is_dir() {
            return Err(io::Error::other(format!("{} is a link, and nothing is put there", home.display())));
        }
        let name = new_name();
        let lock_path = lock_path(home, &name);
        let lock = File::options().write(true).create_new(true).open(&lock_path)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(ErrorKind::AlreadyExists.into()),
            // A file system without locks: nobody else removes it.
            Err(TryLockError::Error(_)) => {}
        }
        if !is_at(&lock, &lock_path)? {
            return Err(ErrorKind::NotFound.into());
        }
        let scratch = Scratch { home: home.into(), path: home.join(name), lock_path, lock };
        private().create(scratch.path())?;
        Ok(scratch)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed now keeps its lock's file, so that somebody tries again.
        if remove(&self.path).is_ok() {
            let _ = std::fs::remove_file(&self.lock_path);
        }
        remove_empty(&self.home);
    }
}

/// An empty folder in the cache; where that cannot be written, in the folder of the system for temporary things. It is removed with
/// all that is in it when this is dropped.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    /// The folder that this one is in stays as long.
    process: Arc<Scratch>,
}

impl Folder {
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = remove(&self.path);
    }
}

/// A new [`Folder`].
///
/// # Errors
/// None can be made, neither in the cache nor where the system has temporary things.
pub fn folder() -> io::Result<Folder> {
    static OWN: Mutex<Weak<Scratch>> = Mutex::new(Weak::new());
    let elsewhere = |_| Scratch::in_home(&std::env::temp_dir());
    of_process(&OWN, || Scratch::in_folder(&paths::cache()).or_else(elsewhere))
}

/// A new folder in the one of this process, which is made where nobody has it.
fn of_process(own: &Mutex<Weak<Scratch>>, make: impl FnOnce() -> io::Result<Scratch>) -> io::Result<Folder> {
    static MADE: AtomicU64 = AtomicU64::new(0);
    let mut own = own.lock().unwrap_or_else(PoisonError::into_inner);
    let process = match own.upgrade().filter(|known| known.path().is_dir()) {
        Some(known) => known,
        None => {
            let made = Arc::new(make()?);
            *own = Arc::downgrade(&made);
            made
        }
    };
    drop(own);
    let path = process.path().join(MADE.fetch_add(1, Ordering::Relaxed).to_string());
    std::fs::create_dir(&path)?;
    Ok(Folder { path, process })
}

/// A new [`Folder`] where the system has temporary things, which other users can pass through to what lies in it and cannot list. For
/// workers: what they start may run as another user.
///
/// # Errors
/// None can be made there.
pub fn passable_folder() -> io::Result<Folder> {
    static OWN: Mutex<Weak<Scratch>> = Mutex::new(Weak::new());
    let folder = of_process(&OWN, || Scratch::in_home(&std::env::temp_dir()))?;
    passable(folder.process.path())?;
    passable(folder.path())?;
    Ok(folder)
}

fn passable(folder: &Path) -> io::Result<()> {
    #[cfg(unix)]
    std::fs::set_permissions(folder, std::os::unix::fs::PermissionsExt::from_mode(0o711))?;
    #[cfg(not(unix))]
    let _ = folder;
    Ok(())
}

/// Writes a file in full or not at all: a reader finds the old one or the new one. Its folder is made.
///
/// # Errors
/// What `write` says, or the file cannot be put there. Then nothing is left of it.
pub fn write_whole<E: From<io::Error>>(
    file: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<(), E>,
) -> Result<(), E> {
    let root = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let scratch = Scratch::in_folder(root)?;
    let new = scratch.path().join("new");
    // JSON is written in pieces of a few bytes.
    let mut out = BufWriter::new(File::create_new(&new)?);
    write(&mut out)?;
    // Before it has its name: after a power cut the name must not lead to an empty file.
    out.into_inner().map_err(IntoInnerError::into_error)?.sync_all()?;
    Ok(std::fs::rename(&new, file)?)
}

/// Removes what processes that have ended left in the user's cache and data, and where the system has temporary things.
pub fn sweep() {
    let (cache, data) = (paths::cache(), paths::data());
    let own =
        [cache.join("models"), cache.join("references"), cache.join("contents"), data.join("packages"), data.clone()];
    let below = [cache.join("opsets"), data.join("runtimes")];
    own.iter().for_each(|root| sweep_root(root));
    below.iter().flat_map(|folder| entries(folder)).for_each(|(_, root)| sweep_root(&root));
    sweep_root(&cache);
    sweep_home(&std::env::temp_dir());
}

/// Removes a [`Folder`] of a process that may have ended, and then what it left next to it.
pub fn sweep_around(folder: &Path) {
    let _ = remove(folder);
    folder.parent().and_then(Path::parent).into_iter().for_each(sweep_home);
}

/// Removes what processes that have ended left in a root.
pub fn sweep_root(root: &Path) {
    sweep_home(&root.join(HOME));
}

fn sweep_home(home: &Path) {
    if !is_folder(home) {
        return;
    }
    let names = entries(home).into_iter().map(|(name, _)| name.strip_suffix(LOCK).map_or(name.clone(), String::from));
    names.filter(|name| is_name(name)).for_each(|name| sweep_one(home, &name));
    remove_empty(home);
}

fn sweep_one(home: &Path, name: &str) {
    let path = lock_path(home, name);
    match open_lock(&path) {
        Ok(lock) => {
            // One that was made anew meanwhile is another one.
            let is_free = lock.try_lock().is_ok() && is_at(&lock, &path).unwrap_or(false);
            if is_free && remove(&home.join(name)).is_ok() {
                let _ = std::fs::remove_file(&path);
            }
        }
        // The lock's file comes before the folder, and goes after it: a folder alone is nobody's.
        Err(error) if error.kind() == ErrorKind::NotFound => drop(remove(&home.join(name))),
        Err(_) => {}
    }
}

/// Opens what is there as a lock. In a folder of all users it may be anything: a link is not followed, and a pipe is not waited for.
fn open_lock(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(
        &mut options,
        (rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK).bits() as i32,
    );
    options.open(path)
}

/// Whether a path leads to this open file: neither gone, nor another one of the same name.
///
/// # Errors
/// What is there cannot be looked at, for another reason than that there is nothing.
pub fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let there = match std::fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        there => there?,
    };
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let own = file.metadata()?;
        Ok((own.dev(), own.ino()) == (there.dev(), there.ino()))
    }
    #[cfg(not(unix))]
    {
        Ok(file.metadata()?.len() == there.len())
    }
}

/// A link to a folder is none: the root may be another's.
fn is_folder(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|data| data.is_dir())
}

fn entries(folder: &Path) -> Vec<(String, PathBuf)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.path()))).collect()
}

/// Alone among the processes of all containers that see the folder; where two come to the same one, the second makes another.
fn new_name() -> String {
    let number = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    format!("{PREFIX}{}-{number}", std::process::id())
}

fn is_name(name: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let numbers = name.strip_prefix(PREFIX).and_then(|rest| rest.split_once('-'));
    numbers.is_some_and(|(process, number)| is_number(process) && is_number(number))
}

fn lock_path(home: &Path, name: &str) -> PathBuf {
    home.join(format!("{name}{LOCK}"))
}

/// Folders that nobody else can enter.
fn private() -> DirBuilder {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "a mode is Unix'"))]
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

fn remove(folder: &Path) -> io::Result<()> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Removes the folder of all processes with the last of them; never one that others made.
fn remove_empty(home: &Path) {
    if home.ends_with(HOME) {
        let _ = std::fs::remove_dir(home);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        entries(folder).into_iter().map(|(name, _)| name).collect()
    }

    #[test]
    fn a_folder_is_gone_with_its_holder_and_so_is_the_place_it_was_in() {
        let root = tempfile::tempdir().unwrap();
        let scratch = Scratch::in_folder(root.path()).unwrap();
        std::fs::write(scratch.path().join("file"), "text").unwrap();
        drop(scratch);
        assert!(names(root.path()).is_empty());
    }

    #[test]
    fn what_lies_there_with_a_free_lock_is_removed_and_what_is_held_or_anothers_stays() {
        let root = tempfile::tempdir().unwrap();
        let held = Scratch::in_folder(root.path()).unwrap();
        let home = root.path().join(HOME);
        // As a process leaves them that is killed: the lock is free, everything else is there.
        for name in ["skillbench-1-7", "skillbench-1-8"] {
            std::fs::create_dir_all(home.join(name).join("deeper")).unwrap();
        }
        std::fs::write(home.join("skillbench-1-7.lock"), "").unwrap();
        std::fs::create_dir(home.join("notes")).unwrap();
        drop(Scratch::in_folder(root.path()).unwrap());
        let mut left = names(&home);
        left.sort();
        let name = held.path().file_name().unwrap().to_str().unwrap();
        assert_eq!(left, ["notes".to_string(), name.to_string(), format!("{name}.lock")]);
        assert!(held.path().is_dir());
    }

    #[test]
    fn many_that_begin_and_end_at_once_have_folders_of_their_own() {
        let root = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..20 {
                        let scratch = Scratch::in_folder(root.path()).unwrap();
                        std::fs::write(scratch.path().join("mine"), "").unwrap();
                        assert_eq!(names(scratch.path()), ["mine"]);
                    }
                });
            }
        });
        assert!(names(root.path()).is_empty());
    }

    #[test]
    fn a_file_that_could_not_be_written_leaves_the_old_one_and_nothing_else() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("deeper/file");
        let write = |text: &'static str| {
            move |out: &mut BufWriter<File>| -> io::Result<()> {
                use std::io::Write;
                out.write_all(text.as_bytes())
            }
        };
        write_whole(&file, write("first")).unwrap();
        let full = |out: &mut BufWriter<File>| -> io::Result<()> {
            write("half")(out)?;
            Err(ErrorKind::StorageFull.into())
        };
        assert_eq!(write_whole(&file, full).unwrap_err().kind(), ErrorKind::StorageFull);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "first");
        assert_eq!(names(file.parent().unwrap()), ["file"]);
    }
}
