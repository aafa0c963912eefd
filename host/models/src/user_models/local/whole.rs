//! All that a model is made and described by, so that it can be opened elsewhere and is the same there.

use super::UserModel;
use std::path::{Path, PathBuf};

/// The files of a model, each with its place below one folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Whole {
    /// The place of what is opened: the model's file, or its folder; "" for the folder that all of it is in.
    pub root: String,
    /// Places have `/` between their steps and never leave the folder.
    pub files: Vec<(String, PathBuf)>,
}

impl UserModel {
    /// All its files, and the configuration that tells what it is. `None`: they share no folder, or a name is no Unicode.
    pub fn whole(&self) -> Option<Whole> {
        let own = if self.path.is_dir() { self.path.as_path() } else { self.path.parent()? };
        // An exporter's configuration stands above the folder of its graphs.
        let is_within = self.described_by.iter().all(|file| file.starts_with(own));
        let folder = if is_within { own } else { own.parent()? };
        let mut files: Vec<(String, PathBuf)> = vec![];
        for file in self.files.iter().chain(&self.described_by) {
            let place = place(file, folder)?;
            if !files.iter().any(|(known, _)| *known == place) {
                files.push((place, file.clone()));
            }
        }
        Some(Whole { root: place(&self.path, folder)?, files })
    }
}

fn place(path: &Path, folder: &Path) -> Option<String> {
    let steps: Option<Vec<&str>> = path.strip_prefix(folder).ok()?.iter().map(|step| step.to_str()).collect();
    Some(steps?.join("/"))
}

#[cfg(test)]
mod tests {
    use super::super::open;
    use crate::user_models::samples::Sample;

    #[test]
    fn a_model_opened_from_its_files_alone_is_the_same_model() {
        let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let graphs = here.path().join("bert/onnx");
        std::fs::create_dir_all(&graphs).unwrap();
        let file = Sample::encoder().external("w.data").write(&graphs, "model.onnx");
        let config = r#"{"model_type": "bert", "architectures": ["BertModel"], "max_position_embeddings": 77}"#;
        std::fs::write(here.path().join("bert/config.json"), config).unwrap();
        std::fs::write(here.path().join("bert/notes.txt"), "no part of it").unwrap();
        for (named, root) in [(file, "onnx/model.onnx"), (here.path().join("bert"), "")] {
            let model = open(&named).unwrap();
            let whole = model.whole().unwrap();
            assert_eq!(whole.root, root, "{whole:?}");
            let target = there.path().join(root.len().to_string());
            for (place, file) in &whole.files {
                let target = target.join(place);
                std::fs::create_dir_all(target.parent().unwrap()).unwrap();
                std::fs::copy(file, target).unwrap();
            }
            let copy = open(&target.join(&whole.root)).unwrap();
            assert_eq!((copy.hashes(), &copy.kind.family), (model.hashes(), &model.kind.family));
            let described = |model: &super::UserModel| {
                let description = model.description().unwrap();
                (description.axes, description.parameters, description.flops)
            };
            assert_eq!(described(&copy), described(&model));
            let mut places: Vec<&str> = whole.files.iter().map(|(place, _)| place.as_str()).collect();
            places.sort_unstable();
            assert!(
                !places.contains(&"notes.txt") && places.iter().any(|place| place.ends_with("w.data")),
                "{places:?}"
            );
        }
    }
}
