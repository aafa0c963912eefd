//! Reading a model: the graph, and the files beside it that hold its weights.

use skillbench_onnx::Declared;
use skillbench_plugin_api::{Error, Result};
use std::io::ErrorKind;
use std::path::Path;
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

        let declared = Declared::of(&graph).map_err(|broken| {
            Error::invalid(format!("{} is not a whole ONNX model ({broken}): copy or export it again", path.display()))
        })?;
        // rten has the same rule.
        let names = declared.files_beside().map_err(|file| Error::invalid(format!("{} {file}", path.display())))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let started = Instant::now();
        let mut external = vec![];
        for name in names {
            external.push((name.to_string(), read(&folder.join(name), "the model's weights")?));
        }
        Ok(Files { graph, external, declared, read: read_graph + started.elapsed() })
    }

    /// A model that is given as bytes, and refers to no file.
    ///
    /// # Errors
    /// `InvalidArgument` for what is not ONNX, or keeps weights elsewhere.
    pub fn in_memory(bytes: &[u8]) -> Result<Files> {
        let declared = Declared::of(bytes)
            .map_err(|broken| Error::invalid(format!("the bytes given are not a whole ONNX model ({broken})")))?;
        match declared.files_beside().map_err(|file| Error::invalid(format!("the model {file}")))?.first() {
            Some(name) => Err(Error::invalid(format!("the model keeps weights in {name}: give it as a file"))),
            None => Ok(Files { graph: bytes.to_vec(), external: vec![], declared, read: Duration::ZERO }),
        }
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
