//! SHA-256, in lower-case hex.

use sha2::Digest;
use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// SHA-256 of a file, in lower-case hex.
///
/// # Errors
/// The file cannot be read.
pub fn sha256(path: &Path) -> std::io::Result<String> {
    sha256_of(std::fs::File::open(path)?)
}

/// SHA-256 of a file that is open, in lower-case hex.
///
/// # Errors
/// The file cannot be read.
pub fn sha256_of(mut file: impl std::io::Read) -> std::io::Result<String> {
    let mut hasher = sha2::Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hex(&hasher.finalize())),
            read => hasher.update(&buffer[..read]),
        }
    }
}

/// SHA-256 of each file that can be read, on all processors: a run hashes every library it uses before it begins.
pub fn sha256_all<K: Ord + Send>(files: Vec<(K, PathBuf)>) -> BTreeMap<K, String> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let waiting = Mutex::new(files.into_iter());
    let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = || {
        let files = std::iter::from_fn(next);
        files.filter_map(|(name, path)| Some((name, sha256(&path).ok()?))).collect::<Vec<_>>()
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let done = workers.into_iter().map(|worker| worker.join().unwrap_or_else(|panic| resume_unwind(panic)));
        done.flatten().collect()
    })
}

/// SHA-256 of a text, in lower-case hex.
pub fn sha256_text(text: &str) -> String {
    sha256_bytes(text.as_bytes())
}

/// SHA-256 of bytes, in lower-case hex.
pub fn sha256_bytes(bytes: &[u8]) -> String {
    hex(&sha2::Sha256::digest(bytes))
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
