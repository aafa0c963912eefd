//! Reading a model: the graph, and the files beside it that hold its weights.

use crate::declared::Declared;
use skillbench_plugin_api::{Error, Result};
use std::io::ErrorKind;
use std::path::{Component, Path};
use std::time::{Duration, Instant};

/// A model's files in memory.
pub(crate) struct Files {
    pub graph: Vec<u8>,
    /// External data by the name under which the graph refers to it.
    pub external: Vec<(String, Vec<u8>)>,
    pub declared: Declared,
    /// How long reading took; looking through the graph for the names of the others is not part of it.
    pub read: Duration,
}

impl Files {
    /// # Errors
    /// `NotFound` for a file that is not there, `InvalidArgument` for one that is not ONNX or lies elsewhere.
    pub fn read(path: &Path) -> Result<Files> {
        let started = Instant::now();
        let graph = read(path, "the model")?;
        let read_graph = started.elapsed();

        let declared = Declared::parse(&graph, path)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let started = Instant::now();
        let mut external = vec![];
        for name in &declared.files {
            lies_beside(name, path)?;
            external.push((name.clone(), read(&folder.join(name), "the model's weights")?));
        }
        Ok(Files { graph, external, declared, read: read_graph + started.elapsed() })
    }
}

fn read(path: &Path, what: &str) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => Error::not_found(format!(
            "{what}: there is no {}: check the path, or build the model again",
            path.display()
        )),
        _ => Error::invalid(format!("{what}: {} cannot be read: {error}", path.display())),
    })
}

/// A graph is not trusted to name any file of the machine: what it reads could leave as an output. rten has the same rule.
fn lies_beside(name: &str, path: &Path) -> Result<()> {
    let mut parts = Path::new(name).components();
    if let (Some(Component::Normal(_)), None) = (parts.next(), parts.next()) {
        return Ok(());
    }
    let path = path.display();
    Err(Error::invalid(format!(
        "{path} keeps weights in '{name}', not beside itself: export it with its weights beside it"
    )))
}
