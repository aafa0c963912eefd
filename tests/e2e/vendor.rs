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
fn a_backend_in_c_is_built_with_the_header_alone_checked_and_measured() {
    let world = World::default();
    world.host(&["plugin", "new", "acme-c", "--lang", "c"]).exits_with(0).tells("make, then: host plugin check");
    let folder = world.path().join("acme-c");
    done(Command::new("make").current_dir(&folder));
    use_it(&world, &folder.join("libacme-c.so"), "acme-c");
}

#[test]
fn a_backend_in_rust_is_built_outside_the_workspace_checked_and_measured() {
    let world = World::default();
    world.host(&["plugin", "new", "acme-rust"]).exits_with(0);
    let folder = world.path().join("acme-rust");
    // A folder of its own that is kept between runs.
    let target = build_folder().join("vendor-test");
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--release", "--offline", "--quiet"]).env("CARGO_TARGET_DIR", &target);
    done(cargo.current_dir(&folder));
    use_it(&world, &target.join("release/libacme_rust.so"), "acme-rust");
}

/// Zig is no part of what the tests need: where it is here, its templates take part.
#[test]
fn every_template_of_the_kit_builds_keeps_the_rules_and_takes_part_in_a_run() {
    let world = World::default();
    world.host(&["plugin", "sdk", "kit"]).exits_with(0);
    let tried = world.shell(&format!("sh kit/try '{}'", build_folder().join("host").display()));
    let told = tried.stdout();
    tried.exits_with(0);
    for language in ["c", "cpp", "rust"] {
        for kind in ["backend", "benchmark", "skillset"] {
            let begin = format!("try-{language}-{kind}, written, built, checked (");
            let line = told.lines().find(|line| line.starts_with(&begin)).unwrap_or_else(|| panic!("{begin}: {told}"));
            assert!(line.ends_with("rules kept), measured"), "{line}");
        }
    }
}

#[test]
fn the_kit_checks_what_is_built_from_it_where_there_is_no_host() {
    let world = World::default();
    world.host(&["plugin", "sdk", "kit"]).exits_with(0);
    let tried = world.shell("sh kit/try - c");
    for kind in ["backend", "benchmark", "skillset"] {
        assert!(tried.stdout().contains(&format!("try-c-{kind}, written, built, checked\n")), "{}", tried.stdout());
    }
    tried.exits_with(0);
}

#[test]
fn a_backend_is_used_at_random_and_a_fault_is_told_with_the_seed_that_shows_it_again() {
    let world = World::default();
    let ran = world.host(&["plugin", "fuzz", "rten", "--runs", "20", "--format", "json"]);
    let told: serde_json::Value = serde_json::from_str(&ran.stdout()).unwrap();
    assert_eq!((&told["runs"], &told["found"]), (&20.into(), &serde_json::json!([])), "{told:#}");
    ran.exits_with(0);
    world.host(&["plugin", "new", "odd", "--lang", "c"]).exits_with(0);
    let source = std::fs::read_to_string(world.path().join("odd/plugin.c")).unwrap();
    let refused = "return sbh_fail(error, SB_UNIMPLEMENTED, SB_WHY_PRECISION";
    assert!(source.contains(refused));
    world.write("odd/plugin.c", source.replace(refused, &format!("abort(); {refused}")));
    world.shell("make -s -C odd").exits_with(0);
    let ran = world.host(&["plugin", "fuzz", "./odd/libodd.so", "--runs", "40"]);
    assert!(ran.stdout().contains("SIGABRT (abort) during `load`"), "{}", ran.stdout());
    assert!(ran.stdout().contains("again with: --seed"), "{}", ran.stdout());
    ran.exits_with(1);
    world.host(&["plugin", "fuzz", "zoo"]).exits_with(2).tells("is no backend");
}

/// The validator of a build that is not stripped does, for debuggers.
#[test]
fn nothing_in_the_kit_names_the_folder_that_the_host_was_built_in() {
    let world = World::default();
    world.host(&["plugin", "sdk", "kit"]).exits_with(0);
    let named = Command::new("grep")
        .args(["-rl", "--exclude=skillbench-check"])
        .arg(workspace())
        .arg(world.path().join("kit"))
        .output()
        .unwrap();
    assert_eq!((named.status.code(), String::from_utf8_lossy(&named.stdout).as_ref()), (Some(1), ""));
}

#[test]
fn a_name_that_cannot_be_an_id_is_refused_and_nothing_is_overwritten() {
    let world = World::default();
    world.host(&["plugin", "new", "Not_an_id"]).exits_with(2).tells("a-z, 0-9 and '-'");
    world.host(&["plugin", "new", "9lives"]).exits_with(2).tells("begins with a letter");
    world.host(&["plugin", "new", "twice", "--lang", "c"]).exits_with(0);
    world.host(&["plugin", "new", "twice", "--lang", "c"]).exits_with(2).tells("is there already");
    world.host(&["plugin", "sdk", "twice"]).exits_with(2).tells("is there already");
}
