//! A pass: one file that says where a fleet's server is, and who carries it. Whoever has the file is that user.

use super::role::Role;
use super::secret::write_secret;
use crate::names::{self, BadName};
use nkeys::KeyPair;
use serde::{Deserialize, Serialize};
use skillbench_record::paths;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// How passes end.
pub const SUFFIX: &str = "fleet";

#[derive(Debug, thiserror::Error)]
pub enum PassError {
    #[error("there is no fleet '{name}': expected a pass (FILE.{SUFFIX}), or the name of one in {folder}", folder = folder.display())]
    Unknown { name: String, folder: PathBuf },
    #[error("no fleet is known here: put a pass (NAME.{SUFFIX}) into {folder}, or name its file with --fleet", folder = folder.display())]
    None { folder: PathBuf },
    #[error("several fleets are known here: name one with --fleet: {names}")]
    Several { names: String },
    #[error("{path}: {error}", path = path.display())]
    Unreadable { path: PathBuf, error: std::io::Error },
    #[error("{path} is no pass: {error}", path = path.display())]
    Malformed { path: PathBuf, error: Box<toml::de::Error> },
    #[error("{path} is no pass: {error}", path = path.display())]
    Name { path: PathBuf, error: BadName },
    #[error("{path}: its key is damaged: issue the pass anew", path = path.display())]
    Key { path: PathBuf },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pass {
    pub fleet: String,
    pub name: String,
    pub role: Role,
    /// "tls://host:4222".
    pub address: String,
    /// The user's name and role, signed by the fleet.
    pub token: String,
    /// The user's secret key.
    pub seed: String,
    /// Whose certificate the server has to show, as PEM.
    pub authority: String,
    /// The public key that signs the tokens of each role.
    pub signers: BTreeMap<Role, String>,
}

/// The passes of a user, which can be named in place of a file.
fn folder() -> PathBuf {
    paths::data().join("fleets")
}

/// The one pass that this user has.
///
/// # Errors
/// There is none, or there are several.
pub fn only() -> Result<Pass, PassError> {
    let files = std::fs::read_dir(folder()).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut passes: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|end| end == SUFFIX)).collect();
    passes.sort();
    match &passes[..] {
        [pass] => Pass::read(pass),
        [] => Err(PassError::None { folder: folder() }),
        several => {
            let names =
                several.iter().filter_map(|path| path.file_stem()).map(|name| name.to_string_lossy().into_owned());
            Err(PassError::Several { names: names.collect::<Vec<_>>().join(", ") })
        }
    }
}

/// The pass of this name, or in this file.
///
/// # Errors
/// There is none, or the file is none.
pub fn find(name: &str) -> Result<Pass, PassError> {
    let named = || folder().join(format!("{name}.{SUFFIX}"));
    let path = Some(PathBuf::from(name)).filter(|path| path.is_file()).unwrap_or_else(named);
    match path.is_file() {
        true => Pass::read(&path),
        false => Err(PassError::Unknown { name: name.into(), folder: folder() }),
    }
}

impl Pass {
    /// # Errors
    /// It cannot be read, or is none.
    pub fn read(path: &Path) -> Result<Pass, PassError> {
        let text = std::fs::read_to_string(path).map_err(|error| PassError::Unreadable { path: path.into(), error })?;
        let pass: Pass = toml::from_str(&text)
            .map_err(|error| PassError::Malformed { path: path.into(), error: Box::new(error) })?;
        // They become names of files, subjects, and words of scripts.
        for name in [&pass.fleet, &pass.name] {
            names::check(name).map_err(|error| PassError::Name { path: path.into(), error })?;
        }
        match pass.key() {
            Some(_) => Ok(pass),
            None => Err(PassError::Key { path: path.into() }),
        }
    }

    /// Where the pass lies that is named like its fleet.
    pub fn own_place(fleet: &str) -> PathBuf {
        folder().join(format!("{fleet}.{SUFFIX}"))
    }

    /// Writes a file that nobody else can read.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, path: &Path) -> std::io::Result<()> {
        let text = toml::to_string(self).map_err(std::io::Error::other)?;
        let note = format!(
            "# A pass to the fleet '{}', for {} ({}). Whoever has this file is that user.\n",
            self.fleet,
            self.name,
            self.role.name()
        );
        write_secret(path, &(note + &text))
    }

    pub(crate) fn key(&self) -> Option<KeyPair> {
        KeyPair::from_seed(&self.seed).ok()
    }

    /// As a client of NATS takes them.
    pub(crate) fn credentials(&self) -> String {
        format!(
            "-----BEGIN NATS USER JWT-----\n{}\n------END NATS USER JWT------\n\n-----BEGIN USER NKEY SEED-----\n{}\n------END USER NKEY SEED------\n",
            self.token, self.seed
        )
    }

    /// The certificate in a file, as the client takes it. It is read at each connection.
    pub(crate) fn authority_file(&self) -> std::io::Result<NamedTempFile> {
        let mut file = NamedTempFile::with_suffix(".pem")?;
        file.write_all(self.authority.as_bytes())?;
        file.flush()?;
        Ok(file)
    }
}
