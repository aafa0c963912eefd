use super::*;
use std::collections::HashSet;

fn skill(id: &str) -> &'static Skill {
    find(id).unwrap()
}

fn aliases(skill: &Skill) -> Vec<&str> {
    skill.told["aliases"].as_array().unwrap().iter().filter_map(Value::as_str).collect()
}

/// As hosts compare names.
fn folded(name: &str) -> String {
    name.to_lowercase().replace('_', "-")
}

#[test]
fn a_model_answers_to_its_published_name_with_and_without_the_publisher() {
    assert!(aliases(skill("bert-base")).contains(&"bert-base-uncased"));
    for name in ["google/vit-base-patch16-224", "vit-base-patch16-224"] {
        assert!(aliases(skill("vit-base")).contains(&name), "{name}");
    }
    assert!(aliases(skill("resnet-50")).contains(&"microsoft/resnet-50"));
}

#[test]
fn no_two_skills_answer_to_one_name() {
    let mut seen = HashSet::new();
    for name in all().iter().flat_map(|skill| [skill.id.as_str()].into_iter().chain(aliases(skill))) {
        assert!(seen.insert(folded(name)), "{name} is used twice");
    }
}

#[test]
fn records_are_in_order_so_that_each_is_found() {
    assert!(all().is_sorted_by(|one, other| one.id < other.id));
}

#[test]
fn a_manifest_holds_its_whole_description() {
    for skill in all() {
        let description: Value = serde_json::from_str(&skill.description()).unwrap();
        let manifest: Value = serde_json::from_str(&skill.manifest()).unwrap();
        for (key, value) in description.as_object().unwrap() {
            assert_eq!(&manifest[key], value, "{} of {}", key, skill.id);
        }
        assert!(!manifest["parts"].as_array().unwrap().is_empty(), "{}", skill.id);
    }
}

#[test]
fn each_name_in_a_dimension_is_an_axis() {
    for skill in all() {
        let axes = skill.told["axes"].as_object().unwrap();
        let description = skill.described();
        let inputs = description["inputs"].as_array().unwrap();
        for name in inputs.iter().flat_map(|input| input["dims"].as_array().unwrap()).filter_map(Value::as_str) {
            for word in name.split(['+', '*']).filter(|word| word.parse::<u64>().is_err()) {
                assert!(axes.contains_key(word), "{word} of {}", skill.id);
            }
        }
    }
}

#[test]
fn the_content_differs_between_skills() {
    let contents: HashSet<String> = all().iter().map(Skill::content).collect();
    assert_eq!(contents.len(), all().len());
}

#[test]
fn an_expression_gets_other_names_by_whole_words() {
    let axes = BTreeMap::from([("sequence".to_string(), "prompt".to_string())]);
    assert_eq!(renamed("past+sequence", &axes), "past+prompt");
    assert_eq!(renamed("Min(128, sequence)*2", &axes), "Min(128, prompt)*2");
    assert_eq!(renamed("encoder_sequence", &axes), "encoder_sequence");
}

#[test]
fn the_hash_is_sha256() {
    assert_eq!(sha256(&[b"a", b"bc"]), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}
