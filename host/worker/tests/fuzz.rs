//! What a worker that a plugin took over may send, and what a plugin may say of its options. A process of its own: tests of the
//! crate itself measure what theirs computes.

use serde::{Serialize, de::DeserializeOwned};
use skillbench_record::PluginOptions;
use skillbench_worker::{Command, Event, Frames, options};

/// Takes all messages of a channel whose bytes come in pieces. Whether any was one.
fn take_all<T: DeserializeOwned + Serialize>(bytes: &[u8]) -> bool {
    let mut frames = Frames::default();
    let mut whole = false;
    for piece in bytes.chunks(1000) {
        frames.push(piece);
        loop {
            match frames.take::<T>() {
                Ok(Some(message)) => {
                    whole = true;
                    drop(serde_json::to_vec(&message).expect("a message can be written"));
                }
                Ok(None) => break,
                // The host ends such a worker.
                Err(_) => return whole,
            }
        }
    }
    whole
}

#[test]
fn frames_of_events() {
    skillbench_fuzz::fuzz("frames-of-events", take_all::<Event>);
}

#[test]
fn frames_of_commands() {
    skillbench_fuzz::fuzz("frames-of-commands", take_all::<Command>);
}

#[test]
fn message() {
    skillbench_fuzz::fuzz("message", |bytes| {
        let (event, command) = (serde_json::from_slice::<Event>(bytes), serde_json::from_slice::<Command>(bytes));
        event.is_ok() || command.is_ok()
    });
}

#[test]
fn options_schema() {
    skillbench_fuzz::fuzz("options-schema", |bytes| {
        let text = String::from_utf8_lossy(bytes);
        // The schema; then options, one on a line, behind a line of its own.
        let (schema, given) = text.split_once("\n---\n").unwrap_or((&text, ""));
        let given: PluginOptions = given
            .lines()
            .filter_map(|line| line.split_once('='))
            .map(|(key, value)| (key.into(), value.into()))
            .collect();
        let of_key = options::of_key(&given, schema);
        assert!(of_key.len() <= given.len());
        options::check(&given, schema, "a plugin").is_ok()
    });
}
