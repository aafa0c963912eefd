//! Registries that nobody wrote by hand.

use super::file::parse;
use std::path::Path;

#[test]
fn registry() {
    skillbench_fuzz::fuzz("registry", |bytes| {
        let parsed = parse(&String::from_utf8_lossy(bytes), Path::new("/etc/skillbench/registry.toml"));
        parsed.problems.iter().for_each(|problem| drop(problem.to_string()));
        parsed.problems.is_empty()
    });
}
