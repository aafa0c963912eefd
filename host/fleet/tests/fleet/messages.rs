//! The messages that parts of a fleet send each other, and the schema in the documents.

use crate::world::{Keys, World, environment};
use serde_json::{Value, json};
use skillbench_fleet::agent::Word;
use skillbench_fleet::courier::{Courier, Table, all_stored};
use skillbench_fleet::schema::message_schema;
use skillbench_fleet::{form, names};
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

#[test]
fn every_message_that_is_sent_is_one_of_the_schema() {
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
