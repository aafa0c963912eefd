//! What can be wrong with a plugin package, with what to do next.

use skillbench_signatures::SignatureError;
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum PackageError {
    #[error("{path}: {text}")]
    Io { path: PathBuf, text: String },
    #[error("{path}: the disk is full: make room there, and call again")]
    Full { path: PathBuf },
    #[error("'{text}': {why}")]
    Source { text: String, why: String },

    #[error("{file} is no whole plugin package: {text}: fetch it again, or ask its vendor")]
    Archive { file: PathBuf, text: String },
    #[error("{file} is refused: it holds '{entry}', {why}: what `host plugin pack` writes holds no such thing")]
    Entry { file: PathBuf, entry: String, why: String },
    #[error("{file} is refused: unpacked it has more than {most}, which no plugin has: ask its vendor")]
    TooLarge { file: PathBuf, most: String },
    #[error(
        "{what} holds no plugin package: expected a file *.skillbench.tar.gz in it, or a skillbench-plugin.toml with its libraries"
    )]
    NothingInside { what: String },

    #[error("{}", problems.join("; "))]
    Manifest { problems: Vec<String> },
    #[error("{file} is a manifest of form {found}, and this host reads form 1: take a newer host")]
    Form { file: PathBuf, found: String },
    #[error("{file} asks that its keys {} be understood, and this host does not know them: take a newer host", keys.join(", "))]
    NotUnderstood { file: PathBuf, keys: Vec<String> },
    #[error("{file} is no report as `skillbench-check --report FILE` writes it: {text}")]
    Report { file: PathBuf, text: String },
    #[error(
        "the report is about a library with the SHA-256 {sha256}, and no library of {plugin} has it: check the one that is packed"
    )]
    OtherReport { plugin: String, sha256: String },
    #[error(
        "{plugin} is built for contract {needs}, and this host has {has}: take a version of the plugin, or a host, of the other major"
    )]
    OtherContract { plugin: String, needs: String, has: String },
    #[error("{plugin} has no library for this machine, which is {this}: it has {has}: ask its vendor for one")]
    OtherPlatform { plugin: String, has: String, this: String },

    #[error("{file} has the SHA-256 {found}, and {by} says {expected}: refused; fetch it again, or ask its vendor")]
    Hash { file: String, found: String, expected: String, by: String },
    #[error("{entry} is in the package, and its manifest does not list it: refused; ask its vendor")]
    NotListed { entry: String },
    #[error("{entry} is listed in the manifest, and is not in the package: ask its vendor")]
    Missing { entry: String },

    #[error(
        "{plugin} is not signed, so nobody stands for its contents: ask its vendor for the signature ({file}.minisig), or install it with --unsigned"
    )]
    Unsigned { plugin: String, file: String },
    #[error("{plugin} is signed by key {id}, which is not trusted here: {whose}")]
    OtherKey { plugin: String, id: String, whose: String },
    #[error(
        "the signature of {plugin} by {by} does not fit what it is of: {text}: it was changed after it was signed; fetch it again, or ask its vendor"
    )]
    BadSignature { plugin: String, by: String, text: String },
    #[error("{what}: {text}")]
    Key { what: String, text: String },
    /// A key or a signature itself.
    #[error(transparent)]
    Signature(#[from] SignatureError),

    #[error("{what} cannot be fetched: {text}: {next}")]
    Fetch { what: String, text: String, next: String },
    #[error("{client} was not found: install it, or fetch the package yourself and name its file")]
    NoClient { client: &'static str },
    #[error("{client} could not fetch {what}: {text}")]
    Client { client: &'static str, what: String, text: String },

    #[error("the index {index} cannot be used: {text}: tell whoever hosts it, or name a package's file or address")]
    Index { index: String, text: String },
    #[error(
        "there is no index to find '{name}' in: name one with --index, or in a registry ([[index]] url = \"…\"); a file or an address needs none"
    )]
    NoIndex { name: String },
    #[error("{indexes} has no plugin '{name}'{hint}")]
    NotInIndex { name: String, indexes: String, hint: String },
    #[error("{indexes} has no version {version} of {name}: it has {has}")]
    NoVersion { name: String, version: String, indexes: String, has: String },
    #[error("{what} holds {found}, and {by} says {expected}: refused; tell whoever hosts the index")]
    OtherContentsThanIndexed { what: String, found: String, expected: String, by: String },

    #[error("the library says that it is '{found}', and its manifest says '{expected}': refused; ask its vendor")]
    OtherId { found: String, expected: String },
    #[error("the manifest says that it is a {expected}, and the library offers: {found}: refused; ask its vendor")]
    OtherKind { expected: String, found: String },
    #[error(
        "{plugin} is installed in {folder} with other contents: a vendor gives other contents another version; `host plugin remove {id}` makes room for it"
    )]
    OtherContents { plugin: String, id: String, folder: PathBuf },
    #[error(
        "{file} is there already, and was not written for a plugin package; `host plugin remove {id}` takes it back"
    )]
    Registered { file: PathBuf, id: String },
    #[error("{file} is there already, with other contents: give the plugin another version, or remove the file")]
    Packed { file: PathBuf },
}

/// What an operation on a path could not do.
pub(crate) fn io(path: &Path) -> impl Fn(std::io::Error) -> PackageError + '_ {
    |error| match error.kind() {
        std::io::ErrorKind::StorageFull => PackageError::Full { path: path.into() },
        _ => PackageError::Io { path: path.into(), text: error.to_string() },
    }
}
