//! Models by what they are: key classes, families, categories; or a user's own list.

use super::error::RequestError;
use super::tell_apart::tell_apart;
use crate::skill::{Catalog, Skill};
use skillbench_record::defaults::defaults;
use skillbench_record::suggest::did_you_mean;
use skillbench_record::{ModelSet, RunRequest, Selection};
use std::collections::{BTreeMap, BTreeSet};

/// The models of a request: those that are named, and those that its selection means. `given` gets the names that tell models of the
/// user's own apart, by their paths.
///
/// # Errors
/// The first name that is not there, or a selection that nothing fits.
pub(super) fn select(
    catalog: &Catalog,
    request: &RunRequest,
    given: &mut BTreeMap<String, String>,
    warnings: &mut Vec<String>,
) -> Result<Vec<Skill>, RequestError> {
    let default = &defaults().run.models;
    let names = if request.asks_for_no_model() { default } else { &request.models };
    let mut models: Vec<Skill> = vec![];
    for name in names {
        models.push(catalog.find(name).map_err(RequestError)?);
    }
    let selection = &request.selection;
    if let Some(set) = selection.base() {
        let members = members(catalog, set, selection)?;
        check_words(catalog, selection)?;
        let mut kept: Vec<Skill> = members.into_iter().filter(|skill| fits(skill, selection)).collect();
        if !matches!(selection.set, Some(ModelSet::Key | ModelSet::Custom)) {
            kept = of_a_set(catalog, set, kept, warnings);
        }
        if kept.is_empty() {
            return Err(RequestError("no model fits all of what was asked for; `host models` lists them".into()));
        }
        models.extend(kept);
    }
    Ok(tell_apart(models, given))
}

fn members(catalog: &Catalog, set: ModelSet, selection: &Selection) -> Result<Vec<Skill>, RequestError> {
    let of = |class: fn(&Skill) -> &Option<String>| {
        let mut found: Vec<&Skill> = catalog.skills.iter().filter(|skill| class(skill).is_some()).collect();
        found.sort_by_key(|skill| class(skill).clone());
        found.into_iter().cloned().collect()
    };
    match set {
        ModelSet::Key => Ok(of(|skill| &skill.description.key)),
        ModelSet::Small => Ok(of(|skill| &skill.description.small_of)),
        ModelSet::All => {
            Ok(catalog.skills.iter().filter(|skill| !skill.description.category.is_empty()).cloned().collect())
        }
        ModelSet::Custom => {
            let file = selection.custom.as_ref();
            let file = file.ok_or_else(|| RequestError("--models-set custom needs --custom-models FILE".into()))?;
            catalog.custom(file).map_err(RequestError)
        }
    }
}

/// Without those that take too much of a machine to be run unasked; a key class has its small variant in their place.
fn of_a_set(catalog: &Catalog, set: ModelSet, models: Vec<Skill>, warnings: &mut Vec<String>) -> Vec<Skill> {
    let most = defaults().models.largest_of_a_set_mb;
    let (mut kept, large): (Vec<Skill>, Vec<Skill>) =
        models.into_iter().partition(|skill| skill.bytes_estimate(None) <= most * 1_000_000);
    if set == ModelSet::Key {
        let variant = |large: &Skill| {
            let of = |skill: &&Skill| {
                skill.description.small_of.is_some() && skill.description.small_of == large.description.key
            };
            catalog.skills.iter().find(of).cloned()
        };
        kept.extend(large.iter().filter_map(variant));
        kept.sort_by_key(|skill| skill.description.key.clone().or(skill.description.small_of.clone()));
    }
    if !large.is_empty() {
        let names: Vec<&str> = large.iter().map(Skill::id).collect();
        let (how, all) = match set {
            ModelSet::Key => ("their small variants are taken; --models-set key takes them", names.join(", ")),
            _ => ("name them with --model", names.join(", ")),
        };
        warnings.push(format!("left out, with more than {most} MB of weights: {all}; {how}"));
    }
    kept
}

fn fits(skill: &Skill, selection: &Selection) -> bool {
    let description = &skill.description;
    let among = |wanted: &[String], own: &str| wanted.is_empty() || wanted.iter().any(|one| same(one, own));
    let class = description.key.iter().chain(&description.small_of);
    let mut class = class.peekable();
    (selection.keys.is_empty() || class.any(|class| among(&selection.keys, class)))
        && among(&selection.families, &description.family)
        && among(&selection.categories, &description.category)
}

/// "text-encoders" is "text encoders", and "LLaVA_Next" is "llava_next".
pub(super) fn same(one: &str, other: &str) -> bool {
    let folded = |text: &str| text.to_lowercase().replace(['-', '_'], " ");
    folded(one) == folded(other)
}

/// A word that no model at all answers to is a slip, and not a set of none.
fn check_words(catalog: &Catalog, selection: &Selection) -> Result<(), RequestError> {
    let known = |pick: fn(&Skill) -> Option<&str>| catalog.skills.iter().filter_map(pick).collect::<BTreeSet<&str>>();
    let checks = [
        ("key class", &selection.keys, known(|skill| skill.description.key.as_deref())),
        ("family", &selection.families, known(|skill| Some(&skill.description.family))),
        ("category", &selection.categories, known(|skill| Some(&skill.description.category))),
    ];
    for (what, words, known) in checks {
        if let Some(word) = words.iter().find(|word| !known.iter().any(|known| same(word, known))) {
            let all: Vec<&str> = known.iter().copied().filter(|word| !word.is_empty()).collect();
            let hint = did_you_mean(word, all.iter().copied());
            return Err(RequestError(format!("there is no {what} '{word}'{hint} (there is: {})", all.join(", "))));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn catalog() -> Catalog {
        let skill = |text: &str| Skill::described(serde_json::from_str(text).unwrap());
        let skills = vec![
            skill(r#"{"id": "vit-base", "family": "vision", "category": "vision", "key": "vit"}"#),
            skill(r#"{"id": "bert-base", "family": "embedding", "category": "text encoders", "key": "bert"}"#),
            skill(r#"{"id": "bert-tiny", "family": "embedding", "category": "text encoders", "small_of": "bert"}"#),
            skill(r#"{"id": "deit-tiny", "family": "vision", "category": "vision", "small_of": "vit"}"#),
            skill(r#"{"id": "resnet-50", "family": "vision", "category": "vision"}"#),
        ];
        Catalog { skills, ..Catalog::default() }
    }

    fn ids(selection: Selection) -> Result<Vec<String>, String> {
        let request = RunRequest { selection, ..RunRequest::default() };
        let found =
            select(&catalog(), &request, &mut BTreeMap::new(), &mut vec![]).map_err(|error| error.to_string())?;
        Ok(found.iter().map(|skill| skill.id().to_string()).collect())
    }

    #[test]
    fn key_models_come_in_the_order_of_their_classes_and_small_ones_in_their_place() {
        let key = Selection { set: Some(ModelSet::Key), ..Selection::default() };
        assert_eq!(ids(key.clone()).unwrap(), ["bert-base", "vit-base"]);
        assert_eq!(ids(Selection { small: true, ..key.clone() }).unwrap(), ["bert-tiny", "deit-tiny"]);
        assert_eq!(ids(Selection { keys: vec!["VIT".into()], ..key }).unwrap(), ["vit-base"]);
    }

    #[test]
    fn a_category_alone_means_all_models_in_it_and_a_family_alone_its_key_models() {
        let category = Selection { categories: vec!["text-encoders".into()], ..Selection::default() };
        assert_eq!(ids(category).unwrap(), ["bert-base", "bert-tiny"]);
        let family = Selection { families: vec!["vision".into()], ..Selection::default() };
        assert_eq!(ids(family).unwrap(), ["vit-base"]);
    }

    #[test]
    fn a_word_that_nothing_answers_to_is_told_with_the_nearest() {
        let told = ids(Selection { families: vec!["vison".into()], ..Selection::default() }).unwrap_err();
        assert!(told.contains("did you mean vision?"), "{told}");
        let none = Selection {
            families: vec!["vision".into()],
            categories: vec!["text encoders".into()],
            ..Selection::default()
        };
        assert!(ids(none).unwrap_err().contains("no model fits"));
    }
}
