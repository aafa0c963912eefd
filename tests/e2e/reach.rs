//! What a plugin may reach, and which plugins are opened at all.

use crate::workers::until;
use skillbench_tests::{Ran, World, build_folder, built_library, workspace};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A library that tries what no plugin has to do, as soon as it is opened. `name` is that of the process it leaves behind.
fn intruder(world: &World, target: &Path, name: &str) -> PathBuf {
    let library = world.path().join("libintruder.so");
    let done = Command::new("cc")
        .args(["-shared", "-fPIC"])
        .arg(format!("-DTARGET={:?}", target.to_str().unwrap()))
        .arg(format!("-DNAME={name:?}"))
        .arg("-o")
        .arg(&library)
        .arg(workspace().join("tests/fixtures/intruder/intruder.c"))
        .output()
        .expect("cc can be started");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    library
}

/// The processes of this name.
fn called(name: &str) -> usize {
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    all.filter(|one| std::fs::read_to_string(one.path().join("comm")).is_ok_and(|comm| comm.trim() == name)).count()
}

/// What a library says of itself that was opened in a sandbox of this mode; nothing that it started is left.
fn intrudes(mode: &str, name: &str, with: impl FnOnce(&mut Command)) -> (World, Ran) {
    let world = World::default();
    let library = intruder(&world, &world.path().join("written"), name);
    let mut command = world.command(&["plugin", "add", library.to_str().unwrap(), "--sandbox", mode]);
    command.env("HF_TOKEN", "secret").env("ACME_LICENSE", "key");
    with(&mut command);
    let ran = Ran::of(command);
    until("nothing of it is left", || called(name) == 0);
    (world, ran)
}

#[test]
fn a_plugin_gets_no_token_no_descriptor_and_writes_signals_and_traces_nothing_of_others() {
    let (world, ran) = intrudes("default", "intruder-a", |_| {});
    ran.tells("token=none passed=none inherited=0 write=EACCES kill=EPERM ptrace=EPERM socket=done read=done own=done");
    assert!(!world.path().join("written").exists());
}

#[test]
fn a_user_names_variables_that_go_along() {
    let (_, ran) = intrudes("default", "intruder-b", |command| {
        command.env("SKILLBENCH_PASS_ENV", "ACME_*");
    });
    ran.tells("token=none passed=key");
}

#[test]
fn what_the_caller_left_open_stays_with_the_caller() {
    let world = World::default();
    let library = intruder(&world, &world.path().join("written"), "intruder-c");
    world.write("inherited", "");
    let script = format!("exec 7<inherited; exec {:?} plugin add {:?}", build_folder().join("host"), library);
    let mut shell = Command::new("sh");
    shell.args(["-c", &script]).current_dir(world.path()).env("SKILLBENCH_CONFIG", world.path().join("config"));
    Ran::of(shell).tells("inherited=0");
}

#[test]
fn off_takes_nothing_away_and_still_leaves_no_process() {
    let (world, ran) = intrudes("off", "intruder-d", |_| {});
    ran.tells("token=secret passed=key inherited=0 write=done kill=done");
    assert!(world.path().join("written").exists());
}

#[test]
fn strict_takes_the_network_away() {
    let (_, ran) = intrudes("strict", "intruder-e", |_| {});
    ran.tells("write=EACCES").tells("socket=EPERM").tells("own=done");
}

#[test]
fn results_say_what_plugins_could_reach() {
    let world = World::default();
    let (_, document) = world.run(&["--plugin", "rten", "--model", "probe-mlp", "--batch-sizes", "1"]);
    let sandbox = document["environment"]["sandbox"].as_str().unwrap();
    assert!(sandbox.starts_with("default"), "{sandbox}");
}

/// The text of a registry with the fixture that misbehaves under this id.
fn registry(id: &str) -> String {
    format!("version = 1\n[[plugin]]\nid = \"{id}\"\nlibrary = {:?}\n", built_library("misbehave_fixture"))
}

#[test]
fn the_registry_of_the_current_folder_is_read_where_the_folder_is_trusted_and_nowhere_else() {
    let world = World::default();
    world.write("registry.toml", registry("here"));
    world.write("registry.d/more.toml", registry("more"));
    let untrusted = world.host(&["plugin", "list"]);
    untrusted.exits_with(0).tells("is not read, because any folder may have one; --trust-folder");
    assert!(!untrusted.stdout().contains("misbehave"), "{}", untrusted.stdout());
    world.host(&["models", "probe-mlp"]).exits_with(0);
    world.host(&["plugin", "info", "here"]).exits_with(2);
    world.host(&["plugin", "info", "here", "--trust-folder"]).exits_with(0);
    world.host(&["plugin", "info", "more", "--registry", "registry.d/more.toml"]).exits_with(0);
}

#[test]
fn folders_that_everybody_may_write_to_hold_no_plugins() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::default();
    let plugins = world.path().join("home/.local/share/skillbench/plugins");
    std::fs::create_dir_all(&plugins).unwrap();
    std::fs::copy(built_library("misbehave_fixture"), plugins.join("libloose.so")).unwrap();
    let list = || {
        let mut command = world.command(&["plugin", "list"]);
        command.env("HOME", world.path().join("home"));
        command.env_remove("SKILLBENCH_DATA").env_remove("XDG_DATA_HOME");
        Ran::of(command)
    };
    list().tells("misbehave");
    std::fs::set_permissions(world.path().join("home/.local"), std::fs::Permissions::from_mode(0o777)).unwrap();
    let refused = list();
    refused.tells("everybody may write to").tells("is not used for plugins");
    assert!(!refused.stdout().contains("misbehave"), "{}", refused.stdout());
}

#[test]
fn without_a_home_there_are_no_user_folders() {
    let world = World::default();
    let mut command = world.command(&["plugin", "list", "--verbose"]);
    for name in ["HOME", "SKILLBENCH_CONFIG", "SKILLBENCH_DATA", "SKILLBENCH_CACHE", "XDG_DATA_HOME", "XDG_CACHE_HOME"]
    {
        command.env_remove(name);
    }
    let ran = Ran::of(command);
    ran.exits_with(0).tells("rten");
    let said = ran.stdout() + &ran.stderr();
    assert!(!said.contains("/tmp/.local") && !said.contains("/tmp/.config"), "{said}");
}

#[test]
fn what_a_pin_refuses_is_not_taken_from_another_place() {
    let world = World::default();
    let pin = "0".repeat(64);
    world.write("config/registry.toml", format!("{}sha256 = \"{pin}\"\n", registry("misbehave")));
    std::fs::create_dir_all(world.path().join("loose")).unwrap();
    std::fs::copy(built_library("misbehave_fixture"), world.path().join("loose/libother.so")).unwrap();
    let run = ["run", "--plugin", "misbehave", "--model", "probe-mlp", "--search-path", "loose"];
    world.host(&run).exits_with(2).tells(&pin);
    world.host(&["plugin", "list", "--search-path", "loose"]).tells("is what a pin refused");
}

#[test]
fn a_library_that_is_replaced_during_a_run_measures_nothing() {
    let world = World::default();
    let library = world.path().join("libswapped.so");
    std::fs::copy(built_library("misbehave_fixture"), &library).unwrap();
    world.write("config/registry.toml", format!("version = 1\n[[plugin]]\nid = \"swapped\"\nlibrary = {library:?}\n"));
    let run = ["run", "--plugin", "swapped", "--model", "probe-mlp", "--bench", "inference", "--batch-sizes"];
    let run = [&run[..], &["1,2,4,8", "--budget", "1", "--no-resource-pool", "--quiet", "--format", "json"]].concat();
    let mut host = world.command(&run);
    let host = host.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    until("a cell is kept", || crate::workers::finished(&world) >= 1);
    std::fs::copy(built_library("skillbench_rten"), world.path().join("new.so")).unwrap();
    std::fs::rename(world.path().join("new.so"), &library).unwrap();
    let output = host.wait_with_output().unwrap();
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let last = document["cells"].as_array().unwrap().last().unwrap().to_string();
    assert!(last.contains("was replaced: its SHA-256 was"), "{last}");
}

#[test]
fn one_plugin_that_is_rejected_costs_the_others_nothing() {
    let world = World::default();
    world.write("config/registry.toml", "version = 1\n[[plugin]]\nid = \"bad\"\nlibrary = \"/nowhere/libbad.so\"\n");
    let (ran, document) = world.run(&["--plugin", "bad,rten", "--model", "probe-mlp", "--batch-sizes", "1"]);
    ran.exits_with(4);
    let outcomes: Vec<String> = document["cells"].as_array().unwrap().iter().map(ToString::to_string).collect();
    assert!(outcomes.iter().any(|outcome| outcome.contains("tried /nowhere/libbad.so")), "{outcomes:?}");
    assert!(outcomes.iter().any(|outcome| outcome.contains("\"measured\"")), "{outcomes:?}");
}

#[test]
fn a_look_ahead_lasts_no_longer_than_a_cell_may() {
    let world = World::default();
    world.write("config/registry.toml", registry("misbehave"));
    let options = ["--option", "misbehave:how=loop", "--option", "misbehave:when=load", "--timeout", "2", "--quiet"];
    let started = std::time::Instant::now();
    let run = ["--plugin", "rten,misbehave", "--model", "probe-mlp", "--bench", "inference", "--batch-sizes", "1"];
    let (ran, document) = world.run(&[&run[..], &options].concat());
    ran.exits_with(4);
    assert!(document.to_string().contains("timed-out"));
    assert!(started.elapsed().as_secs() < 25, "{:?}", started.elapsed());
}

#[test]
fn a_pin_holds_for_libraries_that_are_compared_or_found_in_a_folder_too() {
    let world = World::default();
    let (pin, library) = ("0".repeat(64), built_library("misbehave_fixture"));
    world.write("config/registry.toml", format!("{}sha256 = \"{pin}\"\n", registry("misbehave")));
    std::fs::create_dir_all(world.path().join("benches/performance")).unwrap();
    std::fs::copy(&library, world.path().join("benches/performance/libother.so")).unwrap();
    world.host(&["bench", "list", "--dir", "benches"]).tells("is what a pin refused");
    let new = world.path().join("libnew.so");
    std::fs::copy(&library, &new).unwrap();
    let sides = ["compare", "rten", new.to_str().unwrap(), "--interleave", "--model", "probe-mlp"];
    world.host(&sides).exits_with(2).tells("a pin refused");
}
