//! What a user names when they ask for a plugin.

use crate::error::PackageError;
use crate::fetch::Location;
use std::path::PathBuf;

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A bare library, which is no plugin package.
    Library(PathBuf),
    /// A plugin package on this machine.
    File(PathBuf),
    /// A plugin package elsewhere.
    Url(String),
    /// A plugin of an index, perhaps in a version.
    Named {
        name: String,
        version: Option<String>,
    },
    PyPi {
        name: String,
        version: Option<String>,
    },
    Npm {
        name: String,
        version: Option<String>,
    },
}

impl Source {
    /// Tells what a text names: an address, `pypi:` or `npm:` with a name, a file that is there, else a name.
    ///
    /// # Errors
    /// It is none of them.
    pub fn parse(text: &str) -> Result<Source, PackageError> {
        let wrong = |why: &str| PackageError::Source { text: text.into(), why: why.into() };
        if let Some(name) = text.strip_prefix("pypi:") {
            let (name, version) = versioned(name, "==");
            return match is_pypi(name) && version.as_deref().is_none_or(is_version) {
                true => Ok(Source::PyPi { name: name.into(), version }),
                false => Err(wrong("expected pypi:NAME or pypi:NAME==VERSION")),
            };
        }
        if let Some(name) = text.strip_prefix("npm:") {
            // A scope begins with '@'.
            let at = name.get(1..).and_then(|rest| rest.find('@')).map(|at| at + 1);
            let (name, version) = at.map_or((name, None), |at| (&name[..at], Some(name[at + 1..].to_string())));
            return match is_npm(name) && version.as_deref().is_none_or(is_version) {
                true => Ok(Source::Npm { name: name.into(), version }),
                false => Err(wrong("expected npm:NAME, npm:@SCOPE/NAME or one of them with @VERSION")),
            };
        }
        if text.contains("://") {
            return match Location::parse(text).map_err(|why| wrong(&why))? {
                Location::File(path) => Ok(Source::File(path)),
                Location::Url(url) => Ok(Source::Url(url)),
            };
        }
        let (name, version) = versioned(text, "@");
        let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let is_name = !name.is_empty() && name.chars().all(allowed) && version.as_deref().is_none_or(is_version);
        let path = PathBuf::from(text);
        // The folder in which a plugin is written has its name most often, and is no package.
        if path.is_dir() && !is_name {
            return Err(wrong("is a folder: `host plugin pack` makes a plugin package of one"));
        }
        if path.is_file() {
            let packed = text.ends_with(".tar.gz") || text.ends_with(".tgz");
            return Ok(if packed { Source::File(path) } else { Source::Library(path) });
        }
        match is_name {
            true => Ok(Source::Named { name: name.into(), version }),
            false => Err(wrong(
                "there is no such file, and it is no name of a plugin (a-z, 0-9 and '-', perhaps with @VERSION)",
            )),
        }
    }
}

fn versioned<'t>(text: &'t str, mark: &str) -> (&'t str, Option<String>) {
    text.split_once(mark).map_or((text, None), |(name, version)| (name, Some(version.into())))
}

// What clients get is a name and nothing that they would take for an option, a file or an address.

fn is_version(version: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "._+-!".contains(c);
    version.starts_with(|c: char| c.is_ascii_alphanumeric()) && version.chars().all(allowed)
}

fn is_pypi(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.chars().all(allowed)
}

fn is_npm(name: &str) -> bool {
    match name.strip_prefix('@') {
        Some(scoped) => scoped.split_once('/').is_some_and(|(scope, name)| is_pypi(scope) && is_pypi(name)),
        None => is_pypi(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_clients_and_names_are_told_apart() {
        let named = |name: &str, version: Option<&str>| (name.to_string(), version.map(String::from));
        for (text, (name, version)) in [("acme", named("acme", None)), ("acme@1.0-rc1", named("acme", Some("1.0-rc1")))]
        {
            assert_eq!(Source::parse(text).unwrap(), Source::Named { name, version });
        }
        let npm =
            |name: &str, version: Option<&str>| Source::Npm { name: name.into(), version: version.map(String::from) };
        assert_eq!(Source::parse("npm:@acme/plugin@1.2").unwrap(), npm("@acme/plugin", Some("1.2")));
        assert_eq!(Source::parse("npm:@acme/plugin").unwrap(), npm("@acme/plugin", None));
        assert_eq!(Source::parse("npm:plugin").unwrap(), npm("plugin", None));
        let pypi = Source::PyPi { name: "Acme_plugin".into(), version: Some("1.0".into()) };
        assert_eq!(Source::parse("pypi:Acme_plugin==1.0").unwrap(), pypi);
        assert_eq!(
            Source::parse("file:///a/b.skillbench.tar.gz").unwrap(),
            Source::File("/a/b.skillbench.tar.gz".into())
        );
        assert!(matches!(Source::parse("https://example.org/a.tar.gz").unwrap(), Source::Url(_)));
    }

    #[test]
    fn no_name_becomes_an_option_a_file_or_an_address_of_a_client() {
        for bad in [
            "npm:--registry=x",
            "npm:git+https://x/y",
            "npm:./folder",
            "npm:a/b",
            "npm:@a",
            "npm:",
            "pypi:-r",
            "pypi:.",
        ] {
            assert!(Source::parse(bad).is_err(), "{bad}");
        }
        for bad in [
            "pypi:a @ https://x",
            "pypi:a>=1",
            "pypi:a==-1",
            "ftp://x/y",
            "http://example.org/x",
            "Acme",
            "./none.so",
            "",
        ] {
            assert!(Source::parse(bad).is_err(), "{bad}");
        }
    }
}
