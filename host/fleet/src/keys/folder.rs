//! The folder of a fleet: its keys, its users, its server's certificate, and what the server is told of them. Whoever has it is the fleet.

use super::pass::Pass;
use super::role::Role;
use super::secret::write_secret;
use super::token::{self, TokenError};
use crate::names::{self, BadName};
use nkeys::KeyPair;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyUsagePurpose};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

#[derive(Debug, thiserror::Error)]
pub enum KeysError {
    #[error("{path}: {error}", path = path.display())]
    Io { path: PathBuf, error: io::Error },
    #[error("{path} is there already: a fleet is made once", path = .0.display())]
    There(PathBuf),
    #[error("{path} is no folder of a fleet: make one with `host fleet init`", path = .0.display())]
    NoFleet(PathBuf),
    #[error("{path}: {error}", path = path.display())]
    Damaged { path: PathBuf, error: serde_json::Error },
    #[error(transparent)]
    Name(#[from] BadName),
    #[error("'{name}' has a pass already; revoke it, or choose another name")]
    Taken { name: String },
    #[error("'{0}' has no pass of this fleet")]
    NoUser(String),
    #[error("'{0}' is no address: expected HOST or HOST:PORT")]
    Address(String),
    #[error("no key can be made: {0}")]
    Key(String),
    #[error(transparent)]
    Token(#[from] TokenError),
}

/// A user that a pass was issued to.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct User {
    pub role: Role,
    /// The public key.
    pub key: String,
    /// In seconds since 1970.
    pub issued: i64,
    pub expires: Option<i64>,
    /// Since when it is worth nothing.
    pub revoked: Option<i64>,
}

/// What a fleet is made of. The seeds are its secrets.
#[derive(Serialize, Deserialize)]
struct Keys {
    fleet: String,
    address: String,
    operator: String,
    account: String,
    system: String,
    /// Of each role.
    signers: BTreeMap<Role, String>,
    /// Written once: a server refuses another one when it reads its configuration again.
    operator_token: String,
    system_token: String,
    authority: String,
    users: BTreeMap<String, User>,
    /// Keys that are worth nothing, and since when: a name may have a new pass.
    #[serde(default)]
    revoked: BTreeMap<String, i64>,
}

/// The folder of a fleet.
pub struct Folder {
    path: PathBuf,
    keys: Keys,
}

const KEYS: &str = "keys.json";
const LOCK: &str = ".lock";
/// What the server reads.
const AUTH: &str = "auth.conf";
const CERTIFICATE: &str = "server.crt";
const SECRET: &str = "server.key";
pub(crate) const PORT: u16 = 4222;

fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |passed| passed.as_secs() as i64)
}

fn seed(key: &KeyPair) -> Result<String, KeysError> {
    key.seed().map_err(|error| KeysError::Key(error.to_string()))
}

fn pair(seed: &str) -> Result<KeyPair, KeysError> {
    KeyPair::from_seed(seed).map_err(|error| KeysError::Key(error.to_string()))
}

impl Folder {
    /// Makes a fleet: keys, a certificate for this address, and the configuration of its server.
    ///
    /// # Errors
    /// The folder has one already, or cannot be written.
    pub fn init(path: &Path, fleet: &str, address: &str) -> Result<Folder, KeysError> {
        names::check(fleet)?;
        let (host, port) = address_of(address)?;
        if path.join(KEYS).exists() {
            return Err(KeysError::There(path.join(KEYS)));
        }
        std::fs::create_dir_all(path).map_err(|error| KeysError::Io { path: path.into(), error })?;
        let authority = certify(path, fleet, &host)?;
        let (operator, account, system) = (KeyPair::new_operator(), KeyPair::new_account(), KeyPair::new_account());
        let signers: Result<BTreeMap<_, _>, KeysError> =
            Role::ALL.into_iter().map(|role| Ok((role, seed(&KeyPair::new_account())?))).collect();
        let system_claims = json!({ "type": "account", "version": 2, "limits": limits(false) });
        let operator_claims = json!({ "type": "operator", "version": 2, "system_account": system.public_key() });
        let keys = Keys {
            fleet: fleet.into(),
            address: format!("tls://{host}:{port}"),
            system_token: claim(&operator, "SYS", &system.public_key(), system_claims)?,
            operator_token: claim(&operator, fleet, &operator.public_key(), operator_claims)?,
            operator: seed(&operator)?,
            account: seed(&account)?,
            system: seed(&system)?,
            signers: signers?,
            authority,
            users: BTreeMap::new(),
            revoked: BTreeMap::new(),
        };
        let folder = Folder { path: path.into(), keys };
        folder.save()?;
        Ok(folder)
    }

    /// # Errors
    /// The folder has no fleet.
    pub fn open(path: &Path) -> Result<Folder, KeysError> {
        let file = path.join(KEYS);
        let text = match std::fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(KeysError::NoFleet(path.into())),
            Err(error) => return Err(KeysError::Io { path: file, error }),
        };
        let keys = serde_json::from_str(&text).map_err(|error| KeysError::Damaged { path: file, error })?;
        Ok(Folder { path: path.into(), keys })
    }

    /// Lets nobody else change the keys, and reads them as they are now.
    fn locked(&mut self) -> Result<std::fs::File, KeysError> {
        let path = self.path.join(LOCK);
        let failed = |error| KeysError::Io { path: path.clone(), error };
        let file = std::fs::File::options().create(true).append(true).open(&path).map_err(failed)?;
        file.lock().map_err(failed)?;
        self.keys = Folder::open(&self.path)?.keys;
        Ok(file)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn fleet(&self) -> &str {
        &self.keys.fleet
    }

    pub fn address(&self) -> &str {
        &self.keys.address
    }

    pub fn users(&self) -> &BTreeMap<String, User> {
        &self.keys.users
    }

    /// Issues a pass. The server is not asked.
    ///
    /// # Errors
    /// The name is taken, or cannot be one.
    pub fn issue(&mut self, name: &str, role: Role, expires: Option<Duration>) -> Result<Pass, KeysError> {
        names::check(name)?;
        let _alone = self.locked()?;
        if self.keys.users.get(name).is_some_and(|user| user.revoked.is_none()) {
            return Err(KeysError::Taken { name: name.into() });
        }
        let pass = self.pass(name, role, expires)?;
        self.save()?;
        Ok(pass)
    }

    /// A pass of the fleet's own, to make what it needs on the server. It is worth nothing after a day.
    ///
    /// # Errors
    /// No key can be made.
    pub fn keeper(&mut self) -> Result<Pass, KeysError> {
        const DAY: Duration = Duration::from_secs(24 * 3600);
        let pass = self.pass("keeper", Role::Keeper, Some(DAY))?;
        self.keys.users.remove("keeper");
        Ok(pass)
    }

    fn pass(&mut self, name: &str, role: Role, expires: Option<Duration>) -> Result<Pass, KeysError> {
        let user = KeyPair::new_user();
        let signer =
            self.keys.signers.get(&role).ok_or_else(|| KeysError::Key(format!("no key for {}", role.name())))?;
        let issued = now();
        let expires = expires.map(|after| issued + after.as_secs() as i64);
        let account = pair(&self.keys.account)?.public_key();
        let claims = json!({ "type": "user", "version": 2, "issuer_account": account });
        let mut claims = claims_of(&pair(signer)?, name, &user.public_key(), claims);
        if let Some(end) = expires {
            claims["exp"] = end.into();
        }
        let token = token::sign(&pair(signer)?, &claims)?;
        let entry = User { role, key: user.public_key(), issued, expires, revoked: None };
        self.keys.users.insert(name.into(), entry);
        let public = |(role, seed): (&Role, &String)| Ok((*role, pair(seed)?.public_key()));
        Ok(Pass {
            fleet: self.keys.fleet.clone(),
            name: name.into(),
            role,
            address: self.keys.address.clone(),
            token,
            seed: seed(&user)?,
            authority: self.keys.authority.clone(),
            signers: self.keys.signers.iter().map(public).collect::<Result<_, KeysError>>()?,
        })
    }

    /// Takes a pass back. The server throws its user out when it reads its configuration again.
    ///
    /// # Errors
    /// There is no such user, or the folder cannot be written.
    pub fn revoke(&mut self, name: &str) -> Result<(), KeysError> {
        let _alone = self.locked()?;
        let user = self.keys.users.get_mut(name).ok_or_else(|| KeysError::NoUser(name.into()))?;
        user.revoked = Some(now());
        self.keys.revoked.insert(user.key.clone(), now());
        self.save()
    }

    /// Writes anew whom the server lets in, and what each role may do.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn update(&mut self) -> Result<(), KeysError> {
        let _alone = self.locked()?;
        self.save()
    }

    fn save(&self) -> Result<(), KeysError> {
        let failed = |path: &Path| {
            let path = path.to_path_buf();
            move |error| KeysError::Io { path, error }
        };
        let (keys, auth) = (self.path.join(KEYS), self.path.join(AUTH));
        let text = serde_json::to_string_pretty(&self.keys).map_err(|error| KeysError::Key(error.to_string()))?;
        write_secret(&keys, &text).map_err(failed(&keys))?;
        write_secret(&auth, &self.auth()?).map_err(failed(&auth))
    }

    /// Whom the server lets in: whoever a signing key of the account signed, with the permissions of that key, but for those taken back.
    fn auth(&self) -> Result<String, KeysError> {
        let (operator, account, system) =
            (pair(&self.keys.operator)?, pair(&self.keys.account)?, pair(&self.keys.system)?);
        let scope = |(role, seed): (&Role, &String)| {
            let key = pair(seed)?.public_key();
            Ok(json!({ "kind": "user_scope", "key": key, "role": role.name(), "template": role.template() }))
        };
        let scopes = self.keys.signers.iter().map(scope).collect::<Result<Vec<Value>, KeysError>>()?;
        let claims = json!({
            "type": "account", "version": 2, "limits": limits(true), "revocations": self.keys.revoked, "signing_keys": scopes,
            "default_permissions": { "pub": {}, "sub": {} },
        });
        let token = claim(&operator, &self.keys.fleet, &account.public_key(), claims)?;
        let (account, system) = (account.public_key(), system.public_key());
        Ok(format!(
            "operator: {}\nsystem_account: {system}\nresolver: MEMORY\nresolver_preload: {{\n  {account}: {token}\n  {system}: {}\n}}\n",
            self.keys.operator_token, self.keys.system_token
        ))
    }

    /// Certificate and key of the server, and whom it lets in.
    pub(crate) fn server_files(&self) -> [PathBuf; 3] {
        [CERTIFICATE, SECRET, AUTH].map(|name| self.path.join(name))
    }
}

fn claims_of(issuer: &KeyPair, name: &str, subject: &str, nats: Value) -> Value {
    let id = skillbench_record::hash::sha256_text(&format!("{name} {subject} {}", now()));
    json!({ "jti": id, "iat": now(), "iss": issuer.public_key(), "name": name, "sub": subject, "nats": nats })
}

fn claim(issuer: &KeyPair, name: &str, subject: &str, nats: Value) -> Result<String, KeysError> {
    Ok(token::sign(issuer, &claims_of(issuer, name, subject, nats))?)
}

/// No limits of an account, with JetStream or without.
fn limits(jetstream: bool) -> Value {
    let mut limits = json!({
        "subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1, "wildcards": true, "conn": -1, "leaf": -1
    });
    if jetstream {
        for name in ["mem_storage", "disk_storage", "streams", "consumer"] {
            limits[name] = (-1).into();
        }
    }
    limits
}

/// Host and port of "host", "host:4222", "[::1]:4222".
fn address_of(text: &str) -> Result<(String, u16), KeysError> {
    let bad = || KeysError::Address(text.chars().take(80).flat_map(char::escape_debug).collect());
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !host.contains(':') || host.ends_with(']') => (host, port.parse().map_err(|_| bad())?),
        _ => (text, PORT),
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':' | '[' | ']');
    match !host.is_empty() && host.chars().all(plain) {
        true => Ok((host.into(), port)),
        false => Err(bad()),
    }
}

/// Makes an authority and a certificate for the server, good for this host and for this machine. Returns the authority's certificate.
fn certify(path: &Path, fleet: &str, host: &str) -> Result<String, KeysError> {
    let failed = |error: rcgen::Error| KeysError::Key(error.to_string());
    let authority_key = rcgen::KeyPair::generate().map_err(failed)?;
    let mut authority = CertificateParams::default();
    authority.distinguished_name.push(DnType::CommonName, format!("skillbench fleet {fleet}"));
    authority.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    authority.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    let certificate = authority.self_signed(&authority_key).map_err(failed)?;
    let issuer = Issuer::new(authority, authority_key);

    let host = host.trim_start_matches('[').trim_end_matches(']');
    let mut names = vec![host.to_string(), "localhost".into(), "127.0.0.1".into(), "::1".into()];
    names.dedup();
    // A subject's alternative names are told apart as addresses and names.
    let (addresses, names): (Vec<_>, Vec<_>) = names.into_iter().partition(|name| name.parse::<IpAddr>().is_ok());
    let key = rcgen::KeyPair::generate().map_err(failed)?;
    let server = CertificateParams::new([names, addresses].concat()).map_err(failed)?;
    let signed = server.signed_by(&key, &issuer).map_err(failed)?;
    let (crt, secret) = (path.join(CERTIFICATE), path.join(SECRET));
    std::fs::write(&crt, signed.pem()).map_err(|error| KeysError::Io { path: crt, error })?;
    write_secret(&secret, &key.serialize_pem()).map_err(|error| KeysError::Io { path: secret, error })?;
    Ok(certificate.pem())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::{Bearer, signed};

    fn bearer(token: &str, signers: &BTreeMap<Role, String>, now: i64) -> Result<Bearer, TokenError> {
        signed(token, signers)?.bearer(now)
    }

    #[test]
    fn a_pass_is_of_its_fleet_and_no_other() {
        let here = tempfile::tempdir().unwrap();
        let mut lab = Folder::init(&here.path().join("lab"), "lab", "box.example.org").unwrap();
        let mut other = Folder::init(&here.path().join("other"), "other", "127.0.0.1:4333").unwrap();
        let pass = lab.issue("h1", Role::Agent, None).unwrap();
        let known = bearer(&pass.token, &pass.signers, now()).unwrap();
        assert_eq!((known.name.as_str(), known.role), ("h1", Role::Agent));
        let stranger = other.issue("h1", Role::Agent, None).unwrap();
        assert_eq!(bearer(&stranger.token, &pass.signers, now()), Err(TokenError::Stranger));
        assert_eq!(
            (pass.address.as_str(), stranger.address.as_str()),
            ("tls://box.example.org:4222", "tls://127.0.0.1:4333")
        );
    }

    #[test]
    fn a_token_that_is_changed_or_over_is_worth_nothing() {
        let here = tempfile::tempdir().unwrap();
        let mut lab = Folder::init(here.path(), "lab", "127.0.0.1").unwrap();
        let pass = lab.issue("v", Role::Viewer, Some(Duration::from_secs(60))).unwrap();
        assert!(bearer(&pass.token, &pass.signers, now()).is_ok());
        assert_eq!(bearer(&pass.token, &pass.signers, now() + 61), Err(TokenError::Expired("v".into())));
        let (body, signature) = pass.token.rsplit_once('.').unwrap();
        let (header, claims) = body.split_once('.').unwrap();
        let other = lab.issue("w", Role::Submitter, None).unwrap();
        let (others, _) = other.token.rsplit_once('.').unwrap();
        for token in [format!("{others}.{signature}"), format!("{header}.{claims}"), claims.into(), String::new()] {
            assert!(bearer(&token, &pass.signers, now()).is_err(), "{token}");
        }
    }

    #[test]
    fn names_are_issued_once_and_again_after_they_were_revoked() {
        let here = tempfile::tempdir().unwrap();
        let mut lab = Folder::init(here.path(), "lab", "127.0.0.1").unwrap();
        lab.issue("h1", Role::Agent, None).unwrap();
        assert!(matches!(lab.issue("h1", Role::Agent, None), Err(KeysError::Taken { .. })));
        assert!(matches!(lab.issue("../h2", Role::Agent, None), Err(KeysError::Name(_))));
        assert!(matches!(lab.revoke("h9"), Err(KeysError::NoUser(_))));
        lab.revoke("h1").unwrap();
        let mut again = Folder::open(here.path()).unwrap();
        again.issue("h1", Role::Agent, None).unwrap();
        assert!(matches!(Folder::init(here.path(), "lab", "127.0.0.1"), Err(KeysError::There(_))));
    }

    #[cfg(unix)]
    #[test]
    fn nobody_else_can_read_the_secrets() {
        use std::os::unix::fs::PermissionsExt;
        let here = tempfile::tempdir().unwrap();
        let mut lab = Folder::init(here.path(), "lab", "127.0.0.1").unwrap();
        let pass = here.path().join("h1.fleet");
        lab.issue("h1", Role::Agent, None).unwrap().write(&pass).unwrap();
        for file in [pass, here.path().join(KEYS), here.path().join(SECRET), here.path().join(AUTH)] {
            assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o077, 0, "{}", file.display());
        }
    }
}
