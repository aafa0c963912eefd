//! What each skill is to the published model whose name it has, and which names lead to it.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// How far the parameters of a full skill may be from those of the published model.
const NEAR: f64 = 1e-3;

fn rows(text: &str) -> Vec<Value> {
    serde_json::from_str(text).unwrap()
}

fn skills() -> Vec<Value> {
    rows(include_str!("../data/skills.json"))
}

fn text<'a>(row: &'a Value, key: &str) -> &'a str {
    row[key].as_str().unwrap_or_default()
}

/// As hosts compare names.
fn folded(name: &str) -> String {
    name.to_lowercase().replace('_', "-")
}

#[test]
fn every_skill_of_a_published_model_says_what_it_is_to_it() {
    for skill in skills() {
        let expected = match (skill["published_id"].is_string(), skill["reduced"].is_string(), &skill["which_part"]) {
            (false, ..) => "",
            (true, true, _) => "reduced",
            (true, false, Value::Null) => "full",
            (true, false, _) => "part",
        };
        assert_eq!(text(&skill, "relation"), expected, "{}", skill["id"]);
    }
}

#[test]
fn a_reduced_skill_and_a_part_answer_to_their_own_ids_alone() {
    for skill in skills().iter().filter(|skill| ["reduced", "part"].contains(&text(skill, "relation"))) {
        assert_eq!(skill["aliases"], Value::Array(Vec::new()), "{}", skill["id"]);
    }
}

#[test]
fn the_id_of_a_reduced_skill_says_so_and_the_id_of_a_part_is_no_published_name() {
    let skills = skills();
    let short = |skill: &Value| folded(text(skill, "published_id").rsplit('/').next().unwrap());
    let published: BTreeSet<String> = skills.iter().map(short).collect();
    for skill in &skills {
        let id = text(skill, "id");
        match text(skill, "relation") {
            "reduced" => {
                let own = ["llama-50m-kv", "llama-160m-kv"].contains(&id);
                assert!(own || id.contains("-reduced") || id.contains("-tiny"), "{id}");
            }
            "part" => assert!(!published.contains(id), "{id}"),
            _ => {}
        }
    }
}

#[test]
fn a_full_skill_has_the_parameters_of_the_published_model() {
    let published = rows(include_str!("../data/published.json"));
    let (skills, sources) = (skills(), rows(include_str!("../data/sources.json")));
    let classes: BTreeMap<&str, &str> = sources.iter().map(|row| (text(row, "id"), text(row, "hf_class"))).collect();
    let mut held = 0;
    for skill in skills.iter().filter(|skill| text(skill, "relation") == "full") {
        let graphs: Vec<&str> = match skill["parts"].as_array() {
            Some(parts) => parts.iter().map(|part| text(part, "skill")).collect(),
            None => vec![text(skill, "id")],
        };
        let of: BTreeSet<&str> = graphs.iter().filter_map(|graph| classes.get(graph).copied()).collect();
        let is_its_row =
            |row: &&Value| row["published_id"] == skill["published_id"] && of == BTreeSet::from([text(row, "class")]);
        let Some(row) = published.iter().find(is_its_row) else { continue };
        let exception = &row["graphs"][text(skill, "id")];
        assert!(exception.is_null() || exception["why"].is_string(), "{exception}");
        let wanted = exception.get("parameters").unwrap_or(&row["parameters"]).as_f64().unwrap();
        let found = skill["parameters"].as_f64().unwrap();
        assert!((found / wanted - 1.0).abs() <= NEAR, "{}: {found} parameters, and not {wanted}", skill["id"]);
        held += 1;
    }
    assert!(held > 170, "{held} skills were held against a count");
}

#[test]
fn the_nearest_of_a_name_that_is_not_served_is_what_the_record_says() {
    let skills = skills();
    let by_id: BTreeMap<&str, &Value> = skills.iter().map(|skill| (text(skill, "id"), skill)).collect();
    for name in rows(include_str!("../data/unavailable.json")) {
        let Some(nearest) = name["kin"].as_str().map(|kin| by_id[kin]) else {
            assert!(name["relation"].is_null(), "{name}");
            continue;
        };
        match text(&name, "relation") {
            "kin" => {}
            relation => assert_eq!(relation, text(nearest, "relation"), "{name}"),
        }
    }
}

#[test]
fn a_key_class_stands_for_a_full_skill_and_its_small_variant_stays_below_500_megabytes() {
    let skills = skills();
    let marked = |mark: &'static str| skills.iter().filter(move |skill| skill[mark].is_string());
    assert_eq!((marked("key").count(), marked("small_of").count()), (13, 13));
    for skill in marked("key") {
        assert_eq!(text(skill, "relation"), "full", "{}", skill["id"]);
    }
    for skill in marked("small_of") {
        let bytes = 4 * skill["parameters"].as_u64().unwrap();
        assert!(bytes < 500_000_000, "{}: {bytes} bytes in float32", skill["id"]);
    }
}
