//! Names of a user's own models. Folders from a hub all hold a `model.onnx`: what would be called the same is told apart by its folder,
//! then by more of its path. No two are ever taken for one.

use crate::skill::Skill;
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

/// The models, each under a name of its own; the same file named twice stays one. `names` has the names that were given before, by
/// path, and gets those that are given now.
pub(super) fn tell_apart(models: Vec<Skill>, names: &mut BTreeMap<String, String>) -> Vec<Skill> {
    let mut once: Vec<Skill> = vec![];
    for model in models {
        if !once.iter().any(|known| is_same(known, &model)) {
            once.push(model);
        }
    }
    let given = |model: &Skill| names.get(&model.path()?.to_string_lossy().into_owned()).cloned();
    let mut all: Vec<Skill> = once
        .into_iter()
        .map(|model| match given(&model) {
            Some(name) => model.renamed(&name),
            None => model,
        })
        .collect();
    let mut depth = 1;
    while let Some(name) = twice(&all) {
        for model in all.iter_mut().filter(|model| model.id() == name) {
            let Some(path) = model.path().map(Path::to_path_buf) else { continue };
            let longer = last_parts(&path, depth);
            names.insert(path.to_string_lossy().into_owned(), longer.clone());
            *model = model.clone().renamed(&longer);
        }
        depth += 1;
    }
    all
}

/// A name that two models have, of which one at least can get another.
fn twice(all: &[Skill]) -> Option<String> {
    let mut count: BTreeMap<&str, (usize, bool)> = BTreeMap::new();
    for model in all {
        let (count, any) = count.entry(model.id()).or_default();
        *count += 1;
        *any |= model.path().is_some();
    }
    count.into_iter().find(|(_, (count, any))| *count > 1 && *any).map(|(name, _)| name.to_string())
}

/// The same skill of a skillset, or the same file or folder, however it was typed.
fn is_same(one: &Skill, other: &Skill) -> bool {
    let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    match (one.path(), other.path()) {
        (None, None) => one.id() == other.id(),
        (Some(path), Some(another)) => real(path) == real(another) && one.id() == other.id(),
        _ => false,
    }
}

/// The name at the end of a path with so many folders before it, without the ending of a file: "bert/model". The whole path where it
/// has no more.
fn last_parts(path: &Path, folders: usize) -> String {
    let is_file = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("onnx"));
    let path = if is_file { path.with_extension("") } else { path.to_path_buf() };
    let parts: Vec<Component<'_>> = path.components().collect();
    let from = parts.len().saturating_sub(folders + 1);
    if from == 0 && is_file {
        return format!("{}.onnx", path.display());
    }
    parts[from..].iter().collect::<PathBuf>().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skill::SkillSource;
    use skillbench_models::SkillDescription;

    fn file(path: &str) -> Skill {
        let id = Path::new(path).file_stem().unwrap().to_string_lossy().into_owned();
        let description = SkillDescription { id, ..SkillDescription::default() };
        Skill { description, source: SkillSource::Bad { path: path.into(), why: "a test".into() } }
    }

    fn named(paths: &[&str]) -> Vec<String> {
        let models = paths.iter().map(|path| file(path)).collect();
        tell_apart(models, &mut BTreeMap::new()).iter().map(|model| model.id().to_string()).collect()
    }

    #[test]
    fn eight_files_of_one_name_are_eight_models() {
        let paths: Vec<String> = (0..8).map(|n| format!("/models/m{n}/model.onnx")).collect();
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let expected: Vec<String> = (0..8).map(|n| format!("m{n}/model")).collect();
        assert_eq!(named(&paths), expected);
    }

    #[test]
    fn more_of_the_path_is_told_only_where_it_is_needed() {
        let names = named(&["/a/x/model.onnx", "/b/x/model.onnx", "/c/y/model.onnx", "/c/other.onnx"]);
        assert_eq!(names, ["a/x/model", "b/x/model", "y/model", "other"]);
    }

    #[test]
    fn the_same_file_twice_is_one_model() {
        assert_eq!(named(&["/a/model.onnx", "/a/model.onnx"]), ["model"]);
    }

    #[test]
    fn a_skill_keeps_its_name_beside_a_file_of_the_same() {
        let skill = Skill::described(SkillDescription { id: "bert".into(), ..SkillDescription::default() });
        let all = tell_apart(vec![skill, file("/mine/bert.onnx")], &mut BTreeMap::new());
        assert_eq!(all.iter().map(Skill::id).collect::<Vec<_>>(), ["bert", "mine/bert"]);
    }

    #[test]
    fn a_name_that_was_given_is_given_again_whatever_else_is_asked_for() {
        let mut names = BTreeMap::new();
        tell_apart(vec![file("/a/model.onnx"), file("/b/model.onnx")], &mut names);
        let alone = tell_apart(vec![file("/b/model.onnx")], &mut names);
        assert_eq!(alone[0].id(), "b/model");
    }
}
