//! All skills there are, found by id or alias, with `-` and `_` alike.

use super::SkillDescription;
use crate::describe::Description;
use crate::suggest;
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
    /// Descriptions that could not be read.
    pub problems: Vec<String>,
}

fn folded(name: &str) -> String {
    name.to_lowercase().replace('_', "-")
}

impl Catalog {
    /// Adds what a plugin's skillset describes. An earlier skill of the same id stays.
    pub fn add(&mut self, plugin: &Description, library: &Path) {
        let Some(skillset) = &plugin.skillset else { return };
        for text in &skillset.skills {
            match serde_json::from_str::<SkillDescription>(text) {
                Ok(description) if self.skills.iter().any(|s| s.description.id == description.id) => {
                    self.problems.push(format!("skill '{}' of {} is there already", description.id, plugin.id));
                }
                Ok(description) => {
                    let source = SkillSource::Skillset { library: library.into(), plugin: plugin.id.clone() };
                    self.skills.push(Skill { description, source });
                }
                Err(error) => {
                    self.problems.push(format!("a skill of {} is not described as it should be: {error}", plugin.id))
                }
            }
        }
    }

    /// A skill by its name, or a user's own file by its path.
    ///
    /// # Errors
    /// One sentence with the nearest names.
    pub fn find(&self, name: &str) -> Result<Skill, String> {
        let wanted = folded(name);
        let by_id = self.skills.iter().find(|skill| folded(&skill.description.id) == wanted);
        let by_alias =
            || self.skills.iter().find(|s| s.description.aliases.iter().any(|alias| folded(alias) == wanted));
        if let Some(skill) = by_id.or_else(by_alias) {
            return Ok(skill.clone());
        }
        let path = Path::new(name);
        if path.extension().is_some_and(|extension| extension == "onnx") {
            return match std::fs::canonicalize(path) {
                Ok(path) => Ok(Skill::of_file(path)),
                Err(error) => Err(format!("the model file {name} cannot be read: {error}")),
            };
        }
        let known = self.skills.iter().flat_map(|s| std::iter::once(&s.description.id).chain(&s.description.aliases));
        let hint = suggest::did_you_mean(name, known.map(String::as_str));
        Err(format!("there is no model '{name}'{hint} (`host models` lists them; a file of yours ends in .onnx)"))
    }
}

impl Skill {
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

    pub fn is_file(&self) -> bool {
        matches!(self.source, SkillSource::File(_))
    }
}
