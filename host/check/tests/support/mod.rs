//! What the tests of this program share: the program itself, and a plugin in C that keeps no house.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

pub struct Ran {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

/// Runs the program, with UNCLEAN as given.
pub fn check(kind: &str, arguments: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_skillbench-check"));
    let Output { status, stdout, stderr } =
        command.args(arguments).env("UNCLEAN", kind).env("SKILLBENCH_PASS_ENV", "UNCLEAN").output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ran { code: status.code().unwrap(), stdout: text(stdout), stderr: text(stderr) }
}

/// The verdicts of rules as (id, verdict, how).
#[allow(dead_code, reason = "not every test file asks for all of this")]
pub fn verdicts(kind: &str, more: &[&str]) -> (i32, Vec<(String, String, String)>) {
    let library = unclean();
    let ran = check(kind, &[&[library.to_str().unwrap(), "--format", "json"], more].concat());
    let document: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{}{}", ran.stdout, ran.stderr));
    let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
    let rules = document["rules"].as_array().unwrap();
    (ran.code, rules.iter().map(|rule| (text(&rule["id"]), text(&rule["verdict"]), text(&rule["how"]))).collect())
}

static BUILT: LazyLock<(tempfile::TempDir, PathBuf)> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = tempfile::tempdir().unwrap();
    let template = std::fs::read_to_string(root.join("host/kit/templates/c/backend/plugin.c")).unwrap();
    std::fs::write(folder.path().join("clean.c"), template.replace("@NAME@", "clean")).unwrap();
    let library = folder.path().join("libunclean.so");
    let built = Command::new("cc")
        .args(["-O2", "-std=gnu11", "-fPIC", "-shared", "-o"])
        .arg(&library)
        .arg(root.join("tests/fixtures/unclean/unclean.c"))
        .arg("-I")
        .arg(root.join("plugin-api/include"))
        .arg("-I")
        .arg(root.join("host/kit/include"))
        .arg("-I")
        .arg(folder.path())
        .args(["-lpthread", "-lm"])
        .output()
        .expect("a C compiler, called cc");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    (folder, library)
});

/// The library of the plugin, built once.
pub fn unclean() -> &'static Path {
    &BUILT.1
}
