//! Installing from a folder that was carried here: packages as they were downloaded, or the pieces that `pack` made, all at
//! once or a few at a time.

use super::manifest::{self, Manifest, Piece};
use super::{RuntimeError, fetch, folder, home, io, is_installed, place, room, scratch, wanted_file};
use crate::registry::{Package, PackageFile, Source};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// What became of an installation from a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Carried {
    /// It was installed before.
    There,
    Installed,
    /// Some pieces are kept until the others come: the missing ones, of so many.
    Waiting {
        missing: Vec<String>,
        total: usize,
    },
}

/// Installs a package from a folder. With `partial`, pieces that are there are kept for a later call where others are missing.
///
/// # Errors
/// The folder has nothing of the package, another version, a broken piece, not all pieces (without `partial`), or something
/// else than the registry pins.
pub fn install_from(package: &Package, from: &Path, partial: bool) -> Result<Carried, RuntimeError> {
    if is_installed(package) {
        return Ok(Carried::There);
    }
    let wanted = wanted_file(package)?;
    std::fs::read_dir(from).map_err(io(from))?;
    if let Some(archive) = as_downloaded(package, wanted, from)? {
        let scratch = scratch(package)?;
        place(package, wanted, &archive, scratch.path())?;
        return Ok(Carried::Installed);
    }
    let waiting = waiting(package);
    let manifest = manifest(package, wanted, from, &waiting)?;
    let total = manifest.pieces.len();
    let stem = manifest::stem(package);
    // By the names that they must have: those in the manifest are whoever's who wrote it.
    let named = |(index, piece): (usize, &Piece)| {
        let file = manifest::piece_name(&stem, &manifest.archive, index + 1);
        Piece { file, ..piece.clone() }
    };
    let pieces: Vec<Piece> = manifest.pieces.iter().enumerate().map(named).collect();
    let find = |piece: &Piece| [from, &waiting].map(|at| at.join(&piece.file)).into_iter().find(|path| path.is_file());
    let missing: Vec<String> =
        pieces.iter().filter(|piece| find(piece).is_none()).map(|piece| piece.file.clone()).collect();
    if !missing.is_empty() {
        if !partial {
            let (package, version) = (package.name.clone(), package.version.clone());
            return Err(RuntimeError::MissingPieces { package, version, missing, total, folder: from.into() });
        }
        keep(&manifest, &pieces, from, &waiting, &stem)?;
        return Ok(Carried::Waiting { missing, total });
    }
    let scratch = scratch(package)?;
    let sizes = |files: &mut dyn Iterator<Item = u64>| files.fold(0, u64::saturating_add);
    let needed = sizes(&mut pieces.iter().map(|piece| piece.size).chain(manifest.kept.iter().map(|file| file.size)));
    room(scratch.path(), needed)?;
    let archive = scratch.path().join(format!("joined.{}", manifest.archive));
    let mut out = File::create(&archive).map_err(io(&archive))?;
    for piece in &pieces {
        // It was there a moment ago.
        let path = find(piece).unwrap_or_else(|| from.join(&piece.file));
        copy(piece, &path, &mut out, &archive)?;
    }
    drop(out);
    if wanted.keep.is_none() {
        fetch::check(&archive, &wanted.hash)?;
    }
    place(package, wanted, &archive, scratch.path())?;
    forget(package)?;
    Ok(Carried::Installed)
}

/// Gives up the pieces that wait for others; says whether there were any.
pub(super) fn forget(package: &Package) -> Result<bool, RuntimeError> {
    let waiting = waiting(package);
    match std::fs::remove_dir_all(&waiting) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(io(&waiting)(error)),
    }
}

/// Where pieces wait for the others.
fn waiting(package: &Package) -> PathBuf {
    home(package).join(format!(".pieces-{}", manifest::stem(package)))
}

/// The wheel or npm archive in a folder that has the pinned hash.
fn as_downloaded(package: &Package, wanted: &PackageFile, from: &Path) -> Result<Option<PathBuf>, RuntimeError> {
    let version = &package.version;
    let (begin, end) = match &package.source {
        Source::PyPi(name) => (format!("{}-{version}-", name.to_lowercase().replace(['-', '.'], "_")), ".whl"),
        Source::Npm(name) => (format!("{}-{version}", name.trim_start_matches('@').replace('/', "-")), ".tgz"),
    };
    let mut other = None;
    for entry in std::fs::read_dir(from).map_err(io(from))?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if !(name.to_lowercase().starts_with(&begin) && name.ends_with(end)) {
            continue;
        }
        match fetch::check(&entry.path(), &wanted.hash) {
            Ok(()) => return Ok(Some(entry.path())),
            // Perhaps that of another platform, and the right one lies beside it.
            Err(error) => other = Some(error),
        }
    }
    match other {
        Some(error) if !from.join(format!("{}.json", manifest::stem(package))).is_file() => Err(error),
        _ => Ok(None),
    }
}

/// What the pieces are pieces of: from the folder, else from an earlier call.
fn manifest(package: &Package, wanted: &PackageFile, from: &Path, waiting: &Path) -> Result<Manifest, RuntimeError> {
    let stem = manifest::stem(package);
    for folder in [from, waiting] {
        if let Some(manifest) = Manifest::read(&folder.join(format!("{stem}.json")), package, wanted)? {
            return Ok(manifest);
        }
    }
    let (package, pinned, folder) = (package.name.clone(), package.version.clone(), from.to_path_buf());
    let (begin, end) = stem.split_once(&*pinned).unwrap_or((&stem, ""));
    let names: Vec<String> = std::fs::read_dir(from)
        .map_err(io(from))?
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    if names.iter().any(|name| name.starts_with(&format!("{stem}."))) {
        return Err(RuntimeError::Manifest {
            file: from.join(format!("{stem}.json")),
            text: "it is not there, and without it the pieces beside it cannot be checked: carry it with them".into(),
        });
    }
    let of_version = |name: &String| Some(name.strip_prefix(begin)?.split_once(&format!("{end}."))?.0.to_string());
    match names.iter().find_map(of_version) {
        Some(found) => Err(RuntimeError::OtherVersion { package, found, pinned, folder }),
        None => Err(RuntimeError::NotCarried { package, folder }),
    }
}

/// Keeps what is there of the pieces for a later call.
fn keep(manifest: &Manifest, pieces: &[Piece], from: &Path, waiting: &Path, stem: &str) -> Result<(), RuntimeError> {
    let own = waiting.join(format!("{stem}.json"));
    // Pieces of another cutting do not fit.
    if std::fs::read(&own).is_ok_and(|bytes| serde_json::from_slice(&bytes).ok().as_ref() != Some(manifest)) {
        std::fs::remove_dir_all(waiting).map_err(io(waiting))?;
    }
    std::fs::create_dir_all(waiting).map_err(io(waiting))?;
    manifest.write(&own)?;
    for piece in pieces {
        let (source, target) = (from.join(&piece.file), waiting.join(&piece.file));
        if !source.is_file() || target.is_file() {
            continue;
        }
        room(waiting, piece.size)?;
        let mut out = tempfile::NamedTempFile::new_in(waiting).map_err(io(waiting))?;
        copy(piece, &source, &mut out, &target)?;
        out.persist(&target).map_err(|error| io(&target)(error.error))?;
    }
    Ok(())
}

/// Appends a piece, if it is what the manifest says.
fn copy(piece: &Piece, path: &Path, out: &mut dyn Write, target: &Path) -> Result<(), RuntimeError> {
    let broken = |text: String| RuntimeError::BrokenPiece { piece: path.into(), text };
    let mut from = File::open(path).map_err(io(path))?;
    let size = from.metadata().map_err(io(path))?.len();
    if size != piece.size {
        return Err(broken(format!("it has {size} bytes in place of {}", piece.size)));
    }
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        match from.read(&mut buffer).map_err(io(path))? {
            0 => break,
            read => {
                hasher.update(&buffer[..read]);
                out.write_all(&buffer[..read]).map_err(io(target))?;
            }
        }
    }
    let found = crate::environment::hex(&hasher.finalize());
    match found == piece.sha256 {
        true => Ok(()),
        false => Err(broken(format!("it has sha256 {found} in place of {}", piece.sha256))),
    }
}

/// Whether a package lies in a folder that was carried, in whatever form and version.
pub fn is_carried(package: &Package, from: &Path) -> bool {
    let not_there = |error: &RuntimeError| matches!(error, RuntimeError::NotCarried { .. });
    let Ok(wanted) = wanted_file(package) else { return false };
    match as_downloaded(package, wanted, from) {
        Ok(None) => !manifest(package, wanted, from, &waiting(package)).is_err_and(|error| not_there(&error)),
        _ => folder(package).parent().is_some(),
    }
}
