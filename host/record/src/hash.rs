//! SHA-256, in lower-case hex.

use sha2::Digest;
use std::path::Path;

/// SHA-256 of a file, in lower-case hex.
///
/// # Errors
/// The file cannot be read.
pub fn sha256(path: &Path) -> std::io::Result<String> {
    sha256_reader(std::fs::File::open(path)?)
}

/// SHA-256 of all that can be read, in lower-case hex.
///
/// # Errors
/// The reader's.
pub fn sha256_reader(mut reader: impl std::io::Read) -> std::io::Result<String> {
    let mut hasher = sha2::Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        match reader.read(&mut buffer)? {
            0 => return Ok(hex(&hasher.finalize())),
            read => hasher.update(&buffer[..read]),
        }
    }
}

/// SHA-256 of a text, in lower-case hex.
pub fn sha256_text(text: &str) -> String {
    sha256_bytes(text.as_bytes())
}

/// SHA-256 of bytes, in lower-case hex.
pub fn sha256_bytes(bytes: &[u8]) -> String {
    hex(&sha2::Sha256::digest(bytes))
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
