//! The keys that a user trusts: `trusted-keys.toml` in the configuration.

use crate::error::{PackageError, io};
use crate::home::Home;
use serde::{Deserialize, Serialize};
use skillbench_record::scratch::write_whole;
use skillbench_record::time::now_utc;
use skillbench_signatures::PublicKey;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

const VERSION: u32 = 1;

/// A key, whose the user says it is, and since when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrustedKey {
    pub key: String,
    #[serde(default)]
    pub name: String,
    #[serde(default)]
    pub since: String,
}

impl TrustedKey {
    /// "Acme (1A2B3C4D5E6F7081)".
    pub fn shown(&self) -> String {
        let id = PublicKey::parse(&self.key).map(|key| key.id()).unwrap_or_default();
        if self.name.is_empty() { id } else { format!("{} ({id})", self.name) }
    }
}

#[derive(Serialize, Deserialize)]
struct Document {
    version: u32,
    #[serde(default)]
    key: Vec<TrustedKey>,
}

/// All of them.
#[derive(Clone, Debug)]
pub struct TrustedKeys {
    file: PathBuf,
    pub keys: Vec<TrustedKey>,
}

impl TrustedKeys {
    /// Those of a user; none where there is no file.
    ///
    /// # Errors
    /// The file cannot be read, is of another form, or holds what is no key: no key of such a file counts.
    pub fn load(home: &Home) -> Result<TrustedKeys, PackageError> {
        let file = home.trusted_keys();
        let wrong = |text: String| PackageError::Key { what: file.display().to_string(), text };
        let keys = match std::fs::read_to_string(&file) {
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => vec![],
            Err(error) => return Err(io(&file)(error)),
            Ok(text) => {
                let document: Document = toml::from_str(&text).map_err(|error| wrong(error.message().to_string()))?;
                if document.version != VERSION {
                    return Err(wrong(format!("expected version = {VERSION}, found {}", document.version)));
                }
                document.key
            }
        };
        for key in &keys {
            PublicKey::parse(&key.key).map_err(|error| wrong(error.to_string()))?;
        }
        Ok(TrustedKeys { file, keys })
    }

    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Those that have the number of a key. Numbers are no proof, so there may be several.
    pub(crate) fn of_id(&self, id: &str) -> Vec<(PublicKey, &TrustedKey)> {
        let all = self.keys.iter().filter_map(|known| Some((PublicKey::parse(&known.key).ok()?, known)));
        all.filter(|(key, _)| key.id() == id).collect()
    }

    /// Trusts a key; says whether it was trusted already. A name for a known key takes the place of the old one.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn trust(&mut self, key: &PublicKey, name: &str) -> Result<bool, PackageError> {
        let line = key.line();
        let known = self.keys.iter_mut().find(|known| known.key == line);
        let already = known.is_some();
        match known {
            Some(known) if !name.is_empty() => known.name = name.into(),
            Some(_) => {}
            None => self.keys.push(TrustedKey { key: line, name: name.into(), since: now_utc() }),
        }
        self.write()?;
        Ok(already)
    }

    /// Trusts a key no more, by itself, its number or its name; says which ones that were.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn distrust(&mut self, which: &str) -> Result<Vec<TrustedKey>, PackageError> {
        let line = PublicKey::parse(which).map(|key| key.line()).unwrap_or_default();
        let meant = |known: &TrustedKey| {
            let id = PublicKey::parse(&known.key).map(|key| key.id()).unwrap_or_default();
            known.key == line || known.name == which || id.eq_ignore_ascii_case(which)
        };
        let (gone, stay) = self.keys.drain(..).partition(meant);
        self.keys = stay;
        self.write()?;
        Ok(gone)
    }

    fn write(&self) -> Result<(), PackageError> {
        let document = Document { version: VERSION, key: self.keys.clone() };
        let text = toml::to_string_pretty(&document)
            .map_err(|error| PackageError::Key { what: self.file.display().to_string(), text: error.to_string() })?;
        write_whole(&self.file, |out| out.write_all(text.as_bytes())).map_err(io(&self.file))
    }
}
