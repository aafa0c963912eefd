//! One plugin of a registry.

use super::package::PackagePath;
use skillbench_record::PluginOptions;
use skillbench_record::located::Origin;
use skillbench_worker::PluginKind;
use skillbench_worker::sandbox::{Mode, Sandbox};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// How a library is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LibraryName {
    /// A bare name; the platform's file name is derived, and it is searched for.
    Bare(String),
    /// A path, made absolute against the file that names it.
    Path(PathBuf),
}

/// One plugin of a registry.
#[derive(Clone, Debug)]
pub struct Entry {
    pub id: String,
    /// Other names for it on the command line.
    pub aliases: Vec<String>,
    /// Empty: whatever the library says.
    pub kinds: Vec<PluginKind>,
    pub library: LibraryName,
    /// The pinned hash, in lower-case hex.
    pub sha256: Option<String>,
    /// PCI vendors of which one has to be there, in lower-case hex; empty: any machine.
    pub pci_vendors: Vec<String>,
    /// What it needs from outside, by the option that takes it; several paths in one option go in as in PATH.
    pub runtime: BTreeMap<String, Vec<PackagePath>>,
    pub options: PluginOptions,
    /// Variables of the environment that its workers get beyond the usual ones.
    pub environment: Vec<String>,
    /// Whether it needs a network, also a local one, under `--sandbox strict`.
    pub network: bool,
    /// Devices that it writes to.
    pub devices: Vec<String>,
    /// "#rrggbb": what it is drawn in; `None`: a stable one.
    pub colour: Option<String>,
    pub origin: Origin,
}

impl Entry {
    /// A library that was found without an entry.
    pub(super) fn loose(path: &Path) -> Entry {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let name = stem.strip_prefix("lib").unwrap_or(&stem);
        let name = name.strip_prefix("skillbench_").unwrap_or(name).to_lowercase().replace('_', "-");
        Entry {
            id: name,
            aliases: vec![],
            kinds: vec![],
            library: LibraryName::Path(path.into()),
            sha256: None,
            pci_vendors: vec![],
            runtime: BTreeMap::new(),
            options: PluginOptions::new(),
            environment: vec![],
            network: false,
            devices: vec![],
            colour: None,
            origin: Origin { file: path.into(), line: 0 },
        }
    }

    /// A plugin of another machine, which no registry here names.
    pub fn elsewhere(id: &str) -> Entry {
        Entry { id: id.into(), ..Entry::loose(Path::new(id)) }
    }

    /// Whether the registry knows it by this name.
    pub fn is_called(&self, name: &str) -> bool {
        self.id == name || self.aliases.iter().any(|alias| alias == name)
    }

    /// What its workers may reach.
    pub fn sandbox(&self, mode: Mode) -> Sandbox {
        let (environment, devices) = (self.environment.clone(), self.devices.clone());
        Sandbox { mode, environment, network: self.network, devices }
    }

    /// Found in a search path, without an entry of its own.
    pub fn is_loose(&self) -> bool {
        self.origin.line == 0
    }
}
