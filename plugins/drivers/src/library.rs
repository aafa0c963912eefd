//! Opening a vendor's library for good.

use crate::evidence::Evidence;
use crate::whole::missing_bytes;
use libloading::Library as Opened;
use std::error::Error;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// A library that stays open as long as the process lives.
pub struct Library {
    pub(crate) opened: Opened,
    /// The file it was asked for by, or the plain name that the system found it under.
    pub path: PathBuf,
}

/// The file names in these folders that begin so, in the order of their names.
pub fn beginning(prefix: &str, folders: &[PathBuf]) -> Vec<String> {
    let entries = folders.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten().filter_map(Result::ok);
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut found: Vec<String> = names.filter(|name| name.starts_with(prefix)).collect();
    found.sort();
    found
}

/// The folders of an option: separated as in `PATH`.
pub fn folders(option: Option<&str>) -> Vec<PathBuf> {
    let all: Vec<PathBuf> = option.map(|list| std::env::split_paths(list).collect()).unwrap_or_default();
    all.into_iter().filter(|folder| !folder.as_os_str().is_empty()).collect()
}

impl Library {
    /// Opens the library of this file name: by its full path, from the first folder that has it, else as the system finds it.
    /// Later libraries of the vendor that need it by its name then get this one.
    ///
    /// # Errors
    /// What the loader says, on one line.
    pub fn open(name: &str, folders: &[PathBuf], evidence: &mut Evidence) -> Result<Library, String> {
        let beside = folders.iter().map(|folder| folder.join(name)).find(|path| path.exists());
        let path = beside.unwrap_or_else(|| PathBuf::from(name));
        if let Some(missing) = missing_bytes(&path) {
            let text = format!("{}: the file is cut short, {missing} bytes are missing at its end", path.display());
            evidence.add(name, &text);
            return Err(text);
        }
        // SAFETY: the driver's library, or one from a folder that the user named to be used in this process; whatever its
        // constructors do, a worker is there to bear it.
        match unsafe { Opened::new(OsStr::new(&path)) } {
            Ok(opened) => {
                let place = if path.is_absolute() { path.display().to_string() } else { located(&path) };
                evidence.add(name, place);
                Ok(Library { opened, path })
            }
            Err(error) => {
                let text = one_line(&loader_words(&error));
                evidence.add(name, &text);
                Err(text)
            }
        }
    }

    /// Never closes it: what a vendor's library leaves behind (threads, handlers) outlives its handle.
    pub fn keep(self) -> &'static Library {
        Box::leak(Box::new(self))
    }
}

/// The error itself only says that opening failed; its source says why.
fn loader_words(error: &libloading::Error) -> String {
    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}

/// Where the system found a library of this plain name, as far as it can be told.
fn located(name: &Path) -> String {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let name = name.to_string_lossy();
    let file = maps.lines().filter_map(|line| line.find('/').map(|start| &line[start..]));
    let stem = name.split(".so").next().unwrap_or(&name);
    let same =
        |file: &&str| Path::new(file).file_name().is_some_and(|file| is_version_of(&file.to_string_lossy(), stem));
    file.clone().find(|file| file.ends_with(&*name)).or_else(|| file.clone().find(same)).unwrap_or("found").to_string()
}

/// "libcuda.so.580.95.05" is what a link "libcuda.so.1" led to.
fn is_version_of(file: &str, stem: &str) -> bool {
    file.strip_prefix(stem).is_some_and(|rest| rest.starts_with(".so"))
}

pub(crate) fn one_line(text: &str) -> String {
    let mut line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((end, _)) = line.char_indices().nth(200) {
        line.truncate(end);
        line.push_str(" ...");
    }
    line
}

#[cfg(test)]
mod tests {
    use super::{Library, beginning, folders, is_version_of};
    use crate::Evidence;

    #[test]
    fn a_library_that_is_missing_is_told_with_the_loaders_words() {
        let mut evidence = Evidence::default();
        let text = Library::open("libno-such-driver.so.1", &[], &mut evidence).err().unwrap();
        assert!(text.contains("libno-such-driver.so.1"), "{text}");
        assert_eq!(evidence.iter().collect::<Vec<_>>(), [("libno-such-driver.so.1", &*text)]);
    }

    #[test]
    fn a_broken_library_in_a_folder_is_told_by_its_path() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("libbroken.so");
        std::fs::write(&file, b"\x7fELF and no more").unwrap();
        let option = format!(":{}", folder.path().display());
        let text = Library::open("libbroken.so", &folders(Some(&option)), &mut Evidence::default()).err().unwrap();
        assert!(text.contains(file.to_str().unwrap()), "{text}");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_library_of_the_system_is_told_with_its_place() {
        let mut evidence = Evidence::default();
        let library = Library::open("libc.so.6", &[], &mut evidence).unwrap().keep();
        assert_eq!(library.path.to_str(), Some("libc.so.6"));
        let place = evidence.iter().next().unwrap().1;
        assert!(place.starts_with('/') && place.contains("libc"), "{place}");
    }

    #[test]
    fn files_are_found_by_how_they_begin() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["libparts.so.13.1", "libparts.so.13.0", "libother.so"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let folders = [folder.path().into(), "/no/such/folder".into()];
        assert_eq!(beginning("libparts.so", &folders), ["libparts.so.13.0", "libparts.so.13.1"]);
    }

    #[test]
    fn the_file_behind_a_link_is_known_by_its_stem() {
        assert!(is_version_of("libcuda.so.580.95.05", "libcuda") && !is_version_of("libcudart.so.13", "libcuda"));
    }
}
