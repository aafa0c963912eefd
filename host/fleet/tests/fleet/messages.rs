//! The messages that parts of a fleet send each other, and the schema in the documents.

use crate::world::{Keys, World, environment};
use serde_json::{Value, json};
use skillbench_fleet::agent::Word;
use skillbench_fleet::courier::{Courier, Table, all_stored};
use skillbench_fleet::schema::message_schema;
use skillbench_fleet::{form, names};
use std::collections::BTreeSet;
use std::path::Path;

/// With BLESS=1 in the environment the file is written anew.
#[test]
fn the_schema_in_the_docs_is_made_from_the_types() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/fleet.schema.json");
    let made = serde_json::to_string_pretty(&message_schema()).unwrap() + "\n";
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&file, &made).unwrap();
    }
    let kept = std::fs::read_to_string(&file).unwrap();
    assert!(
        kept == made,
        "docs/fleet.schema.json is out of date: BLESS=1 cargo test --release --workspace --locked --test fleet"
    );
}

/// The text inside a seal.
fn unsealed(body: &[u8]) -> Value {
    let sealed: Value = serde_json::from_slice(body).unwrap();
    serde_json::from_str(sealed["body"].as_str().unwrap()).unwrap()
}

/// The messages of a submission that two machines measure, and the signs of life that they give meanwhile.
fn sent() -> (Vec<Value>, Vec<Value>) {
    let keys = Keys::new();
    let world = World::new(&keys);
    world.submit().unwrap();
    let job = world.courier.next_job("h1", std::time::Duration::ZERO).unwrap().unwrap();
    let mut messages = vec![unsealed(&job.body)];
    world.revive();
    let mut signs: Vec<Value> = vec![];
    let mut look = |_: Word<'_>| {
        let keys = world.courier.keys(Table::Agents).unwrap().into_iter();
        let found = keys.filter_map(|key| world.courier.read(Table::Agents, &key).unwrap());
        signs.extend(found.map(|entry| serde_json::from_slice::<Value>(&entry.body).unwrap()));
    };
    world.agent_that(0, environment(), &mut look).unwrap();
    world.agent(1).unwrap();
    messages
        .extend(all_stored(&world.courier, names::SUBMISSIONS).unwrap().iter().map(|message| unsealed(&message.body)));
    for key in world.courier.keys(Table::Machines).unwrap() {
        let announced = world.courier.read(Table::Machines, &key).unwrap().unwrap().body;
        messages.push(unsealed(&announced));
    }
    (messages, signs)
}

/// Reads a message as the form that it says it has.
fn is_read(message: &Value) -> bool {
    let text = message.to_string();
    match message["schema"].as_str().unwrap() {
        form::SUBMISSION => form::read::<form::Submission>(form::SUBMISSION, &text).is_ok(),
        form::JOB => form::read::<form::Job>(form::JOB, &text).is_ok(),
        form::OUTCOME => form::read::<form::Outcome>(form::OUTCOME, &text).is_ok(),
        form::LOT_END => form::read::<form::LotEnd>(form::LOT_END, &text).is_ok(),
        form::MACHINE => form::read::<form::Machine>(form::MACHINE, &text).is_ok(),
        other => panic!("{other} is none of the forms"),
    }
}

/// The places of all objects in a message: "/runs/*/environment".
fn objects(value: &Value, place: &str, found: &mut Vec<(String, String)>, pointer: &str) {
    match value {
        Value::Object(fields) => {
            found.push((place.into(), pointer.into()));
            for (name, field) in fields {
                objects(field, &format!("{place}/{name}"), found, &format!("{pointer}/{name}"));
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                objects(item, &format!("{place}/*"), found, &format!("{pointer}/{index}"));
            }
        }
        _ => {}
    }
}

#[test]
fn a_field_that_a_later_host_adds_anywhere_in_a_message_is_passed_over() {
    let mut refused = BTreeSet::new();
    for message in sent().0 {
        let mut places = vec![];
        objects(&message, "", &mut places, "");
        for (place, pointer) in places {
            let mut later = message.clone();
            later.pointer_mut(&pointer).unwrap()["of_tomorrow"] = json!(1);
            if !is_read(&later) {
                refused.insert(place);
            }
        }
    }
    // What is listed by name, with values of one kind.
    let maps =
        ["chosen", "labels", "offers", "models", "names", "options", "plugin_sha256", "plugins", "runtime_sha256"];
    refused.retain(|place| place.rsplit('/').next().is_none_or(|name| !maps.contains(&name)));
    assert_eq!(refused.iter().map(String::as_str).collect::<Vec<_>>(), [""; 0]);
}

/// With BLESS=1 the messages of a version that has none yet are written; those of versions before stay as they were sent.
#[test]
fn messages_of_earlier_versions_are_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fleet/recorded");
    let own = folder.join(concat!(env!("CARGO_PKG_VERSION"), ".json"));
    if std::env::var_os("BLESS").is_some() && !own.exists() {
        std::fs::write(&own, serde_json::to_string_pretty(&sent().0).unwrap() + "\n").unwrap();
    }
    let mut forms = BTreeSet::new();
    for file in std::fs::read_dir(&folder).unwrap() {
        let file = file.unwrap().path();
        let messages: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
        for message in messages {
            assert!(is_read(&message), "{}: {message:#}", file.display());
            forms.insert(message["schema"].as_str().unwrap().to_string());
        }
    }
    assert_eq!(forms.len(), 5, "{forms:?}");
}

#[test]
fn every_message_that_is_sent_is_one_of_the_schema() {
    let (messages, signs) = sent();
    let schema = jsonschema::validator_for(&message_schema()).unwrap();
    assert!(signs.iter().any(|sign| sign["doing"]["is"] == "measuring"), "{signs:#?}");
    assert!(signs.iter().all(|sign| schema.is_valid(sign)), "{signs:#?}");
    let mut forms: Vec<String> = vec![];
    for message in &messages {
        let wrong: Vec<String> = schema.iter_errors(message).map(|error| error.to_string()).collect();
        assert_eq!(wrong, [""; 0], "{message:#}");
        forms.push(message["schema"].as_str().unwrap().into());
        // Another form is none of these, and neither is one that lacks what it is about.
        for field in ["schema", "submission", "id", "session", "runs"] {
            let mut other = message.clone();
            if other.as_object_mut().unwrap().remove(field).is_some() {
                assert!(!schema.is_valid(&other), "without {field}: {other:#}");
            }
        }
        let mut later = message.clone();
        later["schema"] = json!("skillbench.of-tomorrow/1");
        assert!(!schema.is_valid(&later), "{later:#}");
        let mut more = message.clone();
        more["of_tomorrow"] = json!(1);
        assert!(schema.is_valid(&more), "a reader passes over what it does not know");
    }
    forms.sort();
    forms.dedup();
    let mut all = [form::SUBMISSION, form::JOB, form::OUTCOME, form::LOT_END, form::MACHINE];
    all.sort_unstable();
    assert_eq!(forms, all);
}
