//! Pinned packages, by the package clients of the machine, so that its mirrors and proxies are honoured.

use super::{RuntimeError, io};
use crate::registry::{Hash, Package, PackageFile, Source};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest, Sha512};
use skillbench_packages::clients::{self, ClientError};
use skillbench_record::hash::sha256;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Fetches the file of a package into a folder.
pub(super) fn download(package: &Package, wanted: &PackageFile, into: &Path) -> Result<PathBuf, RuntimeError> {
    match &package.source {
        Source::PyPi(name) => wheel(name, &package.version, wanted, into),
        Source::Npm(name) => archive(name, &package.version, into),
    }
}

/// A wheel, whatever Python it is that has pip: the tag is pinned with the hash.
fn wheel(name: &str, version: &str, wanted: &PackageFile, into: &Path) -> Result<PathBuf, RuntimeError> {
    let what = format!("{name}=={version}");
    let tag: Vec<&str> = wanted.tag.splitn(3, '-').collect();
    let [python, abi, platforms] = tag[..] else {
        let text = format!("'{}' is not a wheel's tag", wanted.tag);
        return Err(RuntimeError::Client { client: "pip", what, text });
    };
    let version = python.trim_start_matches(|c: char| c.is_alphabetic());
    let version = version.split_at_checked(1).map_or(version.to_string(), |(major, minor)| match minor {
        "" => major.to_string(),
        minor => format!("{major}.{minor}"),
    });
    let python = &python[..2.min(python.len())];
    let mut chosen = vec!["--ignore-requires-python", "--implementation", python, "--python-version", &version];
    chosen.extend(["--abi", abi]);
    platforms.split('.').for_each(|platform| chosen.extend(["--platform", platform]));
    let chosen: Vec<OsString> = chosen.into_iter().map(OsString::from).collect();
    clients::wheel(&what, &chosen, into).map_err(failed)
}

fn archive(name: &str, version: &str, into: &Path) -> Result<PathBuf, RuntimeError> {
    clients::npm_archive(&format!("{name}@{version}"), into).map_err(failed)
}

fn failed(error: ClientError) -> RuntimeError {
    match error {
        ClientError::NotFound { client } => RuntimeError::NoClient { client },
        ClientError::Failed { client, what, text } => RuntimeError::Client { client, what, text },
    }
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
