//! Plugins and hosts in Rust on the SDK of another minor: the one before, as it was released, and one that is to come.
//!
//! For C see `growth` (older and newer headers) and `header` (those that were released).

use crate::backends::keeps_the_rules;
use crate::compile::{cargo_program, include, repository, rust_plugin, rust_template};
use crate::loading::{backend, floats, host, load};
use crate::model::probe;
use skillbench_plugin_api::{Dim, Direction, Load, Options, Source};
use std::path::{Path, PathBuf};
use std::process::Command;

fn released(minor: &str) -> PathBuf {
    include().parent().unwrap().join("released").join(minor)
}

/// A crate of what the SDK will be: structs have grown, a table has a slot more, and the minor is the next.
fn next_sdk(folder: &Path) -> PathBuf {
    let sdk = folder.join("next-sdk");
    let copied =
        Command::new("cp").arg("-R").arg(include().parent().unwrap().join("src")).arg(folder).status().unwrap();
    assert!(copied.success());
    std::fs::create_dir_all(sdk.join("include")).unwrap();
    std::fs::rename(folder.join("src"), sdk.join("src")).unwrap();
    std::fs::copy(include().join("skillbench.h"), sdk.join("include/skillbench.h")).unwrap();
    let manifest = std::fs::read_to_string(repository().join("host/kit/sdk/Cargo.toml.in")).unwrap();
    std::fs::write(sdk.join("Cargo.toml"), manifest.replace("@VERSION@", "0.2.0")).unwrap();
    let edit = |file: &str, changes: &[(&str, &str)]| {
        let path = sdk.join("src").join(file);
        let mut text = std::fs::read_to_string(&path).unwrap();
        for (from, to) in changes {
            assert_eq!(text.matches(from).count(), 1, "'{from}' is there once in {file}");
            text = text.replace(from, to);
        }
        std::fs::write(path, text).unwrap();
    };
    edit(
        "raw.rs",
        &[
            ("SB_ABI_MINOR: u32 = 1;", "SB_ABI_MINOR: u32 = 2;"),
            ("engine: [c_char; 128],\n", "engine: [c_char; 128], newer: u64,\n"),
            ("device_to_host_ns: u64,\n", "device_to_host_ns: u64, newer: u64,\n"),
            (
                "        extension: slot!(fn(*mut sb_instance, *const c_char) -> *const c_void),\n",
                "        extension: slot!(fn(*mut sb_instance, *const c_char) -> *const c_void),\n        newer: slot!(fn(*mut sb_instance)),\n",
            ),
        ],
    );
    edit(
        "sdk/backend_table.rs",
        &[(
            "        extension: Some(extensions::extension::<B>),\n",
            "        extension: Some(extensions::extension::<B>),\n        newer: None,\n",
        )],
    );
    sdk
}

#[test]
fn a_plugin_in_rust_on_the_released_sdk_keeps_every_rule() {
    let folder = tempfile::tempdir().unwrap();
    let sdk = released("1.0");
    let library = rust_plugin(folder.path(), "of-1-0", &sdk.join("backend.rs"), &sdk);
    assert_eq!(load(&library).unwrap().contract(), (1, 0));
    keeps_the_rules(&library);
}

#[test]
fn a_plugin_in_rust_on_a_later_sdk_keeps_every_rule() {
    let folder = tempfile::tempdir().unwrap();
    let sdk = next_sdk(folder.path());
    let source = repository().join("host/kit/templates/rust/backend/lib.rs");
    let library = rust_plugin(folder.path(), "of-1-2", &source, &sdk);
    assert_eq!(load(&library).unwrap().contract(), (1, 2));
    keeps_the_rules(&library);
}

/// `x` as the host of 1.0 makes it, and what this host reads of the same library.
fn own_run(library: &Path) -> Vec<f32> {
    let instance = backend(library).open(host(), &Options::default()).unwrap();
    let load = Load { dims: vec![Dim::fixed("batch", 2)], ..Load::new(Source::onnx(&probe())) };
    let model = instance.load(&load).unwrap();
    let mut request = model.request().unwrap();
    let x: Vec<f32> = (0..128).map(|index| index as f32 / 128.0).collect();
    request.bind(Direction::Input, 0, floats(&[2, 64], &x)).unwrap();
    request.run().unwrap();
    request.take_output(0).unwrap().as_slice().unwrap().to_vec()
}

#[test]
fn a_plugin_of_today_and_one_to_come_run_under_the_host_of_the_minor_before() {
    let folder = tempfile::tempdir().unwrap();
    let sub = |name: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir(&path).unwrap();
        path
    };
    let sdk = released("1.0");
    let old_host = cargo_program(&sub("host"), "host-of-1-0", &sdk.join("host.rs"), &sdk);
    let today = rust_template(&sub("today"));
    let source = repository().join("host/kit/templates/rust/backend/lib.rs");
    let to_come = rust_plugin(&sub("to-come"), "of-1-2", &source, &next_sdk(folder.path()));
    for library in [today, to_come] {
        let ran = Command::new(&old_host).arg(&library).arg(probe()).arg("128").output().unwrap();
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        let told = String::from_utf8(ran.stdout).unwrap();
        let outputs: Vec<f32> = told.lines().map(|line| line.parse().unwrap()).collect();
        assert_eq!(outputs, own_run(&library));
    }
}
