//! Archives that somebody else made.

use crate::world::{World, text};
use flate2::{Compression, write::GzEncoder};
use std::io::Write;
use std::path::PathBuf;
use tar::{Builder, EntryType, Header};

/// An archive with one entry, whose name is written as it is.
fn archive(world: &World, name: &[u8], kind: EntryType, link: &str, data: &[u8]) -> PathBuf {
    let mut header = Header::new_ustar();
    header.as_old_mut().name[..name.len()].copy_from_slice(name);
    header.set_entry_type(kind);
    header.set_size(data.len() as u64);
    header.set_mode(0o644);
    if !link.is_empty() {
        header.set_link_name_literal(link).unwrap();
    }
    header.set_cksum();
    let mut tar = Builder::new(GzEncoder::new(vec![], Compression::fast()));
    tar.append(&header, data).unwrap();
    world.write("evil.skillbench.tar.gz", tar.into_inner().unwrap().finish().unwrap())
}

#[test]
fn what_points_outside_is_refused_and_nothing_is_written() {
    let world = World::unsigned();
    let names: [&[u8]; 7] = [b"../evil", b"a/../../evil", b"/tmp/evil", b"..", b"a\\..\\evil", b"c:evil", b"a//b"];
    for name in names {
        let told = world.refused(text(&archive(&world, name, EntryType::Regular, "", b"x")));
        assert!(told.contains("is refused: it holds"), "{told}");
    }
    assert!(!world.path().join("evil").exists() && !world.home.data.join("evil").exists());
}

#[test]
fn links_devices_and_pipes_are_refused() {
    let world = World::unsigned();
    for kind in [EntryType::Symlink, EntryType::Link] {
        let told = world.refused(text(&archive(&world, b"libacme.so", kind, "/etc/passwd", b"")));
        assert!(told.contains("'libacme.so', a link"), "{told}");
    }
    for kind in [EntryType::Char, EntryType::Block, EntryType::Fifo, EntryType::GNULongName, EntryType::XHeader] {
        let told = world.refused(text(&archive(&world, b"libacme.so", kind, "", b"")));
        assert!(told.contains("no plain file and no folder"), "{told}");
    }
}

#[test]
fn an_archive_that_is_cut_off_or_changed_or_none_is_told_as_that() {
    let world = World::unsigned();
    let packed = world.packed("1.0.0", "", None);
    let bytes = std::fs::read(&packed.file).unwrap();
    for length in [0, 1, 9, 10, 100, bytes.len() / 2, bytes.len() - 5, bytes.len() - 1] {
        let told = world.refused(text(&world.write("cut.tar.gz", &bytes[..length])));
        assert!(told.contains("cut.tar.gz is no whole plugin package"), "{length}: {told}");
    }
    let mut changed = bytes.clone();
    let last = changed.len() - 6;
    changed[last] ^= 1;
    let told = world.refused(text(&world.write("changed.tar.gz", changed)));
    assert!(told.contains("is no whole plugin package"), "{told}");
    let told = world.refused(text(&world.write("text.tar.gz", "this is no archive")));
    assert!(told.contains("is no whole plugin package"), "{told}");
}

#[test]
fn a_small_archive_that_unpacks_to_very_much_is_refused_before_the_disk_is_full() {
    let world = World::unsigned();
    let mut packed = GzEncoder::new(vec![], Compression::best());
    let size = 512_u64 << 20;
    let mut header = Header::new_ustar();
    header.set_path("libacme.so").unwrap();
    header.set_size(size);
    header.set_entry_type(EntryType::Regular);
    header.set_cksum();
    packed.write_all(header.as_bytes()).unwrap();
    let zeros = vec![0; 1 << 20];
    (0..size >> 20).for_each(|_| packed.write_all(&zeros).unwrap());
    let bomb = world.write("bomb.tar.gz", packed.finish().unwrap());
    let told = world.refused(text(&bomb));
    assert!(told.contains("unpacked it has more than") && told.contains("which no plugin has"), "{told}");
}

#[test]
fn very_many_files_are_refused() {
    let mut world = World::unsigned();
    world.wishes.limits.files = 2;
    let packed = world.packed("1.0.0", "", None);
    let told = world.refused(text(&packed.file));
    assert!(told.contains("more than 2 files"), "{told}");
}

#[test]
fn a_file_that_is_there_twice_is_refused() {
    let world = World::unsigned();
    let mut tar = Builder::new(GzEncoder::new(vec![], Compression::fast()));
    for _ in 0..2 {
        let mut header = Header::new_ustar();
        header.set_size(1);
        header.set_entry_type(EntryType::Regular);
        tar.append_data(&mut header, "a", &b"x"[..]).unwrap();
    }
    let told = world.refused(text(&world.write("twice.tar.gz", tar.into_inner().unwrap().finish().unwrap())));
    assert!(told.contains("'a', which it holds twice"), "{told}");
}
