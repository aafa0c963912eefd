//! A package in pieces that can be carried to a machine without a network.

use super::manifest::{self, Manifest, Piece};
use super::{RuntimeError, fetch, io, kept, room, unpack, wanted_file};
use crate::registry::{Keep, Package};
use sha2::{Digest, Sha256};
use skillbench_record::scratch::Scratch;
use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::path::Path;
use zip::ZipWriter;

/// Three digits number them, so that names stand in the order of the pieces.
const MOST_PIECES: u64 = 999;

/// Fetches a package, checks it, and writes what is kept of it into a folder: a manifest, and pieces of at most `piece_size`
/// bytes. What stood there of the same package is replaced.
///
/// # Errors
/// What is missing, what the client said, a hash that is not the pinned one, a full disk.
pub fn pack(package: &Package, into: &Path, piece_size: u64) -> Result<Manifest, RuntimeError> {
    let wanted = wanted_file(package)?;
    let scratch = Scratch::in_folder(into).map_err(io(into))?;
    let archive = fetch::download(package, wanted, scratch.path())?;
    fetch::check(&archive, &wanted.hash)?;
    let (stem, form) = (manifest::stem(package), manifest::archive_form(package, wanted));
    let (archive, kept) = match &wanted.keep {
        None => (archive, vec![]),
        Some(keep) => {
            let unpacked = scratch.path().join("unpacked");
            unpack::archive(&archive, Some(keep), None, &unpacked)?;
            let files = kept::files(&unpacked)?;
            kept::check(package, keep, &files)?;
            let smaller = scratch.path().join("kept.zip");
            copy_kept(&archive, keep, &smaller)?;
            (smaller, files)
        }
    };
    let size = archive.metadata().map_err(io(&archive))?.len();
    if size.div_ceil(piece_size.max(1)) > MOST_PIECES {
        return Err(RuntimeError::TooManyPieces { package: package.name.clone(), size, most: MOST_PIECES });
    }
    remove_pieces(into, &stem, form)?;
    room(into, size)?;
    let mut manifest = Manifest::new(package, wanted, kept);
    manifest.pieces = cut(&archive, into, &|number| manifest::piece_name(&stem, form, number), piece_size)?;
    // Last: pieces without it are not taken for whole.
    manifest.write(&into.join(format!("{stem}.json")))?;
    Ok(manifest)
}

/// The kept files of a wheel as they are compressed in it, without its others.
fn copy_kept(wheel: &Path, keep: &Keep, into: &Path) -> Result<(), RuntimeError> {
    let mut from = unpack::open(wheel)?;
    let mut writer = ZipWriter::new(BufWriter::new(File::create(into).map_err(io(into))?));
    for index in 0..from.len() {
        let inner = from.by_index_raw(index).map_err(unpack::broken(wheel))?;
        if inner.is_file() && inner.name().is_ok_and(|name| keep.takes(&name)) {
            writer.raw_copy_file(inner).map_err(unpack::broken(into))?;
        }
    }
    let mut written = writer.finish().map_err(unpack::broken(into))?;
    written.flush().map_err(io(into))
}

/// Those of an earlier packing: fewer may be written now.
fn remove_pieces(folder: &Path, stem: &str, form: &str) -> Result<(), RuntimeError> {
    let is_piece = |name: &str| {
        let number = name.strip_prefix(stem).and_then(|rest| rest.strip_prefix(&format!(".{form}.")));
        number.is_some_and(|number| number.len() == 3 && number.bytes().all(|digit| digit.is_ascii_digit()))
    };
    for entry in std::fs::read_dir(folder).map_err(io(folder))?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if is_piece(&name) || name == format!("{stem}.json") {
            std::fs::remove_file(entry.path()).map_err(io(&entry.path()))?;
        }
    }
    Ok(())
}

fn cut(file: &Path, into: &Path, name: &dyn Fn(usize) -> String, size: u64) -> Result<Vec<Piece>, RuntimeError> {
    let mut from = File::open(file).map_err(io(file))?;
    let mut left = from.metadata().map_err(io(file))?.len();
    let mut pieces = vec![];
    let mut buffer = vec![0; 1 << 20];
    while left > 0 {
        let piece = Piece { file: name(pieces.len() + 1), size: left.min(size.max(1)), sha256: String::new() };
        let target = into.join(&piece.file);
        let mut out = File::create(&target).map_err(io(&target))?;
        let (mut hasher, mut rest) = (Sha256::new(), piece.size);
        while rest > 0 {
            let most = buffer.len().min(usize::try_from(rest).unwrap_or(usize::MAX));
            let read = from.read(&mut buffer[..most]).map_err(io(file))?;
            if read == 0 {
                return Err(RuntimeError::Io { path: file.into(), text: "it became shorter while it was read".into() });
            }
            hasher.update(&buffer[..read]);
            out.write_all(&buffer[..read]).map_err(io(&target))?;
            rest -= read as u64;
        }
        left -= piece.size;
        pieces.push(Piece { sha256: skillbench_record::hash::hex(&hasher.finalize()), ..piece });
    }
    Ok(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_joined_are_the_file_and_none_is_larger_than_asked() {
        let folder = tempfile::tempdir().unwrap();
        let whole = folder.path().join("whole");
        std::fs::write(&whole, b"0123456789").unwrap();
        let pieces = cut(&whole, folder.path(), &|number| format!("piece.{number:03}"), 4).unwrap();
        let read = |piece: &Piece| std::fs::read(folder.path().join(&piece.file)).unwrap();
        assert_eq!(pieces.iter().map(|piece| piece.size).collect::<Vec<_>>(), [4, 4, 2]);
        assert_eq!(pieces.iter().flat_map(read).collect::<Vec<u8>>(), b"0123456789");
        assert_eq!(pieces[0].sha256, skillbench_record::hash::sha256_text("0123"));
    }
}
