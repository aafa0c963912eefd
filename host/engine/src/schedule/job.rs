//! What a schedule runs.

use std::collections::BTreeMap;
use std::path::Path;

/// A command with all that it stands on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// By which it is found again; [`name_of`].
    pub name: String,
    /// The suite's path, for people.
    pub suite: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Where it runs.
    pub folder: String,
    /// Where its output is appended.
    pub log: String,
    pub environment: BTreeMap<String, String>,
}

/// A name for a suite that no other suite has, and that files, units and remarks can have.
pub fn name_of(suite: &Path) -> String {
    let stem = suite.file_stem().unwrap_or_default().to_string_lossy();
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '-' };
    let stem: String = stem.chars().map(plain).take(60).collect();
    let hash = skillbench_record::hash::sha256_bytes(suite.as_os_str().as_encoded_bytes());
    format!("skillbench-{stem}-{}", &hash[..8])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_suites_of_the_same_file_name_have_two_names_and_each_keeps_its_own() {
        let (one, other) = (name_of(Path::new("/a/night ly.json")), name_of(Path::new("/b/night ly.json")));
        assert_ne!(one, other);
        assert!(one.starts_with("skillbench-night-ly-"), "{one}");
        assert_eq!(one, name_of(Path::new("/a/night ly.json")));
    }
}
