//! One file: from the cache, or fetched beside its place, on from where an earlier attempt ended, checked, and moved there whole.

use super::cache::Cache;
use super::client::{Client, header, passes, retry_after};
use super::repository::{Repository, RepositoryFile, refusal};
use super::{HubError, ModelId, Progress};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;
use ureq::Body;
use ureq::http::Response;

/// Returns the file's path in the tree of its commit.
pub(super) fn file(
    client: &Client<'_>,
    cache: &Cache,
    repository: &Repository,
    file: &RepositoryFile,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<PathBuf, HubError> {
    let blob = cache.blob(&file.blob);
    let is_whole = || std::fs::metadata(&blob).is_ok_and(|data| file.size.is_none_or(|size| size == data.len()));
    if !is_whole() {
        // Given up at the end of this block, on every way out of it.
        let _lock = cache.lock(&file.blob)?;
        if !is_whole() {
            let folder = cache.blob("");
            std::fs::create_dir_all(&folder).map_err(|error| HubError::Io { path: folder.clone(), error })?;
            let download = Download { client, repository, file, url: repository.url(client, file) };
            download.place(&blob, progress)?;
        }
    }
    cache.link(&repository.commit, &file.path, &file.blob)
}

struct Download<'a> {
    client: &'a Client<'a>,
    repository: &'a Repository,
    file: &'a RepositoryFile,
    url: String,
}

/// How an attempt ended that may be followed by another.
struct Cut {
    error: HubError,
    asked: Option<Duration>,
}

impl Download<'_> {
    fn place(&self, blob: &Path, progress: &mut dyn FnMut(Progress<'_>)) -> Result<(), HubError> {
        let mut name = blob.as_os_str().to_os_string();
        name.push(".incomplete");
        let partial = PathBuf::from(name);
        let io = |error| HubError::Io { path: partial.clone(), error };
        let mut target =
            File::options().create(true).truncate(false).read(true).write(true).open(&partial).map_err(io)?;
        let resumed = target.metadata().map_err(io)?.len() > 0;
        let mut checked = self.fetch(&mut target, &partial, progress).and_then(|()| self.check(&mut target, &partial));
        if let (true, Err(HubError::Mismatch { .. })) = (resumed, &checked) {
            // What an earlier attempt left was of something else.
            target.set_len(0).map_err(io)?;
            checked = self.fetch(&mut target, &partial, progress).and_then(|()| self.check(&mut target, &partial));
        }
        if let Err(HubError::Mismatch { .. }) = &checked {
            drop(std::fs::remove_file(&partial));
        }
        checked?;
        target.sync_all().map_err(io)?;
        std::fs::rename(&partial, blob).map_err(|error| HubError::Io { path: blob.into(), error })
    }

    /// Attempts until it is whole; only those that bring nothing are counted.
    fn fetch(&self, target: &mut File, path: &Path, progress: &mut dyn FnMut(Progress<'_>)) -> Result<(), HubError> {
        let mut failures = 0;
        let mut furthest = 0;
        loop {
            let cut = match self.attempt(target, path, progress)? {
                None => return Ok(()),
                Some(cut) => cut,
            };
            let length = target.metadata().map_err(|error| HubError::Io { path: path.into(), error })?.len();
            // A server that begins anew each time gets no further.
            failures = if length > furthest { 1 } else { failures + 1 };
            furthest = furthest.max(length);
            if failures >= self.client.settings.attempts {
                return Err(cut.error);
            }
            self.client.pause(failures, cut.asked);
        }
    }

    /// `None`: all of it is there.
    fn attempt(
        &self,
        target: &mut File,
        path: &Path,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Option<Cut>, HubError> {
        let io = |error| HubError::Io { path: path.into(), error };
        let mut from = target.metadata().map_err(io)?.len();
        let size = self.file.size;
        match size {
            Some(size) if from == size => return Ok(None),
            Some(size) if from > size => from = 0,
            _ => {}
        }
        let answer = match self.client.get(&self.url, from) {
            Ok(answer) => answer,
            Err(error) if error.is_of_the_network() => return Ok(Some(Cut { error, asked: None })),
            Err(error) => return Err(error),
        };
        let status = answer.status().as_u16();
        from = match status {
            206 if starts_at(&answer) == Some(from) => from,
            200 => 0,
            // What is there is no beginning of what it has.
            206 | 416 => {
                target.set_len(0).map_err(io)?;
                let what = "another piece than the one that was asked for".into();
                return Ok(Some(Cut { error: HubError::Answer { url: self.url.clone(), what }, asked: None }));
            }
            status if passes(status) => {
                let error = HubError::Server { url: self.url.clone(), status, attempts: self.client.settings.attempts };
                return Ok(Some(Cut { error, asked: retry_after(answer.headers()) }));
            }
            _ => {
                let id = ModelId { repository: self.repository.id().into(), revision: None, file: None };
                return Err(refusal(self.client, &id, &self.url, status, answer.headers()));
            }
        };
        target.set_len(from).map_err(io)?;
        target.seek(SeekFrom::Start(from)).map_err(io)?;
        let announced = header(answer.headers(), "content-length").and_then(|text| text.parse::<u64>().ok());
        let total = size.or(announced.map(|length| from + length));
        let mut body = answer.into_body().into_with_config().limit(u64::MAX).reader();
        let mut piece = vec![0; 1 << 18];
        let mut done = from;
        loop {
            let read = match body.read(&mut piece) {
                Ok(read) => read,
                Err(error) => return Ok(Some(self.cut(error.to_string()))),
            };
            if read == 0 {
                break;
            }
            target.write_all(&piece[..read]).map_err(io)?;
            done += read as u64;
            progress(Progress { file: &self.file.path, done, total });
        }
        match total {
            Some(total) if done < total => Ok(Some(self.cut(format!("it ended after {done} of {total} bytes")))),
            _ => Ok(None),
        }
    }

    fn cut(&self, error: String) -> Cut {
        Cut { error: HubError::Network { url: self.url.clone(), error }, asked: None }
    }

    fn check(&self, target: &mut File, path: &Path) -> Result<(), HubError> {
        let io = |error| HubError::Io { path: path.into(), error };
        let name = || format!("{} of {}", self.file.path, self.repository.id());
        let length = target.metadata().map_err(io)?.len();
        if let Some(size) = self.file.size.filter(|size| *size != length) {
            let (expected, found) = (format!("{size} bytes"), format!("{length} bytes"));
            return Err(HubError::Mismatch { file: name(), expected, found });
        }
        let Some(expected) = &self.file.sha256 else { return Ok(()) };
        target.rewind().map_err(io)?;
        let mut hash = Sha256::new();
        let mut piece = vec![0; 1 << 18];
        loop {
            let read = target.read(&mut piece).map_err(io)?;
            if read == 0 {
                break;
            }
            hash.update(&piece[..read]);
        }
        let found: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        match found.eq_ignore_ascii_case(expected) {
            true => Ok(()),
            false => {
                let (expected, found) = (format!("sha256 {expected}"), format!("sha256 {found}"));
                Err(HubError::Mismatch { file: name(), expected, found })
            }
        }
    }
}

/// The first byte of a piece.
fn starts_at(answer: &Response<Body>) -> Option<u64> {
    header(answer.headers(), "content-range")?.strip_prefix("bytes ")?.split('-').next()?.trim().parse().ok()
}
