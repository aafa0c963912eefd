//! Messages that say who they are from: a text, the token of whoever wrote it, and a signature over both by the key of that token.
//!
//! A job is code execution, and an outcome is a figure that people stand on: neither is believed because the server delivered it.

use crate::keys::{Bearer, Pass, Role, Signed, TokenError, signed};
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use nkeys::KeyPair;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

#[derive(Debug, thiserror::Error)]
pub enum SealError {
    #[error("it is no signed message")]
    Malformed,
    #[error(transparent)]
    Token(#[from] TokenError),
    #[error("it was not signed by '{0}', whose token it has")]
    Forged(String),
    #[error("'{name}' is {} there, and may not say that", role.name())]
    Role { name: String, role: Role },
    #[error("the pass cannot sign")]
    Key,
}

#[derive(Serialize, Deserialize)]
struct Sealed {
    /// The message.
    body: String,
    token: String,
    signature: String,
}

/// Whoever signs.
pub struct Signer {
    name: String,
    key: KeyPair,
    token: String,
}

/// Whose signatures are believed: the public key that signs the tokens of each role.
#[derive(Clone, Debug)]
pub struct Trust {
    signers: BTreeMap<Role, String>,
    /// Tokens that keys of the fleet signed: that of an agent stands in each of its messages, and is looked at once.
    known: Arc<Mutex<BTreeMap<String, Signed>>>,
}

/// A message whose signature holds.
#[derive(Debug)]
pub struct Opened {
    pub body: String,
    pub by: Bearer,
}

fn signed_part(body: &str, token: &str) -> Vec<u8> {
    [token.as_bytes(), b"\n", body.as_bytes()].concat()
}

impl Signer {
    /// # Errors
    /// The pass has no key.
    pub fn of(pass: &Pass) -> Result<Signer, SealError> {
        let key = pass.key().ok_or(SealError::Key)?;
        Ok(Signer { name: pass.name.clone(), key, token: pass.token.clone() })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// # Errors
    /// The pass cannot sign.
    pub fn seal(&self, message: &impl Serialize) -> Result<Vec<u8>, SealError> {
        let body = serde_json::to_string(message).map_err(|_| SealError::Malformed)?;
        let signature = self.key.sign(&signed_part(&body, &self.token)).map_err(|_| SealError::Key)?;
        let sealed = Sealed { body, token: self.token.clone(), signature: BASE64.encode(signature) };
        serde_json::to_vec(&sealed).map_err(|_| SealError::Malformed)
    }
}

impl Trust {
    pub fn of(pass: &Pass) -> Trust {
        Trust { signers: pass.signers.clone(), known: Arc::default() }
    }

    fn bearer(&self, token: &str, now: i64) -> Result<Bearer, TokenError> {
        if let Some(signed) = self.known.lock().get(token) {
            return signed.bearer(now);
        }
        let signed = signed(token, &self.signers)?;
        let bearer = signed.bearer(now);
        self.known.lock().insert(token.into(), signed);
        bearer
    }

    /// Opens a message of somebody who has one of these roles. Tokens count as they were when the message was written: an outcome stays true
    /// after its agent's pass is over.
    ///
    /// # Errors
    /// Nobody of this fleet signed it, or somebody who may not.
    pub fn open(&self, bytes: &[u8], roles: &[Role], when: When) -> Result<Opened, SealError> {
        let sealed: Sealed = serde_json::from_slice(bytes).map_err(|_| SealError::Malformed)?;
        let now = match when {
            When::Now => {
                SystemTime::now().duration_since(UNIX_EPOCH).map_or(i64::MAX, |passed| passed.as_secs() as i64)
            }
            When::At(seconds) => seconds,
        };
        let by = self.bearer(&sealed.token, now)?;
        if !roles.contains(&by.role) {
            return Err(SealError::Role { name: by.name, role: by.role });
        }
        let signature = BASE64.decode(&sealed.signature).map_err(|_| SealError::Malformed)?;
        let key = KeyPair::from_public_key(&by.key).map_err(|_| SealError::Malformed)?;
        match key.verify(&signed_part(&sealed.body, &sealed.token), &signature) {
            Ok(()) => Ok(Opened { body: sealed.body, by }),
            Err(_) => Err(SealError::Forged(by.name)),
        }
    }
}

/// At which moment a token has to hold.
#[derive(Clone, Copy, Debug)]
pub enum When {
    Now,
    /// In seconds since 1970, by the server's clock.
    At(i64),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::Folder;

    #[test]
    fn a_message_is_believed_of_those_who_may_say_it_and_as_they_wrote_it() {
        let here = tempfile::tempdir().unwrap();
        let mut lab = Folder::init(here.path(), "lab", "127.0.0.1").unwrap();
        let (agent, submitter) =
            (lab.issue("h1", Role::Agent, None).unwrap(), lab.issue("me", Role::Submitter, None).unwrap());
        let trust = Trust::of(&agent);
        let job = Signer::of(&submitter).unwrap().seal(&"a job").unwrap();
        let opened = trust.open(&job, &[Role::Submitter], When::Now).unwrap();
        assert_eq!((opened.body.as_str(), opened.by.name.as_str()), ("\"a job\"", "me"));

        let by_agent = Signer::of(&agent).unwrap().seal(&"a job").unwrap();
        assert!(matches!(trust.open(&by_agent, &[Role::Submitter], When::Now), Err(SealError::Role { .. })));
        let text = String::from_utf8(job).unwrap();
        let changed = text.replace("a job", "a Job");
        assert!(matches!(trust.open(changed.as_bytes(), &[Role::Submitter], When::Now), Err(SealError::Forged(_))));
        // The token of another, with a signature of one's own.
        let stolen = text.replace(&submitter.token, &agent.token);
        assert!(trust.open(stolen.as_bytes(), &[Role::Submitter, Role::Agent], When::Now).is_err());
        assert!(matches!(trust.open(b"{}", &[Role::Submitter], When::Now), Err(SealError::Malformed)));
    }
}
