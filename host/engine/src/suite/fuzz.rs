//! Suites that nobody wrote by hand.

use super::{Format, left_undone, parse, to_request};
use crate::schedule::When;
use std::path::Path;

fn suite(target: &str, format: Format, name: &str) {
    skillbench_fuzz::fuzz(target, |bytes| match parse(&String::from_utf8_lossy(bytes), Path::new(name)) {
        Ok(suite) => {
            let text = suite.to_text(format).expect("a suite can be written");
            let again = parse(&text, Path::new(name));
            assert!(again.as_ref() == Ok(&suite), "a suite is read as it is written: {again:?}\n{text}");
            drop((to_request(&suite), left_undone(&suite), When::new(None, None, None, suite.schedule.as_ref())));
            true
        }
        Err(error) => {
            drop(error.to_string());
            false
        }
    });
}

#[test]
fn suite_json() {
    suite("suite-json", Format::Json, "suite.json");
}

#[test]
fn suite_toml() {
    suite("suite-toml", Format::Toml, "suite.toml");
}
