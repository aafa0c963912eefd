//! This machine, as libraries are built for machines.

use crate::error::PackageError;
use crate::glibc;
use crate::manifest::{Library, Manifest};

/// What a library has to fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Here {
    /// "linux-x86_64".
    pub platform: String,
    /// The version of glibc; `None` where there is none, or it is not known.
    pub glibc: Option<(u32, u32)>,
}

impl Here {
    /// The machine that this runs on, with this version of glibc: "2.36".
    pub fn with(glibc: Option<&str>) -> Here {
        let platform = format!("{}-{}", std::env::consts::OS, std::env::consts::ARCH);
        Here { platform, glibc: glibc.and_then(glibc::parse) }
    }

    /// The library of a plugin package for this machine: of several that fit, the one that asks for most.
    ///
    /// # Errors
    /// None fits: which ones there are, and what this machine is.
    pub fn library<'m>(&self, manifest: &'m Manifest) -> Result<&'m Library, PackageError> {
        let wants = |library: &Library| library.glibc.as_deref().and_then(glibc::parse);
        let fits = |library: &&Library| {
            let platform = library.platform == self.platform;
            platform && wants(library).is_none_or(|wants| self.glibc.is_none_or(|has| wants <= has))
        };
        manifest.libraries.iter().filter(fits).max_by_key(|library| wants(library)).ok_or_else(|| {
            let has: Vec<String> = manifest.libraries.iter().map(Library::for_what).collect();
            PackageError::OtherPlatform { plugin: manifest.title(), has: has.join(", "), this: self.to_string() }
        })
    }
}

impl std::fmt::Display for Here {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.glibc {
            None => f.write_str(&self.platform),
            Some((major, minor)) => write!(f, "{} with glibc {major}.{minor}", self.platform),
        }
    }
}
