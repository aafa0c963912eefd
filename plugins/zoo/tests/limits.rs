//! What building a large model takes, and what happens where that is not there. Each test has a process of its own, because
//! both are the process's.

#![cfg(target_os = "linux")]

use skillbench_plugin_api::client::Plugin;
use skillbench_plugin_api::host_tables::HostTable;
use skillbench_plugin_api::{Code, Options, Result, raw};
use skillbench_testkit::Quiet;
use skillbench_zoo as _;
use std::path::Path;
use std::process::Command;

unsafe extern "C" {
    static skillbench_plugin: raw::sb_plugin;
}

const LARGE: &str = "bert-large";
const BYTES: u64 = 1_340_000_000;

fn build(skill: &str, folder: &Path) -> Result<()> {
    // SAFETY: the table of the crate this test is linked with.
    let plugin = unsafe { Plugin::new(&raw const skillbench_plugin) }.unwrap();
    let skillset = plugin.skillset().unwrap().unwrap();
    skillset.build(HostTable::leak(&Quiet), skill, &Options::default(), folder)
}

/// Runs one of the tests below in a process of its own, after these commands of a shell.
fn apart(test: &str, before: &str) {
    let me = std::env::current_exe().unwrap();
    let command = format!("{before} exec \"$0\" --exact --ignored --nocapture {test}");
    let output = Command::new("sh").arg("-c").arg(command).arg(me).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"), "{test} was run");
}

#[test]
fn a_model_of_a_gigabyte_is_written_in_less_than_200_megabytes_of_memory() {
    apart("inner::peak", "");
}

#[test]
fn a_model_that_does_not_fit_leaves_nothing_and_says_where_and_how_much() {
    // No file above 100 MB, which is an error of the write and not the end of the process.
    apart("inner::full", "trap '' XFSZ; ulimit -f 100000;");
}

mod inner {
    use super::*;

    #[test]
    #[ignore = "the test above runs it, in a process of its own"]
    fn peak() {
        let folder = tempfile::tempdir().unwrap();
        build(LARGE, folder.path()).unwrap();
        let written = folder.path().join("model.onnx.data").metadata().unwrap().len();
        assert!(written > BYTES, "{written}");
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        let kilobytes: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
        assert!(kilobytes < 200_000, "{kilobytes} kB");
    }

    #[test]
    #[ignore = "the test above runs it, in a process of its own"]
    fn full() {
        let folder = tempfile::tempdir().unwrap();
        let error = build(LARGE, folder.path()).unwrap_err();
        assert_eq!(error.code, Code::ResourceExhausted, "{error}");
        assert!(error.message.contains(&*folder.path().to_string_lossy()), "{error}");
        assert!(error.message.contains("the model needs 13"), "{error}");
        assert_eq!(folder.path().read_dir().unwrap().count(), 0, "nothing is left");
    }
}
