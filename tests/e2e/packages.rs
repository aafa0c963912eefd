//! Plugin packages, by the program: packed, signed, trusted, indexed, installed, listed, run and removed.
//!
//! What archives, signatures and indexes may not hold is tested beside the crate (`host/packages/tests`).

use skillbench_record::hash::sha256;
use skillbench_tests::{World, built_library, outcomes, workspace};
use std::path::PathBuf;
use std::process::Command;

/// A world of its own with a skillset `acme`, built from the kit's template, and a key of its vendor.
fn vendor() -> (World, String) {
    let world = World::apart();
    library(&world, "acme", "libacme.so");
    let pair = minisign::KeyPair::generate_unencrypted_keypair().unwrap();
    world.write("acme.key", pair.sk.to_box(None).unwrap().into_string());
    let public = pair.pk.to_box().unwrap().into_string();
    world.write("acme.pub", &public);
    (world, pair.pk.to_base64())
}

pub fn library(world: &World, id: &str, file: &str) -> PathBuf {
    let source = std::fs::read_to_string(workspace().join("host/kit/templates/c/skillset/plugin.c")).unwrap();
    let source = world.write(&format!("{id}.c"), source.replace("@NAME@", id));
    let library = world.path().join(file);
    let mut cc = Command::new("cc");
    cc.arg("-I").arg(workspace().join("plugin-api/include")).arg("-I").arg(workspace().join("host/kit/include"));
    cc.args(["-std=c99", "-fPIC", "-shared", "-O2", "-o"]);
    let output = cc.arg(&library).arg(source).output().expect("there is a C compiler");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    library
}

pub const PACKAGE: &str = "dist/acme-0.1.0.skillbench.tar.gz";

pub fn pack(world: &World) {
    let packed = world.host(&["plugin", "pack", "./libacme.so", "--key", "acme.key", "--output-dir", "dist"]);
    packed.exits_with(0).tells("packed acme 0.1.0").tells("signed in dist/acme-0.1.0.skillbench.tar.gz.minisig");
}

#[test]
fn a_package_is_packed_signed_trusted_installed_used_and_removed() {
    let (world, key) = vendor();
    pack(&world);
    let refused = world.host(&["plugin", "add", PACKAGE]);
    refused.exits_with(1).tells("is not trusted here").tells(&format!("host plugin trust {key}"));
    world.host(&["plugin", "info", "acme"]).exits_with(2);

    world.host(&["plugin", "trust", "acme.pub", "--name", "Acme Corp."]).exits_with(0).tells("is trusted from now on");
    world.host(&["plugin", "trust"]).exits_with(0).tells("Acme Corp.").tells(&key);
    world.host(&["plugin", "add", PACKAGE]).exits_with(0).tells("installed acme 0.1.0").tells("signed by Acme Corp.");
    world.host(&["plugin", "add", PACKAGE]).exits_with(0).tells("already");
    // What was packed may go: what was installed is whole.
    std::fs::remove_dir_all(world.path().join("dist")).unwrap();
    std::fs::remove_file(world.path().join("libacme.so")).unwrap();
    world
        .host(&["plugin", "list", "--format", "csv"])
        .exits_with(0)
        .tells("Acme Corp.")
        .tells("acme-0.1.0.skillbench.tar.gz");
    let info = world.host(&["plugin", "info", "acme"]);
    info.exits_with(0).tells("package from").tells("signed by").tells("installed");
    let (ran, document) =
        world.run(&["--plugin", "rten", "--model", "acme-mlp", "--bench", "inference", "--batch-sizes", "1"]);
    ran.exits_with(0);
    assert_eq!(outcomes(&document), ["measured"]);

    world.host(&["plugin", "remove", "acme"]).exits_with(0).tells("removed acme 0.1.0");
    world.host(&["plugin", "info", "acme"]).exits_with(2);
    assert!(!world.path().join("data/packages/acme").exists());
    world.host(&["plugin", "remove", "acme"]).exits_with(2);
    world.host(&["plugin", "trust", "Acme Corp.", "--remove"]).exits_with(0).tells("is trusted no more");
    world.host(&["plugin", "trust", "Acme Corp.", "--remove"]).exits_with(2);
}

#[test]
fn an_unsigned_package_is_taken_where_that_is_asked_for() {
    let (world, _) = vendor();
    world.host(&["plugin", "pack", "./libacme.so", "--output-dir", "dist"]).exits_with(0).tells("it is not signed");
    world.host(&["plugin", "add", PACKAGE]).exits_with(1).tells("--unsigned");
    world.host(&["plugin", "add", PACKAGE, "--unsigned"]).exits_with(0).tells("nobody stands for its contents");
    world.host(&["plugin", "list", "--format", "csv"]).exits_with(0).tells("nobody");
}

#[test]
fn a_changed_library_of_an_installed_package_is_refused() {
    let (world, key) = vendor();
    pack(&world);
    world.host(&["plugin", "trust", &key]).exits_with(0);
    world.host(&["plugin", "add", PACKAGE]).exits_with(0);
    library(&world, "acme", "other.so");
    let installed = world.path().join("data/packages/acme/0.1.0/libacme.so");
    let mut bytes = std::fs::read(world.path().join("other.so")).unwrap();
    bytes.push(0);
    std::fs::write(&installed, bytes).unwrap();
    world.host(&["plugin", "list"]).exits_with(0).tells("rejected");
    // Adding the package once more mends it.
    world.host(&["plugin", "add", PACKAGE]).exits_with(0);
    world.host(&["plugin", "info", "acme"]).exits_with(0);
}

#[test]
fn a_name_is_found_in_an_index_that_is_named_or_configured() {
    let (world, key) = vendor();
    pack(&world);
    world.host(&["plugin", "trust", &key, "--name", "Acme"]).exits_with(0);
    world.host(&["plugin", "index", "dist"]).exits_with(0).tells("written: dist/index.json");
    world.host(&["plugin", "add", "acme"]).exits_with(2).tells("there is no index to find 'acme' in");
    world.host(&["plugin", "add", "acme", "--index", "dist/index.json"]).exits_with(0).tells("installed acme 0.1.0");
    world.host(&["plugin", "remove", "acme"]).exits_with(0);
    world.write("config/registry.toml", "version = 1\n[[index]]\nurl = \"../dist/index.json\"\n");
    world.host(&["plugin", "add", "acme@0.1.0"]).exits_with(0).tells("installed acme 0.1.0");
    world.host(&["plugin", "add", "acne"]).exits_with(2).tells("did you mean acme");
    world.host(&["plugin", "add", "acme@7"]).exits_with(2).tells("no version 7 of acme");
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let down = format!("http://{free}/index.json");
    world.host(&["plugin", "add", "acme", "--index", &down]).exits_with(1).tells("cannot be fetched").tells("network");
}

#[test]
fn a_manifest_that_names_another_id_than_the_library_is_refused_by_both_sides() {
    let (world, _) = vendor();
    let platform = format!("{}-{}", std::env::consts::OS, std::env::consts::ARCH);
    let manifest = |id: &str, library: &str| {
        format!(
            "manifest = 1\nid = \"{id}\"\nversion = \"0.1.0\"\ncontract = \"1.1\"\n[[library]]\nplatform = \"{platform}\"\nfile = \"{library}\"\n"
        )
    };
    world.write("wrong/skillbench-plugin.toml", manifest("other", "libacme.so"));
    std::fs::copy(world.path().join("libacme.so"), world.path().join("wrong/libacme.so")).unwrap();
    world.host(&["plugin", "pack", "wrong"]).exits_with(2).tells("says that it is 'acme', the manifest says 'other'");

    // A vendor without this program could pack it all the same: by hand, with its hash.
    let hash = sha256(&world.path().join("wrong/libacme.so")).unwrap();
    world.write("wrong/skillbench-plugin.toml", manifest("other", "libacme.so") + &format!("sha256 = \"{hash}\"\n"));
    let tar = "cd wrong && tar --format=ustar -czf ../other-0.1.0.skillbench.tar.gz skillbench-plugin.toml libacme.so";
    world.shell(tar).exits_with(0);
    let refused = world.host(&["plugin", "add", "other-0.1.0.skillbench.tar.gz", "--unsigned"]);
    refused.exits_with(1).tells("says that it is 'acme', and its manifest says 'other'");
    assert!(!world.path().join("config/registry.d/other.toml").exists());
    assert!(!world.path().join("data/packages/other").exists(), "nothing is left of it");
}

#[test]
fn a_library_is_registered_as_before_and_flags_of_packages_are_not_taken_in_silence() {
    let (world, _) = vendor();
    pack(&world);
    world.host(&["plugin", "add", "./libacme.so", "--unsigned"]).exits_with(2).tells("is a library");
    world.host(&["plugin", "add", PACKAGE, "--pin"]).exits_with(2).tells("is always pinned");
    world.host(&["plugin", "add", "./libacme.so", "--pin"]).exits_with(0).tells("registered 'acme'");
    world.host(&["plugin", "add", PACKAGE, "--unsigned"]).exits_with(1).tells("is not trusted here");
    world.host(&["plugin", "trust", "acme.pub"]).exits_with(0);
    world.host(&["plugin", "add", PACKAGE]).exits_with(2).tells("was not written for a plugin package");
    world.host(&["plugin", "remove", "acme"]).exits_with(0).tells("the library itself is left alone");
}

#[test]
fn what_is_no_package_no_library_and_no_name_is_told_as_that() {
    let world = World::apart();
    world.host(&["plugin", "add", "./none.so"]).exits_with(2).tells("there is no such file");
    world.host(&["plugin", "add", "."]).exits_with(2).tells("host plugin pack");
    world.host(&["plugin", "add", "http://example.org/x.tar.gz"]).exits_with(2).tells("is not encrypted");
    world.host(&["plugin", "add", "npm:--registry=x"]).exits_with(2).tells("expected npm:NAME");
    world.host(&["plugin", "trust", "nonsense"]).exits_with(2).tells("is no public key of minisign");
    world.write("cut.tar.gz", "no archive");
    world.host(&["plugin", "add", "cut.tar.gz", "--unsigned"]).exits_with(1).tells("is no whole plugin package");
}

#[test]
fn what_skillbench_check_found_is_told_by_list_and_info() {
    let (world, key) = vendor();
    let hash = sha256(&world.path().join("libacme.so")).unwrap();
    let report = format!(
        "{{\"version\": 1, \"program\": {{\"name\": \"skillbench-check\", \"version\": \"0.1.0\"}}, \"library\": {{\"sha256\": \"{hash}\"}},\
         \"rules\": [{{\"id\": \"described\", \"verdict\": \"kept\"}}]}}"
    );
    world.write("report.json", report);
    let pack =
        ["plugin", "pack", "./libacme.so", "--key", "acme.key", "--checked", "report.json", "--output-dir", "dist"];
    world.host(&pack).exits_with(0);
    world.host(&["plugin", "trust", &key]).exits_with(0);
    world.host(&["plugin", "add", PACKAGE]).exits_with(0);
    let told = "1 rules kept, 0 broken, 0 not checked, by skillbench-check 0.1.0 on";
    world.host(&["plugin", "info", "acme"]).exits_with(0).tells(told);
    world.host(&["plugin", "list", "--format", "csv"]).exits_with(0).tells(told);
    let other = built_library("misbehave_fixture");
    let other = ["plugin", "pack", other.to_str().unwrap(), "--checked", "report.json", "--output-dir", "dist"];
    world.host(&other).exits_with(1).tells("no library of misbehave");
}
