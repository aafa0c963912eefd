//! Entries and libraries that are wrong: each is told, with where and what was expected, and the others work.

use skillbench_tests::{World, built_library, workspace};
use std::path::{Path, PathBuf};
use std::process::Command;

fn entry(id: &str, library: &Path) -> String {
    format!("[[plugin]]\nid = \"{id}\"\nlibrary = {library:?}\n")
}

/// A world whose registry holds one library, listed.
#[track_caller]
fn rejected(library: &Path, text: &str) {
    let world = World::default();
    world.write("config/registry.toml", format!("version = 1\n{}", entry("bad", library)));
    world.host(&["plugin", "list"]).exits_with(0).tells("rejected").tells(text);
    world.host(&["run", "--plugin", "bad"]).exits_with(2).tells(text);
    world.host(&["why", "bad"]).exits_with(5).tells(text);
    world.host(&["devices"]).exits_with(0).tells("rten");
}

/// Compiles one of the broken fixtures, or the C template's own sources.
fn compile(world: &World, source: &str, flags: &[&str]) -> PathBuf {
    let fixtures = workspace().join("tests/fixtures/broken");
    let library = world.path().join(format!("{source}.so"));
    let done = Command::new("cc")
        .args(["-std=c99", "-shared", "-fPIC", "-fvisibility=hidden", "-I"])
        .arg(workspace().join("plugin-api/include"))
        .args(flags)
        .arg("-o")
        .arg(&library)
        .arg(fixtures.join(source))
        .output()
        .expect("cc can be started");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    library
}

#[test]
fn a_library_that_is_missing_is_told_with_every_path_tried() {
    rejected(Path::new("/nowhere/libbad.so"), "tried /nowhere/libbad.so");
}

#[test]
fn a_text_file_is_no_library() {
    let world = World::default();
    rejected(&world.write("text.so", "not a library"), "not a shared library");
}

#[test]
fn an_empty_file_is_no_library() {
    let world = World::default();
    rejected(&world.write("empty.so", ""), "the file is empty");
}

#[test]
fn a_truncated_library_is_refused() {
    let world = World::default();
    let whole = std::fs::read(built_library("skillbench_inference")).unwrap();
    rejected(&world.write("cut.so", &whole[..64 << 10]), "the file is truncated");
}

#[test]
fn a_library_of_another_architecture_is_refused() {
    let world = World::default();
    let mut other = std::fs::read(built_library("skillbench_inference")).unwrap();
    // The machine field of an ELF header: RISC-V.
    other[18] = 243;
    rejected(&world.write("riscv.so", other), "cannot be opened");
}

#[test]
fn a_library_without_the_symbol_is_no_plugin() {
    let world = World::default();
    rejected(&compile(&world, "no_symbol.c", &[]), "exports neither `skillbench_plugin`");
}

#[test]
fn another_abi_major_is_refused_naming_both() {
    let world = World::default();
    rejected(&compile(&world, "wrong_major.c", &[]), "built for ABI major 99, this host speaks 1");
}

#[test]
fn a_table_that_is_too_short_is_refused() {
    let world = World::default();
    rejected(&compile(&world, "short_table.c", &[]), "too few to reach its factory");
}

#[test]
fn a_foreign_root_module_is_refused_with_a_short_message() {
    rejected(&built_library("foreign_root_fixture"), "abi_stable root module does not match");
}

#[test]
fn a_pin_that_does_not_match_is_refused_naming_both_hashes() {
    let world = World::default();
    let pin = "0".repeat(64);
    let library = built_library("misbehave_fixture");
    world.write("config/registry.toml", format!("version = 1\n{}sha256 = \"{pin}\"\n", entry("pinned", &library)));
    world.host(&["run", "--plugin", "pinned"]).exits_with(2).tells(&pin).tells("has sha256");
}

#[test]
fn a_wrong_type_an_unknown_key_and_a_double_id_are_told_with_their_lines() {
    let world = World::default();
    let text = "version = 1\n[[plugin]]\nid = 7\nlibrary = \"x\"\n[[plugin]]\nid = \"a\"\nlibrary = \"x\"\nlibary = 1\n\
                [[plugin]]\nid = \"b\"\nlibrary = \"x\"\n[[plugin]]\nid = \"b\"\nlibrary = \"y\"\n";
    world.write("config/registry.toml", text);
    let told = world.host(&["plugin", "list"]);
    told.exits_with(0);
    told.tells("registry.toml:3: key 'id': expected a text, found the number 7");
    told.tells("registry.toml:8: key 'plugin.libary': unknown key");
    told.tells("registry.toml:12: key 'id': 'b' is there already, at line 9");
    told.tells("rten");
}

#[test]
fn an_entry_of_the_wrong_kind_is_told() {
    let world = World::default();
    let library = built_library("misbehave_fixture");
    world.write("config/registry.toml", format!("version = 1\n{}kind = [\"skillset\"]\n", entry("odd", &library)));
    world.host(&["plugin", "list"]).tells("the registry says it is a skillset, the library offers: backend");
}

#[test]
fn a_drop_in_is_found_and_its_paths_are_relative_to_it() {
    let world = World::default();
    let name = "libdropped.so";
    std::fs::create_dir_all(world.path().join("config/registry.d")).unwrap();
    std::fs::copy(built_library("misbehave_fixture"), world.path().join("config/registry.d").join(name)).unwrap();
    world.write(
        "config/registry.d/vendor.toml",
        format!("version = 1\n{}", entry("dropped", &Path::new(".").join(name))),
    );
    world.host(&["plugin", "info", "dropped"]).exits_with(0).tells("vendor.toml:2");
}

#[test]
fn a_loose_library_in_a_search_path_needs_no_entry() {
    let world = World::default();
    std::fs::create_dir_all(world.path().join("loose")).unwrap();
    std::fs::copy(built_library("misbehave_fixture"), world.path().join("loose/libanything.so")).unwrap();
    world.host(&["plugin", "list", "--search-path", "loose"]).exits_with(0).tells("misbehave");
    world.host(&["plugin", "list"]).exits_with(0);
}

#[test]
fn the_earlier_entry_wins_and_verbose_says_so() {
    let world = World::default();
    world.write("first.toml", format!("version = 1\n{}", entry("rten", &built_library("misbehave_fixture"))));
    let told = world.host(&["plugin", "list", "--verbose", "--registry", "first.toml"]);
    told.tells("libmisbehave_fixture").tells("'rten' of").tells("is hidden by the earlier entry at");
}

#[test]
fn what_was_added_can_be_removed() {
    let world = World::default();
    let library = built_library("misbehave_fixture");
    let library = library.to_str().unwrap();
    world.host(&["plugin", "add", library, "--id", "mine", "--pin"]).exits_with(0);
    world.host(&["plugin", "info", "mine"]).exits_with(0).tells("A plugin that misbehaves");
    world.host(&["plugin", "add", library, "--id", "mine"]).exits_with(2).tells("is there already");
    world.host(&["plugin", "remove", "mine"]).exits_with(0);
    world.host(&["plugin", "info", "mine"]).exits_with(2);
    world.host(&["plugin", "remove", "mine"]).exits_with(2);
}

#[test]
fn a_removal_stays_inside_its_folder() {
    let world = World::default();
    let registry = world.write("config/registry.toml", "version = 1\n");
    world.host(&["plugin", "remove", "../registry"]).exits_with(2).tells("is no plugin id");
    assert!(registry.is_file());
}

#[test]
fn what_is_named_like_a_library_and_is_none_is_told() {
    let world = World::default();
    let folder = world.path().join("odd");
    std::fs::create_dir_all(folder.join("libfolder.so")).unwrap();
    std::os::unix::fs::symlink("libloop.so", folder.join("libloop.so")).unwrap();
    assert!(Command::new("mkfifo").arg(folder.join("libpipe.so")).status().unwrap().success());
    let listed = world.host(&["plugin", "list", "--search-path", "odd"]);
    listed.exits_with(0).tells("libfolder.so").tells("it is a folder").tells("libloop.so").tells("libpipe.so");
    listed.tells("but a pipe");
}

#[test]
fn a_library_for_another_processor_is_told_as_that() {
    let world = World::default();
    let mut bytes = std::fs::read(built_library("misbehave_fixture")).unwrap();
    let machine = if cfg!(target_arch = "aarch64") { 62 } else { 183 };
    bytes[18..20].copy_from_slice(&u16::to_le_bytes(machine));
    rejected(&world.write("other.so", bytes), "it is built for");
}

#[test]
fn a_package_cannot_be_installed_elsewhere() {
    let world = World::default();
    let precious = world.write("precious/file", "kept");
    let name = format!("../../../../../../../..{}", precious.parent().unwrap().display());
    let package = format!("[[package]]\nname = {name:?}\npypi = \"onnxruntime\"\nversion = \".\"\n");
    world.write("config/registry.toml", format!("version = 1\n{package}"));
    world.host(&["plugin", "list"]).tells("key 'package.name'");
    world.host(&["runtime", "install", &name]).exits_with(2);
    assert!(precious.is_file());
}

#[test]
fn a_rejected_plugin_is_told_where_it_is_missed() {
    let world = World::default();
    world.write("config/registry.toml", format!("version = 1\n{}", entry("bad", Path::new("/nowhere/libbad.so"))));
    let (ran, _) = world.run(&["--plugin", "rten", "--model", "probe-mlp", "--verify-only", "--batch-sizes", "1"]);
    ran.exits_with(0).tells("plugin 'bad'").tells("tried /nowhere/libbad.so");
}
