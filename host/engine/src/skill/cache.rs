//! Built models on disk: a folder each. One is locked while it is built or used, so that two processes neither build it twice nor
//! take it from each other; and the longest unused are given up where all together would be larger than the limit.

use skillbench_record::defaults::defaults;
use skillbench_record::paths;
use skillbench_record::scratch::{self, Scratch};
use skillbench_worker::Stop;
use std::fs::{File, Metadata, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

pub struct ModelCache {
    root: PathBuf,
    limit: u64,
    /// How long to wait for another process.
    patience: Duration,
    /// Ends a wait for another process.
    stop: Stop,
}

/// A model that nobody gives up while this lives.
#[derive(Clone, Debug)]
pub struct Held(#[expect(dead_code, reason = "held for its lock")] Arc<File>);

/// A model in the cache.
#[derive(Clone, Debug)]
pub struct Kept {
    pub name: String,
    pub bytes: u64,
    pub used: SystemTime,
}

/// What was given up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Freed {
    pub models: u64,
    pub bytes: u64,
    /// Models that another process uses.
    pub in_use: u64,
}

impl ModelCache {
    /// The user's own. `SKILLBENCH_CACHE_LIMIT_GB` overrides how large it may grow.
    pub fn open() -> ModelCache {
        let asked = std::env::var("SKILLBENCH_CACHE_LIMIT_GB").ok().and_then(|text| text.parse::<f64>().ok());
        let limit = asked.filter(|limit| *limit >= 0.0).unwrap_or(defaults().cache.models_gb);
        ModelCache::at(paths::cache().join("models"), (limit * 1e9) as u64)
    }

    pub fn at(root: PathBuf, limit: u64) -> ModelCache {
        let patience = Duration::from_secs_f64(defaults().run.timeout_s);
        ModelCache { root, limit, patience, stop: Stop::default() }
    }

    /// Waits so long for another process, until it is asked to stop.
    #[must_use]
    pub fn with_patience(self, patience: Duration, stop: &Stop) -> ModelCache {
        ModelCache { patience, stop: stop.clone(), ..self }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn limit(&self) -> u64 {
        self.limit
    }

    pub fn folder(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// The folder of a model, which `fill` fills where it is not there. About `bytes` are made room for.
    ///
    /// # Errors
    /// What `fill` says, or what the file system did not let happen.
    pub fn get<E: From<io::Error>>(
        &self,
        name: &str,
        bytes: u64,
        fill: impl FnOnce(&Path) -> Result<(), E>,
    ) -> Result<(PathBuf, Held), E> {
        std::fs::create_dir_all(&self.root)?;
        let (folder, lock) = (self.folder(name), self.lock_file(name)?);
        let mut fill = Some(fill);
        loop {
            if !whole(&folder) {
                // Whoever comes second waits here, and finds the model built.
                self.wait(&folder, || lock.try_lock())?;
                if let (false, Some(fill)) = (whole(&folder), fill.take()) {
                    self.make_room(bytes)?;
                    self.build(name, &folder, fill)?;
                }
                lock.unlock()?;
            }
            self.wait(&folder, || lock.try_lock_shared())?;
            lock.set_modified(SystemTime::now())?;
            match (whole(&folder), fill.is_some()) {
                (true, _) => return Ok((folder, Held(Arc::new(lock)))),
                // It was cleaned away in between, and nothing was built here yet.
                (false, true) => lock.unlock()?,
                (false, false) => {
                    let text = format!("{} was removed as soon as it was built", folder.display());
                    return Err(io::Error::other(text).into());
                }
            }
        }
    }

    /// How much room so many bytes of a user's files take here: none where they can be second names of the same files.
    pub(super) fn room_for(&self, files: &Path, bytes: u64) -> u64 {
        match (device(files), self.root.ancestors().find_map(device)) {
            (Some(theirs), Some(ours)) if theirs == ours => 0,
            _ => bytes,
        }
    }

    /// Waits for a lock that another process holds; not for ever, and until it is asked to stop.
    fn wait(&self, folder: &Path, lock: impl Fn() -> Result<(), TryLockError>) -> io::Result<()> {
        let began = Instant::now();
        loop {
            match lock() {
                Ok(()) => return Ok(()),
                Err(TryLockError::Error(error)) => return Err(error),
                Err(TryLockError::WouldBlock) if self.stop.asked() => {
                    return Err(io::Error::new(io::ErrorKind::Interrupted, "the run was stopped"));
                }
                Err(TryLockError::WouldBlock) if began.elapsed() > self.patience => {
                    let seconds = self.patience.as_secs_f64();
                    let text = format!(
                        "another process has held {} for {seconds} s; end it, or raise --timeout",
                        folder.display()
                    );
                    return Err(io::Error::new(io::ErrorKind::TimedOut, text));
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(20)),
            }
        }
    }

    fn build<E: From<io::Error>>(
        &self,
        name: &str,
        folder: &Path,
        fill: impl FnOnce(&Path) -> Result<(), E>,
    ) -> Result<(), E> {
        let scratch = Scratch::in_folder(&self.root)?;
        let new = scratch.path().join(name);
        remove(folder)?;
        std::fs::create_dir(&new)?;
        fill(&new)?;
        Ok(std::fs::rename(&new, folder)?)
    }

    /// Every model that is built, the longest unused first.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn models(&self) -> io::Result<Vec<Kept>> {
        let mut models = vec![];
        for entry in entries(&self.root)? {
            let Some(name) = name_of(&entry).filter(|name| !name.starts_with('.') && entry.is_dir()) else { continue };
            let used = std::fs::metadata(self.lock_path(&name)).or_else(|_| std::fs::metadata(&entry))?.modified()?;
            models.push(Kept { name, bytes: size(&entry), used });
        }
        models.sort_by_key(|model| model.used);
        Ok(models)
    }

    /// Gives up models, the longest unused first, until no more than `keep` bytes are left; and all that was built half-way.
    ///
    /// # Errors
    /// The file system did not let it happen.
    pub fn trim(&self, keep: u64) -> io::Result<Freed> {
        let mut freed = Freed::default();
        scratch::sweep_root(&self.root);
        let models = self.models()?;
        let mut left: u64 = models.iter().map(|model| model.bytes).sum();
        for model in models {
            if left <= keep {
                break;
            }
            match self.give_up(&model.name, &self.folder(&model.name))? {
                Some(bytes) => {
                    left -= model.bytes;
                    freed.models += 1;
                    freed.bytes += bytes;
                }
                None => freed.in_use += 1,
            }
        }
        Ok(freed)
    }

    fn make_room(&self, bytes: u64) -> io::Result<()> {
        self.trim(self.limit.saturating_sub(bytes)).map(drop)
    }

    /// Removes a folder that nobody uses. `None`: somebody does.
    fn give_up(&self, name: &str, folder: &Path) -> io::Result<Option<u64>> {
        let lock = self.lock_file(name)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        let bytes = size(folder);
        remove(folder)?;
        Ok(Some(bytes))
    }

    fn lock_path(&self, name: &str) -> PathBuf {
        self.root.join(format!(".{name}.lock"))
    }

    /// The file stays when the model goes: one that is removed while another process waits for it would be two locks.
    fn lock_file(&self, name: &str) -> io::Result<File> {
        File::options().read(true).write(true).create(true).truncate(false).open(self.lock_path(name))
    }
}

/// Gives up all reference outputs and copies of graphs; they are made again when they are needed. Returns the bytes that were freed.
///
/// # Errors
/// The file system did not let it happen.
pub fn clean_references() -> io::Result<u64> {
    let mut freed = 0;
    for folder in ["references", "opsets"].map(|name| paths::cache().join(name)) {
        freed += size(&folder);
        remove(&folder)?;
    }
    Ok(freed)
}

/// The last file to be written is there.
fn whole(folder: &Path) -> bool {
    folder.join("skill.json").is_file()
}

fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    match std::fs::read_dir(folder) {
        Ok(entries) => Ok(entries.flatten().map(|entry| entry.path()).collect()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(vec![]),
        Err(error) => Err(error),
    }
}

fn name_of(path: &Path) -> Option<String> {
    Some(path.file_name()?.to_str()?.to_string())
}

fn remove(folder: &Path) -> io::Result<()> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The file system of a path.
#[cfg(target_os = "linux")]
fn device(path: &Path) -> Option<u64> {
    Some(std::os::unix::fs::MetadataExt::dev(&std::fs::metadata(path).ok()?))
}

#[cfg(not(target_os = "linux"))]
fn device(_path: &Path) -> Option<u64> {
    None
}

/// What removing a file gives back: nothing, where it has another name elsewhere.
#[cfg(unix)]
fn own_bytes(data: &Metadata) -> u64 {
    if std::os::unix::fs::MetadataExt::nlink(data) > 1 { 0 } else { data.len() }
}

#[cfg(not(unix))]
fn own_bytes(data: &Metadata) -> u64 {
    data.len()
}

fn size(folder: &Path) -> u64 {
    let of = |path: PathBuf| match std::fs::symlink_metadata(&path) {
        Ok(data) if data.is_dir() => size(&path),
        Ok(data) => own_bytes(&data),
        Err(_) => 0,
    };
    entries(folder).unwrap_or_default().into_iter().map(of).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    fn fill(bytes: usize) -> impl FnOnce(&Path) -> io::Result<()> {
        move |folder| {
            std::fs::write(folder.join("model.onnx.data"), vec![1; bytes])?;
            std::fs::write(folder.join("skill.json"), "{}")
        }
    }

    fn names(cache: &ModelCache) -> Vec<String> {
        cache.models().unwrap().into_iter().map(|model| model.name).collect()
    }

    #[test]
    fn two_that_want_the_same_model_build_it_once() {
        let root = tempfile::tempdir().unwrap();
        let built = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let cache = ModelCache::at(root.path().into(), 1 << 20);
                    let (folder, _held) = cache
                        .get("it", 100, |folder| {
                            built.fetch_add(1, Ordering::SeqCst);
                            std::thread::sleep(Duration::from_millis(20));
                            fill(100)(folder)
                        })
                        .unwrap();
                    assert_eq!(std::fs::metadata(folder.join("model.onnx.data")).unwrap().len(), 100);
                });
            }
        });
        assert_eq!(built.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn what_a_process_left_half_way_is_built_anew() {
        let root = tempfile::tempdir().unwrap();
        let cache = ModelCache::at(root.path().into(), 1 << 20);
        let left = root.path().join(".skillbench-tmp/skillbench-1-1/it");
        std::fs::create_dir_all(&left).unwrap();
        std::fs::write(left.join("model.onnx.data"), "half").unwrap();
        cache.get("it", 10, fill(10)).unwrap();
        assert!(!left.exists());
        assert_eq!(names(&cache), ["it"]);
    }

    #[test]
    fn a_build_that_fails_leaves_nothing_and_can_be_tried_again() {
        let root = tempfile::tempdir().unwrap();
        let cache = ModelCache::at(root.path().into(), 1 << 20);
        let failing = |folder: &Path| {
            std::fs::write(folder.join("model.onnx.data"), "some")?;
            Err(io::Error::from(io::ErrorKind::StorageFull))
        };
        let error = cache.get("it", 10, failing).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        assert!(names(&cache).is_empty() && !root.path().join(".skillbench-tmp").exists());
        cache.get("it", 10, fill(10)).unwrap();
    }

    #[test]
    fn the_longest_unused_goes_first_and_what_is_used_stays() {
        let root = tempfile::tempdir().unwrap();
        let cache = ModelCache::at(root.path().into(), 2_500);
        let (_, held) = cache.get("first", 1_000, fill(1_000)).unwrap();
        for name in ["second", "third"] {
            std::thread::sleep(Duration::from_millis(20));
            cache.get(name, 1_000, fill(1_000)).unwrap();
        }
        assert_eq!(names(&cache), ["first", "third"], "second made room for third");
        drop(held);
        let freed = cache.trim(0).unwrap();
        assert_eq!((freed.models, freed.in_use, names(&cache).len()), (2, 0, 0));
    }

    #[test]
    fn a_file_that_has_another_name_takes_no_room() {
        let root = tempfile::tempdir().unwrap();
        let theirs = root.path().join("theirs");
        std::fs::write(&theirs, vec![1; 5_000]).unwrap();
        let cache = ModelCache::at(root.path().join("cache"), 2_500);
        let link = |folder: &Path| {
            std::fs::hard_link(&theirs, folder.join("model.onnx"))?;
            std::fs::write(folder.join("skill.json"), "{}")
        };
        cache.get("built", 1_000, fill(1_000)).unwrap();
        cache.get("linked", cache.room_for(&theirs, 5_000), link).unwrap();
        assert_eq!(names(&cache), ["built", "linked"], "the first need not go");
    }

    #[test]
    fn nobody_waits_for_ever_for_another_process() {
        let root = tempfile::tempdir().unwrap();
        let cache =
            ModelCache::at(root.path().into(), 1 << 20).with_patience(Duration::from_millis(50), &Stop::default());
        let other = cache.lock_file("it").unwrap();
        other.lock().unwrap();
        let error = cache.get("it", 10, fill(10)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut, "{error}");
        other.unlock().unwrap();
        cache.get("it", 10, fill(10)).unwrap();
    }

    #[test]
    fn a_model_that_is_used_is_not_cleaned_away() {
        let root = tempfile::tempdir().unwrap();
        let cache = ModelCache::at(root.path().into(), 1 << 20);
        let (folder, held) = cache.get("it", 10, fill(10)).unwrap();
        assert_eq!(cache.trim(0).unwrap(), Freed { in_use: 1, ..Freed::default() });
        assert!(folder.exists());
        drop(held);
        assert_eq!(cache.trim(0).unwrap().models, 1);
    }
}
