//! A model id, `org/name`, becomes a folder: from the cache that other tools share, or over the network. Nothing is asked of
//! anybody before a user names an id; then only the endpoint, and where it redirects to for the files themselves.
//!
//! - `settings`: endpoint, cache, token, offline mode, all from the environment variables that other tools read too.
//! - `repository`: which files a model has, and which of them are wanted.
//! - `client`: requests, redirects, patience. `download`: one file, resumed and checked. `cache`: where files lie.

mod cache;
mod client;
mod download;
mod error;
mod repository;
mod settings;

pub use error::HubError;
pub use settings::Settings;

use super::examine::examine;
use super::files::stays_inside;
use super::local::{LocalError, UserModel, open_as};
use cache::Cache;
use client::Client;
use repository::{Repository, RepositoryFile};
use serde::Deserialize;
use skillbench_onnx::Outline;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::LazyLock;

/// `data/hub.toml`, typed.
#[derive(Debug, Deserialize)]
struct Defaults {
    endpoint: String,
    attempts: u32,
    pause_s: f64,
    longest_pause_s: f64,
    connect_s: f64,
    answer_s: f64,
    read_s: f64,
    beside: Vec<String>,
}

/// What is compiled in. A test reads it, so that a slip in the file cannot ship.
fn defaults() -> &'static Defaults {
    static DEFAULTS: LazyLock<Defaults> =
        LazyLock::new(|| toml::from_str(include_str!("../../../data/hub.toml")).expect("data/hub.toml is valid"));
    &DEFAULTS
}

/// `org/name`, `org/name@revision`, `org/name:onnx/model_int8.onnx`, or both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelId {
    pub repository: String,
    pub revision: Option<String>,
    /// The one graph of it that is meant.
    pub file: Option<String>,
}

impl ModelId {
    /// `None`: it is no id.
    pub fn parse(text: &str) -> Option<ModelId> {
        let (whole, file) = text.split_once(':').map_or((text, None), |(whole, file)| (whole, Some(file)));
        let (repository, revision) = whole.split_once('@').map_or((whole, None), |(name, of)| (name, Some(of)));
        let (organization, name) = repository.split_once('/')?;
        let is_name = |text: &str| {
            let known = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
            !text.is_empty()
                && text.len() < 97
                && !text.starts_with(['.', '-'])
                && !text.contains("..")
                && text.chars().all(known)
        };
        let is_revision = |text: &str| text.split('/').all(is_name);
        let good = is_name(organization)
            && is_name(name)
            && revision.is_none_or(is_revision)
            && file.is_none_or(|file| file.ends_with(".onnx") && stays_inside(file));
        let [revision, file] = [revision, file].map(|text| text.map(str::to_string));
        good.then(|| ModelId { repository: format!("{organization}/{name}"), revision, file })
    }

    fn revision(&self) -> &str {
        self.revision.as_deref().unwrap_or("main")
    }
}

impl std::fmt::Display for ModelId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.repository)?;
        self.revision.iter().try_for_each(|revision| write!(f, "@{revision}"))?;
        self.file.iter().try_for_each(|file| write!(f, ":{file}"))
    }
}

/// How far a download is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress<'a> {
    pub file: &'a str,
    pub done: u64,
    pub total: Option<u64>,
}

/// Describes a model of the hub: its files are fetched where the cache does not hold them.
///
/// # Errors
/// Why it cannot be had, with what to do; or what is wrong with its files.
pub fn bring(id: &ModelId, settings: &Settings, progress: &mut dyn FnMut(Progress<'_>)) -> Result<UserModel, HubError> {
    let cache = Cache::new(&settings.cache, &id.repository);
    if let Some(variable) = &settings.offline {
        return cached(id, &cache).map_err(|why| HubError::Offline {
            id: id.to_string(),
            variable: variable.clone(),
            looked: cache.folder.clone(),
            why: Box::new(why),
        });
    }
    // A commit is the same for ever.
    if id.revision.as_deref().is_some_and(cache::is_commit)
        && let Ok(user_model) = cached(id, &cache)
    {
        return Ok(user_model);
    }
    let client = Client::new(settings);
    match fetch(id, &client, &cache, progress) {
        Err(error) if error.is_of_the_network() => match cached(id, &cache) {
            Ok(mut user_model) => {
                user_model.notes.push(format!("{error}: the copy in {} is used", cache.folder.display()));
                Ok(user_model)
            }
            Err(_) => Err(error),
        },
        other => other,
    }
}

fn fetch(
    id: &ModelId,
    client: &Client<'_>,
    cache: &Cache,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<UserModel, HubError> {
    let repository = Repository::list(client, id)?;
    let graphs = repository.graphs(id)?;
    let mut get = |file: &RepositoryFile| download::file(client, cache, &repository, file, progress);
    for graph in &graphs {
        let path = get(graph)?;
        for file in data_files(&path, graph)? {
            // What is not there is told by whoever examines the graph.
            if let Some(file) = repository.file(&file) {
                get(file)?;
            }
        }
    }
    for file in repository.beside(&graphs) {
        get(file)?;
    }
    cache.point(id.revision(), &repository.commit)?;
    open(id, &cache.snapshot(&repository.commit)).map_err(HubError::from)
}

/// The files of a graph's external data, as the repository names them.
fn data_files(path: &Path, graph: &RepositoryFile) -> Result<BTreeSet<String>, HubError> {
    let io = |error| HubError::Io { path: path.into(), error };
    let file = std::fs::File::open(path).map_err(io)?;
    // A graph that cannot be read is told with everything that is wrong with it.
    let Ok(outline) = Outline::read(file) else {
        return examine(path).map(|_| BTreeSet::new()).map_err(|bad| HubError::Local(LocalError::Bad(bad)));
    };
    let folder = graph.path.rsplit_once('/').map(|(folder, _)| format!("{folder}/")).unwrap_or_default();
    let inside = outline.locations().into_iter().filter(|location| stays_inside(location));
    Ok(inside.map(|location| format!("{folder}{location}")).collect())
}

fn cached(id: &ModelId, cache: &Cache) -> Result<UserModel, LocalError> {
    let commit = cache.commit(id.revision());
    open(id, &cache.snapshot(commit.as_deref().unwrap_or("no-such-revision")))
}

fn open(id: &ModelId, snapshot: &Path) -> Result<UserModel, LocalError> {
    let path = id.file.as_ref().map_or_else(|| snapshot.to_path_buf(), |file| snapshot.join(file));
    let name = id.repository.rsplit('/').next().unwrap_or_default();
    let stem = id.file.as_deref().and_then(|file| Path::new(file).file_stem()).map(|stem| stem.to_string_lossy());
    let name = stem.map_or_else(|| name.to_string(), |stem| format!("{name}-{stem}"));
    open_as(&path, Some(&name))
}

#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod server;
#[cfg(test)]
mod tests;
