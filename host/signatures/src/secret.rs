//! Keys that sign.

use crate::error::io;
use crate::{PublicKey, SignatureError, beside};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use minisign::{KeyPair, SecretKey, SecretKeyBox};
use std::fs::File;
use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Where in a secret key it stands how it is encrypted.
const ENCRYPTION: Range<usize> = 2..4;
const BARE: &[u8] = &[0, 0];

/// The variable with the password of an encrypted secret key.
pub const PASSWORD: &str = "SKILLBENCH_KEY_PASSWORD";

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
    pub fn read(file: &Path, password: Option<String>) -> Result<Signer, SignatureError> {
        let text = std::fs::read_to_string(file).map_err(io(file))?;
        let wrong = |text: String| SignatureError::Key { what: file.display().to_string(), text };
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

    /// Signs a file, and writes the signature beside it. `trusted_comment` is signed with it, `of_what` only stands there: "a report".
    ///
    /// # Errors
    /// The file cannot be read, or its signature not be written.
    pub fn sign(&self, file: &Path, trusted_comment: &str, of_what: &str) -> Result<PathBuf, SignatureError> {
        let opened = File::open(file).map_err(io(file))?;
        let untrusted = format!("signature of {of_what} by key {}", self.public.id());
        let made = minisign::sign(Some(&self.public.0), &self.secret, opened, Some(trusted_comment), Some(&untrusted));
        let failed =
            |error: minisign::PError| SignatureError::Key { what: file.display().to_string(), text: error.to_string() };
        let beside = beside(file);
        std::fs::write(&beside, made.map_err(failed)?.into_string()).map_err(io(&beside))?;
        Ok(beside)
    }
}

/// Makes a key pair: the secret key, which its user alone can read, and beside it the public one as KEYFILE.pub. Files that are there stay.
///
/// # Errors
/// A file is there already, or cannot be written.
pub fn keygen(keyfile: &Path) -> Result<(PathBuf, PublicKey), SignatureError> {
    let failed = |error: minisign::PError| SignatureError::Key {
        what: keyfile.display().to_string(),
        text: format!("no key could be made: {error}"),
    };
    let pair = KeyPair::generate_unencrypted_keypair().map_err(failed)?;
    let secret = pair.sk.to_box(Some("skillbench secret key")).map_err(failed)?.into_string();
    let public = pair.pk.to_box().map_err(failed)?.into_string();
    let mut name = keyfile.as_os_str().to_owned();
    name.push(".pub");
    let beside = PathBuf::from(name);
    write_new(keyfile, &secret, 0o600)?;
    write_new(&beside, &public, 0o644)?;
    Ok((beside, PublicKey(pair.pk)))
}

fn write_new(path: &Path, text: &str, mode: u32) -> Result<(), SignatureError> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    #[cfg(not(unix))]
    let _ = mode;
    options.open(path).and_then(|mut file| file.write_all(text.as_bytes())).map_err(io(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Signature;

    /// A key as `minisign -G -W` writes it: bare, with zeros where a checksum would be.
    fn bare(folder: &Path) -> PathBuf {
        let made = folder.join("made");
        keygen(&made).unwrap();
        let text = std::fs::read_to_string(&made).unwrap();
        let mut bytes = BASE64_STANDARD.decode(text.lines().nth(1).unwrap()).unwrap();
        let checksum = bytes.len() - 32;
        bytes[checksum..].fill(0);
        let key = folder.join("bare");
        std::fs::write(&key, format!("untrusted comment: bare\n{}\n", BASE64_STANDARD.encode(bytes))).unwrap();
        key
    }

    #[test]
    fn a_file_is_signed_with_a_bare_key_and_one_that_was_changed_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("report.json");
        std::fs::write(&file, "{}").unwrap();
        for key in [bare(folder.path()), folder.path().join("made")] {
            let signer = Signer::read(&key, None).unwrap();
            let text = std::fs::read_to_string(signer.sign(&file, "file:report.json", "a report").unwrap()).unwrap();
            let signature = Signature::parse(&text, "report.json.minisig").unwrap();
            assert_eq!((signature.key_id(), signature.comment()), (signer.public().id(), "file:report.json".into()));
            signature.verify(signer.public(), &file).unwrap();
            // By another implementation.
            let theirs = minisign_verify::PublicKey::from_base64(&signer.public().line()).unwrap();
            theirs.verify(b"{}", &minisign_verify::Signature::decode(&text).unwrap(), false).unwrap();
            std::fs::write(&file, "{ }").unwrap();
            assert!(signature.verify(signer.public(), &file).is_err());
            std::fs::write(&file, "{}").unwrap();
        }
    }

    #[test]
    fn what_is_no_key_and_a_key_that_is_there_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("key");
        std::fs::write(&file, "untrusted comment: none\nAAAA\n").unwrap();
        assert!(Signer::read(&file, None).err().unwrap().to_string().contains("is no secret key of minisign"));
        assert!(keygen(&file).is_err(), "it stays");
        assert!(PublicKey::parse("RWnonsense").unwrap_err().to_string().contains("expected RW and 54 more"));
        assert!(Signature::parse("one line", "x.minisig").is_err());
    }
}
