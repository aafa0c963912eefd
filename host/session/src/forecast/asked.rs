//! Which models and points are meant, and what is known of their work before they are measured.

use super::{Cells, MeasuredCell, Question, QuestionError};
use skillbench_engine::run::inference_points;
use skillbench_engine::skill::{Catalog, Skill, SkillSource};
use skillbench_models::SkillDescription;
use skillbench_models::user_models::{Meant, meant};
use skillbench_predict::Work;
use skillbench_record::Axes;
use skillbench_record::RunRequest;
use skillbench_record::defaults::defaults;
use std::collections::{BTreeMap, BTreeSet};

/// All models that are known: of skillsets, of the user's files that were named, and of the database.
pub struct Models {
    catalog: Catalog,
    own: BTreeMap<String, Skill>,
    /// What was understood otherwise than it was typed.
    pub notes: Vec<String>,
}

/// A model that is asked about.
pub struct Asked {
    pub model: String,
    pub family: String,
    /// `None`: it was measured once, and nothing describes it now.
    pub skill: Option<SkillDescription>,
    /// Points, each with the reason where the model cannot be run at it.
    pub points: Vec<(Axes, Option<String>)>,
}

impl Models {
    pub fn new(catalog: Catalog) -> Models {
        Models { catalog, own: BTreeMap::new(), notes: vec![] }
    }

    pub fn described(&self, id: &str) -> Option<&SkillDescription> {
        let shipped = self.catalog.skills.iter().find(|skill| skill.id() == id);
        self.own.get(id).or(shipped).map(|skill| &skill.description)
    }

    /// The models that are named; without names those of the catalogue, where `all`, or else those that were measured.
    ///
    /// # Errors
    /// A name that nobody knows, with the nearest; a point that cannot be.
    pub fn asked(&mut self, question: &Question, cells: &Cells, all: bool) -> Result<Vec<Asked>, QuestionError> {
        let measured: BTreeSet<&str> = cells.measured.iter().map(|cell| cell.model.as_str()).collect();
        let mut ids = self.named(&question.models, &measured)?;
        if question.models.is_empty() {
            let shipped = self.catalog.skills.iter().map(Skill::id).filter(|_| all);
            ids.extend(shipped.map(String::from));
            ids.extend(measured.iter().map(|id| id.to_string()));
        }
        let mut once = BTreeSet::new();
        ids.retain(|id| once.insert(id.clone()));
        ids.iter().map(|id| self.one(id, question, cells)).collect()
    }

    /// The ids of models that are named.
    ///
    /// # Errors
    /// A name that nobody knows, with the nearest.
    pub(super) fn named(&mut self, names: &[String], measured: &BTreeSet<&str>) -> Result<Vec<String>, QuestionError> {
        names.iter().map(|name| self.id(name, measured)).collect()
    }

    fn id(&mut self, name: &str, measured: &BTreeSet<&str>) -> Result<String, QuestionError> {
        let known = |skill: &Skill| {
            let folded = |text: &str| text.to_lowercase().replace('_', "-");
            let names = std::iter::once(&skill.description.id).chain(&skill.description.aliases);
            names.into_iter().any(|own| folded(own) == folded(name))
        };
        if measured.contains(name) && !self.catalog.skills.iter().any(known) {
            return Ok(name.into());
        }
        let shipped =
            self.catalog.skills.iter().any(known) || self.catalog.names.iter().any(|known| known.name == name);
        if let (false, Some(Meant::Id(id))) = (shipped, meant(name)) {
            return Err(QuestionError::NotFetched(id.to_string()));
        }
        let skill = self.catalog.find(name).map_err(|error| QuestionError::Model(error.to_string()))?;
        if let SkillSource::Bad { why, .. } = &skill.source {
            return Err(QuestionError::Model(why.clone()));
        }
        let id = skill.id().to_string();
        if !matches!(skill.source, SkillSource::Skillset { .. }) {
            self.own.insert(id.clone(), skill);
        }
        Ok(id)
    }

    fn one(&self, id: &str, question: &Question, cells: &Cells) -> Result<Asked, QuestionError> {
        let shipped = self.catalog.skills.iter().find(|skill| skill.id() == id);
        let Some(skill) = self.own.get(id).or(shipped) else { return Ok(of_the_database(id, question, cells)) };
        let or = |asked: &[i64], otherwise: &[i64]| if asked.is_empty() { otherwise.to_vec() } else { asked.to_vec() };
        let request = RunRequest {
            models: vec![id.into()],
            batch_sizes: or(&question.batch_sizes, &[1]),
            sequence_lengths: or(&question.sequence_lengths, &[usual_length(cells)]),
            ..RunRequest::default()
        };
        let points = inference_points(skill, &request)?;
        Ok(Asked {
            model: id.into(),
            family: skill.description.family.clone(),
            points: points.into_iter().map(|(axes, skip)| (axes, skip.map(|reason| reason.message))).collect(),
            skill: Some(skill.description.clone()),
        })
    }

    /// # Errors
    /// What nobody counted.
    pub fn work(skill: &SkillDescription, axes: &Axes, precision: &str) -> Result<Work, String> {
        let missing = |what: &str| {
            let point: Vec<String> = axes.iter().map(|(name, value)| format!("{name}={value}")).collect();
            format!("{what} of {} at {} are not counted (docs/skills.md)", skill.id, point.join(" "))
        };
        if precision.is_empty() {
            return Err("at which precision it runs there is not known".into());
        }
        Ok(Work {
            model: skill.id.clone(),
            family: skill.family.clone(),
            batch: axes.get("batch").copied().unwrap_or(1) as f64,
            flops: skill.flops(axes).ok_or_else(|| missing("the operations"))?,
            weight_bytes: skill.weight_bytes(precision).ok_or_else(|| missing("the weights"))? as f64,
            activation_bytes: skill.activation_bytes(axes, precision).ok_or_else(|| missing("the elements moved"))?,
            kernels: skill.kernels.ok_or_else(|| missing("the kernels"))? as f64,
            parameter_bytes: skill.parameter_bytes(precision).ok_or_else(|| missing("the parameters"))? as f64,
        })
    }

    /// Models of the catalogue whose work is known and of which nothing is measured yet: of all sizes up to one that runs
    /// anywhere, the family of the asked one first.
    pub fn to_measure(&self, measured: &BTreeSet<&str>, family: &str, count: usize) -> Vec<&str> {
        let mut models: Vec<&SkillDescription> = self
            .catalog
            .skills
            .iter()
            .map(|skill| &skill.description)
            .filter(|skill| skill.kernels.is_some() && !measured.contains(skill.id.as_str()))
            .filter(|skill| skill.parameters.is_some_and(|parameters| parameters <= SMALL))
            .collect();
        models.sort_by_key(|skill| (skill.family != family, skill.parameters));
        let kin = models.iter().filter(|skill| skill.family == family).count();
        if kin >= count {
            models.truncate(kin);
        }
        let step = (models.len() / count.max(1)).max(1);
        models.iter().step_by(step).take(count).map(|skill| skill.id.as_str()).collect()
    }
}

/// The length at which most is measured: there is most to hold a prediction against.
fn usual_length(cells: &Cells) -> i64 {
    let mut counts: BTreeMap<i64, usize> = BTreeMap::new();
    for length in cells.measured.iter().filter_map(|cell| cell.axes.get("sequence")) {
        *counts.entry(*length).or_default() += 1;
    }
    let most = counts.into_iter().max_by_key(|(length, count)| (*count, std::cmp::Reverse(*length)));
    most.map_or_else(|| defaults().run.sequence_lengths.first().copied().unwrap_or(128), |(length, _)| length)
}

const SMALL: u64 = 60_000_000;

/// Of a model that nothing describes any more there is what was measured, and no more.
fn of_the_database(id: &str, question: &Question, cells: &Cells) -> Asked {
    let own: Vec<_> = cells.measured.iter().filter(|cell| cell.model == id).collect();
    let fits = |axes: &Axes, name: &str, asked: &[i64]| {
        asked.is_empty() || axes.get(name).is_none_or(|value| asked.contains(value))
    };
    let mut points: Vec<(Axes, Option<String>)> = vec![];
    for axes in own.iter().map(|cell| &cell.axes) {
        let is_asked = fits(axes, "batch", &question.batch_sizes) && fits(axes, "sequence", &question.sequence_lengths);
        if is_asked && points.iter().all(|(known, _)| known != axes) {
            points.push((axes.clone(), None));
        }
    }
    let told = |of: fn(&MeasuredCell) -> &String| own.first().map(|cell| of(cell).clone()).unwrap_or_default();
    Asked { model: id.into(), family: told(|cell| &cell.family), skill: None, points }
}
