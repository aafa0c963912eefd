//! All skills there are, found by id or alias, with `-` and `_` alike.

use super::SkillDescription;
use crate::describe::Description;
use crate::suggest;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// A skill, and the skillset that builds it; or a user's own file.
#[derive(Clone, Debug)]
pub struct Skill {
    pub description: SkillDescription,
    pub source: SkillSource,
}

#[derive(Clone, Debug)]
pub enum SkillSource {
    Skillset { library: PathBuf, plugin: String },
    File(PathBuf),
}

/// The skills of all skillsets.
#[derive(Debug, Default)]
pub struct Catalog {
    pub skills: Vec<Skill>,
    /// Names that people know and no skill here answers to.
    pub names: Vec<Unavailable>,
    /// Descriptions that could not be read.
    pub problems: Vec<String>,
}

/// A name without a skill.
#[derive(Clone, Debug, Deserialize)]
pub struct Unavailable {
    #[serde(rename = "id")]
    pub name: String,
    #[serde(rename = "unavailable")]
    pub why: String,
    /// The skill that is nearest to it.
    #[serde(default)]
    pub kin: Option<String>,
}

/// What a skillset may describe.
#[derive(Deserialize)]
#[serde(untagged)]
enum Described {
    Unavailable(Unavailable),
    Skill(Box<SkillDescription>),
}

fn folded(name: &str) -> String {
    name.to_lowercase().replace('_', "-")
}

impl Catalog {
    /// Adds what a plugin's skillset describes. An earlier skill of the same id stays.
    pub fn add(&mut self, plugin: &Description, library: &Path) {
        let Some(skillset) = &plugin.skillset else { return };
        for text in &skillset.skills {
            match serde_json::from_str::<Described>(text) {
                Ok(Described::Unavailable(name)) => self.names.push(name),
                Ok(Described::Skill(description)) if self.skills.iter().any(|s| s.description.id == description.id) => {
                    self.problems.push(format!("skill '{}' of {} is there already", description.id, plugin.id));
                }
                Ok(Described::Skill(description)) => {
                    let source = SkillSource::Skillset { library: library.into(), plugin: plugin.id.clone() };
                    self.skills.push(Skill { description: *description, source });
                }
                Err(error) => {
                    self.problems.push(format!("a skill of {} is not described as it should be: {error}", plugin.id))
                }
            }
        }
    }

    /// A skill by its name, or a user's own file by its path; with a sentence where it is only the nearest kin of what was named.
    ///
    /// # Errors
    /// One sentence with the nearest names.
    pub fn find(&self, name: &str) -> Result<(Skill, Option<String>), String> {
        let wanted = folded(name);
        let by_id = self.skills.iter().find(|skill| folded(&skill.description.id) == wanted);
        let by_alias =
            || self.skills.iter().find(|s| s.description.aliases.iter().any(|alias| folded(alias) == wanted));
        if let Some(skill) = by_id.or_else(by_alias) {
            return Ok((skill.clone(), None));
        }
        if let Some(known) = self.names.iter().find(|known| folded(&known.name) == wanted) {
            let kin = known.kin.as_ref().and_then(|kin| self.skills.iter().find(|skill| skill.description.id == *kin));
            return match kin {
                Some(kin) => {
                    let note = format!("'{name}' is not here ({}); its nearest kin, {}, is taken", known.why, kin.id());
                    Ok((kin.clone(), Some(note)))
                }
                None => Err(format!("there is no model '{name}' here: {}", known.why)),
            };
        }
        let path = Path::new(name);
        if path.extension().is_some_and(|extension| extension == "onnx") {
            return match std::fs::canonicalize(path) {
                Ok(path) => Ok((Skill::of_file(path), None)),
                Err(error) => Err(format!("the model file {name} cannot be read: {error}")),
            };
        }
        let known = self.skills.iter().flat_map(|s| std::iter::once(&s.description.id).chain(&s.description.aliases));
        let hint = suggest::did_you_mean(name, known.map(String::as_str));
        Err(format!("there is no model '{name}'{hint} (`host models` lists them; a file of yours ends in .onnx)"))
    }
}

impl Catalog {
    /// The models of a user's own list.
    ///
    /// # Errors
    /// The file's line and key, and what was expected.
    pub fn custom(&self, file: &Path) -> Result<Vec<Skill>, String> {
        Err(format!("{}: lists are not read", file.display()))
    }
}

impl Skill {
    /// A description alone, for tests of what is planned with it.
    #[cfg(test)]
    pub(crate) fn described(description: SkillDescription) -> Skill {
        let source = SkillSource::Skillset { library: PathBuf::new(), plugin: "test".into() };
        Skill { description, source }
    }

    fn of_file(path: PathBuf) -> Skill {
        let id = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Skill::of_file_named(id, path)
    }

    /// A user's own file under a name that is not the file's.
    pub(crate) fn of_file_named(id: String, path: PathBuf) -> Skill {
        let unknown = || "unknown".to_string();
        let description = SkillDescription {
            id,
            family: unknown(),
            architecture: unknown(),
            category: unknown(),
            task: unknown(),
            ..SkillDescription::default()
        };
        Skill { description, source: SkillSource::File(path) }
    }

    pub fn id(&self) -> &str {
        &self.description.id
    }

    pub fn has_axis(&self, name: &str) -> bool {
        self.description.axes.contains_key(name)
    }

    pub fn is_file(&self) -> bool {
        matches!(self.source, SkillSource::File(_))
    }
}
