//! Installing from a folder that was carried here: packages as they were downloaded, or the pieces that `pack` made, all at
//! once or a few at a time.

use super::manifest::{self, Manifest, Piece};
use super::{RuntimeError, fetch, home, io, is_installed, place, room, scratch, wanted_file};
use crate::registry::{Package, PackageFile, Source};
use sha2::{Digest, Sha256};
use skillbench_record::scratch::Scratch;
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// What became of an installation from a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Carried {
    /// It was installed before.
    There,
    Installed,
    /// Some pieces are kept until the others come.
    Waiting(Waiting),
}

/// Pieces that wait for others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    pub missing: Vec<String>,
    pub total: usize,
    /// How many kept pieces were given up, since they are of another cutting.
    pub given_up: usize,
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
        place(package, wanted, &archive, None, scratch.path())?;
        return Ok(Carried::Installed);
    }
    let pieces = Pieces::find(package, wanted, from)?;
    if !pieces.missing.is_empty() {
        if partial {
            return pieces.keep(from).map(Carried::Waiting);
        }
        let (package, version) = (package.name.clone(), package.version.clone());
        let (total, missing) = (pieces.all.len(), pieces.missing);
        return Err(RuntimeError::MissingPieces { package, version, missing, total, folder: from.into() });
    }
    let scratch = scratch(package)?;
    let archive = pieces.join(scratch.path())?;
    if wanted.keep.is_none() {
        let name = format!("{} {}, joined of its pieces,", package.name, package.version);
        fetch::check_as(&name, &archive, &wanted.hash)?;
    }
    place(package, wanted, &archive, Some(&pieces.manifest.kept), scratch.path())?;
    forget(package)?;
    Ok(Carried::Installed)
}

/// Whether a package lies in a folder that was carried, in whatever form and version.
pub fn is_carried(package: &Package, from: &Path) -> bool {
    let Ok(wanted) = wanted_file(package) else { return false };
    match as_downloaded(package, wanted, from) {
        Ok(None) => !matches!(Pieces::find(package, wanted, from), Err(RuntimeError::NotCarried { .. })),
        _ => true,
    }
}

/// The pieces of a package that wait for others, of how many; `None` where none do.
pub fn waiting(package: &Package) -> Option<(usize, usize)> {
    let folder = waiting_folder(package);
    let manifest = Manifest::of_any(&folder.join(format!("{}.json", manifest::stem(package))))?;
    Some((kept_pieces(&folder), manifest.pieces.len()))
}

/// Gives up the pieces that wait for others; says whether there were any.
pub(super) fn forget(package: &Package) -> Result<bool, RuntimeError> {
    let folder = waiting_folder(package);
    match std::fs::remove_dir_all(&folder) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(io(&folder)(error)),
    }
}

fn waiting_folder(package: &Package) -> PathBuf {
    home(package).join(format!(".pieces-{}", manifest::stem(package)))
}

fn kept_pieces(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter(|entry| entry.path().extension().is_some_and(|extension| extension.len() == 3)).count()
}

/// The names of the plain files in a folder.
fn names(folder: &Path) -> Result<Vec<String>, RuntimeError> {
    let entries = std::fs::read_dir(folder).map_err(io(folder))?.flatten();
    Ok(entries
        .filter(|entry| entry.path().is_file())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect())
}

/// How the file names of a package as it is downloaded begin, up to its version, and how they end.
fn downloaded_name(package: &Package) -> (String, &'static str) {
    match &package.source {
        Source::PyPi(name) => (format!("{}-", name.to_lowercase().replace(['-', '.'], "_")), ".whl"),
        Source::Npm(name) => (format!("{}-", name.trim_start_matches('@').replace('/', "-")), ".tgz"),
    }
}

/// The version in the name of a file of this package as it is downloaded.
fn downloaded_version(package: &Package, name: &str) -> Option<String> {
    let (begin, end) = downloaded_name(package);
    let rest = name.to_lowercase().strip_prefix(&begin)?.strip_suffix(end)?.to_string();
    let version = rest.split('-').next()?;
    version.starts_with(|first: char| first.is_ascii_digit()).then(|| version.into())
}

/// The wheel or npm archive in a folder that has the pinned hash.
fn as_downloaded(package: &Package, wanted: &PackageFile, from: &Path) -> Result<Option<PathBuf>, RuntimeError> {
    let mut other = None;
    for name in names(from)? {
        if downloaded_version(package, &name).as_ref() != Some(&package.version) {
            continue;
        }
        match fetch::check(&from.join(&name), &wanted.hash) {
            Ok(()) => return Ok(Some(from.join(name))),
            // Perhaps that of another platform, and the right one is in the folder too.
            Err(error) => other = Some(error),
        }
    }
    match other {
        Some(error) if !from.join(format!("{}.json", manifest::stem(package))).is_file() => Err(error),
        _ => Ok(None),
    }
}

/// The pieces of a package, in a folder and among those that wait.
struct Pieces {
    manifest: Manifest,
    /// By the names that they must have: those in the manifest are whoever's who wrote it.
    all: Vec<Piece>,
    missing: Vec<String>,
    /// Where they are looked for, in order.
    places: Vec<PathBuf>,
    waiting: PathBuf,
    stem: String,
}

impl Pieces {
    fn find(package: &Package, wanted: &PackageFile, from: &Path) -> Result<Pieces, RuntimeError> {
        let (stem, waiting) = (manifest::stem(package), waiting_folder(package));
        let file = format!("{stem}.json");
        // One that was kept may be unreadable after a crash, and is then as good as none.
        let kept = Manifest::read(&waiting.join(&file), package, wanted).ok().flatten();
        let carried = Manifest::read(&from.join(&file), package, wanted)?;
        let mut places = vec![from.to_path_buf()];
        // Pieces of another cutting do not fit.
        if carried.is_none() || carried == kept {
            places.push(waiting.clone());
        }
        let Some(manifest) = carried.or(kept) else { return Err(nothing(package, from, &stem)?) };
        let form = manifest::archive_form(package, wanted);
        let named = |(index, piece): (usize, &Piece)| Piece {
            file: manifest::piece_name(&stem, form, index + 1),
            ..piece.clone()
        };
        let all: Vec<Piece> = manifest.pieces.iter().enumerate().map(named).collect();
        let mut pieces = Pieces { manifest, all, missing: vec![], places, waiting, stem };
        let missing = pieces.all.iter().filter(|piece| pieces.place(piece).is_none());
        pieces.missing = missing.map(|piece| piece.file.clone()).collect();
        Ok(pieces)
    }

    fn place(&self, piece: &Piece) -> Option<PathBuf> {
        self.places.iter().map(|place| place.join(&piece.file)).find(|path| path.is_file())
    }

    /// Keeps what is there for a later call.
    fn keep(self, from: &Path) -> Result<Waiting, RuntimeError> {
        let waiting = &self.waiting;
        let given_up = if self.places.contains(waiting) { 0 } else { kept_pieces(waiting) };
        if given_up > 0 {
            std::fs::remove_dir_all(waiting).map_err(io(waiting))?;
        }
        std::fs::create_dir_all(waiting).map_err(io(waiting))?;
        self.manifest.write(&waiting.join(format!("{}.json", self.stem)))?;
        let keep = |piece: &Piece| -> Result<(), RuntimeError> {
            let (source, target) = (from.join(&piece.file), waiting.join(&piece.file));
            if !source.is_file() || target.is_file() {
                return Ok(());
            }
            room(waiting, piece.size)?;
            let scratch = Scratch::in_folder(waiting).map_err(io(waiting))?;
            let new = scratch.path().join(&piece.file);
            let mut out = File::create_new(&new).map_err(io(&new))?;
            copy(piece, &source, &mut out, &target)?;
            std::fs::rename(&new, &target).map_err(io(&target))
        };
        // One that is broken does not cost the others.
        let kept: Vec<Result<(), RuntimeError>> = self.all.iter().map(keep).collect();
        kept.into_iter().collect::<Result<Vec<()>, _>>()?;
        Ok(Waiting { missing: self.missing, total: self.all.len(), given_up })
    }

    /// The archive that they were cut from.
    fn join(&self, scratch: &Path) -> Result<PathBuf, RuntimeError> {
        let sizes = self.all.iter().map(|piece| piece.size).chain(self.manifest.kept.iter().map(|file| file.size));
        room(scratch, sizes.fold(0, u64::saturating_add))?;
        let archive = scratch.join(format!("joined.{}", self.manifest.archive));
        let mut out = File::create(&archive).map_err(io(&archive))?;
        for piece in &self.all {
            // It was there a moment ago; where it is gone, opening it says so.
            let path = self.place(piece).unwrap_or_else(|| self.waiting.join(&piece.file));
            copy(piece, &path, &mut out, &archive)?;
        }
        Ok(archive)
    }
}

/// Why a folder has no pieces of a package: they are of another version, lack what describes them, or were not carried.
fn nothing(package: &Package, from: &Path, stem: &str) -> Result<RuntimeError, RuntimeError> {
    let names = names(from)?;
    if names.iter().any(|name| name.starts_with(&format!("{stem}."))) {
        let text = "it is missing, and the pieces cannot be checked without it: carry it with them";
        return Ok(RuntimeError::Manifest { file: from.join(format!("{stem}.json")), text: text.into() });
    }
    let pinned = format!("{} for {}", package.version, manifest::platform_of(package));
    let packed = |name: &String| {
        let manifest = name.ends_with(".json").then(|| Manifest::of_any(&from.join(name)))??;
        let found = format!("{} for {}", manifest.package_version, manifest.platform);
        (manifest.package == package.name).then_some(found)
    };
    let mut versions = names.iter().filter_map(|name| packed(name).or_else(|| downloaded_version(package, name)));
    let found = versions.find(|version| ![&pinned, &package.version].contains(&version));
    let (package, folder) = (package.clone(), from.to_path_buf());
    Ok(match found {
        None => RuntimeError::NotCarried { package: package.name, folder },
        Some(found) => {
            let found = manifest::shown(&found);
            RuntimeError::OtherVersion { package: package.name, found, pinned, folder }
        }
    })
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
    let found = skillbench_record::hash::hex(&hasher.finalize());
    match found == piece.sha256 {
        true => Ok(()),
        false => {
            let text = format!("it has sha256 {found} in place of {}", manifest::shown(&piece.sha256));
            Err(broken(text))
        }
    }
}
