//! Addresses, and indexes that anybody can host.

use crate::server::Server;
use crate::world::{World, text};
use skillbench_packages::{Contract, Here, Receipt, write_index};

/// Two signed versions, an index of them, and a server.
fn hosted(world: &World) -> Server {
    let (secret, public) = world.key("acme");
    world.trust(&public, "Acme");
    for version in ["1.0.0", "1.1.0", "1.1.0-rc1"] {
        world.packed(version, "", Some(&secret));
    }
    let (_, plugins) = write_index(&world.path().join("dist"), &world.wishes).unwrap();
    assert_eq!(plugins.iter().map(|one| one.version.as_str()).collect::<Vec<_>>(), ["1.0.0", "1.1.0-rc1", "1.1.0"]);
    assert!(plugins.iter().all(|one| one.key == Some(public.line())));
    Server::of(&world.path().join("dist"))
}

#[test]
fn an_address_is_fetched_with_the_signature_beside_it() {
    let world = World::new();
    let server = hosted(&world);
    let url = format!("{}/acme-1.0.0.skillbench.tar.gz", server.address);
    let installed = world.add(&url).unwrap();
    let receipt = Receipt::of_library(&world.home, &installed.folder.join("libacme.so")).unwrap();
    assert_eq!(receipt.from, url);
    assert!(receipt.signed_by.is_some());
    // Redirected, from a file, and with a question behind it.
    for url in [
        format!("{}/moved/acme-1.0.0.skillbench.tar.gz", server.address),
        format!("{url}?token=1"),
        format!("file://{}", text(&world.path().join("dist/acme-1.0.0.skillbench.tar.gz"))),
    ] {
        assert!(world.add(&url).unwrap().already, "{url}");
    }
}

#[test]
fn what_cannot_be_fetched_is_told_with_the_cause_and_what_to_do_next() {
    let world = World::new();
    let server = hosted(&world);
    let name = "acme-1.0.0.skillbench.tar.gz";
    for (url, cause) in [
        (format!("{}/{name}", Server::down()), "onnect"),
        (format!("{}/none.tar.gz", server.address), "there is nothing"),
        (format!("{}/cut/{name}", server.address), ""),
        (format!("{}/out/{name}", server.address), "is not encrypted"),
    ] {
        let told = world.refused(&url);
        assert!(told.contains("cannot be fetched") && told.contains(cause), "{told}");
        assert!(told.contains("fetch the file yourself"), "{told}");
    }
}

#[test]
fn a_name_is_the_newest_version_of_the_first_index_that_has_it() {
    let mut world = World::new();
    let server = hosted(&world);
    world.wishes.indexes = vec![format!("{}/index.json", server.address)];
    let installed = world.add("acme").unwrap();
    assert!(installed.folder.ends_with("1.1.0"));
    let receipt = Receipt::of_library(&world.home, &installed.folder.join("libacme.so")).unwrap();
    assert_eq!(receipt.index.as_ref(), Some(&world.wishes.indexes[0]));
    assert!(world.add("acme@1.0.0").unwrap().folder.ends_with("1.0.0"));
    let told = world.refused("acme@9");
    assert!(told.contains("no version 9 of acme: it has 1.1.0, 1.1.0-rc1, 1.0.0"), "{told}");
    let told = world.refused("acmee");
    assert!(told.contains("no plugin 'acmee'") && told.contains("did you mean acme"), "{told}");
}

#[test]
fn an_index_in_toml_on_this_machine_does_as_well() {
    let mut world = World::new();
    hosted(&world);
    let text = std::fs::read_to_string(world.path().join("dist/index.json")).unwrap();
    let mut document: toml::Table = serde_json::from_str(&text.replace("null", "\"\"")).unwrap();
    for plugin in document["plugins"].as_array_mut().unwrap() {
        plugin.as_table_mut().unwrap().remove("checked");
    }
    let index = world.write("dist/index.toml", toml::to_string(&document).unwrap());
    world.wishes.indexes = vec![index.to_str().unwrap().into()];
    world.add("acme").unwrap();
}

#[test]
fn an_index_that_is_down_or_none_is_told_and_a_missing_one_too() {
    let mut world = World::new();
    let told = world.refused("acme");
    assert!(told.contains("there is no index to find 'acme' in") && told.contains("--index"), "{told}");
    let index = format!("{}/index.json", Server::down());
    world.wishes.indexes = vec![index.clone()];
    let told = world.refused("acme");
    assert!(told.contains(&format!("{index} cannot be fetched")) && told.contains("network"), "{told}");
    for bad in ["{", "{\"format\": \"x\", \"form\": 1}", "{\"format\": \"skillbench-index\", \"form\": 2}", "hello"] {
        world.wishes.indexes = vec![text(&world.write("bad.json", bad))];
        let told = world.refused("acme");
        assert!(told.contains("bad.json cannot be used"), "{told}");
    }
}

#[test]
fn what_an_index_says_is_held_against_the_package() {
    let mut world = World::new();
    let server = hosted(&world);
    let good = std::fs::read_to_string(world.path().join("dist/index.json")).unwrap();
    let mut with = |from: &str, to: &str| {
        assert!(good.contains(from), "{from}");
        world.write("dist/bad.json", good.replace(from, to));
        world.wishes.indexes = vec![format!("{}/bad.json", server.address)];
        world.refused("acme")
    };
    let told = with("\"sha256\": \"", "\"sha256\": \"0");
    assert!(told.contains("has the SHA-256") && told.contains("the index http"), "{told}");
    let told = with("\"url\": \"acme-1.1.0.skillbench.tar.gz\"", "\"url\": \"file:///etc/passwd\"");
    assert!(told.contains("names a file of this machine") || told.contains("cannot be used"), "{told}");
    let told = with("\"url\": \"acme-1.1.0.skillbench.tar.gz\"", "\"url\": \"../acme-1.1.0.skillbench.tar.gz\"");
    assert!(told.contains("below the index' own folder"), "{told}");
}

#[test]
fn an_older_signed_package_is_not_taken_for_a_newer_one() {
    let mut world = World::new();
    let server = hosted(&world);
    let text = std::fs::read_to_string(world.path().join("dist/index.json")).unwrap();
    let mut document: serde_json::Value = serde_json::from_str(&text).unwrap();
    let plugins = document["plugins"].as_array_mut().unwrap();
    plugins[2]["url"] = plugins[0]["url"].clone();
    plugins[2]["sha256"] = plugins[0]["sha256"].clone();
    world.write("dist/old.json", document.to_string());
    world.wishes.indexes = vec![format!("{}/old.json", server.address)];
    let told = world.refused("acme");
    assert!(told.contains("holds acme 1.0.0") && told.contains("says acme 1.1.0"), "{told}");
}

#[test]
fn an_index_has_nothing_for_another_machine_or_contract() {
    let mut world = World::new();
    let server = hosted(&world);
    world.wishes.indexes = vec![format!("{}/index.json", server.address)];
    world.wishes.contract = Contract { major: 2, minor: 0 };
    assert!(world.refused("acme").contains("has no library for this machine"));
    world.wishes.contract = Contract { major: 1, minor: 1 };
    world.wishes.here = Here { platform: "plan9-mips".into(), glibc: None };
    let told = world.refused("acme");
    assert!(told.contains("which is plan9-mips: it has 1.1.0 for"), "{told}");
}

#[test]
fn a_folder_with_a_broken_package_gets_no_index() {
    let world = World::new();
    hosted(&world);
    world.write("dist/broken.skillbench.tar.gz", "no archive");
    let told = write_index(&world.path().join("dist"), &world.wishes).unwrap_err().to_string();
    assert!(told.contains("broken.skillbench.tar.gz"), "{told}");
}
