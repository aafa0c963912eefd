//! What is remembered of an installed plugin package: `receipt.json` beside its files.

use crate::error::{PackageError, io};
use crate::home::Home;
use crate::manifest::Checked;
use serde::{Deserialize, Serialize};
use std::path::{Component, Path};

pub(crate) const RECEIPT: &str = "receipt.json";
const FORMAT: &str = "skillbench-receipt";

/// Where a plugin package came from, who signed it, and what is known of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// Always "skillbench-receipt".
    pub format: String,
    /// Of this form: 1.
    pub form: u32,
    pub id: String,
    pub version: String,
    /// A file, an address, or `pypi:NAME`, `npm:NAME`.
    pub from: String,
    /// The index that named the address.
    #[serde(default)]
    pub index: Option<String>,
    /// Of the package's file; null where it came without one, as libraries inside of another package.
    #[serde(default)]
    pub sha256: Option<String>,
    /// Of its manifest, which lists the hashes of all files.
    pub manifest_sha256: String,
    /// The library that is opened, inside of its folder.
    pub library: String,
    /// Null: nobody.
    #[serde(default)]
    pub signed_by: Option<SignedBy>,
    /// "2026-01-31T12:00:00Z".
    pub installed: String,
    #[serde(default)]
    pub checked: Option<Checked>,
    /// Drivers and runtimes that it needs, in words.
    #[serde(default)]
    pub requires: Vec<String>,
}

/// A trusted key, as it was when the package was installed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignedBy {
    pub key: String,
    pub id: String,
    pub name: String,
    /// What the signature says besides.
    pub comment: String,
}

impl Receipt {
    pub(crate) const FORM: (&'static str, u32) = (FORMAT, 1);

    pub(crate) fn write(&self, folder: &Path) -> Result<(), PackageError> {
        let file = folder.join(RECEIPT);
        let text = serde_json::to_string_pretty(self).map_err(|error| io(&file)(error.into()))?;
        std::fs::write(&file, text + "\n").map_err(io(&file))
    }

    /// Of a folder; `None` where there is none that can be read.
    pub(crate) fn read(folder: &Path) -> Option<Receipt> {
        let receipt: Receipt = serde_json::from_slice(&std::fs::read(folder.join(RECEIPT)).ok()?).ok()?;
        ((receipt.format.as_str(), receipt.form) == Receipt::FORM).then_some(receipt)
    }

    /// Of a plugin that is opened from this library; `None` where no plugin package brought it.
    pub fn of_library(home: &Home, library: &Path) -> Option<Receipt> {
        let packages = std::fs::canonicalize(home.packages()).ok()?;
        let library = std::fs::canonicalize(library).ok()?;
        let mut parts = library.strip_prefix(&packages).ok()?.components();
        let (Component::Normal(id), Component::Normal(version)) = (parts.next()?, parts.next()?) else { return None };
        let receipt = Receipt::read(&packages.join(id).join(version))?;
        (Path::new(&receipt.library) == parts.as_path()).then_some(receipt)
    }

    /// Who stands for it, in words.
    pub fn signer(&self) -> String {
        match &self.signed_by {
            None => "nobody".into(),
            Some(by) if by.name.is_empty() => by.id.clone(),
            Some(by) => format!("{} ({})", by.name, by.id),
        }
    }

    /// What a check said, in words; empty where nobody says that it was checked.
    pub fn check(&self) -> String {
        self.checked.as_ref().map(ToString::to_string).unwrap_or_default()
    }
}
