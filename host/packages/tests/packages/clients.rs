//! The machine's own pip and npm, with wheels of this machine and a registry on the loopback interface.
//!
//! What clients read of the environment is set for a process of its own: each test runs itself once more in one.

use crate::server::Server;
use crate::world::{World, text};
use skillbench_packages::{ENDING, MANIFEST, Receipt, Source};
use std::path::{Path, PathBuf};
use std::process::Command;

const ARGUMENT: &str = "PACKAGES_TEST";
const FOLDER: &str = "PACKAGES_TEST_FOLDER";

/// Runs the test `name` of this file once more, with variables, to add `what`; says what came of it.
fn in_another_process(name: &str, world: &World, what: &str, variables: &[(&str, &str)]) -> String {
    let mut test = Command::new(std::env::current_exe().unwrap());
    test.args(["--exact", &format!("clients::{name}"), "--nocapture"]);
    test.env(ARGUMENT, what).env(FOLDER, world.path()).envs(variables.iter().copied());
    let output = test.output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// In that process: adds what was asked for. Says whether this is that process.
fn is_inner() -> bool {
    let Ok(what) = std::env::var(ARGUMENT) else { return false };
    let mut world = World::new();
    let folder = PathBuf::from(std::env::var_os(FOLDER).unwrap());
    world.home.data = folder.join("data");
    world.home.config = folder.join("config");
    match world.add(&what) {
        Ok(installed) => {
            let receipt = Receipt::of_library(&world.home, &installed.folder.join("libacme.so")).unwrap();
            println!("added from {} signed by {}", receipt.from, receipt.signer());
        }
        Err(error) => println!("refused: {error}"),
    }
    true
}

fn is_there(program: &str, arguments: &[&str]) -> bool {
    let there = Command::new(program).args(arguments).output().is_ok_and(|output| output.status.success());
    if !there {
        eprintln!("there is no {program} here: it was not tried");
    }
    there
}

/// A wheel with these files.
fn wheel(world: &World, name: &str, files: &[(&str, &Path)]) {
    use std::io::Write;
    let folder = world.path().join("wheels");
    std::fs::create_dir_all(&folder).unwrap();
    let file = std::fs::File::create(folder.join(format!("{name}-1.0.0-py3-none-any.whl"))).unwrap();
    let mut zip = zip::ZipWriter::new(file);
    let options = zip::write::SimpleFileOptions::default();
    let info = format!("{name}-1.0.0.dist-info");
    let metadata = format!("Metadata-Version: 2.1\nName: {name}\nVersion: 1.0.0\n");
    let tag = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n";
    for (path, bytes) in [("METADATA", metadata.as_bytes()), ("WHEEL", tag.as_bytes()), ("RECORD", b"")] {
        zip.start_file(format!("{info}/{path}"), options).unwrap();
        zip.write_all(bytes).unwrap();
    }
    for (path, from) in files {
        zip.start_file(*path, options).unwrap();
        zip.write_all(&std::fs::read(from).unwrap()).unwrap();
    }
    zip.finish().unwrap();
}

#[test]
fn a_wheel_brings_a_package_and_its_signature_by_the_machines_pip() {
    if is_inner() || !is_there("python3", &["-m", "pip", "--version"]) {
        return;
    }
    let world = World::new();
    let (secret, public) = world.key("acme");
    world.trust(&public, "Acme");
    let packed = world.packed("1.0.0", "", Some(&secret));
    let name = format!("acme_plugin/acme-1.0.0{ENDING}");
    let signature = packed.signature.unwrap();
    wheel(&world, "acme_plugin", &[(&name, &packed.file), (&format!("{name}.minisig"), &signature)]);
    wheel(&world, "nothing", &[]);
    let wheels = text(&world.path().join("wheels"));
    let variables = [("PIP_NO_INDEX", "1"), ("PIP_FIND_LINKS", wheels.as_str())];
    let add = |what| {
        in_another_process("a_wheel_brings_a_package_and_its_signature_by_the_machines_pip", &world, what, &variables)
    };
    let told = add("pypi:acme-plugin==1.0.0");
    assert!(told.contains(&format!("added from pypi:acme-plugin==1.0.0 signed by Acme ({})", public.id())), "{told}");
    let told = add("pypi:nothing");
    assert!(told.contains("refused: pypi:nothing holds no plugin package"), "{told}");
    let told = add("pypi:not-there");
    assert!(told.contains("refused: pip could not fetch not-there"), "{told}");
}

#[test]
fn a_manifest_with_its_libraries_in_a_wheel_is_signed_by_its_manifest() {
    if is_inner() || !is_there("python3", &["-m", "pip", "--version"]) {
        return;
    }
    let world = World::new();
    let (secret, public) = world.key("acme");
    world.trust(&public, "Acme");
    let packed = world.packed("1.0.0", "", None);
    let folder = world.path().join("loose");
    let file = std::fs::File::open(&packed.file).unwrap();
    tar::Archive::new(flate2::read::GzDecoder::new(file)).unpack(&folder).unwrap();
    let manifest = folder.join(MANIFEST);
    let signer = skillbench_signatures::Signer::read(&secret, None).unwrap();
    let signature = signer.sign(&manifest, "timestamp:1", "a package").unwrap();
    let inside = |name: &str| format!("acme_loose/{name}");
    let names = [inside(MANIFEST), inside(&format!("{MANIFEST}.minisig")), inside("libacme.so"), inside("LICENSE")];
    let files = [&manifest, &signature, &folder.join("libacme.so"), &folder.join("LICENSE")];
    let all: Vec<(&str, &Path)> = names.iter().zip(files).map(|(name, file)| (name.as_str(), file.as_path())).collect();
    wheel(&world, "acme_loose", &all);
    wheel(&world, "acme_half", &all[..3]);
    let wheels = text(&world.path().join("wheels"));
    let variables = [("PIP_NO_INDEX", "1"), ("PIP_FIND_LINKS", wheels.as_str())];
    let add = |what| {
        in_another_process(
            "a_manifest_with_its_libraries_in_a_wheel_is_signed_by_its_manifest",
            &world,
            what,
            &variables,
        )
    };
    let told = add("pypi:acme-half");
    assert!(told.contains("refused: LICENSE is listed in the manifest, and is not in the package"), "{told}");
    let told = add("pypi:acme-loose");
    assert!(told.contains("added from pypi:acme-loose signed by Acme"), "{told}");
}

#[test]
fn an_npm_package_brings_a_package_by_the_machines_npm() {
    if is_inner() || !is_there("npm", &["--version"]) {
        return;
    }
    let world = World::new();
    let (secret, public) = world.key("acme");
    world.trust(&public, "Acme");
    let packed = world.packed("1.0.0", "", Some(&secret));
    let project = world.path().join("project");
    std::fs::create_dir_all(&project).unwrap();
    std::fs::write(project.join("package.json"), "{\"name\": \"@acme/plugin\", \"version\": \"1.0.0\"}").unwrap();
    for file in [&packed.file, packed.signature.as_ref().unwrap()] {
        std::fs::copy(file, project.join(file.file_name().unwrap())).unwrap();
    }
    let site = world.path().join("site");
    std::fs::create_dir_all(site.join("@acme/plugin")).unwrap();
    let made =
        Command::new("npm").args(["pack", "--silent", "--pack-destination"]).arg(&site).current_dir(&project).output();
    assert!(made.unwrap().status.success());
    let server = Server::of(&site);
    let tarball = format!("{}/acme-plugin-1.0.0.tgz", server.address);
    let document = serde_json::json!({
        "name": "@acme/plugin", "dist-tags": {"latest": "1.0.0"},
        "versions": {"1.0.0": {"name": "@acme/plugin", "version": "1.0.0", "dist": {"tarball": tarball}}},
    });
    std::fs::write(site.join("@acme/plugin/index.json"), document.to_string()).unwrap();
    let cache = text(&world.path().join("npm-cache"));
    let registry = server.address.clone() + "/";
    let variables = [("npm_config_registry", registry.as_str()), ("npm_config_cache", cache.as_str())];
    let add =
        |what| in_another_process("an_npm_package_brings_a_package_by_the_machines_npm", &world, what, &variables);
    let told = add("npm:@acme/plugin@1.0.0");
    assert!(told.contains(&format!("added from npm:@acme/plugin@1.0.0 signed by Acme ({})", public.id())), "{told}");
    let told = add("npm:@acme/other");
    assert!(told.contains("refused: npm could not fetch @acme/other"), "{told}");
}

#[test]
fn a_bare_library_is_no_plugin_package() {
    let world = World::new();
    let library = crate::world::library();
    assert_eq!(Source::parse(&text(library)).unwrap(), Source::Library(library.into()));
    assert!(world.refused(text(library)).contains("holds no plugin package"));
    let folder = text(&world.vendor("1.0.0", ""));
    assert!(world.refused(&folder).contains("host plugin pack"), "and neither is a folder");
}
