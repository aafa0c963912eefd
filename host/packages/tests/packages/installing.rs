//! Versions side by side, and what is registered.

use crate::world::{World, text};
use skillbench_packages::{Receipt, Source, remove, stage};

#[test]
fn a_newer_version_takes_the_place_of_an_older_one_which_stays_beside_it() {
    let world = World::unsigned();
    let (one, two) = (world.packed("1.9", "", None), world.packed("1.10", "", None));
    let first = world.add(text(&one.file)).unwrap();
    assert!((first.before.as_deref(), first.in_use, first.already) == (None, true, false));
    let second = world.add(text(&two.file)).unwrap();
    assert!((second.before.as_deref(), second.in_use) == (Some("1.9"), true));
    let entry = std::fs::read_to_string(&second.drop_in).unwrap();
    assert!(entry.contains("acme/1.10/libacme.so") && entry.contains(&two.manifest.libraries[0].sha256), "{entry}");
    assert!(first.folder.join("libacme.so").is_file() && second.folder.join("libacme.so").is_file());
    // An older one is installed, and not used unless somebody asks for that.
    let again = world.add(text(&one.file)).unwrap();
    assert!(again.already && !again.in_use && std::fs::read_to_string(&again.drop_in).unwrap() == entry);
    let staged = stage(&Source::parse(&text(&one.file)).unwrap(), &world.home, &world.wishes).unwrap();
    assert!(staged.install(&world.home, true).unwrap().in_use);
    assert!(std::fs::read_to_string(&again.drop_in).unwrap().contains("acme/1.9/libacme.so"));
}

#[test]
fn the_same_version_again_is_fine_and_with_other_contents_it_is_refused() {
    let world = World::unsigned();
    let packed = world.packed("1.0.0", "", None);
    assert!(!world.add(text(&packed.file)).unwrap().already);
    assert!(world.add(text(&packed.file)).unwrap().already);
    let other = World::unsigned();
    let changed = other.packed("1.0.0", "url = \"https://example.org\"", None);
    let told = world.refused(text(&changed.file));
    assert!(told.contains("with other contents") && told.contains("host plugin remove acme"), "{told}");
}

#[test]
fn an_installed_version_that_was_damaged_is_put_there_again() {
    let world = World::unsigned();
    let packed = world.packed("1.0.0", "", None);
    let installed = world.add(text(&packed.file)).unwrap();
    let library = installed.folder.join("libacme.so");
    std::fs::write(&library, "damaged").unwrap();
    assert!(!world.add(text(&packed.file)).unwrap().already);
    assert!(std::fs::read(&library).unwrap().len() > 1000);
    std::fs::remove_file(installed.folder.join("receipt.json")).unwrap();
    assert!(!world.add(text(&packed.file)).unwrap().already);
}

#[test]
fn what_the_user_registered_is_not_written_over() {
    let world = World::unsigned();
    let packed = world.packed("1.0.0", "", None);
    let own = "version = 1\n[[plugin]]\nid = \"acme\"\nlibrary = \"/opt/acme/libacme.so\"\n";
    let file = world.write("config/registry.d/acme.toml", own);
    let told = world.refused(text(&packed.file));
    assert!(
        told.contains("was not written for a plugin package") && told.contains("host plugin remove acme"),
        "{told}"
    );
    assert_eq!(std::fs::read_to_string(file).unwrap(), own);
}

#[test]
fn removing_takes_back_everything_that_was_installed_and_nothing_else() {
    let world = World::unsigned();
    assert_eq!(remove(&world.home, "acme").unwrap(), None);
    world.add(text(&world.packed("1.0", "", None).file)).unwrap();
    world.add(text(&world.packed("1.1", "", None).file)).unwrap();
    let other = world.write("data/packages/other/1.0/libother.so", "x");
    assert_eq!(remove(&world.home, "acme").unwrap().unwrap(), ["1.0", "1.1"]);
    assert_eq!(world.installed(), [other]);
    assert_eq!(remove(&world.home, "acme").unwrap(), None);
}

#[test]
fn a_receipt_says_where_it_came_from_and_what_was_checked() {
    let world = World::unsigned();
    let more = "[[requires]]\nwhat = \"the Acme driver, 2.0 or newer\"\n[[requires]]\nwhat = \"the runtime\"\npackage = \"acme-runtime\"\n\
                option = \"library\"\n[options]\nmode = \"fast\"\n[checked]\nby = \"skillbench-check 0.1.0\"\nwhen = \"2026-01-31T12:00:00Z\"\n\
                kept = [\"sizes\"]";
    let packed = world.packed("1.0.0", more, None);
    let installed = world.add(text(&packed.file)).unwrap();
    let receipt = Receipt::of_library(&world.home, &installed.folder.join("libacme.so")).unwrap();
    assert_eq!((&receipt.from, receipt.sha256.as_ref()), (&text(&packed.file), Some(&packed.sha256)));
    assert_eq!(receipt.requires, ["the Acme driver, 2.0 or newer", "the runtime"]);
    assert_eq!(receipt.checked.as_ref().unwrap().kept, ["sizes"]);
    assert_eq!(receipt.signer(), "nobody");
    let entry = std::fs::read_to_string(installed.drop_in).unwrap();
    assert!(entry.contains("mode = \"fast\"") && entry.contains("library = [\"acme-runtime\"]"), "{entry}");
    assert_eq!(Receipt::of_library(&world.home, &packed.file), None);
}

#[test]
fn many_who_install_at_once_end_with_one_whole_version() {
    let world = World::unsigned();
    let packed = text(&world.packed("1.0.0", "", None).file);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| world.add(&packed).unwrap());
        }
    });
    let installed = world.installed();
    assert_eq!(installed.len(), 5, "four files and the registry's: {installed:?}");
}
