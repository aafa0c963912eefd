//! Packages whose manifest says something else than what is in them, or that do not fit this machine.

use crate::world::{World, text};
use flate2::read::GzDecoder;
use flate2::{Compression, write::GzEncoder};
use skillbench_packages::{Here, MANIFEST};
use std::io::Read;
use std::path::PathBuf;
use tar::{Archive, Builder, Header};

/// A package, with its files changed: what a name becomes.
fn changed(world: &World, change: impl Fn(&str, Vec<u8>) -> Vec<(String, Vec<u8>)>) -> PathBuf {
    let _ = std::fs::remove_dir_all(world.path().join("dist"));
    let packed = world.packed("1.0.0", "", None);
    let mut archive = Archive::new(GzDecoder::new(std::fs::File::open(&packed.file).unwrap()));
    let mut tar = Builder::new(GzEncoder::new(vec![], Compression::fast()));
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        let name = entry.path().unwrap().to_str().unwrap().to_string();
        let mut bytes = vec![];
        entry.read_to_end(&mut bytes).unwrap();
        for (name, bytes) in change(&name, bytes) {
            let mut header = Header::new_ustar();
            header.set_size(bytes.len() as u64);
            header.set_mode(0o644);
            tar.append_data(&mut header, name, &bytes[..]).unwrap();
        }
    }
    world.write("changed.skillbench.tar.gz", tar.into_inner().unwrap().finish().unwrap())
}

#[test]
fn a_library_with_another_hash_is_refused_naming_both() {
    let world = World::unsigned();
    let file = changed(&world, |name, mut bytes| {
        if name == "libacme.so" {
            *bytes.last_mut().unwrap() ^= 1;
        }
        vec![(name.into(), bytes)]
    });
    let told = world.refused(text(&file));
    assert!(told.starts_with("libacme.so has the SHA-256") && told.contains("its manifest says"), "{told}");
}

#[test]
fn what_is_missing_or_not_listed_is_refused() {
    let world = World::unsigned();
    let without = |left_out: &'static str| {
        changed(&world, move |name, bytes| if name == left_out { vec![] } else { vec![(name.into(), bytes)] })
    };
    for name in ["libacme.so", "LICENSE", MANIFEST] {
        let told = world.refused(text(&without(name)));
        assert!(told.contains(name) && told.contains("is not in the package"), "{told}");
    }
    let more = changed(&world, |name, bytes| vec![(name.into(), bytes), (format!("{name}.more"), b"x".to_vec())]);
    let told = world.refused(text(&more));
    assert!(told.contains(".more is in the package, and its manifest does not list it"), "{told}");
    let receipt = changed(&world, |name, bytes| {
        let extra = (name == "LICENSE").then(|| ("receipt.json".to_string(), b"{}".to_vec()));
        [(name.to_string(), bytes)].into_iter().chain(extra).collect()
    });
    let told = world.refused(text(&receipt));
    assert!(told.contains("receipt.json"), "{told}");
}

#[test]
fn a_package_for_another_platform_is_refused_naming_what_it_has_and_what_this_is() {
    let mut world = World::unsigned();
    let packed = world.packed("1.0.0", "", None);
    let own = Here::with(None);
    world.wishes.here = Here { platform: "plan9-mips".into(), glibc: None };
    let told = world.refused(text(&packed.file));
    assert!(told.contains("this machine, which is plan9-mips: it has") && told.contains(&own.platform), "{told}");
    world.wishes.here = Here { glibc: Some((2, 1)), ..own.clone() };
    if packed.manifest.libraries[0].glibc.is_some() {
        let told = world.refused(text(&packed.file));
        assert!(told.contains("with glibc 2.1: it has") && told.contains("with glibc 2."), "{told}");
    }
    // A machine that does not say which C library it has is not refused for that.
    world.wishes.here = Here { glibc: None, ..own };
    world.add(text(&packed.file)).unwrap();
}

#[test]
fn another_major_of_the_contract_is_refused_and_a_newer_minor_is_told() {
    let mut world = World::unsigned();
    let packed = world.packed("1.0.0", "", None);
    world.wishes.contract.major = 2;
    let told = world.refused(text(&packed.file));
    assert!(told.contains("built for contract 1.1, and this host has 2.1"), "{told}");
    world.wishes.contract.major = 1;
    world.wishes.contract.minor = 0;
    let staged = world.stage(text(&packed.file)).unwrap();
    assert!(
        staged.warnings.iter().any(|told| told.contains("contract 1.1, and this host has 1.0")),
        "{:?}",
        staged.warnings
    );
}

#[test]
fn keys_of_tomorrow_are_told_and_those_that_must_be_understood_refuse() {
    let world = World::unsigned();
    let packed = world.packed("1.0.0", "colour = \"red\"", None);
    let staged = world.stage(text(&packed.file)).unwrap();
    assert!(staged.warnings.iter().any(|told| told.contains("key 'colour' is not known")), "{:?}", staged.warnings);
    drop(staged);
    let installed = world.add(text(&packed.file)).unwrap();
    assert!(
        std::fs::read_to_string(installed.folder.join(MANIFEST)).unwrap().contains("colour = \"red\""),
        "it is kept"
    );
    let asks = changed(&world, |name, bytes| {
        let text =
            String::from_utf8_lossy(&bytes).replace("manifest = 1", "manifest = 1\nmust_understand = [\"colour\"]");
        vec![(name.into(), if name == MANIFEST { text.into_bytes() } else { bytes })]
    });
    let told = world.refused(text(&asks));
    assert!(told.contains("its keys colour be understood"), "{told}");
}

#[test]
fn a_library_of_another_id_is_another_plugin() {
    let world = World::unsigned();
    let packed = world.packed("1.0.0", "", None);
    let mut staged = world.stage(text(&packed.file)).unwrap();
    let told = staged.says("other", "1.0.0", &["skillset"]).unwrap_err().to_string();
    assert!(told.contains("says that it is 'other', and its manifest says 'acme'"), "{told}");
    let told = staged.says("acme", "1.0.0", &["backend"]).unwrap_err().to_string();
    assert!(told.contains("it is a skillset, and the library offers: backend"), "{told}");
    staged.says("acme", "1.0.1", &["skillset"]).unwrap();
    assert!(staged.warnings.iter().any(|told| told.contains("version '1.0.1'")), "{:?}", staged.warnings);
    drop(staged);
    assert!(world.installed().is_empty(), "what is staged and not installed is gone");
}

#[test]
fn what_is_granted_to_its_workers_and_what_its_check_found_is_told() {
    let world = World::unsigned();
    let more = "[reach]\ndevices = [\"/dev/acme*\"]\nenvironment = [\"ACME_*\"]\nnetwork = true\n[checked]\nby = \"skillbench-check 0.1.0\"\n\
                when = \"2026-01-31T12:00:00Z\"\nbroken = [\"sizes\"]";
    let packed = world.packed("1.0.0", more, None);
    let staged = world.stage(text(&packed.file)).unwrap();
    for part in
        ["write to the devices /dev/acme*", "variables ACME_*", "use the network", "breaks rules", "is not signed"]
    {
        assert!(staged.warnings.iter().any(|told| told.contains(part)), "{part}: {:?}", staged.warnings);
    }
    let installed = staged.install(&world.home, false).unwrap();
    let entry = std::fs::read_to_string(installed.drop_in).unwrap();
    for line in ["devices = [", "environment = [", "network = true"] {
        assert!(entry.contains(line), "{entry}");
    }
}
