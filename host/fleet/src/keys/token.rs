//! A user's name and role, signed by a key of the fleet: a JSON Web Token in the form of NATS, so that its server takes the same one.

use super::role::Role;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use nkeys::KeyPair;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

const HEADER: &str = r#"{"typ":"JWT","alg":"ed25519-nkey"}"#;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    #[error("the token is none")]
    Malformed,
    #[error("the token was signed by no key of this fleet")]
    Stranger,
    #[error("the token of '{0}' has expired")]
    Expired(String),
    #[error("the key cannot sign: {0}")]
    Key(String),
}

/// Whoever carries a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bearer {
    pub name: String,
    pub role: Role,
    /// The public key of the user.
    pub key: String,
}

#[derive(Deserialize)]
struct Claims {
    iss: String,
    sub: String,
    name: String,
    /// Seconds since 1970.
    exp: Option<i64>,
}

/// # Errors
/// The key has no secret part.
pub(super) fn sign(key: &KeyPair, claims: &Value) -> Result<String, TokenError> {
    let body = format!("{}.{}", BASE64.encode(HEADER), BASE64.encode(claims.to_string()));
    let signature = key.sign(body.as_bytes()).map_err(|error| TokenError::Key(error.to_string()))?;
    Ok(format!("{body}.{}", BASE64.encode(signature)))
}

/// A token that a key of the fleet signed.
#[derive(Clone, Debug)]
pub struct Signed {
    bearer: Bearer,
    /// Seconds since 1970.
    expires: Option<i64>,
}

impl Signed {
    /// Who carries it at this moment, in seconds since 1970.
    ///
    /// # Errors
    /// It has expired.
    pub fn bearer(&self, now: i64) -> Result<Bearer, TokenError> {
        match self.expires {
            Some(end) if end <= now => Err(TokenError::Expired(self.bearer.name.chars().take(80).collect())),
            _ => Ok(self.bearer.clone()),
        }
    }
}

/// What a token says, if a key of this fleet signed it.
///
/// # Errors
/// None did.
pub fn signed(token: &str, authorities: &BTreeMap<Role, String>) -> Result<Signed, TokenError> {
    let (body, signature) = token.rsplit_once('.').ok_or(TokenError::Malformed)?;
    let (header, claims) = body.split_once('.').ok_or(TokenError::Malformed)?;
    let text = |part: &str| BASE64.decode(part).map_err(|_| TokenError::Malformed);
    if text(header)? != HEADER.as_bytes() {
        return Err(TokenError::Malformed);
    }
    let claims: Claims = serde_json::from_slice(&text(claims)?).map_err(|_| TokenError::Malformed)?;
    let role = authorities.iter().find(|(_, key)| **key == claims.iss).map(|(role, _)| *role);
    let role = role.ok_or(TokenError::Stranger)?;
    let authority = KeyPair::from_public_key(&claims.iss).map_err(|_| TokenError::Malformed)?;
    authority.verify(body.as_bytes(), &text(signature)?).map_err(|_| TokenError::Stranger)?;
    Ok(Signed { bearer: Bearer { name: claims.name, role, key: claims.sub }, expires: claims.exp })
}
