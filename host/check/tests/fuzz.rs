//! Random use finds what no rule asks for, says which seed shows it again, and finds nothing in a plugin that is right.

mod support;

use serde_json::Value;
use support::{check, unclean};

/// The code, and what was found.
fn hunt(kind: &str, more: &[&str]) -> (i32, Vec<Value>) {
    let ran = check(kind, &[&["fuzz", unclean().to_str().unwrap(), "--format", "json"], more].concat());
    let document: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{}{}", ran.stdout, ran.stderr));
    (ran.code, document["found"].as_array().unwrap().clone())
}

/// Finds a fault, and finds it again with the seeds that are told.
fn finds(kind: &str, runs: &str, fault: &str, says: &str) {
    let (code, found) = hunt(kind, &["--runs", runs, "--limit", "2"]);
    assert_eq!(code, 1, "{kind}");
    let one = found.iter().find(|one| one["fault"] == fault).unwrap_or_else(|| panic!("{kind}: {found:#?}"));
    assert!(one["text"].as_str().unwrap().contains(says), "{one:#}");
    assert_eq!(one["repeats"], true, "{one:#}");
    let number = |of: &str| one["again"][of].to_string();
    let (code, again) = hunt(kind, &["--seed", &number("seed"), "--runs", &number("runs"), "--limit", "2"]);
    assert_eq!((code, &again[0]["seed"]), (1, &one["seed"]));
}

#[test]
fn a_plugin_that_is_right_survives_random_use() {
    assert_eq!(hunt("", &["--runs", "300"]), (0, vec![]));
}

#[test]
fn a_crash_of_an_odd_load_is_found_and_its_seed_shows_it_again() {
    finds("odd-load", "150", "crashed", "SIGABRT (abort) during `load`");
}

#[test]
fn a_hang_is_found_and_its_seed_shows_it_again() {
    finds("odd-hang", "30", "hung", "no end after 2.0 s of `load`");
}

#[test]
fn memory_that_is_written_out_of_bounds_is_found_and_its_seed_shows_it_again() {
    finds("overrun", "150", "wrote out of bounds", "beside the memory that is bound to Output 0");
}
