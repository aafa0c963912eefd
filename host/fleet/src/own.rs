//! What a submission is measured with and its machines do not have: models of the submitter's own, and files that options lead to.
//!
//! A message names them by their hashes, under the places that they have to each other; a path of the submitter's means nothing elsewhere.

use crate::courier::Courier;
use crate::files::{self, FileError, NamedFile};
use crate::submit::SubmitError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skillbench_engine::skill::{Skill, SkillSource};
use skillbench_models::user_models::files::stays_inside;
use skillbench_record::OptionChoice;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What a host has to understand of a message that names such files.
pub const OWN: &str = "own";

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct OwnFiles {
    /// By what each model is called.
    pub models: BTreeMap<String, OwnModel>,
    /// By the option that leads to the file, as it was typed: "serving:trace=day.csv".
    pub options: BTreeMap<String, NamedFile>,
}

/// A model of the submitter's own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OwnModel {
    /// The place of what is opened; "" for the folder that all of it is in.
    pub root: String,
    /// The family that the submitter's list gives it, where it does.
    #[serde(default)]
    pub family: Option<String>,
    /// All files of it, each under its place below one folder.
    pub files: Vec<NamedFile>,
}

/// Where files are here, by their hashes.
pub type Sources = BTreeMap<String, PathBuf>;

impl OwnFiles {
    pub fn is_empty(&self) -> bool {
        self.models.is_empty() && self.options.is_empty()
    }

    pub fn files(&self) -> impl Iterator<Item = &NamedFile> {
        self.models.values().flat_map(|model| &model.files).chain(self.options.values())
    }

    /// Those that cells of a model need.
    pub fn of_model(&self, model: &str) -> OwnFiles {
        let models = self.models.get_key_value(model).map(|(name, own)| (name.clone(), own.clone()));
        OwnFiles { models: models.into_iter().collect(), options: self.options.clone() }
    }

    /// Adds what others need.
    pub fn extend(&mut self, other: OwnFiles) {
        self.models.extend(other.models);
        self.options.extend(other.options);
    }

    /// Whether hashes are hashes, and no place leaves its folder.
    ///
    /// # Errors
    /// What is not.
    pub fn check(&self) -> Result<(), String> {
        self.files().try_for_each(NamedFile::check)?;
        for OwnModel { root, files, .. } in self.models.values() {
            let places = files.iter().map(|file| &file.name).chain((!root.is_empty()).then_some(root));
            if let Some(place) = places.into_iter().find(|place| !is_place(place)) {
                return Err(format!("'{}' is no place of a file", place.escape_debug()));
            }
            // One that is a folder to another, or stands twice, could not be laid out. In order, such two are neighbours.
            let mut places: Vec<String> = files.iter().map(|file| format!("{}/", file.name)).collect();
            places.sort_unstable();
            if places.windows(2).any(|pair| pair[1].starts_with(&pair[0])) {
                return Err("two of its files have one place".into());
            }
        }
        Ok(())
    }
}

/// Whether a place leads to nothing but a file within its folder, is written in one way, and fits into any file system.
fn is_place(place: &str) -> bool {
    let is_step = |step: &str| step != "." && step.len() < 256;
    stays_inside(place) && !place.contains('\\') && place.len() < 1024 && place.split('/').all(is_step)
}

/// An option as it names its file: "serving:trace=day.csv".
pub fn option_text(option: &OptionChoice) -> String {
    let owner = option.plugin.as_ref().map_or_else(String::new, |plugin| format!("{plugin}:"));
    format!("{owner}{}={}", option.key, option.value)
}

/// Models that only this machine has, and files that options lead to. What is `known` from another machine's plan is not read again.
///
/// # Errors
/// A file that cannot be read, or is no model.
pub(crate) fn of_request<'r>(
    options: impl Iterator<Item = &'r OptionChoice>,
    models: &[Skill],
    known: &OwnFiles,
    sources: &mut Sources,
) -> Result<OwnFiles, SubmitError> {
    let mut own = OwnFiles::default();
    let mut add = |name: &str, path: &Path| {
        let file = NamedFile::of(name, path)?;
        sources.insert(file.sha256.clone(), path.to_path_buf());
        Ok::<_, FileError>(file)
    };
    for option in options {
        let text = option_text(option);
        if let Some(file) = known.options.get(&text) {
            own.options.insert(text, file.clone());
            continue;
        }
        // The ending says what it holds.
        let name = Path::new(&option.value).file_name().and_then(|name| name.to_str()).unwrap_or("file");
        own.options.insert(text, add(name, Path::new(&option.value))?);
    }
    for skill in models {
        match &skill.source {
            SkillSource::Skillset { .. } => {}
            SkillSource::Bad { path, why } => {
                return Err(SubmitError::BadModel { path: path.clone(), why: why.clone() });
            }
            SkillSource::UserModel(_) if known.models.contains_key(skill.id()) => {
                own.models.insert(skill.id().into(), known.models[skill.id()].clone());
            }
            SkillSource::UserModel(model) => {
                let whole = model.whole().ok_or_else(|| SubmitError::BadModel {
                    path: model.path.clone(),
                    why: "its files are in no folder that they share, or have names that are no Unicode".into(),
                })?;
                let files = whole.files.iter().map(|(place, path)| add(place, path)).collect::<Result<_, _>>()?;
                let family = Some(&skill.description.family).filter(|family| **family != model.kind.family).cloned();
                own.models.insert(skill.id().into(), OwnModel { root: whole.root, family, files });
            }
        }
    }
    own.check().map_err(SubmitError::OwnFile)?;
    Ok(own)
}

/// Stores files on the server, where they are not. `tell` hears of each that is sent.
///
/// # Errors
/// The courier's; or a file is another one by now.
pub fn send(
    courier: &dyn Courier,
    own: &OwnFiles,
    sources: &Sources,
    tell: &mut dyn FnMut(&NamedFile),
) -> Result<(), FileError> {
    for file in own.files() {
        let Some(path) = sources.get(&file.sha256) else { continue };
        if files::renew(courier, path, file)? {
            tell(file);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_never_leaves_its_folder_and_a_hash_is_one() {
        let file = |name: &str| NamedFile { name: name.into(), sha256: "0a".repeat(32), bytes: 1 };
        let own = |root: &str, name: &str| {
            let model = OwnModel { root: root.into(), family: None, files: vec![file(name)] };
            OwnFiles { models: [("m".to_string(), model)].into(), options: BTreeMap::new() }
        };
        assert_eq!(own("", "onnx/model.onnx").check(), Ok(()));
        assert_eq!(own("model.onnx", "model.onnx").check(), Ok(()));
        for bad in ["", "/etc/passwd", "../w", "a/../../w", "a//b", "a\\b", "C:w", "a\0", "."] {
            assert!(own("", bad).check().is_err(), "{bad:?}");
            assert!(bad.is_empty() || own(bad, "model.onnx").check().is_err(), "{bad:?}");
        }
        let mut twice = own("", "w");
        twice.models.get_mut("m").unwrap().files.push(file("w/x"));
        assert!(twice.check().is_err());
        let mut beside = own("", "w");
        beside.models.get_mut("m").unwrap().files.extend([file("w.x"), file("wx/y"), file("v")]);
        assert_eq!(beside.check(), Ok(()));
        let mut other = own("", "w");
        other.options.insert("serving:trace=x.csv".into(), NamedFile { sha256: "x".into(), ..file("x.csv") });
        assert!(other.check().is_err());
    }
}
