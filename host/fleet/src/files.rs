//! Files on the server, each under the SHA-256 of its content: what a submission is measured with, and what its cells leave. A file is sent
//! once, however many submissions name it.
//!
//! | subject | what |
//! |---|---|
//! | `skb.file.SHA256.N` | part N of it |
//! | `skb.file.SHA256.whole` | its size, stored after all parts |
//!
//! Nothing here is signed: whoever names a file in a signed message names its hash, and whoever fetches one checks it.

use crate::courier::{Courier, CourierError, Message, all_stored};
use crate::names;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use skillbench_record::hash;
use skillbench_record::time::since_epoch;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Files stay so long on the server.
pub const KEPT: Duration = Duration::from_secs(90 * 24 * 3600);
/// One that is older is sent anew, so that it outlives what names it.
const YOUNG: Duration = Duration::from_secs(30 * 24 * 3600);
/// Bytes of a part.
const PART: usize = 1 << 20;

/// A file by its content, and what it is called where it is named.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct NamedFile {
    pub name: String,
    /// In 64 hexadecimal digits.
    pub sha256: String,
    pub bytes: u64,
}

#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error(transparent)]
    Courier(#[from] CourierError),
    #[error("{path}: {error}", path = path.display())]
    Io { path: PathBuf, error: io::Error },
    #[error("{path} was changed while it was sent: ask again when it is whole", path = path.display())]
    Changed { path: PathBuf },
    #[error("the server lacks a part of the file {name}: `host fleet files --remove {sha256}`, and ask anew")]
    NotThere { name: String, sha256: String },
    #[error("what the server has as {name} is another file: `host fleet files --remove {sha256}`, and ask anew")]
    Other { name: String, sha256: String },
    #[error("nobody wants the file {name} any more")]
    Unwanted { name: String },
}

/// What is stored when all parts are.
#[derive(Serialize, Deserialize)]
struct Whole {
    bytes: u64,
}

impl NamedFile {
    /// The file at a path, as it is now.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn of(name: &str, path: &Path) -> Result<NamedFile, FileError> {
        let file = File::open(path).map_err(|error| FileError::Io { path: path.into(), error });
        NamedFile::of_open(name, path, &mut file?)
    }

    /// An open file; `path` is what it is told as.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn of_open(name: &str, path: &Path, open: &mut File) -> Result<NamedFile, FileError> {
        let (mut digest, mut bytes) = (Sha256::new(), 0);
        each_part(path, open, |part| {
            digest.update(part);
            bytes += part.len() as u64;
            Ok(())
        })?;
        Ok(NamedFile { name: name.into(), sha256: hash::hex(&digest.finalize()), bytes })
    }

    /// # Errors
    /// Its hash is none: it would become part of a subject or a path.
    pub fn check(&self) -> Result<(), String> {
        let is_hash = self.sha256.len() == 64
            && self.sha256.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
        is_hash.then_some(()).ok_or_else(|| format!("the hash of '{}' is none", self.name.escape_debug()))
    }

    fn parts(&self) -> u64 {
        self.bytes.div_ceil(PART as u64)
    }

    fn not_there(&self) -> FileError {
        FileError::NotThere { name: self.name.clone(), sha256: self.sha256.clone() }
    }
}

/// Reads a file part by part, from its beginning.
fn each_part(
    path: &Path,
    file: &mut File,
    mut on: impl FnMut(&[u8]) -> Result<(), FileError>,
) -> Result<(), FileError> {
    let bad = |error| FileError::Io { path: path.into(), error };
    file.rewind().map_err(bad)?;
    let mut part = Vec::with_capacity(PART);
    loop {
        part.clear();
        Read::by_ref(file).take(PART as u64).read_to_end(&mut part).map_err(bad)?;
        match part.is_empty() {
            true => return Ok(()),
            false => on(&part)?,
        }
    }
}

/// Stores an open file, where it is not; `path` is what it is told as. Sending goes on where it broke off.
///
/// # Errors
/// The courier's; the file is another one by now; or parts of another lie under its hash.
pub fn send(courier: &dyn Courier, path: &Path, open: &mut File, file: &NamedFile) -> Result<(), FileError> {
    let whole = names::whole_file(&file.sha256);
    if courier.stored(&whole)?.is_some() {
        return Ok(());
    }
    let (mut digest, mut number) = (Sha256::new(), 0);
    each_part(path, open, |part| {
        digest.update(part);
        let subject = names::file_part(&file.sha256, number);
        // One that is there already may be what somebody else meant by that hash.
        if !courier.store(&subject, part)? && courier.stored(&subject)?.is_some_and(|there| there.body != part) {
            return Err(FileError::Other { name: file.name.clone(), sha256: file.sha256.clone() });
        }
        number += 1;
        Ok(())
    })?;
    if hash::hex(&digest.finalize()) != file.sha256 {
        return Err(FileError::Changed { path: path.into() });
    }
    let told = serde_json::to_vec(&Whole { bytes: file.bytes });
    let told = told.map_err(|error| FileError::Io { path: path.into(), error: error.into() })?;
    courier.store(&whole, &told)?;
    Ok(())
}

/// As [`send`], of somebody who may remove files: parts of another file give way, and what would be gone soon is sent anew. Returns whether
/// anything was sent.
///
/// # Errors
/// As for [`send`].
pub fn renew(courier: &dyn Courier, path: &Path, file: &NamedFile) -> Result<bool, FileError> {
    let mut open = File::open(path).map_err(|error| FileError::Io { path: path.into(), error })?;
    if let Some(whole) = courier.stored(&names::whole_file(&file.sha256))? {
        let age = (since_epoch().as_secs() as i64).saturating_sub(whole.at);
        if age <= YOUNG.as_secs() as i64 {
            return Ok(false);
        }
        remove(courier, &file.sha256)?;
    }
    let sent = match send(courier, path, &mut open, file) {
        Err(FileError::Other { .. }) => {
            remove(courier, &file.sha256)?;
            send(courier, path, &mut open, file)
        }
        sent => sent,
    };
    if matches!(sent, Err(FileError::Changed { .. })) {
        remove(courier, &file.sha256)?;
    }
    sent.map(|()| true)
}

/// Writes a file's content, and checks it.
fn read(
    courier: &dyn Courier,
    file: &NamedFile,
    is_wanted: &dyn Fn() -> bool,
    to: &mut dyn Write,
) -> Result<(), FileError> {
    let mut digest = Sha256::new();
    for number in 0..file.parts() {
        if !is_wanted() {
            return Err(FileError::Unwanted { name: file.name.clone() });
        }
        let part = courier.stored(&names::file_part(&file.sha256, number))?.ok_or_else(|| file.not_there())?.body;
        digest.update(&part);
        to.write_all(&part).map_err(|error| FileError::Io { path: file.name.clone().into(), error })?;
    }
    match hash::hex(&digest.finalize()) == file.sha256 {
        true => Ok(()),
        false => Err(FileError::Other { name: file.name.clone(), sha256: file.sha256.clone() }),
    }
}

/// Has a file at a path: the one that lies there, if it is the one, else a copy of the server's. What is there in the end is whole and checked.
///
/// # Errors
/// The server has no such file, or another one; the courier's; or it cannot be written.
pub fn fetch(
    courier: &dyn Courier,
    file: &NamedFile,
    target: &Path,
    is_wanted: &dyn Fn() -> bool,
) -> Result<(), FileError> {
    if is_here(file, target) {
        return Ok(());
    }
    let bad = |error| FileError::Io { path: target.into(), error };
    let folder = target.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(bad)?;
    let mut new = tempfile::NamedTempFile::new_in(folder).map_err(bad)?;
    read(courier, file, is_wanted, new.as_file_mut())?;
    new.persist(target).map(drop).map_err(|error| bad(error.error))
}

/// Whether the file at a path is this one.
pub fn is_here(file: &NamedFile, path: &Path) -> bool {
    path.is_file() && NamedFile::of(&file.name, path).is_ok_and(|here| here.sha256 == file.sha256)
}

/// A file that the server has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StoredFile {
    pub sha256: String,
    pub bytes: u64,
    /// When it was stored, in seconds since 1970 by the server's clock.
    pub at: i64,
}

/// All files that the server has whole, the newest last.
///
/// # Errors
/// The courier's.
pub fn list(courier: &dyn Courier) -> Result<Vec<StoredFile>, CourierError> {
    let stored = |message: Message| {
        let Whole { bytes } = serde_json::from_slice(&message.body).ok()?;
        Some(StoredFile { sha256: names::hash_of_file(&message.subject)?, bytes, at: message.at })
    };
    Ok(all_stored(courier, names::WHOLE_FILES)?.into_iter().filter_map(stored).collect())
}

/// Removes a file from the server. `false`: it has none of that hash.
///
/// # Errors
/// The courier's.
pub fn remove(courier: &dyn Courier, sha256: &str) -> Result<bool, CourierError> {
    Ok(courier.take_back(&names::all_of_file(sha256))? > 0)
}

/// Removes all files from the server, and what was not sent to its end.
///
/// # Errors
/// The courier's.
pub fn remove_all(courier: &dyn Courier) -> Result<(), CourierError> {
    courier.take_back(names::FILES).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::courier::memory::MemoryCourier;

    /// A file of several parts.
    fn large(folder: &Path) -> (PathBuf, NamedFile) {
        let path = folder.join("w.data");
        let content: Vec<u8> = (0..PART * 2 + 17).map(|byte| (byte / 7) as u8).collect();
        std::fs::write(&path, content).unwrap();
        let file = NamedFile::of("w.data", &path).unwrap();
        (path, file)
    }

    fn fetched(courier: &MemoryCourier, file: &NamedFile, to: &Path) -> Result<(), FileError> {
        fetch(courier, file, to, &|| true)
    }

    #[test]
    fn a_file_arrives_as_it_was_sent_and_is_sent_once() {
        let (courier, folder) = (MemoryCourier::default(), tempfile::tempdir().unwrap());
        let (path, file) = large(folder.path());
        assert!(renew(&courier, &path, &file).unwrap());
        let target = folder.path().join("there/w.data");
        fetched(&courier, &file, &target).unwrap();
        assert_eq!(std::fs::read(&target).unwrap(), std::fs::read(&path).unwrap());
        assert!(!renew(&courier, &path, &file).unwrap());
        assert_eq!(list(&courier).unwrap().iter().map(|file| file.bytes).collect::<Vec<_>>(), [file.bytes]);

        // One that is there already is not asked for.
        let before = courier.calls();
        fetched(&courier, &file, &target).unwrap();
        assert_eq!(courier.calls(), before);
        std::fs::write(&target, "changed since").unwrap();
        fetched(&courier, &file, &target).unwrap();
        assert!(is_here(&file, &target));

        let empty = folder.path().join("empty");
        std::fs::write(&empty, "").unwrap();
        let empty_file = NamedFile::of("empty", &empty).unwrap();
        renew(&courier, &empty, &empty_file).unwrap();
        fetched(&courier, &empty_file, &folder.path().join("empty too")).unwrap();
        assert!(remove(&courier, &file.sha256).unwrap() && !remove(&courier, &file.sha256).unwrap());
        assert!(matches!(fetched(&courier, &file, &folder.path().join("x")), Err(FileError::NotThere { .. })));
    }

    #[test]
    fn a_sender_that_is_killed_at_any_call_leaves_nothing_that_a_second_one_does_not_mend() {
        let folder = tempfile::tempdir().unwrap();
        let (path, file) = large(folder.path());
        for calls in 0..8 {
            let courier = MemoryCourier::default();
            courier.kill_after(Some(calls));
            let _ = renew(&courier, &path, &file);
            courier.kill_after(None);
            renew(&courier, &path, &file).unwrap();
            fetched(&courier, &file, &folder.path().join(format!("{calls}"))).unwrap();
        }
    }

    #[test]
    fn another_content_under_the_hash_is_refused_and_replaced_by_who_may() {
        let (courier, folder) = (MemoryCourier::default(), tempfile::tempdir().unwrap());
        let (path, file) = large(folder.path());
        courier.store(&names::file_part(&file.sha256, 1), b"other").unwrap();
        let mut open = File::open(&path).unwrap();
        assert!(matches!(send(&courier, &path, &mut open, &file), Err(FileError::Other { .. })));
        assert!(renew(&courier, &path, &file).unwrap());
        let target = folder.path().join("there");
        fetched(&courier, &file, &target).unwrap();

        // Somebody said that it was whole.
        let (courier, target) = (MemoryCourier::default(), folder.path().join("another"));
        (0..file.parts()).for_each(|number| {
            courier.store(&names::file_part(&file.sha256, number), b"other").unwrap();
        });
        courier.store(&names::whole_file(&file.sha256), br#"{"bytes":3}"#).unwrap();
        assert!(!renew(&courier, &path, &file).unwrap());
        let told = fetched(&courier, &file, &target).unwrap_err().to_string();
        assert!(
            told.contains("host fleet files --remove") && !target.exists(),
            "what is not checked has no name: {told}"
        );
        remove_all(&courier).unwrap();
        assert!(renew(&courier, &path, &file).unwrap());
        fetched(&courier, &file, &target).unwrap();
    }

    #[test]
    fn two_who_send_one_file_at_once_do_not_take_it_from_each_other() {
        let (courier, folder) = (MemoryCourier::default(), tempfile::tempdir().unwrap());
        let (path, file) = large(folder.path());
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| renew(&courier, &path, &file).unwrap());
            }
        });
        fetched(&courier, &file, &folder.path().join("there")).unwrap();
    }

    #[test]
    fn a_file_that_changes_while_it_is_sent_is_told_and_leaves_no_parts() {
        let (courier, folder) = (MemoryCourier::default(), tempfile::tempdir().unwrap());
        let (path, file) = large(folder.path());
        std::fs::write(&path, "shorter").unwrap();
        assert!(matches!(renew(&courier, &path, &file), Err(FileError::Changed { .. })));
        assert!(courier.stored(&names::file_part(&file.sha256, 0)).unwrap().is_none());
    }

    #[test]
    fn a_hash_is_a_hash_and_no_pattern_or_path() {
        let file = |sha256: &str| NamedFile { name: "x".into(), sha256: sha256.into(), bytes: 1 };
        assert_eq!(file(&"0a".repeat(32)).check(), Ok(()));
        for bad in ["", "*", ">", "../../etc/passwd", &"0A".repeat(32), &"0".repeat(63)] {
            assert!(file(bad).check().is_err(), "{bad}");
        }
    }
}
