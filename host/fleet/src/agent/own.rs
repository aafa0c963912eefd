//! Models and files of a submitter's own on the machine that measures them: fetched, checked, and named in the request in place of paths
//! that mean nothing here.

use super::Agent;
use super::spool::{OWN, Spool};
use crate::files::{FileError, NamedFile, fetch};
use crate::form::Job;
use crate::own::{OwnFiles, option_text};
use skillbench_record::hash::sha256_text;
use skillbench_record::{ModelSet, RunRequest, Selection};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// A file that is not there is asked for again for so long: somebody may be sending it anew.
const PATIENCE: Duration = Duration::from_secs(60);
const AGAIN: Duration = Duration::from_secs(2);

/// Where the files of a job are on this machine.
#[derive(Default)]
pub(super) struct LaidOut {
    /// Models, each by its name with its path.
    models: BTreeMap<String, PathBuf>,
    /// A list of them, as a user writes one; it says their families.
    list: Option<PathBuf>,
    /// By the option that leads to each.
    options: BTreeMap<String, PathBuf>,
}

impl LaidOut {
    /// The request with what is here in place of what was there.
    pub(super) fn request(&self, request: RunRequest) -> RunRequest {
        let mut request = request;
        for option in &mut request.options {
            if let Some(path) = self.options.get(&option_text(option)) {
                option.value = path.to_string_lossy().into_owned();
            }
        }
        if let Some(list) = &self.list {
            let named = self.models.iter().map(|(name, path)| (path.to_string_lossy().into_owned(), name.clone()));
            request.names = named.collect();
            request.models = vec![];
            request.selection =
                Selection { set: Some(ModelSet::Custom), custom: Some(list.clone()), ..Selection::default() };
        }
        request
    }
}

impl Agent<'_> {
    /// Fetches what a job's cells need. Files of earlier jobs are used again, once they are checked.
    pub(super) fn lay_out(&self, job: &Job, is_wanted: &dyn Fn() -> bool) -> Result<LaidOut, FileError> {
        if job.own.is_empty() {
            return Ok(LaidOut::default());
        }
        let folder = self.spool.own(&job.own).map_err(|error| FileError::Io { path: OWN.into(), error })?;
        let mut laid_out = LaidOut::default();
        for (number, (option, file)) in job.own.options.iter().enumerate() {
            let ending = Path::new(&file.name).extension().and_then(|ending| ending.to_str()).unwrap_or_default();
            let is_plain = ending.len() < 16 && ending.chars().all(|c| c.is_ascii_alphanumeric());
            let ending = if is_plain { ending } else { "" };
            let path = folder.join("options").join(format!("{number}.{ending}"));
            self.fetch_patiently(file, &path, is_wanted)?;
            laid_out.options.insert(option.clone(), path);
        }
        let mut list = serde_json::Map::new();
        for (number, (name, model)) in job.own.models.iter().enumerate() {
            let place = folder.join("models").join(number.to_string());
            for file in &model.files {
                self.fetch_patiently(file, &place.join(&file.name), is_wanted)?;
            }
            let path = if model.root.is_empty() { place } else { place.join(&model.root) };
            let mut entry = serde_json::Map::from_iter([("path".into(), path.to_string_lossy().into())]);
            entry.extend(model.family.iter().map(|family| ("family".into(), family.as_str().into())));
            list.insert(name.clone(), entry.into());
            laid_out.models.insert(name.clone(), path);
        }
        if !list.is_empty() {
            let path = folder.join("models.json");
            let text = serde_json::Value::from(list).to_string();
            std::fs::write(&path, text).map_err(|error| FileError::Io { path: path.clone(), error })?;
            laid_out.list = Some(path);
        }
        Ok(laid_out)
    }

    fn fetch_patiently(&self, file: &NamedFile, target: &Path, is_wanted: &dyn Fn() -> bool) -> Result<(), FileError> {
        let began = Instant::now();
        loop {
            match fetch(self.courier, file, target, is_wanted) {
                Err(FileError::Courier(error)) if error.is_passing() && is_wanted() => {}
                Err(FileError::NotThere { .. }) if began.elapsed() < PATIENCE && is_wanted() => {}
                result => return result,
            }
            std::thread::sleep(AGAIN);
        }
    }
}

impl Spool {
    /// The folder of such files: the same for the same files, so that what an engine keeps of a model is found again.
    fn own(&self, own: &OwnFiles) -> io::Result<PathBuf> {
        let text = serde_json::to_string(own).map_err(io::Error::other)?;
        let folder = std::path::absolute(self.folder.join(OWN).join(&sha256_text(&text)[..32]))?;
        std::fs::create_dir_all(&folder)?;
        // It is kept from now on; where that cannot be said, it is fetched again some day.
        let _ = std::fs::File::open(&folder).and_then(|folder| folder.set_modified(SystemTime::now()));
        Ok(folder)
    }
}
