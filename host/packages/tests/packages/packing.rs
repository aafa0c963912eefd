//! Making packages.

use crate::world::{World, library, text};
use skillbench_packages::pack::{self, Packing};
use skillbench_packages::{Checked, Contract, Here, MANIFEST, Manifest};

#[test]
fn the_same_folder_gives_the_same_bytes_wherever_and_whenever_it_lies() {
    let (one, other) = (World::new(), World::new());
    let (a, b) = (one.packed("1.0.0", "", None), other.packed("1.0.0", "", None));
    assert_eq!(std::fs::read(&a.file).unwrap(), std::fs::read(&b.file).unwrap());
    assert_eq!(a.file.file_name().unwrap(), "acme-1.0.0.skillbench.tar.gz");
    // Packing it once more is no other package.
    assert_eq!(one.packed("1.0.0", "", None).sha256, a.sha256);
}

#[test]
fn a_version_is_not_packed_over_with_other_contents() {
    let world = World::new();
    world.packed("1.0.0", "", None);
    let folder = world.vendor("1.0.0", "url = \"https://example.org\"");
    let packing = Packing { into: world.path().join("dist"), ..Packing::default() };
    let told = pack::folder(&folder, &packing).unwrap_err().to_string();
    assert!(told.contains("is there already, with other contents") && told.contains("another version"), "{told}");
}

#[test]
fn hashes_and_the_c_library_are_filled_in_and_keys_of_tomorrow_stay() {
    let world = World::new();
    let packed = world.packed("1.0.0", "colour = \"red\"\n[options]\nthreads = 2", None);
    let library = &packed.manifest.libraries[0];
    assert_eq!(library.sha256.len(), 64);
    assert_eq!(library.glibc.is_some(), cfg!(all(target_os = "linux", target_env = "gnu")), "{library:?}");
    assert_eq!(packed.manifest.files[0].path, "LICENSE");
    assert!(packed.manifest.unknown[0].contains("'colour'"), "{:?}", packed.manifest.unknown);
    assert_eq!(packed.manifest.options.get("threads").map(String::as_str), Some("2"));
}

#[test]
fn what_the_manifest_does_not_list_stays_and_is_told() {
    let world = World::new();
    let folder = world.vendor("1.0.0", "");
    std::fs::write(folder.join("secret.key"), "x").unwrap();
    let packed = pack::folder(&folder, &Packing { into: folder.clone(), ..Packing::default() }).unwrap();
    assert_eq!(packed.left_out, ["secret.key"]);
}

#[test]
fn a_folder_that_the_manifest_lists_goes_in_with_all_files_below_it() {
    let world = World::unsigned();
    let folder = world.vendor("1.0.0", "");
    world.write("acme-1.0.0/share/deep/table.bin", [7; 9]);
    let manifest = std::fs::read_to_string(folder.join(MANIFEST)).unwrap() + "[[file]]\npath = \"share\"\n";
    std::fs::write(folder.join(MANIFEST), manifest).unwrap();
    let packed = pack::folder(&folder, &Packing { into: world.path().join("dist"), ..Packing::default() }).unwrap();
    let installed = world.add(text(&packed.file)).unwrap();
    assert_eq!(std::fs::read(installed.folder.join("share/deep/table.bin")).unwrap(), [7; 9]);
}

#[test]
fn libraries_alone_are_packed_with_what_one_of_them_says_of_itself_and_what_a_check_said() {
    let world = World::unsigned();
    let other = world.write("libother.so", "not for here");
    let described = Manifest {
        id: "acme".into(),
        version: "0.3".into(),
        vendor: "Acme".into(),
        contract: Contract { major: 1, minor: 1 },
        kinds: vec!["skillset".into()],
        ..Manifest::default()
    };
    let sha256 = skillbench_record::hash::sha256(library()).unwrap();
    let rules = serde_json::json!([
        {"id": "describes-itself", "verdict": "kept"}, {"id": "sizes", "verdict": "broken", "how": "too small"},
        {"id": "runs", "verdict": "not-checked"}, {"id": "measures", "verdict": "not-applicable"},
    ]);
    let program = serde_json::json!({"name": "skillbench-check", "version": "0.1.0"});
    let report = serde_json::json!({"version": 1, "program": program, "library": {"sha256": sha256}, "rules": rules});
    let report = world.write("report.json", report.to_string());
    let checked = Checked::of_report(&report).unwrap();
    let into = world.path().join("dist");
    let packing = Packing { into: into.clone(), signer: None, checked: Some(checked.clone()) };
    let here = Here::with(None).platform;
    let libraries = [(here, library().to_path_buf()), ("plan9-mips".to_string(), other)];
    let packed = pack::libraries(described.clone(), &libraries, &packing).unwrap();
    let staged = world.stage(text(&packed.file)).unwrap();
    let told = staged.manifest.checked.as_ref().unwrap().to_string();
    assert!(told.starts_with("1 rules kept, 1 broken, 1 not checked, by skillbench-check 0.1.0 on 2"), "{told}");
    assert_eq!(std::fs::read(staged.library()).unwrap(), std::fs::read(library()).unwrap());
    let other = Packing { into, signer: None, checked: Some((checked.0, "00".into())) };
    let told = pack::libraries(described.clone(), &libraries, &other).unwrap_err().to_string();
    assert!(told.contains("no library of acme 0.3 has it"), "{told}");
    let twice = [libraries[0].clone(), libraries[0].clone()];
    let told = pack::libraries(described, &twice, &packing).unwrap_err().to_string();
    assert!(told.contains("is the second library for"), "{told}");
}

#[test]
fn a_library_that_is_listed_and_not_there_is_named() {
    let world = World::new();
    let folder = world.vendor("1.0.0", "");
    std::fs::remove_file(folder.join("libacme.so")).unwrap();
    let told = pack::folder(&folder, &Packing { into: folder.clone(), ..Packing::default() }).unwrap_err().to_string();
    assert!(told.contains("libacme.so"), "{told}");
}
