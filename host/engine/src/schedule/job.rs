//! What a schedule runs.

use std::collections::BTreeMap;
use std::path::Path;

/// A command with all that it stands on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// By which it is found again; [`name_of`].
    pub name: String,
    /// What is run, for people: a suite's path, or a run.
    pub what: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Where it runs.
    pub folder: String,
    /// Where its output is appended.
    pub log: String,
    pub environment: BTreeMap<String, String>,
}

/// A name that files, units and remarks can have: the one that was given, else one for a suite, or for the folder of a run, that no other has.
pub fn name_of(given: Option<&str>, place: &Path) -> String {
    let plain = |text: &str| -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '-' };
        text.chars().map(plain).take(60).collect()
    };
    if let Some(name) = given {
        return format!("skillbench-{}", plain(name));
    }
    let hash = skillbench_record::hash::sha256_bytes(place.as_os_str().as_encoded_bytes());
    format!("skillbench-{}-{}", plain(&place.file_stem().unwrap_or_default().to_string_lossy()), &hash[..8])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_suites_of_the_same_file_name_have_two_names_and_each_keeps_its_own() {
        let (one, other) = (name_of(None, Path::new("/a/night ly.json")), name_of(None, Path::new("/b/night ly.json")));
        assert_ne!(one, other);
        assert!(one.starts_with("skillbench-night-ly-"), "{one}");
        assert_eq!(one, name_of(None, Path::new("/a/night ly.json")));
        assert_eq!(name_of(Some("tokens 1"), Path::new("/a")), "skillbench-tokens-1");
    }
}
