//! Which files a model has, and which of them are wanted.

use super::super::examine::PROTOBUF_LIMIT;
use super::super::files::stays_inside;
use super::super::local::known_set;
use super::cache::is_commit;
use super::client::{Client, encoded, header};
use super::{HubError, ModelId, defaults};
use serde::Deserialize;
use skillbench_record::hash::sha256_text;
use std::collections::HashMap;
use ureq::http::HeaderMap;

/// A model at one commit.
#[derive(Debug)]
pub(super) struct Repository {
    id: String,
    pub commit: String,
    files: Vec<RepositoryFile>,
    /// The place of each in the list, by its path.
    places: HashMap<String, usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RepositoryFile {
    pub path: String,
    pub size: Option<u64>,
    /// Of what is stored as a large file.
    pub sha256: Option<String>,
    /// What the cache calls it.
    pub blob: String,
}

#[derive(Deserialize)]
pub(super) struct Answer {
    sha: String,
    #[serde(default)]
    siblings: Vec<Sibling>,
}

#[derive(Deserialize)]
struct Sibling {
    rfilename: String,
    size: Option<u64>,
    #[serde(rename = "blobId")]
    blob: Option<String>,
    lfs: Option<Large>,
}

#[derive(Deserialize)]
struct Large {
    sha256: Option<String>,
    size: Option<u64>,
}

impl Repository {
    /// Asks the hub.
    pub fn list(client: &Client<'_>, id: &ModelId) -> Result<Repository, HubError> {
        let settings = client.settings;
        let (endpoint, revision) = (&settings.endpoint, encoded(id.revision(), ""));
        let url = format!("{endpoint}/api/models/{}/revision/{revision}?blobs=true", id.repository);
        let answer: Answer =
            client.json(&url)?.map_err(|(status, headers)| refusal(client, id, &url, status, &headers))?;
        Repository::of(answer, id).map_err(|what| HubError::Answer { url, what })
    }

    /// # Errors
    /// What the hub says that cannot be.
    pub(super) fn of(answer: Answer, id: &ModelId) -> Result<Repository, String> {
        if !is_commit(&answer.sha) {
            return Err(format!("the commit '{}'", answer.sha));
        }
        // A name that leads out of the folder is no file of a model.
        let siblings = answer.siblings.into_iter().filter(|sibling| stays_inside(&sibling.rfilename));
        let files: Vec<RepositoryFile> = siblings.map(|sibling| RepositoryFile::of(sibling, &answer.sha)).collect();
        let places = files.iter().enumerate().rev().map(|(place, file)| (file.path.clone(), place)).collect();
        Ok(Repository { id: id.repository.clone(), commit: answer.sha, files, places })
    }

    /// Where a file is fetched.
    pub fn url(&self, client: &Client<'_>, file: &RepositoryFile) -> String {
        format!("{}/{}/resolve/{}/{}", client.settings.endpoint, self.id, self.commit, encoded(&file.path, "/"))
    }

    pub fn id(&self) -> &str {
        &self.id
    }

    pub fn file(&self, path: &str) -> Option<&RepositoryFile> {
        self.files.get(*self.places.get(path)?)
    }

    /// The graphs that make the model: as a folder of them would be read.
    pub fn graphs(&self, id: &ModelId) -> Result<Vec<RepositoryFile>, HubError> {
        let onnx: Vec<&RepositoryFile> = self.files.iter().filter(|file| file.path.ends_with(".onnx")).collect();
        let names = || onnx.iter().map(|file| file.path.clone()).collect::<Vec<_>>();
        let chosen = match &id.file {
            Some(wanted) => match self.file(wanted) {
                Some(file) => vec![file.clone()],
                None => return Err(HubError::NoFile { id: self.id.clone(), file: wanted.clone(), graphs: names() }),
            },
            None => match (["", "onnx/"].into_iter().find_map(|folder| self.set_in(folder)), onnx.as_slice()) {
                (Some(set), _) => set,
                (None, []) => {
                    let files = self.files.iter().map(|file| file.path.clone()).collect();
                    return Err(HubError::NoOnnx { id: self.id.clone(), files });
                }
                (None, [one]) if ["", "onnx"].contains(&one.path.rsplit_once('/').map_or("", |(folder, _)| folder)) => {
                    vec![(*one).clone()]
                }
                (None, _) => return Err(HubError::Several { id: self.id.clone(), graphs: names() }),
            },
        };
        match chosen.iter().find_map(|file| Some((file, file.size.filter(|size| *size >= PROTOBUF_LIMIT)?))) {
            Some((file, bytes)) => Err(HubError::TooLarge { id: self.id.clone(), file: file.path.clone(), bytes }),
            None => Ok(chosen),
        }
    }

    fn set_in(&self, folder: &str) -> Option<Vec<RepositoryFile>> {
        let stem = |file: &RepositoryFile| {
            let name = file.path.strip_prefix(folder)?.strip_suffix(".onnx")?;
            (!name.contains('/')).then(|| name.to_string())
        };
        let stems: Vec<String> = self.files.iter().filter_map(stem).collect();
        let set = known_set(&stems)?;
        set.iter().map(|(_, stem)| self.file(&format!("{folder}{stem}.onnx")).cloned()).collect()
    }

    /// What belongs beside the graphs: configurations, in their folder and at the top.
    pub fn beside(&self, graphs: &[RepositoryFile]) -> Vec<&RepositoryFile> {
        let folder =
            graphs.first().and_then(|graph| graph.path.rsplit_once('/')).map(|(folder, _)| format!("{folder}/"));
        let folders = std::iter::once(String::new()).chain(folder);
        folders
            .flat_map(|folder| defaults().beside.iter().map(move |name| format!("{folder}{name}")))
            .filter_map(|path| self.file(&path))
            .collect()
    }
}

#[cfg(test)]
impl Repository {
    pub fn with_size(mut self, path: &str, size: u64) -> Repository {
        self.files.iter_mut().filter(|file| file.path == path).for_each(|file| file.size = Some(size));
        self
    }
}

impl RepositoryFile {
    fn of(sibling: Sibling, commit: &str) -> RepositoryFile {
        let Sibling { rfilename: path, size, blob, lfs } = sibling;
        let hexadecimal = |text: &String| text.len() >= 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let size = size.or(lfs.as_ref().and_then(|large| large.size));
        let sha256 = lfs.and_then(|large| large.sha256).filter(|sha256| hexadecimal(sha256) && sha256.len() == 64);
        // A mirror may leave its blobs' names out.
        let blob =
            sha256.clone().or(blob.filter(hexadecimal)).unwrap_or_else(|| sha256_text(&format!("{commit}/{path}")));
        RepositoryFile { path, size, sha256, blob }
    }
}

/// What a refused request means.
pub(super) fn refusal(client: &Client<'_>, id: &ModelId, url: &str, status: u16, headers: &HeaderMap) -> HubError {
    let with_token = client.settings.token.is_some();
    let token = if with_token { "the token that was sent does not allow it" } else { "no token was sent" };
    let repository = id.repository.clone();
    match (status, header(headers, "x-error-code").unwrap_or_default()) {
        (404, "RevisionNotFound") => HubError::NoRevision { id: repository, revision: id.revision().into() },
        (_, "RepoNotFound") | (404, _) => {
            HubError::NoModel { id: repository, endpoint: client.settings.endpoint.clone(), token }
        }
        (401 | 403, _) => HubError::Denied { id: repository, status, token },
        _ => HubError::Answer { url: url.into(), what: format!("status {status}") },
    }
}
