//! The files that a user's model consists of. Whoever names a model trusts its folder and no other one: a link is followed once, to a
//! regular file within that folder, and what leads elsewhere is refused. Engines never follow one, and each has rules of its own for
//! them: where a model has links, it is given to them as a folder in which every file is a real one.

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};

/// Where the files of one model may lie.
#[derive(Clone, Debug)]
pub struct Tree {
    /// The model's folder as it was named, and the same without links.
    named: PathBuf,
    real: PathBuf,
    /// What links may lead to: that folder; in the cache of a hub, the folder of the whole repository.
    root: PathBuf,
}

/// A regular file of a model, open.
#[derive(Debug)]
pub struct Opened {
    pub file: File,
    pub data: Metadata,
    /// It is reached through a link, so that an engine may refuse it.
    pub linked: bool,
}

/// Why a file is not taken as one of a model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    #[error("{0}")]
    Unreadable(String),
    #[error("it is no file")]
    NoFile,
    #[error("it has {0} bytes, more than such a file ever has")]
    TooLarge(u64),
    #[error("{} leads to {}, which is outside of the model's folder {}", link.display(), target.display(), tree.display())]
    Elsewhere { link: PathBuf, target: PathBuf, tree: PathBuf },
}

/// What to do about a link that leads elsewhere.
pub(super) const NO_LINKS: &str =
    "a model is not trusted with other files: name that file itself, or put a copy of it in the place of the link";

/// No configuration and no skill.json that anybody wrote is larger.
const LARGEST_TEXT: u64 = 4 << 20;

impl Tree {
    /// Of a model's folder.
    ///
    /// # Errors
    /// There is no such folder.
    pub fn of_folder(folder: &Path) -> Result<Tree, FileError> {
        let here = folder.as_os_str().is_empty();
        let real = std::fs::canonicalize(if here { Path::new(".") } else { folder }).map_err(unreadable)?;
        let root = repository(&real).unwrap_or(&real).to_path_buf();
        Ok(Tree { named: folder.into(), real, root })
    }

    /// Of a model's file, or of its folder.
    ///
    /// # Errors
    /// As for [`Tree::of_folder`].
    pub fn of(model: &Path) -> Result<Tree, FileError> {
        Tree::of_folder(if model.is_dir() { model } else { model.parent().unwrap_or(model) })
    }

    /// For a folder that may be around this one: an exporter's configuration stands above the folder of its graphs.
    fn at(&self, folder: &Path) -> Result<Tree, FileError> {
        match std::fs::canonicalize(folder) {
            Ok(real) if real.starts_with(&self.root) => Ok(self.clone()),
            _ => Tree::of_folder(folder),
        }
    }

    /// Opens a file of the model. Between looking and opening nobody can put a link in its place: no step of the way is one.
    ///
    /// # Errors
    /// There is no such file, it is none, or it lies elsewhere.
    pub fn open(&self, path: &Path) -> Result<Opened, FileError> {
        let target = std::fs::canonicalize(path).map_err(unreadable)?;
        let linked = path.strip_prefix(&self.named).map_or(true, |within| self.real.join(within) != target);
        // To a model at the very top, every file of the machine is within its folder.
        let is_everything = self.root.parent().is_none();
        let within = match target.strip_prefix(&self.root) {
            Ok(within) if !(linked && is_everything) => within,
            _ => return Err(FileError::Elsewhere { link: path.into(), tree: self.root.clone(), target }),
        };
        let file = without_links(&self.root, within).map_err(unreadable)?;
        let data = file.metadata().map_err(unreadable)?;
        if data.is_file() { Ok(Opened { file, data, linked }) } else { Err(FileError::NoFile) }
    }

    /// A short text that belongs to the model; `None`: there is none.
    ///
    /// # Errors
    /// As for [`Tree::open`], and a file that is no text or too long for one.
    pub fn text(&self, path: &Path) -> Result<Option<String>, FileError> {
        if std::fs::symlink_metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            return Ok(None);
        }
        let opened = self.at(path.parent().unwrap_or(path))?.open(path)?;
        if opened.data.len() > LARGEST_TEXT {
            return Err(FileError::TooLarge(opened.data.len()));
        }
        let mut text = String::new();
        opened.file.take(LARGEST_TEXT).read_to_string(&mut text).map_err(unreadable)?;
        Ok(Some(text))
    }

    /// The place of a file of the model within a copy of its folder.
    pub fn within(&self, path: &Path, copy: &Path) -> Option<PathBuf> {
        path.strip_prefix(&self.named).ok().map(|within| copy.join(within))
    }
}

fn unreadable(error: io::Error) -> FileError {
    FileError::Unreadable(error.to_string())
}

/// The folder of a repository in the cache of a hub, `models--ORG--NAME`, around one of its snapshots.
fn repository(folder: &Path) -> Option<&Path> {
    let is_called =
        |path: &Path, name: &str| path.file_name().is_some_and(|own| own.to_string_lossy().starts_with(name));
    let snapshots = folder.ancestors().skip(1).find(|path| path.ends_with("snapshots"))?;
    let repository = snapshots.parent().filter(|repository| is_called(repository, "models--"))?;
    repository.join("blobs").is_dir().then_some(repository)
}

/// SHA-256 of a file that a user named as a model, whatever it is; `None`: it lies elsewhere, or cannot be read.
pub fn sha256(path: &Path) -> Option<String> {
    Tree::of(path).and_then(|tree| tree.open(path)).ok()?.sha256()
}

impl Opened {
    /// SHA-256 of its content; `None`: it cannot be read.
    pub fn sha256(&self) -> Option<String> {
        let mut file = &self.file;
        file.rewind().and_then(|()| skillbench_record::hash::sha256_reader(file)).ok()
    }

    /// Makes this very file one of a folder's own: as a second name of it, or as a copy where that cannot be. `target` is new.
    ///
    /// # Errors
    /// The file cannot be read, or the folder cannot be written.
    pub fn place(&mut self, target: &Path) -> io::Result<()> {
        if let Some(folder) = target.parent() {
            std::fs::create_dir_all(folder)?;
        }
        if second_name(self, target).is_ok() {
            return Ok(());
        }
        let mut copy = File::options().write(true).create_new(true).open(target)?;
        self.file.rewind()?;
        io::copy(&mut self.file, &mut copy).map(drop)
    }
}

/// Opens a file step by step, none of which is a link.
#[cfg(unix)]
fn without_links(root: &Path, within: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags, open, openat};
    let plain = OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut at = open(root, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let mut steps = within.components().peekable();
    while let Some(step) = steps.next() {
        // A pipe that nobody writes to would be waited for.
        let kind = if steps.peek().is_some() { OFlags::DIRECTORY } else { OFlags::NONBLOCK };
        at = openat(&at, step.as_os_str(), plain | kind, Mode::empty())?;
    }
    Ok(File::from(at))
}

#[cfg(not(unix))]
fn without_links(root: &Path, within: &Path) -> io::Result<File> {
    let path = root.join(within);
    match std::fs::symlink_metadata(&path)?.is_symlink() {
        true => Err(io::Error::other("it became a link")),
        false => File::open(path),
    }
}

/// Gives the open file another name, not whatever its path leads to by now. What belongs to somebody else could be changed by them
/// at any time, and is copied.
#[cfg(target_os = "linux")]
fn second_name(opened: &Opened, target: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::MetadataExt;
    if opened.data.uid() != rustix::process::geteuid().as_raw() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    let file = format!("/proc/self/fd/{}", opened.file.as_raw_fd());
    Ok(linkat(CWD, file, CWD, target, AtFlags::SYMLINK_FOLLOW)?)
}

#[cfg(not(target_os = "linux"))]
fn second_name(_opened: &Opened, _target: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Whether a name leads to nothing but the model's own folder, on any system.
pub fn stays_inside(location: &str) -> bool {
    let mut steps = location.split(['/', '\\']);
    !location.is_empty()
        && !location.contains('\0')
        && steps.all(|step| !step.is_empty() && step != ".." && !step.contains(':'))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::{MetadataExt, symlink};

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().unwrap()
    }

    fn put(path: PathBuf, text: &str) -> PathBuf {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    #[test]
    fn only_names_within_the_folder_stay_inside() {
        for good in ["w.data", "model.onnx_data", "deep/w.data", "a b.bin"] {
            assert!(stays_inside(good), "{good}");
        }
        for bad in
            ["", "../w.data", "/etc/passwd", "deep/../../w", "..\\w", "C:\\w", "C:w", "a\0b", "\\\\host\\share\\w"]
        {
            assert!(!stays_inside(bad), "{bad:?}");
        }
    }

    #[test]
    fn a_link_within_the_folder_is_followed_and_one_that_leaves_it_is_refused_with_both_ends() {
        let folder = folder();
        let secret = put(folder.path().join("secret"), "root");
        let inside = put(folder.path().join("model/real"), "weights");
        for (name, target) in [("near", &inside), ("far", &secret), ("twice", &folder.path().join("model/far"))] {
            symlink(target, folder.path().join("model").join(name)).unwrap();
        }
        let tree = Tree::of_folder(&folder.path().join("model")).unwrap();
        assert!(!tree.open(&inside).unwrap().linked);
        assert!(tree.open(&folder.path().join("model/near")).unwrap().linked);
        for name in ["far", "twice"] {
            let link = folder.path().join("model").join(name);
            let said = tree.open(&link).unwrap_err().to_string();
            assert!(said.contains(&link.display().to_string()) && said.contains("/secret, which is outside"), "{said}");
        }
    }

    #[test]
    fn a_folder_that_is_named_through_a_link_is_the_models_own() {
        let folder = folder();
        put(folder.path().join("real/model.onnx"), "graph");
        symlink("real", folder.path().join("named")).unwrap();
        let path = folder.path().join("named/model.onnx");
        assert!(!Tree::of(&path).unwrap().open(&path).unwrap().linked);
    }

    #[test]
    fn pipes_and_folders_are_no_files_and_nobody_waits_for_them() {
        let folder = folder();
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        std::fs::create_dir(folder.path().join("inner")).unwrap();
        let tree = Tree::of_folder(folder.path()).unwrap();
        for name in ["pipe", "inner"] {
            assert_eq!(tree.open(&folder.path().join(name)).unwrap_err(), FileError::NoFile);
        }
        assert!(matches!(tree.text(&pipe), Err(FileError::NoFile)));
    }

    #[test]
    fn a_file_is_placed_as_itself_where_it_can_be_and_the_link_to_it_is_not() {
        let folder = folder();
        let real = put(folder.path().join("real"), "weights");
        symlink("real", folder.path().join("link")).unwrap();
        let tree = Tree::of_folder(folder.path()).unwrap();
        let target = folder.path().join("copy/w.data");
        tree.open(&folder.path().join("link")).unwrap().place(&target).unwrap();
        let placed = std::fs::symlink_metadata(&target).unwrap();
        assert!(placed.is_file());
        assert_eq!(std::fs::read(&target).unwrap(), b"weights");
        if cfg!(target_os = "linux") {
            assert_eq!(placed.ino(), std::fs::metadata(real).unwrap().ino(), "a second name takes no room");
        }
    }

    #[test]
    fn what_was_opened_is_placed_whatever_its_path_leads_to_by_now() {
        let folder = folder();
        let (path, secret) = (put(folder.path().join("m/w"), "weights"), put(folder.path().join("secret"), "root"));
        let mut opened = Tree::of(&path).unwrap().open(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        symlink(secret, &path).unwrap();
        let target = folder.path().join("copy");
        opened.place(&target).unwrap();
        assert_eq!(std::fs::read(target).unwrap(), b"weights");
    }

    #[test]
    fn only_a_model_of_its_own_folder_has_a_hash() {
        let folder = folder();
        let secret = put(folder.path().join("secret"), "root");
        let path = put(folder.path().join("m/model.onnx"), "root");
        let of = skillbench_record::hash::sha256_text("root");
        assert_eq!(sha256(&path), Some(of));
        std::fs::remove_file(&path).unwrap();
        symlink(secret, &path).unwrap();
        assert_eq!(sha256(&path), None);
    }

    #[test]
    fn a_text_without_end_is_not_read() {
        let folder = folder();
        let path = put(folder.path().join("config.json"), "{}");
        let tree = Tree::of_folder(folder.path()).unwrap();
        assert_eq!(tree.text(&path).unwrap().as_deref(), Some("{}"));
        assert_eq!(tree.text(&folder.path().join("gone")).unwrap(), None);
        File::options().write(true).open(&path).unwrap().set_len(1 << 32).unwrap();
        assert_eq!(tree.text(&path), Err(FileError::TooLarge(1 << 32)));
    }
}
