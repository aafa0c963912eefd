//! What can be wrong with a key or a signature, with what to do next.

use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum SignatureError {
    #[error("{path}: {error}")]
    Io { path: PathBuf, error: std::io::Error },
    /// The key itself, or what was to be done with it.
    #[error("{what}: {text}")]
    Key { what: String, text: String },
    #[error("{file} is no signature as minisign writes it: {text}")]
    NoSignature { file: String, text: String },
}

pub(crate) fn io(path: &Path) -> impl Fn(std::io::Error) -> SignatureError + '_ {
    |error| SignatureError::Io { path: path.into(), error }
}
