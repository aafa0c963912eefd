//! The vendor's libraries: those of an SDK that the environment names, else those beside the execution provider.

use std::io::Read;
use std::path::{Path, PathBuf};

/// The variables that people set for it, the first one counting.
pub(crate) const VARIABLES: [&str; 3] = ["QNN_SDK", "QNN_SDK_ROOT", "QTI_SDK"];

/// A folder with the vendor's backend libraries.
pub(crate) struct Sdk {
    pub folder: PathBuf,
    /// "2.51.0.260929181845"; `None` where its library does not say.
    pub version: Option<String>,
}

impl Sdk {
    /// The SDK of the option, of the environment, or the one that came with the provider.
    ///
    /// # Errors
    /// The folder that holds none of its libraries.
    pub fn find(option: Option<&str>, provider: &Path) -> Result<Sdk, String> {
        let named = || VARIABLES.iter().find_map(|name| std::env::var_os(name).filter(|value| !value.is_empty()));
        let root = option.map(PathBuf::from).or_else(|| named().map(PathBuf::from));
        let folder = match root {
            None => provider.parent().unwrap_or(Path::new(".")).to_path_buf(),
            Some(root) => {
                let folders = [root.clone(), root.join("lib"), root.join("lib").join(platform())];
                let with_htp = folders.into_iter().find(|folder| folder.join(library("Htp")).is_file());
                with_htp.ok_or_else(|| {
                    format!("{} holds no {}, neither in lib/{}", root.display(), library("Htp"), platform())
                })?
            }
        };
        let version = version(&folder.join(library("Htp")));
        Ok(Sdk { folder, version })
    }

    /// The library of one of its backends, where it is there.
    pub fn backend(&self, name: &str) -> Option<PathBuf> {
        Some(self.folder.join(library(name))).filter(|path| path.is_file())
    }
}

/// The file name of a backend library: "libQnnHtp.so".
pub(crate) fn library(backend: &str) -> String {
    match cfg!(windows) {
        true => format!("Qnn{backend}.dll"),
        false => format!("libQnn{backend}.so"),
    }
}

/// The SDK's folder for this platform.
fn platform() -> &'static str {
    match (std::env::consts::OS, std::env::consts::ARCH) {
        ("linux", "x86_64") => "x86_64-linux-clang",
        ("linux", _) => "aarch64-oe-linux-gcc11.2",
        ("windows", "x86_64") => "x86_64-windows-msvc",
        ("windows", _) => "aarch64-windows-msvc",
        ("android", _) => "aarch64-android",
        _ => "",
    }
}

/// The build that a library was made in, which stands in it as a text: "v2.51.0.260929181845".
fn version(library: &Path) -> Option<String> {
    let mut file = std::io::BufReader::new(std::fs::File::open(library).ok()?);
    let (mut chunk, mut kept) = (vec![0; 1 << 20], vec![]);
    loop {
        let read = file.read(&mut chunk).ok().filter(|read| *read > 0)?;
        kept.extend_from_slice(&chunk[..read]);
        if let Some(found) = build_id(&kept) {
            return Some(found);
        }
        // A text that this chunk cuts in two is found with the next one.
        kept.drain(..kept.len().saturating_sub(64));
    }
}

/// The first "v2.X.Y.Z" that stands alone among NULs.
fn build_id(bytes: &[u8]) -> Option<String> {
    let mut from = 0;
    while let Some(at) = bytes[from..].windows(4).position(|window| window == b"\0v2.").map(|at| from + at + 2) {
        let end = at + bytes[at..].iter().position(|byte| *byte == 0)?;
        let text = std::str::from_utf8(&bytes[at..end]).unwrap_or_default();
        if text.split('.').count() == 4 && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
            return Some(text.into());
        }
        from = at;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_is_read_from_the_text_that_stands_alone() {
        assert_eq!(build_id(b"xx\0v2.1 of it\0v2.51.0.2609\0yy"), Some("2.51.0.2609".into()));
        assert_eq!(build_id(b"xx\0v2.51.0.2609"), None, "it may go on in the next chunk");
    }

    #[test]
    fn a_folder_without_the_library_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let told = Sdk::find(folder.path().to_str(), Path::new("x")).err().unwrap();
        assert!(told.contains(folder.path().to_str().unwrap()) && told.contains("QnnHtp"), "{told}");
    }
}
