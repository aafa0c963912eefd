//! A plugin's library as a worker opens it: where it lies, what it must still be, and what it may reach.

use crate::Failure;
use crate::sandbox::Sandbox;
use serde::{Deserialize, Serialize};
use skillbench_record::sealed::{SealError, Sealed};
use std::ops::Deref;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Library {
    pub path: PathBuf,
    /// The library and the files that its plugin is opened with, as they were when they were hashed; without them, whatever lies
    /// there is opened.
    pub sealed: Vec<Sealed>,
    pub sandbox: Sandbox,
}

impl Library {
    pub fn new(path: PathBuf, sandbox: Sandbox) -> Library {
        Library { path, sealed: vec![], sandbox }
    }

    /// Takes the hash of the library and of these files: a worker refuses others in their place from here on.
    ///
    /// # Errors
    /// One of them cannot be read.
    pub fn seal(&mut self, files: impl IntoIterator<Item = PathBuf>) -> Result<(), SealError> {
        for path in std::iter::once(self.path.clone()).chain(files) {
            if self.sealed.iter().all(|known| known.path != path) {
                let sealed = Sealed::of(&path).map_err(|error| SealError::File { path, error })?;
                self.sealed.push(sealed);
            }
        }
        Ok(())
    }

    /// Whether every sealed file is still what it was.
    ///
    /// # Errors
    /// The first that is not.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        let replaced = |error: SealError| Failure::failed("replaced", error.to_string());
        self.sealed.iter().try_for_each(Sealed::check).map_err(replaced)
    }
}

/// In the usual sandbox, with nothing granted.
impl From<PathBuf> for Library {
    fn from(path: PathBuf) -> Library {
        Library::new(path, Sandbox::default())
    }
}

impl Deref for Library {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.path
    }
}
