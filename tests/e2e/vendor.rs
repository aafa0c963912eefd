//! A plugin of one's own: written by `plugin new`, built with nothing of this workspace but the header or the SDK, dropped into a
//! search path, listed, checked and measured, with no rebuild of the host.

use skillbench_tests::{World, build_folder, outcomes, workspace};
use std::path::Path;
use std::process::Command;

#[track_caller]
fn done(command: &mut Command) {
    let output = command.output().expect("it can be started");
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Drops a library into a search path and uses it.
fn use_it(world: &World, library: &Path, id: &str) {
    let folder = world.path().join("plugins");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::copy(library, folder.join(library.file_name().unwrap())).unwrap();
    let search = ["--search-path", "plugins"];
    world.host(&[&["plugin", "list"][..], &search].concat()).exits_with(0).tells(id);
    world.host(&[&["plugin", "check", id][..], &search].concat()).exits_with(0).tells("0 broken, 0 not checked");
    let (ran, document) =
        world.run(&[&["--plugin", id, "--model", "probe-mlp", "--batch-sizes", "1,8"][..], &search].concat());
    ran.exits_with(0);
    assert_eq!(outcomes(&document), ["measured"; 6]);
    assert_eq!(document["cells"][0]["verification"]["reference"], "rten 0.1.0", "held against another engine");

    let (ran, document) = world.run(
        &[
            &[
                "--plugin",
                id,
                "--model",
                "bert-tiny",
                "--bench",
                "inference",
                "--batch-sizes",
                "1",
                "--sequence-lengths",
                "8",
            ][..],
            &search,
        ]
        .concat(),
    );
    ran.exits_with(4);
    assert_eq!(outcomes(&document), ["unsupported"], "what it cannot run it says");
}

#[test]
fn a_plugin_in_c_is_built_with_the_header_alone_checked_and_measured() {
    let world = World::default();
    world.host(&["plugin", "new", "acme-c", "--lang", "c"]).exits_with(0);
    let folder = world.path().join("acme-c");
    done(Command::new("make").current_dir(&folder));
    use_it(&world, &folder.join("libacme-c.so"), "acme-c");
}

#[test]
fn a_plugin_in_rust_is_built_outside_the_workspace_checked_and_measured() {
    let world = World::default();
    world.host(&["plugin", "new", "acme-rust"]).exits_with(0);
    let folder = world.path().join("acme-rust");
    // The versions of this workspace, so that nothing has to be fetched for the test; a folder of its own that is kept between runs.
    std::fs::copy(workspace().join("Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    let target = build_folder().join("vendor-test");
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--release", "--offline", "--quiet"]).env("CARGO_TARGET_DIR", &target);
    done(cargo.current_dir(&folder));
    use_it(&world, &target.join("release/libacme_rust.so"), "acme-rust");
}

#[test]
fn a_name_that_cannot_be_an_id_is_refused_and_nothing_is_overwritten() {
    let world = World::default();
    world.host(&["plugin", "new", "Not_an_id"]).exits_with(2).tells("a-z, 0-9 and '-'");
    world.host(&["plugin", "new", "twice", "--lang", "c"]).exits_with(0);
    world.host(&["plugin", "new", "twice", "--lang", "c"]).exits_with(2).tells("is there already");
}
