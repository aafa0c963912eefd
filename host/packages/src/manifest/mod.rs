//! What a plugin package says of itself: `skillbench-plugin.toml`.
//!
//! - `read`: the text becomes a [`Manifest`], or what is wrong with it; keys of later hosts are told and left alone.
//! - `describe`: the other way, for a package that is made from libraries alone. `report`: what a check found.
//!
//! The manifest lists every file of the package with its hash, so that whoever signs it signs all of them.

mod describe;
mod read;
mod report;

pub(crate) use read::{Hashes, read};

use skillbench_record::PluginOptions;
use std::fmt;

/// The name of a manifest's file.
pub const MANIFEST: &str = "skillbench-plugin.toml";

/// A plugin package, as its manifest has it.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Manifest {
    pub id: String,
    pub version: String,
    pub vendor: String,
    pub license: String,
    pub url: String,
    /// The contract that its libraries are built with.
    pub contract: Contract,
    /// backend, skillset, benchmark; empty: whatever the library says.
    pub kinds: Vec<String>,
    /// The vendor's own word for the key that it signs with. It makes nobody trust it.
    pub key: Option<String>,
    pub libraries: Vec<Library>,
    /// What else is in the package.
    pub files: Vec<OtherFile>,
    pub requires: Vec<Requirement>,
    pub reach: Reach,
    /// What the plugin is opened with, unless the user says otherwise.
    pub options: PluginOptions,
    pub checked: Option<Checked>,
    /// Keys that this host does not know, each as a sentence.
    pub unknown: Vec<String>,
}

/// A major and a minor of the contract.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Contract {
    pub major: u32,
    pub minor: u32,
}

/// A library for one kind of machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Library {
    /// "linux-x86_64".
    pub platform: String,
    /// The least version of glibc.
    pub glibc: Option<String>,
    /// Inside the package.
    pub file: String,
    /// Empty where it is yet to be filled in.
    pub sha256: String,
}

/// A file of the package that is no library of it: a licence, a table, a library that a library opens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherFile {
    pub path: String,
    /// Empty where it is yet to be filled in.
    pub sha256: String,
}

/// A driver or a runtime that the machine has to have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    /// In words.
    pub what: String,
    /// The name of a registry's package, and the option of the plugin that takes its path.
    pub package: Option<(String, String)>,
}

/// What its workers may reach beyond the usual, as a registry entry grants it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    pub environment: Vec<String>,
    pub devices: Vec<String>,
    pub network: bool,
}

/// What a check against the rules said.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Checked {
    /// A program and its version: "skillbench-check 0.1.0".
    pub by: String,
    /// "2026-01-31T12:00:00Z".
    pub when: String,
    /// The ids of the rules.
    pub kept: Vec<String>,
    pub broken: Vec<String>,
    pub unchecked: Vec<String>,
}

impl Manifest {
    /// "acme 1.0.0".
    pub fn title(&self) -> String {
        format!("{} {}", self.id, self.version)
    }
}

impl Library {
    /// "linux-x86_64 with glibc 2.28".
    pub(crate) fn for_what(&self) -> String {
        match &self.glibc {
            None => self.platform.clone(),
            Some(glibc) => format!("{} with glibc {glibc}", self.platform),
        }
    }
}

impl fmt::Display for Contract {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// "19 rules kept, 0 broken, 2 not checked, by skillbench-check 0.1.0 on 2026-01-31".
impl fmt::Display for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Checked { by, when, kept, broken, unchecked } = self;
        let day = when.get(..10).unwrap_or(when);
        let (kept, broken, unchecked) = (kept.len(), broken.len(), unchecked.len());
        write!(f, "{kept} rules kept, {broken} broken, {unchecked} not checked, by {by} on {day}")
    }
}
