//! Signatures of files, as minisign writes and reads them: FILE.minisig beside FILE.

use crate::exit::CheckError;
use minisign::{KeyPair, PublicKey, SecretKeyBox, SignatureBox};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The variable with the password of an encrypted secret key.
const PASSWORD: &str = "SKILLBENCH_KEY_PASSWORD";

const KEY: &str = "expected a secret key, as `skillbench-check keygen` or `minisign -G` write it";
const PUBLIC: &str = "expected a public key of minisign: its file, or the line in it that begins with RW";
const LOCKED: &str = "the password of an encrypted key is read from SKILLBENCH_KEY_PASSWORD";
const NOT_TRUE: &str = "the file is not the one that was signed, or was signed with another key: do not believe it";

/// Where a file's signature lies.
pub fn beside(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".minisig");
    name.into()
}

/// Signs a file with a secret key, and returns where the signature lies.
///
/// # Errors
/// A file cannot be read or written, or the key is none.
pub fn sign(file: &Path, key: &Path) -> Result<PathBuf, CheckError> {
    let text = std::fs::read_to_string(key).map_err(CheckError::of_file(key))?;
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let secret = match std::env::var(PASSWORD) {
        Ok(password) => boxed(&text)?.into_secret_key(Some(password)),
        Err(_) => boxed(&text)?.into_unencrypted_secret_key(),
    };
    let secret = secret.map_err(|error| CheckError::Signature(format!("{}: {error}", key.display()), LOCKED))?;
    let data = File::open(file).map_err(CheckError::of_file(file))?;
    let comment = format!("file:{name}\thashed");
    let signed = minisign::sign(None, &secret, data, Some(&comment), Some("signature from a skillbench-check key"));
    let signed = signed.map_err(|error| CheckError::Signature(format!("{}: {error}", file.display()), KEY))?;
    let to = beside(file);
    std::fs::write(&to, signed.into_string()).map_err(CheckError::of_file(&to))?;
    Ok(to)
}

fn boxed(text: &str) -> Result<SecretKeyBox, CheckError> {
    SecretKeyBox::from_string(text).map_err(|error| CheckError::Signature(error.to_string(), KEY))
}

/// Holds a file against the signature beside it. `key`: a public key's line, or the file that has it.
///
/// # Errors
/// The signature is missing, or does not fit the file and the key.
pub fn verify(file: &Path, key: &str) -> Result<(), CheckError> {
    let text = match Path::new(key).is_file() {
        true => std::fs::read_to_string(key).map_err(CheckError::of_file(Path::new(key)))?,
        false => key.to_string(),
    };
    let line = text.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default();
    let public = PublicKey::from_base64(line)
        .map_err(|error| CheckError::Signature(format!("{key} is no key: {error}"), PUBLIC))?;
    let signature = beside(file);
    let signed = std::fs::read_to_string(&signature).map_err(CheckError::of_file(&signature))?;
    let wrong = |error: minisign::PError| CheckError::Signature(format!("{}: {error}", signature.display()), NOT_TRUE);
    let signed = SignatureBox::from_string(&signed).map_err(wrong)?;
    let data = File::open(file).map_err(CheckError::of_file(file))?;
    minisign::verify(&public, &signed, data, true, false, false).map_err(wrong)
}

/// Makes a key pair: the secret key, which its user alone can read, and beside it the public one. Files that are there stay.
///
/// # Errors
/// A file is there already, or cannot be written.
pub fn keygen(keyfile: &Path) -> Result<(PathBuf, String), CheckError> {
    let failed = |error: minisign::PError| CheckError::Failed(format!("no key could be made: {error}"));
    let pair = KeyPair::generate_unencrypted_keypair().map_err(failed)?;
    let secret = pair.sk.to_box(Some("skillbench-check secret key")).map_err(failed)?.into_string();
    let line = pair.pk.to_base64();
    let public = pair.pk.to_box().map_err(failed)?.into_string();
    let mut name = keyfile.as_os_str().to_owned();
    name.push(".pub");
    let beside = PathBuf::from(name);
    write_new(keyfile, &secret, 0o600)?;
    write_new(&beside, &public, 0o644)?;
    Ok((beside, line))
}

fn write_new(path: &Path, text: &str, mode: u32) -> Result<(), CheckError> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    #[cfg(not(unix))]
    let _ = mode;
    let written = options.open(path).and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(CheckError::of_file(path))
}
