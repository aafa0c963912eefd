//! The package clients of the machine, so that its mirrors and proxies are honoured.

use super::{RuntimeError, io};
use crate::registry::{Hash, Package, PackageFile, Source};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest, Sha512};
use skillbench_record::hash::sha256;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Fetches the file of a package into a folder.
pub(super) fn download(package: &Package, wanted: &PackageFile, into: &Path) -> Result<PathBuf, RuntimeError> {
    match &package.source {
        Source::PyPi(name) => wheel(name, &package.version, wanted, into),
        Source::Npm(name) => archive(name, &package.version, into),
    }
}

/// A wheel, whatever Python it is that has pip: the tag is pinned with the hash.
fn wheel(name: &str, version: &str, wanted: &PackageFile, into: &Path) -> Result<PathBuf, RuntimeError> {
    const CLIENT: &str = "pip";
    let what = format!("{name}=={version}");
    let failed = |text: String| RuntimeError::Client { client: CLIENT, what: what.clone(), text };
    let tag: Vec<&str> = wanted.tag.splitn(3, '-').collect();
    let [python, abi, platforms] = tag[..] else {
        return Err(failed(format!("'{}' is not a wheel's tag", wanted.tag)));
    };
    let version = python.trim_start_matches(|c: char| c.is_alphabetic());
    let version = version.split_at_checked(1).map_or(version.to_string(), |(major, minor)| match minor {
        "" => major.to_string(),
        minor => format!("{major}.{minor}"),
    });
    for interpreter in ["python3", "python"] {
        let mut command = Command::new(interpreter);
        command.args([
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-deps",
            "--only-binary=:all:",
            "--no-cache-dir",
            "--ignore-requires-python",
        ]);
        command.args(["--implementation", &python[..2.min(python.len())], "--python-version", &version, "--abi", abi]);
        platforms.split('.').for_each(|platform| {
            command.args(["--platform", platform]);
        });
        let Ok(output) = command.arg("--dest").arg(into).arg(&what).output() else { continue };
        let text = String::from_utf8_lossy(&output.stderr);
        if output.status.success() {
            return downloaded(into, "whl").ok_or_else(|| failed("it ended well and left no wheel".into()));
        }
        if !text.contains("No module named pip") {
            return Err(failed(describe(&output, "ERROR")));
        }
    }
    Err(RuntimeError::NoClient { client: "Python with pip" })
}

fn archive(name: &str, version: &str, into: &Path) -> Result<PathBuf, RuntimeError> {
    const CLIENT: &str = "npm";
    let what = format!("{name}@{version}");
    let failed = |text: String| RuntimeError::Client { client: CLIENT, what: what.clone(), text };
    let program = if cfg!(windows) { "npm.cmd" } else { "npm" };
    let mut command = Command::new(program);
    command.args(["pack", "--silent", "--ignore-scripts", "--pack-destination"]).arg(into).arg(&what);
    // npm wants a folder that has nothing to do with anybody's project.
    let Ok(output) = command.current_dir(into).output() else {
        return Err(RuntimeError::NoClient { client: CLIENT });
    };
    match output.status.success() {
        true => downloaded(into, "tgz").ok_or_else(|| failed("it ended well and left no archive".into())),
        false => Err(failed(describe(&output, "npm error"))),
    }
}

/// What a client said was wrong: the lines with its mark, or everything.
fn describe(output: &Output, mark: &str) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = text.lines().filter(|line| line.contains(mark)).collect();
    if lines.is_empty() { text.trim().to_string() } else { lines.join("; ") }
}

fn downloaded(folder: &Path, extension: &str) -> Option<PathBuf> {
    let mut files = std::fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    files.find(|path| path.extension().is_some_and(|found| found == extension))
}

/// Holds a file against its pinned hash.
pub(super) fn check(file: &Path, pinned: &Hash) -> Result<(), RuntimeError> {
    check_as(&file.file_name().unwrap_or_default().to_string_lossy(), file, pinned)
}

/// The same, of a file that has another name for the user.
pub(super) fn check_as(name: &str, file: &Path, pinned: &Hash) -> Result<(), RuntimeError> {
    let (found, pinned) = match pinned {
        Hash::Sha256(pinned) => (sha256(file).map_err(io(file))?, pinned),
        Hash::Integrity(pinned) => {
            let bytes = std::fs::read(file).map_err(io(file))?;
            (format!("sha512-{}", BASE64_STANDARD.encode(Sha512::digest(bytes))), pinned)
        }
    };
    match found == *pinned {
        true => Ok(()),
        false => {
            Err(RuntimeError::Hash { file: name.into(), found: format!("the hash {found}"), pinned: pinned.clone() })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_with_another_hash_is_refused_naming_both() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "abc").unwrap();
        let of_abc = "sha512-3a81oZNherrMQXNJriBBMRLm+k6JqX6iCp7u5ktV05ohkpkqJ0/BqDa6PCOj/uu9RU1EI2Q86A4qmslPpUyknw==";
        check(file.path(), &Hash::Integrity(of_abc.into())).unwrap();
        let told = check(file.path(), &Hash::Integrity("sha512-AAAA".into())).unwrap_err().to_string();
        assert!(told.contains(of_abc) && told.contains("sha512-AAAA"), "{told}");
    }
}
