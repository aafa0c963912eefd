//! A suite for each skill that a folder offers, and one to begin with.

use super::SuiteFile;
use crate::describe::DescriptionCache;
use crate::registry::libraries_in;
use crate::run::Rejected;
use crate::skill::{Catalog, Skill, SkillSource};
use skillbench_record::defaults::defaults;
use skillbench_worker::{Library, Stop};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What a folder offers.
#[derive(Debug, Default)]
pub struct Offered {
    pub skills: Vec<Skill>,
    /// The libraries of skillset plugins: a run finds their skills where the folder is a search path.
    pub libraries: Vec<PathBuf>,
    /// Files that offer nothing, or what something else offers already.
    pub rejected: Vec<Rejected>,
}

/// A suite, and the name of its file.
#[derive(Clone, Debug, PartialEq)]
pub struct Generated {
    pub file: String,
    pub suite: SuiteFile,
}

/// The skills of a folder: those of skillset plugins, its `.onnx` files, and those in folders directly in it, which are named
/// after their folder.
///
/// # Errors
/// The folder cannot be read.
pub fn offered(folder: &Path) -> std::io::Result<Offered> {
    let folder = std::fs::canonicalize(folder)?;
    let mut found = Offered::default();
    let (mut catalog, mut cache) = (Catalog::default(), DescriptionCache::open(&Stop::default()));
    for library in libraries_in(&folder, false)? {
        let opened = Library::from(library.clone());
        match cache.describe(&opened) {
            Err(failure) => found.reject(&library, failure.to_string()),
            Ok(plugin) if plugin.skillset.is_none() => {
                found.reject(&library, format!("it is no skillset, it is a {}", plugin.kinds().join(" and ")));
            }
            Ok(plugin) => {
                let problems = catalog.problems.len();
                catalog.add(&plugin, &opened);
                for problem in catalog.problems.iter().skip(problems).cloned() {
                    found.reject(&library, problem);
                }
                found.libraries.push(library);
            }
        }
    }
    found.skills = catalog.skills;
    found.take_models(&folder)?;
    Ok(found)
}

/// The models of a folder that is a list of them; `None`: it is one model, or no folder. Skillset plugins in it are opened only where the user
/// has them loaded from there (`is_search_path`): whoever names a model names no code.
///
/// # Errors
/// The folder cannot be read.
pub fn list_of(place: &Path, is_search_path: bool) -> std::io::Result<Option<Offered>> {
    if !place.is_dir() {
        return Ok(None);
    }
    let (models, libraries) = (models_in(place)?, libraries_in(place, false)?);
    let is_one = |skill: &Skill| models.len() < 2 || !matches!(skill.source, SkillSource::Bad { .. });
    if Catalog::default().open(place, None).is_ok_and(|skill| is_one(&skill)) {
        return Ok(None);
    }
    let found = match is_search_path {
        true => offered(place)?,
        false => {
            let mut found = Offered::default();
            for library in libraries {
                let why = format!("a library is opened from a search path: host --search-path {}", place.display());
                found.reject(&library, why);
            }
            found.take_models(&std::fs::canonicalize(place)?)?;
            found
        }
    };
    Ok(Some(found).filter(|found| !found.skills.is_empty()))
}

impl Offered {
    fn take_models(&mut self, folder: &Path) -> std::io::Result<()> {
        for (id, path) in models_in(folder)? {
            match self.skills.iter().any(|skill| skill.id() == id) {
                true => self.reject(&path, format!("a skill '{id}' is there already")),
                false => match Catalog::default().open(&path, Some(&id)) {
                    Ok(Skill { source: SkillSource::Bad { why, .. }, .. }) => self.reject(&path, why),
                    Ok(skill) => self.skills.push(skill),
                    Err(reason) => self.reject(&path, reason),
                },
            }
        }
        Ok(())
    }

    fn reject(&mut self, path: &Path, reason: String) {
        let id = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        self.rejected.push(Rejected { id, origin: path.display().to_string(), reason, no_match: false });
    }
}

fn entries(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)?.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    Ok(paths)
}

fn is_model(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("onnx")) && path.is_file()
}

/// The ONNX files of a folder, and of the folders directly in it, with their names.
fn models_in(folder: &Path) -> std::io::Result<Vec<(String, PathBuf)>> {
    let named = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut models = vec![];
    for path in entries(folder)? {
        if path.is_dir() {
            let inner: Vec<PathBuf> =
                entries(&path).unwrap_or_default().into_iter().filter(|path| is_model(path)).collect();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let of = |file: &PathBuf| if inner.len() == 1 { name.clone() } else { format!("{name}-{}", named(file)) };
            models.extend(inner.iter().map(|file| (of(file), file.clone())));
        } else if is_model(&path) {
            models.push((named(&path), path));
        }
    }
    Ok(models)
}

/// What skillsets are measured with where nothing else is asked for.
const BATCH_SIZES: [i64; 4] = [1, 2, 4, 8];
const WARMUP: u64 = 2;
const ITERATIONS: u64 = 5;

/// One suite for each skill, and a file name of its own for each.
pub fn generate(skills: &[Skill]) -> Vec<Generated> {
    let mut files: Vec<Generated> = vec![];
    for skill in skills {
        let allowed = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        let plain: String = skill.id().chars().map(|c| if allowed(c) { c } else { '-' }).collect();
        let plain = plain.trim_start_matches('.');
        let stem = if plain.is_empty() { "skill" } else { plain };
        // Names that differ in what a file's name cannot hold, or in nothing but their case.
        let taken = |name: &str| files.iter().any(|known| known.file.eq_ignore_ascii_case(name));
        let numbered = (2..).map(|n| format!("{stem}-{n}.json"));
        let file = std::iter::once(format!("{stem}.json")).chain(numbered).find(|name| !taken(name));
        files.extend(file.map(|file| Generated { file, suite: suite(skill) }));
    }
    files
}

fn suite(skill: &Skill) -> SuiteFile {
    let axes = &skill.description.axes;
    let within = |axis: &str, sizes: &[i64]| match axes.get(axis) {
        None => vec![],
        Some([least, most]) => {
            let mut fitting: Vec<i64> = sizes.iter().copied().filter(|size| (*least..=*most).contains(size)).collect();
            // An axis that takes none of the usual sizes takes its own.
            if fitting.is_empty() {
                fitting.push((*least).max(1));
            }
            fitting
        }
    };
    SuiteFile {
        batch_sizes: within("batch", &BATCH_SIZES),
        sequence_lengths: within("sequence", &defaults().grid.sequence_lengths),
        warmup_iterations: Some(WARMUP),
        benchmark_iterations: Some(ITERATIONS),
        timeout: Some(defaults().run.timeout_s),
        model_families: BTreeMap::from([(skill.description.family.clone(), vec![skill.as_name()])]),
        ..SuiteFile::default()
    }
}

/// A suite to begin with: the models, sizes and limits of a run where nothing is asked for.
pub fn starter(catalog: &Catalog) -> SuiteFile {
    let (run, grid) = (&defaults().run, &defaults().grid);
    let mut model_families: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for name in &run.models {
        let family = catalog.find(name).map_or("unknown".into(), |skill| skill.description.family);
        model_families.entry(family).or_default().push(name.clone());
    }
    SuiteFile {
        batch_sizes: grid.batch_sizes.clone(),
        sequence_lengths: grid.sequence_lengths.clone(),
        warmup_iterations: Some(run.warmup),
        benchmark_iterations: Some(20),
        timeout: Some(run.timeout_s),
        model_families,
        ..SuiteFile::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skillbench_models::SkillDescription;

    fn skill(id: &str, axes: &[(&str, [i64; 2])]) -> Skill {
        let axes = axes.iter().map(|(name, range)| (name.to_string(), *range)).collect();
        let description =
            SkillDescription { id: id.into(), family: "vision".into(), axes, ..SkillDescription::default() };
        let source = SkillSource::Skillset { library: Default::default(), plugin: "mine".into() };
        Skill { description, source }
    }

    #[test]
    fn a_suite_asks_for_the_sizes_that_its_skill_takes() {
        let of = |axes: &[(&str, [i64; 2])]| generate(&[skill("a", axes)]).remove(0).suite;
        let suite = of(&[("batch", [1, 4]), ("sequence", [1, 128])]);
        assert_eq!((suite.batch_sizes, suite.sequence_lengths), (vec![1, 2, 4], vec![32, 128]));
        let suite = of(&[("batch", [16, 16])]);
        assert_eq!((suite.batch_sizes, suite.sequence_lengths), (vec![16], vec![]));
        assert_eq!((suite.warmup_iterations, suite.benchmark_iterations), (Some(2), Some(5)));
    }

    #[test]
    fn every_skill_has_a_file_of_its_own() {
        let names = ["org/Model", "org-model", "..", "org?model"];
        let skills = names.map(|id| skill(id, &[]));
        let files: Vec<String> = generate(&skills).into_iter().map(|generated| generated.file).collect();
        assert_eq!(files, ["org-Model.json", "org-model-2.json", "skill.json", "org-model-3.json"]);
    }

    #[test]
    fn the_models_of_a_folder_are_found_and_named_after_their_file_or_folder() {
        let folder = tempfile::tempdir().unwrap();
        let put = |path: &str| {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, include_bytes!("../../../worker/data/probe.onnx")).unwrap();
        };
        [
            "plain.onnx",
            "alone/model.onnx",
            "alone/model.onnx.data",
            "pair/encoder.onnx",
            "pair/decoder.ONNX",
            "deep/er/x.onnx",
        ]
        .iter()
        .for_each(|path| put(path));
        put("plain/model.onnx");
        let offered = offered(folder.path()).unwrap();
        let ids: Vec<&str> = offered.skills.iter().map(Skill::id).collect();
        assert_eq!(ids, ["alone", "pair-decoder", "pair-encoder", "plain"]);
        assert!(offered.rejected[0].reason.contains("'plain' is there already") && offered.rejected.len() == 1);
        let suite = &generate(&offered.skills)[0].suite;
        let path = std::fs::canonicalize(folder.path()).unwrap().join("alone/model.onnx");
        assert_eq!(suite.model_families["unknown"], [path.to_string_lossy()]);
        std::fs::write(folder.path().join("broken.onnx"), "").unwrap();
        let broken = super::offered(folder.path()).unwrap().rejected;
        assert!(broken.iter().any(|rejected| rejected.id == "broken"), "{broken:?}");
    }

    #[test]
    fn a_folder_that_is_not_there_is_an_error_and_an_empty_one_offers_nothing() {
        let folder = tempfile::tempdir().unwrap();
        assert!(offered(&folder.path().join("none")).is_err());
        std::fs::write(folder.path().join("notes.txt"), "").unwrap();
        assert!(offered(folder.path()).unwrap().skills.is_empty());
    }

    #[test]
    fn the_suite_to_begin_with_names_the_default_models() {
        let named: Vec<String> = starter(&Catalog::default()).model_families.into_values().flatten().collect();
        assert_eq!(named, defaults().run.models);
    }
}
