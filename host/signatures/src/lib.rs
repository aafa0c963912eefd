//! Signatures as minisign writes them, so that its own program can make and verify them too: FILE.minisig beside FILE.
//!
//! - `public`: a key that verifies. `secret`: a key that signs, read as `minisign -G` writes it with or without a password, or made here.
//! - `signature`: what was read from FILE.minisig, and whether a file is the one that was signed.
//!
//! Not here: whose keys are trusted (packages), and what is signed (packages, check).

mod error;
mod public;
mod secret;
mod signature;

pub use error::SignatureError;
pub use public::PublicKey;
pub use secret::{PASSWORD, Signer, keygen};
pub use signature::{SUFFIX, Signature, beside};
