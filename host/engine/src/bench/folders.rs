//! Folders that say something of the libraries in them: one for a category, one for a model, or one within the other.

use crate::registry::libraries_in;
use skillbench_worker::CATEGORIES;
use std::path::{Path, PathBuf};

/// What the folders around a library are named after.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Labels {
    pub category: Option<String>,
    pub model: Option<String>,
}

/// What was found below a folder.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Below {
    pub libraries: Vec<(PathBuf, Labels)>,
    /// Folders with libraries, named after neither a category nor a model.
    pub strays: Vec<PathBuf>,
}

/// The libraries in folders below `root`. `model` tells a model's id by the name of a folder.
pub(super) fn below(root: &Path, ours_only: bool, model: &dyn Fn(&str) -> Option<String>) -> Below {
    let mut found = Below::default();
    walk(root, &Labels::default(), ours_only, model, &mut found);
    found
}

fn walk(folder: &Path, labels: &Labels, ours_only: bool, model: &dyn Fn(&str) -> Option<String>, found: &mut Below) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    for path in folders {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let libraries = libraries_in(&path, ours_only).unwrap_or_default();
        let category = CATEGORIES.iter().find(|category| category.eq_ignore_ascii_case(&name));
        let inner = match (category, &labels.category, &labels.model) {
            (Some(category), None, _) => Labels { category: Some(category.to_string()), ..labels.clone() },
            (None, _, None) => match model(&name) {
                Some(model) => Labels { model: Some(model), ..labels.clone() },
                None => {
                    found.strays.extend((!libraries.is_empty()).then_some(path));
                    continue;
                }
            },
            _ => {
                found.strays.extend((!libraries.is_empty()).then_some(path));
                continue;
            }
        };
        found.libraries.extend(libraries.into_iter().map(|library| (library, inner.clone())));
        walk(&path, &inner, ours_only, model, found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::library_file_name;

    fn put(root: &Path, folder: &str, name: &str) -> PathBuf {
        let folder = root.join(folder);
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join(library_file_name(name));
        std::fs::write(&path, "").unwrap();
        path
    }

    fn known(name: &str) -> Option<String> {
        (super::super::folded(name) == "bert-tiny").then(|| "bert-tiny".to_string())
    }

    fn labels(category: Option<&str>, model: Option<&str>) -> Labels {
        Labels { category: category.map(String::from), model: model.map(String::from) }
    }

    #[test]
    fn folders_of_categories_and_models_label_what_is_in_them_in_either_order() {
        let root = tempfile::tempdir().unwrap();
        let of_category = put(root.path(), "unit", "a");
        let of_both = put(root.path(), "unit/BERT_tiny", "b");
        let of_model = put(root.path(), "bert-tiny", "c");
        let other_way = put(root.path(), "bert-tiny/performance", "d");
        let found = below(root.path(), false, &known);
        let wanted = [
            (of_model, labels(None, Some("bert-tiny"))),
            (other_way, labels(Some("performance"), Some("bert-tiny"))),
            (of_category, labels(Some("unit"), None)),
            (of_both, labels(Some("unit"), Some("bert-tiny"))),
        ];
        assert_eq!(found, Below { libraries: wanted.into(), strays: vec![] });
    }

    #[test]
    fn a_folder_with_libraries_and_another_name_is_told_and_one_without_is_not() {
        let root = tempfile::tempdir().unwrap();
        put(root.path(), "gpt-9", "a");
        put(root.path(), "unit/integration", "b");
        std::fs::create_dir_all(root.path().join("notes")).unwrap();
        let found = below(root.path(), false, &known);
        let strays = vec![root.path().join("gpt-9"), root.path().join("unit/integration")];
        assert_eq!(found, Below { libraries: vec![], strays });
    }

    #[test]
    fn beside_the_executable_only_our_own_libraries_count() {
        let root = tempfile::tempdir().unwrap();
        let ours = put(root.path(), "unit", "skillbench_mine");
        put(root.path(), "unit", "other");
        let found = below(root.path(), true, &known);
        assert_eq!(found.libraries.into_iter().map(|(path, _)| path).collect::<Vec<_>>(), [ours]);
    }
}
