//! Signatures as minisign writes them, so that its own program can make and verify them too.

use crate::SIGNATURE;
use crate::error::{PackageError, io};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use minisign::{SecretKey, SecretKeyBox, SignatureBox};
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Where in a secret key it stands how it is encrypted.
const ENCRYPTION: Range<usize> = 2..4;
const BARE: &[u8] = &[0, 0];

/// The variable with the password of an encrypted secret key.
pub const PASSWORD: &str = "SKILLBENCH_KEY_PASSWORD";

/// A key that signatures are verified with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicKey(minisign::PublicKey);

impl PublicKey {
    /// From the line of a public key (`RW…`), or from the text of a key's file, which has it as its second line.
    ///
    /// # Errors
    /// The text is no key.
    pub fn parse(text: &str) -> Result<PublicKey, PackageError> {
        let mut lines =
            text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("untrusted comment:"));
        let line = lines.next_back().unwrap_or_default();
        let wrong = |_| PackageError::Key {
            what: format!("'{}'", line.chars().take(60).collect::<String>()),
            text: "is no public key of minisign: expected RW and 54 more characters, or the file that has them".into(),
        };
        minisign::PublicKey::from_base64(line).map(PublicKey).map_err(wrong)
    }

    /// The number that minisign shows for it. Anybody can make a key of the same number: it tells keys apart, and proves nothing.
    pub fn id(&self) -> String {
        number(self.0.keynum())
    }

    /// The one line that it is published as.
    pub fn line(&self) -> String {
        self.0.to_base64()
    }
}

/// As minisign shows the number of a key.
fn number(bytes: &[u8]) -> String {
    bytes.iter().rev().map(|byte| format!("{byte:02X}")).collect()
}

/// A signature that was read, and not yet held against anything.
#[derive(Clone)]
pub(crate) struct Signature(SignatureBox);

impl Signature {
    pub fn parse(text: &str, file: &str) -> Result<Signature, PackageError> {
        let wrong = |text: String| PackageError::NoSignature { file: file.into(), text };
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
    pub fn verify(&self, key: &PublicKey, file: &Path) -> Result<(), String> {
        let opened = File::open(file).map_err(|error| error.to_string())?;
        minisign::verify(&key.0, &self.0, opened, true, false, false).map_err(|error| error.to_string())
    }
}

/// A secret key, ready to sign.
pub struct Signer {
    secret: SecretKey,
    public: PublicKey,
}

impl Signer {
    /// Reads a key as `minisign -G` writes it: bare (`-W`), or encrypted with a password.
    ///
    /// # Errors
    /// The file is no secret key, or is encrypted and the password is missing or another.
    pub fn read(file: &Path, password: Option<String>) -> Result<Signer, PackageError> {
        let text = std::fs::read_to_string(file).map_err(io(file))?;
        let wrong = |text: String| PackageError::Key { what: file.display().to_string(), text };
        let none = || wrong("is no secret key of minisign: `minisign -G -W -s FILE` makes one".into());
        let line = text.lines().nth(1).unwrap_or_default().trim();
        let bytes = BASE64_STANDARD.decode(line).map_err(|_| none())?;
        // Read from its bytes, since the program writes no checksum into bare keys, and the library's reader of texts asks for one.
        let secret = match bytes.get(ENCRYPTION) {
            None => return Err(none()),
            Some(BARE) => SecretKey::from_bytes(&bytes).map_err(|_| none())?,
            // Without a password the library would ask the terminal.
            Some(_) => match password {
                None => return Err(wrong(format!("is encrypted: set {PASSWORD} to its password"))),
                password => {
                    SecretKeyBox::from(text).into_secret_key(password).map_err(|error| wrong(error.to_string()))?
                }
            },
        };
        let public = minisign::PublicKey::from_secret_key(&secret).map_err(|error| wrong(error.to_string()))?;
        Ok(Signer { secret, public: PublicKey(public) })
    }

    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    /// Signs a file, and writes the signature beside it.
    ///
    /// # Errors
    /// The file cannot be read, or its signature not be written.
    pub fn sign(&self, file: &Path, trusted_comment: &str) -> Result<PathBuf, PackageError> {
        let opened = File::open(file).map_err(io(file))?;
        let untrusted = format!("signature of a skillbench plugin package by key {}", self.public.id());
        let made = minisign::sign(Some(&self.public.0), &self.secret, opened, Some(trusted_comment), Some(&untrusted));
        let text =
            made.map_err(|error| PackageError::Key { what: file.display().to_string(), text: error.to_string() })?;
        let beside = beside(file);
        std::fs::write(&beside, text.into_string()).map_err(io(&beside))?;
        Ok(beside)
    }
}

/// Where the signature of a file lies.
pub(crate) fn beside(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_os_string();
    name.push(SIGNATURE);
    name.into()
}
