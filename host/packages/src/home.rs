//! Where plugin packages are installed, and what is written about them.

use skillbench_record::paths;
use std::path::PathBuf;

/// The folders of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home {
    pub data: PathBuf,
    pub config: PathBuf,
}

impl Home {
    /// Those of the user who runs this.
    pub fn of_user() -> Home {
        Home { data: paths::data(), config: paths::config() }
    }

    /// The folder of all plugin packages.
    pub fn packages(&self) -> PathBuf {
        self.data.join("packages")
    }

    /// The folder of all versions of a plugin.
    pub(crate) fn plugin(&self, id: &str) -> PathBuf {
        self.packages().join(id)
    }

    pub(crate) fn version(&self, id: &str, version: &str) -> PathBuf {
        self.plugin(id).join(version)
    }

    /// The registry file that registers a plugin.
    pub fn drop_in(&self, id: &str) -> PathBuf {
        self.config.join("registry.d").join(format!("{id}.toml"))
    }

    /// The keys that a user trusts.
    pub fn trusted_keys(&self) -> PathBuf {
        self.config.join("trusted-keys.toml")
    }
}
