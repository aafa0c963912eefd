//! Keys that verify.

use crate::SignatureError;

/// A key that signatures are verified with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicKey(pub(crate) minisign::PublicKey);

impl PublicKey {
    /// From the line of a public key (`RW…`), or from the text of a key's file, which has it as its second line.
    ///
    /// # Errors
    /// The text is no key.
    pub fn parse(text: &str) -> Result<PublicKey, SignatureError> {
        let mut lines =
            text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("untrusted comment:"));
        let line = lines.next_back().unwrap_or_default();
        let wrong = |_| SignatureError::Key {
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
pub(crate) fn number(bytes: &[u8]) -> String {
    bytes.iter().rev().map(|byte| format!("{byte:02X}")).collect()
}
