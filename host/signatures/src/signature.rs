//! What lies beside a file that was signed.

use crate::public::number;
use crate::{PublicKey, SignatureError};
use minisign::SignatureBox;
use std::fs::File;
use std::path::{Path, PathBuf};

/// What the name of a signature has after that of its file.
pub const SUFFIX: &str = ".minisig";

/// Where the signature of a file lies.
pub fn beside(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_os_string();
    name.push(SUFFIX);
    name.into()
}

/// A signature that was read, and not yet held against anything.
#[derive(Clone)]
pub struct Signature(SignatureBox);

impl Signature {
    /// `file`: what it was read from, for messages.
    ///
    /// # Errors
    /// The text is none.
    pub fn parse(text: &str, file: &str) -> Result<Signature, SignatureError> {
        let wrong = |text: String| SignatureError::NoSignature { file: file.into(), text };
        // Checked here, since minisign's reader takes any length.
        const BASE64_OF_64_BYTES: usize = 88;
        let last = text.lines().nth(3).unwrap_or_default().trim();
        if last.len() != BASE64_OF_64_BYTES || !last.ends_with("==") {
            return Err(wrong("it has not its four lines".into()));
        }
        SignatureBox::from_string(text).map(Signature).map_err(|error| wrong(error.to_string()))
    }

    /// The number of the key that it says it was made with.
    pub fn key_id(&self) -> String {
        number(self.0.keynum())
    }

    /// What its maker wrote into it; true only where the signature is.
    pub fn comment(&self) -> String {
        self.0.trusted_comment().unwrap_or_default()
    }

    /// Holds a file against it; says why it does not fit.
    ///
    /// # Errors
    /// The file is not the one that was signed with the key, or cannot be read.
    pub fn verify(&self, key: &PublicKey, file: &Path) -> Result<(), String> {
        let opened = File::open(file).map_err(|error| error.to_string())?;
        minisign::verify(&key.0, &self.0, opened, true, false, false).map_err(|error| error.to_string())
    }
}
