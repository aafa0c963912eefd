//! Models that a user brings: files, folders, lists and ids of a model hub.
//!
//! - [`examine`]: what is wrong with a model's file, found before any engine sees it.
//! - [`files`]: which files a model may consist of, and where its links may lead.
//! - [`opset`]: a copy of a model marked with an opset that an engine knows, where that changes nothing.
//! - [`classify`]: what kind of model it is, with the evidence.
//! - [`local`]: a file or a folder becomes a described skill: its parts, axes, and rules for its inputs.
//! - [`custom`]: lists of models, in JSON or one id on a line.
//! - [`hub`]: a model id becomes a folder, from the cache or over the network.
//!
//! Not here: the skills of skillsets, engines, and what a request does with a model.

pub mod classify;
pub mod custom;
pub mod examine;
pub mod files;
pub mod hub;
pub mod local;
pub mod opset;

use std::path::{Path, PathBuf};

/// What a name means that is the name of no skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meant {
    /// A file or folder: [`local::open`].
    Path(PathBuf),
    /// A model of a hub: [`hub::bring`].
    Id(hub::ModelId),
}

/// `None`: it is neither a path nor the form of an id.
pub fn meant(name: &str) -> Option<Meant> {
    let path = Path::new(name);
    match local::is_path(name) && hub::ModelId::parse(name).is_none_or(|id| id.file.is_none()) || path.exists() {
        true => Some(Meant::Path(path.into())),
        false => hub::ModelId::parse(name).map(Meant::Id),
    }
}

#[cfg(test)]
mod samples;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_means_a_path_where_one_is_there_else_an_id() {
        let path = |name: &str| Some(Meant::Path(name.into()));
        let id = |name: &str| hub::ModelId::parse(name).map(Meant::Id);
        for name in ["gone.onnx", "./gone", "/gone/model.onnx", "deep/gone.onnx", "some/deep/gone.onnx"] {
            assert_eq!(meant(name), path(name), "{name}");
        }
        let here = std::env::temp_dir().to_string_lossy().into_owned();
        assert_eq!(meant(&here), path(&here));
        for name in ["org/name", "org/name@v1", "org/name:onnx/model.onnx"] {
            assert!(id(name).is_some());
            assert_eq!(meant(name), id(name), "{name}");
        }
        assert_eq!(meant("gpt3"), None);
    }
}
