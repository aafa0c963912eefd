//! Plugins that have to be refused, each with a message that says what is wrong.

use crate::compile::{c_library, fixtures, include};
use crate::loading::{load, table};
use skillbench_plugin_api::{Code, Error};
use std::path::PathBuf;

/// Builds one of the broken descriptors.
fn build(folder: &tempfile::TempDir, name: &str, flags: &[&str]) -> PathBuf {
    let include = include();
    let mut all = vec!["-Werror", "-I", include.to_str().unwrap()];
    all.extend(flags);
    c_library(folder.path(), name, &all, &[fixtures().join(format!("broken/{name}.c"))])
}

fn refused(name: &str, flags: &[&str]) -> Error {
    let folder = tempfile::tempdir().unwrap();
    let error = load(&build(&folder, name, flags)).err().expect("the plugin is refused");
    assert_eq!(error.code, Code::InvalidArgument);
    error
}

#[test]
fn another_abi_major_is_refused_naming_both() {
    let message = refused("wrong_major", &[]).message;
    assert!(message.contains("ABI major 99") && message.contains("speaks 1"), "{message}");
}

#[test]
fn a_library_without_the_symbol_is_no_plugin() {
    let folder = tempfile::tempdir().unwrap();
    assert!(table(&build(&folder, "no_symbol", &[])).is_none());
}

#[test]
fn a_table_that_ends_before_its_factory_is_refused() {
    let message = refused("short_table", &[]).message;
    assert!(message.contains("too few to reach its factory"), "{message}");
}

#[test]
fn a_backend_that_ends_before_its_slots_is_refused_naming_one() {
    let folder = tempfile::tempdir().unwrap();
    let plugin = load(&build(&folder, "short_table", &["-DSHORT_BACKEND"])).unwrap();
    let error = plugin.backend().err().expect("the backend is refused");
    assert_eq!(error.code, Code::InvalidArgument);
    assert!(error.message.contains("24 bytes and no `open`"), "{error}");
}

#[test]
fn a_plugin_whose_factory_is_null_is_refused() {
    let message = refused("null_factory", &[]).message;
    assert!(message.contains("factory of skillbench_plugin is NULL"), "{message}");
}

#[test]
fn a_factory_that_knows_nothing_offers_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let plugin = load(&build(&folder, "null_factory", &["-DKNOWS_NOTHING"])).unwrap();
    assert!(plugin.backend().unwrap().is_none() && plugin.skillset().unwrap().is_none());
    assert!(plugin.benchmarks().unwrap().is_empty());
}

#[test]
fn an_id_in_the_wrong_form_is_refused() {
    let message = refused("bad_id", &[]).message;
    assert!(message.contains("'Bad Id!'") && message.contains("a-z"), "{message}");
    refused("bad_id", &["-DNO_ID"]);
}

/// A library that lost the end of its segments is not tried here: it ends the process that opens it, which is why the host
/// opens libraries in a worker.
#[test]
fn a_text_file_and_the_head_of_a_library_do_not_open() {
    let folder = tempfile::tempdir().unwrap();
    let whole = std::fs::read(build(&folder, "wrong_major", &[])).unwrap();
    for (name, bytes) in [("text", &b"not a library\n"[..]), ("head", &whole[..40]), ("empty", b"")] {
        let path = folder.path().join(crate::compile::library_name(name));
        std::fs::write(&path, bytes).unwrap();
        // SAFETY: it does not open, so that nothing of it runs.
        assert!(unsafe { libloading::Library::new(&path) }.is_err(), "{name}");
    }
}
