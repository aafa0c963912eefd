//! What is printed and written, and with which code the program ends.

mod support;

use serde_json::Value;
use std::path::Path;
use support::{check, unclean};

fn library() -> &'static str {
    unclean().to_str().unwrap()
}

#[test]
fn rules_are_listed_and_chosen_by_id_and_by_number() {
    let listed = check("", &["--list"]);
    assert_eq!(listed.code, 0);
    assert!(listed.stdout.contains("slots-quick"), "{}", listed.stdout);
    let chosen = check("", &[library(), "--rules", "described,79"]);
    assert_eq!((chosen.code, chosen.stdout.lines().count()), (0, 3), "{}{}", chosen.stdout, chosen.stderr);
    let slip = check("", &[library(), "--rules", "slot-quick"]);
    assert_eq!(slip.code, 2);
    assert!(slip.stderr.contains("did you mean slots-quick?"), "{}", slip.stderr);
}

#[test]
fn what_is_no_plugin_is_broken_and_what_is_no_file_is_a_slip() {
    let none = check("", &["no-such.so"]);
    assert_eq!(none.code, 2);
    assert!(none.stderr.contains("give the path of a library"), "{}", none.stderr);
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("text.so");
    std::fs::write(&text, "no library").unwrap();
    let told = check("", &[text.to_str().unwrap()]);
    assert_eq!(told.code, 1);
    assert!(told.stderr.contains("not a shared library"), "{}", told.stderr);
    let option = check("", &[library(), "--option", "speed=9"]);
    assert_eq!(option.code, 2);
    assert!(option.stderr.contains("has no option 'speed'"), "{}", option.stderr);
    let others = check("", &[library(), "--option", "other:speed=9"]);
    assert_eq!(others.code, 2);
    assert!(others.stderr.contains("is for 'other'"), "{}", others.stderr);
}

#[test]
fn verdicts_are_written_as_json_and_junit_beside_what_is_printed() {
    let folder = tempfile::tempdir().unwrap();
    let (json, junit) = (folder.path().join("a.json"), folder.path().join("a.xml"));
    let files = ["--json", json.to_str().unwrap(), "--junit", junit.to_str().unwrap()];
    let told = check("slow", &[&[library(), "--rules", "described,slots-quick"], &files[..]].concat());
    assert_eq!(told.code, 1);
    assert!(told.stdout.contains("BROKEN") && told.stderr.contains("1 rules kept, 1 broken, 0 not checked"));
    let document: Value = serde_json::from_str(&std::fs::read_to_string(&json).unwrap()).unwrap();
    assert_eq!((&document["broken"], &document["library"]["id"]), (&1.into(), &"unclean".into()));
    assert_eq!(document["library"]["sha256"].as_str().unwrap().len(), 64);
    let xml = std::fs::read_to_string(&junit).unwrap();
    assert!(
        xml.contains("tests=\"2\" failures=\"1\"") && xml.contains("<failure message=\"`placement` takes"),
        "{xml}"
    );
    let printed = check("", &[library(), "--rules", "described", "--format", "junit"]);
    assert!(printed.stdout.starts_with("<?xml version=\"1.0\""), "{}", printed.stdout);
}

/// Signs a report, and returns where it lies, with the public key.
fn signed(folder: &Path) -> (String, String) {
    let path = |name: &str| folder.join(name).to_str().unwrap().to_string();
    let (key, report) = (path("key"), path("report.json"));
    let made = check("", &["keygen", &key]);
    assert_eq!(made.code, 0, "{}", made.stderr);
    assert_ne!(check("", &["keygen", &key]).code, 0, "a key that is there stays");
    let told = check("", &[library(), "--rules", "described", "--report", &report, "--sign", &key]);
    assert_eq!(told.code, 0, "{}", told.stderr);
    (report, path("key.pub"))
}

#[test]
fn a_signed_report_is_verified_and_one_that_was_changed_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let (report, public) = signed(folder.path());
    let verify = |more: &[&str]| check("", &[&["verify", &report, "--key", &public], more].concat());
    assert_eq!(verify(&["--library", library()]).code, 0, "{}", verify(&[]).stderr);
    let other = folder.path().join("other.so");
    std::fs::write(&other, "another one").unwrap();
    let told = verify(&["--library", other.to_str().unwrap()]);
    assert_eq!(told.code, 1);
    assert!(told.stderr.contains("the report is about another library"), "{}", told.stderr);
    let other_key = tempfile::tempdir().unwrap();
    let (_, stranger) = signed(other_key.path());
    let told = check("", &["verify", &report, "--key", &stranger]);
    assert_eq!(told.code, 1, "{}", told.stderr);
    let text = std::fs::read_to_string(&report).unwrap();
    std::fs::write(&report, text.replace("\"broken\": 0", "\"broken\": 7")).unwrap();
    let told = verify(&[]);
    assert_eq!(told.code, 1);
    assert!(told.stderr.contains("do not believe it"), "{}", told.stderr);
}

#[test]
fn a_report_has_the_totals_of_the_ladder_where_it_was_climbed() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report.json");
    let told = check("", &[library(), "--rules", "right", "--ladder", "--report", report.to_str().unwrap()]);
    assert_eq!(told.code, 0, "{}", told.stderr);
    let document: Value = serde_json::from_str(&std::fs::read_to_string(&report).unwrap()).unwrap();
    let ladder = &document["ladder"];
    let count = |of: &str| ladder[of].as_u64().unwrap();
    assert_eq!(count("cases"), count("right") + count("refused") + count("wrong") + count("crashed"));
    assert!(count("operators") > 120 && ladder["models"]["known"].as_u64().unwrap() > 300, "{ladder:#}");
    assert_eq!(document["contract"].as_str().unwrap().split('.').count(), 2);
}

#[test]
fn minisign_itself_verifies_a_report() {
    let folder = tempfile::tempdir().unwrap();
    let (report, public) = signed(folder.path());
    match std::process::Command::new("minisign").args(["-V", "-m", &report, "-p", &public]).output() {
        Ok(output) => assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr)),
        Err(error) => eprintln!("not tried, there is no minisign here: {error}"),
    }
}

/// The program writes no checksum into a key without a password.
#[test]
fn a_key_that_minisign_itself_made_without_a_password_signs_a_report() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (key, public, report) = (path("key"), path("key.pub"), path("report.json"));
    assert_eq!(check("", &["keygen", &key]).code, 0);
    let text = std::fs::read_to_string(&key).unwrap();
    let mut lines = text.lines();
    let (comment, line) = (lines.next().unwrap(), lines.next().unwrap());
    // 126 bytes, and 32 of a checksum, in Base64.
    let bare = format!("{comment}\n{}{}=\n", &line[..168], "A".repeat(43));
    std::fs::write(&key, bare).unwrap();
    let told = check("", &[library(), "--rules", "described", "--report", &report, "--sign", &key]);
    assert_eq!(told.code, 0, "{}", told.stderr);
    assert_eq!(check("", &["verify", &report, "--key", &public]).code, 0);
}

#[test]
fn one_operator_of_the_ladder_is_told_apart_from_one_that_is_not_built() {
    let told = check("", &["ladder", library(), "--operators", "Relu,Conv"]);
    assert_eq!(told.code, 0, "{}", told.stderr);
    let counts = |name: &str| {
        let line = told.stdout.lines().find(|line| line.starts_with(name)).unwrap_or_default();
        line.split_whitespace().skip(1).take(5).map(|count| count.parse().unwrap()).collect::<Vec<u32>>()
    };
    // Cases, right, wrong, refused, crashed.
    let (built, not_built) = (counts("Relu"), counts("Conv"));
    assert!(built[1] > 0 && built[2] == 0 && built[4] == 0, "{}", told.stdout);
    assert_eq!((not_built[1], not_built[3]), (0, not_built[0]), "{}", told.stdout);
    assert!(told.stderr.contains("cases right, 0 wrong"), "{}", told.stderr);
    let slip = check("", &["ladder", library(), "--operators", "Convv"]);
    assert_eq!(slip.code, 2);
}
