//! The second entry: the `abi_stable` root module of a library.

use crate::compile::{c_template, cargo_library, install_c_template};
use crate::loading::table;
use abi_stable::library::{LibraryError, lib_header_from_path};
use skillbench_plugin_api::entry::{RootRef, short_error};
use skillbench_plugin_api::raw::{SB_ABI_MAJOR, sb_plugin};
use std::path::Path;

fn open(path: &Path) -> Result<RootRef, LibraryError> {
    lib_header_from_path(path)?.init_root_module::<RootRef>()
}

#[test]
fn a_plugin_of_the_sdk_opens_to_the_table_that_it_exports() {
    let library = cargo_library("skillbench-fixture-misbehave");
    let root = open(&library).unwrap_or_else(|error| panic!("{}", short_error(&error)));
    assert_eq!(root.abi_major(), SB_ABI_MAJOR);
    let through_the_door: *const sb_plugin = root.table().as_ptr().cast();
    assert_eq!(through_the_door, table(&library).unwrap());
}

#[test]
fn a_foreign_root_is_refused_in_a_few_words_though_its_table_looks_right() {
    let library = cargo_library("skillbench-fixture-foreign-root");
    assert!(crate::loading::load(&library).is_ok());
    let error = open(&library).err().expect("the root is refused");
    assert!(matches!(error, LibraryError::AbiInstability(_)));
    let short = short_error(&error);
    assert!(!short.is_empty() && short.len() < 320 && !short.contains('\n'), "{short}");
    assert!(error.to_string().len() > short.len());
    println!("{short}");
}

#[test]
fn a_plugin_in_c_has_no_second_door() {
    let folder = tempfile::tempdir().unwrap();
    install_c_template(folder.path(), |_, text| text);
    let error = open(&c_template(folder.path())).err().expect("there is no root");
    assert!(matches!(error, LibraryError::GetSymbolError { .. }));
}
