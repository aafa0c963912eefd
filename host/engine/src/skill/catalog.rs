//! All skills there are, found by id or alias, with `-` and `_` alike.

use serde::Deserialize;
use skillbench_models::SkillDescription;
use skillbench_models::user_models::local::{LocalError, UserModel};
use skillbench_models::user_models::{self, Meant, custom, hub};
use skillbench_record::suggest;
use skillbench_worker::{Description, Library};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A skill, and the skillset that builds it; or a model that a user brings.
#[derive(Clone, Debug)]
pub struct Skill {
    pub description: SkillDescription,
    pub source: SkillSource,
}

#[derive(Clone, Debug)]
pub enum SkillSource {
    Skillset {
        library: Library,
        plugin: String,
    },
    /// A user's own file or folder, or a model of a hub.
    UserModel(Arc<UserModel>),
    /// A user's own file that no engine needs to see: what is wrong with it.
    Bad {
        path: PathBuf,
        why: String,
    },
}

/// The skills of all skillsets.
#[derive(Debug, Default)]
pub struct Catalog {
    pub skills: Vec<Skill>,
    /// Names that people know and no skill here answers to.
    pub names: Vec<Unavailable>,
    /// Descriptions that could not be read.
    pub problems: Vec<String>,
    /// Who is told what a user should know of a user model.
    pub tell: Tell,
}

/// Talk for people.
#[derive(Clone, Copy)]
pub struct Tell(pub fn(&str));

impl Default for Tell {
    fn default() -> Tell {
        Tell(|_| {})
    }
}

impl std::fmt::Debug for Tell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tell")
    }
}

/// So many bytes of a download are worth a line.
const DOWNLOAD_STEP: u64 = 100_000_000;

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
    pub fn add(&mut self, plugin: &Description, library: &Library) {
        let Some(skillset) = &plugin.skillset else { return };
        for text in &skillset.skills {
            match serde_json::from_str::<Described>(text) {
                Ok(Described::Unavailable(name)) => self.names.push(name),
                Ok(Described::Skill(description)) if self.skills.iter().any(|s| s.description.id == description.id) => {
                    self.problems.push(format!("skill '{}' of {} is there already", description.id, plugin.id));
                }
                Ok(Described::Skill(description)) => {
                    let source = SkillSource::Skillset { library: library.clone(), plugin: plugin.id.clone() };
                    self.skills.push(Skill { description: *description, source });
                }
                Err(error) => {
                    self.problems.push(format!("a skill of {} is not described as it should be: {error}", plugin.id))
                }
            }
        }
    }

    /// A skill of a plugin by its id or a published name; nothing is opened or fetched for it.
    pub fn named(&self, name: &str) -> Option<&Skill> {
        let wanted = folded(name);
        let by_id = self.skills.iter().find(|skill| folded(&skill.description.id) == wanted);
        let by_alias =
            || self.skills.iter().find(|s| s.description.aliases.iter().any(|alias| folded(alias) == wanted));
        by_id.or_else(by_alias)
    }

    /// A skill by its name, or a user's own file by its path. A name leads to the model that it is the name of, and to no other.
    ///
    /// # Errors
    /// One sentence with the nearest names.
    pub fn find(&self, name: &str) -> Result<Skill, String> {
        let wanted = folded(name);
        if let Some(skill) = self.named(name) {
            return Ok(skill.clone());
        }
        if let Some(known) = self.names.iter().find(|known| folded(&known.name) == wanted) {
            let nearest = known.kin.as_ref().map_or(String::new(), |kin| format!("; nearest is {kin} (--model {kin})"));
            return Err(format!("there is no model '{name}' here: {}{nearest}", known.why));
        }
        match user_models::meant(name) {
            Some(Meant::Path(path)) => return self.open(&path, None),
            Some(Meant::Id(id)) => {
                return self.bring(&id).map_err(|error| format!("{error}{}", self.hint(name)));
            }
            None => {}
        }
        Err(format!(
            "there is no model '{name}'{} (`host models` lists them; a file of yours ends in .onnx)",
            self.hint(name)
        ))
    }

    /// "; did you mean a, b?", or nothing.
    fn hint(&self, name: &str) -> String {
        let skills = self.skills.iter().flat_map(|s| std::iter::once(&s.description.id).chain(&s.description.aliases));
        suggest::did_you_mean(name, skills.map(String::as_str))
    }

    /// A model of a hub, fetched where the cache does not hold it.
    fn bring(&self, id: &hub::ModelId) -> Result<Skill, String> {
        let settings = hub::Settings::from_environment().map_err(|error| error.to_string())?;
        let mut told = 0;
        let user_model = hub::bring(id, &settings, &mut |progress| {
            // A line for each hundred megabytes: enough to see that it goes on.
            if progress.done / DOWNLOAD_STEP > told || progress.done == 0 {
                told = progress.done / DOWNLOAD_STEP;
                (self.tell.0)(&format!("{id}: {} is fetched, {} MB so far", progress.file, progress.done / 1_000_000));
            }
        });
        self.describe(user_model.map_err(|error| error.to_string())?)
    }

    /// A user's own file or folder, under another name than the path's where one is given. A broken file costs its own cells, and
    /// not the run.
    ///
    /// # Errors
    /// There is no such file or folder, or no telling which model it means.
    pub fn open(&self, path: &Path, id: Option<&str>) -> Result<Skill, String> {
        match user_models::local::open_as(path, id) {
            Ok(user_model) => self.describe(user_model),
            Err(LocalError::Bad(bad)) => {
                let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                let kind = || user_models::classify::UNKNOWN.to_string();
                let description = SkillDescription {
                    id: id.map_or(name, String::from),
                    family: kind(),
                    architecture: kind(),
                    category: kind(),
                    task: kind(),
                    ..SkillDescription::default()
                };
                Ok(Skill { description, source: SkillSource::Bad { path: path.into(), why: bad.to_string() } })
            }
            Err(error) => Err(error.to_string()),
        }
    }

    fn describe(&self, user_model: UserModel) -> Result<Skill, String> {
        user_model.notes.iter().for_each(|note| (self.tell.0)(&format!("{}: {note}", user_model.id)));
        let description = user_model.description().map_err(|text| format!("{}: {text}", user_model.path.display()))?;
        Ok(Skill { description, source: SkillSource::UserModel(Arc::new(user_model)) })
    }
}

impl Catalog {
    /// The models of a user's own list.
    ///
    /// # Errors
    /// The file's line and key, and what was expected; or what is wrong with a model.
    pub fn custom(&self, file: &Path) -> Result<Vec<Skill>, String> {
        let models = custom::read_json(file).map_err(|error| error.to_string())?;
        let skill = |model: &custom::CustomModel| {
            let found = match &model.place {
                custom::Place::Path(path) => self.open(path, Some(&model.key)),
                custom::Place::Name(name) => self.find(name),
            };
            let mut skill =
                found.map_err(|text| format!("{}:{}: '{}': {text}", file.display(), model.line, model.key))?;
            // What the list says counts before what was found out.
            if let (SkillSource::UserModel(_), Some(family)) = (&skill.source, &model.family) {
                skill.description.family = family.clone();
            }
            Ok(skill)
        };
        models.iter().map(skill).collect()
    }
}

impl Skill {
    /// A description alone, for tests of what is planned with it.
    #[cfg(test)]
    pub(crate) fn described(description: SkillDescription) -> Skill {
        let source = SkillSource::Skillset { library: Library::default(), plugin: "test".into() };
        Skill { description, source }
    }

    pub fn id(&self) -> &str {
        &self.description.id
    }

    /// What a request calls it by: its id, or where a model of the user's own is.
    pub fn as_name(&self) -> String {
        self.path().map_or_else(|| self.id().to_string(), |path| path.to_string_lossy().into_owned())
    }

    /// Where a model of the user's own is; `None`: it is of a skillset.
    pub fn path(&self) -> Option<&Path> {
        match &self.source {
            SkillSource::Skillset { .. } => None,
            SkillSource::UserModel(user_model) => Some(&user_model.path),
            SkillSource::Bad { path, .. } => Some(path),
        }
    }

    /// The same model under another name.
    pub fn renamed(mut self, id: &str) -> Skill {
        self.description.id = id.into();
        if let SkillSource::UserModel(user_model) = &mut self.source {
            Arc::make_mut(user_model).rename(id);
        }
        self
    }

    pub fn has_axis(&self, name: &str) -> bool {
        self.description.axes.contains_key(name)
    }
}
