//! What plugins need from outside: packages of the registries that machines have clients for.

use super::reader::{required, sha256};
use super::search::platform;
use glob::{MatchOptions, Pattern};
use skillbench_record::located::{Field, Located, Origin, Reader, Table};
use std::collections::BTreeMap;
use std::path::{Component, Path};

/// A pinned version of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    /// The name that plugins of the registry know it by.
    pub name: String,
    pub source: Source,
    pub version: String,
    /// By platform; "any" for all.
    pub files: BTreeMap<String, PackageFile>,
    pub origin: Origin,
}

/// Where a package comes from, with its name there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    PyPi(String),
    Npm(String),
}

impl Source {
    pub fn client(&self) -> &'static str {
        match self {
            Source::PyPi(_) => "pip",
            Source::Npm(_) => "npm",
        }
    }

    pub fn name(&self) -> &str {
        match self {
            Source::PyPi(name) | Source::Npm(name) => name,
        }
    }
}

/// The file of a package that serves one platform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackageFile {
    /// The compatibility tag of a wheel: "cp311-cp311-manylinux_2_28_x86_64"; empty for npm.
    pub tag: String,
    pub hash: Hash,
    /// Which files inside are needed; `None`: all.
    pub keep: Option<Keep>,
    /// Brotli files inside, to be unpacked where they lie; a `.tar.br` into its folder.
    pub unpack: Vec<String>,
    /// Paths inside the package, by the names that plugins ask for.
    pub paths: BTreeMap<String, String>,
    /// Where else it may be found; `None` for what machines do not have of themselves.
    pub machine: Option<OnMachine>,
}

/// The files of a package that are needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keep {
    /// Paths inside the package; `*` stands for any characters of a name.
    pub patterns: Vec<Pattern>,
    /// The hash of their listing, so that they can be checked without the rest of the package: SHA-256 of the lines
    /// `SHA256  PATH`, as `sha256sum` writes them, in the order of the paths.
    pub sha256: String,
}

/// What machines with such hardware often have already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OnMachine {
    /// The name of a file that a folder must have to count.
    pub file: String,
    /// Folders, from `search.machine` of all registries: absolute, or relative to the packages of a Python environment; `*`
    /// stands for any characters of a name.
    pub folders: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hash {
    /// Lower-case hexadecimal.
    Sha256(String),
    /// As npm writes it: "sha512-" and base64.
    Integrity(String),
}

/// A path of a package, as a plugin names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackagePath {
    /// A name, or `name@version`.
    pub package: String,
    pub path: String,
}

impl Keep {
    /// Whether a file of the package is needed.
    pub fn takes(&self, path: &str) -> bool {
        let options = MatchOptions { require_literal_separator: true, ..MatchOptions::new() };
        self.patterns.iter().any(|pattern| pattern.matches_with(path, options))
    }
}

impl Package {
    /// The file for this platform; `None` where it is not published for it.
    pub fn file(&self) -> Option<&PackageFile> {
        self.files.get(&platform()).or_else(|| self.files.get("any"))
    }
}

pub(super) fn package(reader: &mut Reader<'_>, value: &Located) -> Option<Package> {
    let table = reader.table(value, "package")?;
    reader.known_keys(table, "package.", &["name", "pypi", "npm", "version", "files"]);
    let name = part_of_path(reader, value, table, "name")?;
    let version = part_of_path(reader, value, table, "version")?;
    let source = match (table.get("pypi"), table.get("npm")) {
        (Some(name), None) => Source::PyPi(reader.string(name, "package.pypi")?),
        (None, Some(name)) => Source::Npm(reader.string(name, "package.npm")?),
        _ => {
            reader.problem(value.line, "package", "expected one of `pypi = \"name\"` and `npm = \"name\"`");
            return None;
        }
    };
    let mut files = BTreeMap::new();
    if let Some(value) = table.get("files") {
        for Field { key: platform, value: file, .. } in reader.table(value, "package.files")?.fields() {
            files.insert(platform.clone(), package_file(reader, file, &source)?);
        }
    }
    let origin = Origin { file: reader.path.into(), line: value.line };
    Some(Package { name, source, version, files, origin })
}

/// A name or version, which is the name of a folder too.
fn part_of_path(reader: &mut Reader<'_>, owner: &Located, table: &Table, key: &str) -> Option<String> {
    let (value, at) = (table.get(key), format!("package.{key}"));
    let text = required(reader, owner, &at, value)?;
    let allowed = |c: char| c.is_ascii_alphanumeric() || "._+-".contains(c);
    match text.starts_with(|c: char| c.is_ascii_alphanumeric()) && text.chars().all(allowed) {
        true => Some(text),
        false => reader.wrong(value?, &at, "letters, digits and . _ + -, a letter or digit first"),
    }
}

/// A path that stays inside its package.
fn inside(reader: &mut Reader<'_>, value: &Located, key: &str) -> Option<String> {
    let text = reader.string(value, key)?;
    let stays = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    match Path::new(&text).components().all(stays) {
        true => Some(text),
        false => reader.wrong(value, key, "a path inside the package, without .. and no absolute one"),
    }
}

fn package_file(reader: &mut Reader<'_>, value: &Located, source: &Source) -> Option<PackageFile> {
    const KEY: &str = "package.files";
    let table = reader.table(value, KEY)?;
    let (hash_key, own) = match source {
        Source::PyPi(_) => ("sha256", ["tag", "sha256"]),
        Source::Npm(_) => ("integrity", ["integrity", "integrity"]),
    };
    // What is kept is copied out of a wheel as it is; npm's archives have no parts.
    let kept: &[&str] = if matches!(source, Source::PyPi(_)) { &["keep", "kept_sha256"] } else { &[] };
    let keys = [&own[..], kept, &["unpack", "paths", "machine"]].concat();
    reader.known_keys(table, "package.files.", &keys);
    let Some(hash) = table.get(hash_key) else {
        reader.problem(value.line, &format!("{KEY}.{hash_key}"), "is missing");
        return None;
    };
    let (tag, hash) = match source {
        Source::PyPi(_) => {
            let tag = required(reader, value, "package.files.tag", table.get("tag"))?;
            (tag, Hash::Sha256(sha256(reader, hash, "package.files.sha256")?))
        }
        Source::Npm(_) => (String::new(), Hash::Integrity(reader.string(hash, "package.files.integrity")?)),
    };
    let unpack = reader.list(table.get("unpack"), "package.files.unpack");
    let unpack = unpack.iter().map(|file| inside(reader, file, "package.files.unpack")).collect::<Option<_>>()?;
    let mut paths = BTreeMap::new();
    if let Some(value) = table.get("paths") {
        for Field { key: name, value: path, .. } in reader.table(value, "package.files.paths")?.fields() {
            paths.insert(name.clone(), inside(reader, path, "package.files.paths")?);
        }
    }
    let keep = keep(reader, value, table)?;
    let machine = match table.get("machine") {
        None => None,
        Some(value) => Some(OnMachine { file: reader.string(value, "package.files.machine")?, folders: vec![] }),
    };
    Some(PackageFile { tag, hash, keep, unpack, paths, machine })
}

/// What to keep, and the hash of it: both or neither. `None` where one of them is wrong.
fn keep(reader: &mut Reader<'_>, owner: &Located, table: &Table) -> Option<Option<Keep>> {
    let (Some(keep), Some(hash)) = (table.get("keep"), table.get("kept_sha256")) else {
        if table.get("keep").is_some() || table.get("kept_sha256").is_some() {
            let text = "`keep` and `kept_sha256` go together: which files, and the hash of their listing";
            reader.problem(owner.line, "package.files.keep", text);
            return None;
        }
        return Some(None);
    };
    let mut patterns = vec![];
    for value in reader.list(Some(keep), "package.files.keep") {
        let text = reader.string(value, "package.files.keep")?;
        let Ok(pattern) = Pattern::new(&text) else {
            return reader.wrong(value, "package.files.keep", "a path, in which * stands for any characters");
        };
        patterns.push(pattern);
    }
    let sha256 = sha256(reader, hash, "package.files.kept_sha256")?;
    Some(Some(Keep { patterns, sha256 }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::file::parse;

    const HASH: &str = "5752bd508126ae7c49894d3b9d2e83f0c3d487319246d04c444b393308d7ad7f";

    fn parsed(source: &str, file: &str) -> (Vec<Package>, Vec<String>) {
        let text = format!(
            "version = 1\n[search]\nmachine = [\"acme/*/lib\"]\n[[package]]\nname = \"a\"\n{source} = \"a\"\nversion = \"1\"\n\
             [package.files.any]\n{file}\n"
        );
        let parsed = parse(&text, Path::new("r.toml"));
        (parsed.packages, parsed.problems.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn files_are_kept_by_their_paths_and_a_star_stays_within_a_folder() {
        let text = format!(
            "tag = \"x\"\nsha256 = \"{HASH}\"\nkeep = [\"lib/lib*.so*\", \"LICENSE\"]\nkept_sha256 = \"{HASH}\""
        );
        let (packages, problems) = parsed("pypi", &text);
        assert_eq!(problems, Vec::<String>::new());
        let keep = packages[0].file().unwrap().keep.as_ref().unwrap();
        let kept = ["lib/liba.so", "lib/libb.so.1", "LICENSE", "lib/deep/libc.so", "other/LICENSE", "lib/a.py"];
        assert_eq!(kept.map(|path| keep.takes(path)), [true, true, true, false, false, false]);
    }

    #[test]
    fn what_is_kept_needs_the_hash_it_is_checked_by_and_a_wheel_to_be_kept_of() {
        let wheel = format!("tag = \"x\"\nsha256 = \"{HASH}\"\nkeep = [\"lib/*\"]");
        let (packages, problems) = parsed("pypi", &wheel);
        assert!(packages.is_empty() && problems[0].contains("`keep` and `kept_sha256` go together"), "{problems:?}");
        let npm = format!("integrity = \"sha512-x\"\nkeep = [\"lib/*\"]\nkept_sha256 = \"{HASH}\"");
        let (_, problems) = parsed("npm", &npm);
        assert!(problems[0].contains("'package.files.keep': unknown key"), "{problems:?}");
    }

    #[test]
    fn names_versions_and_paths_cannot_leave_the_folder_of_packages() {
        let file = format!("tag = \"x\"\nsha256 = \"{HASH}\"\npaths = {{ library = \"../../x.so\" }}");
        let (packages, problems) = parsed("pypi", &file);
        assert!(packages.is_empty() && problems[0].contains("a path inside the package"), "{problems:?}");
        for name in ["../../x", "/x", "..", ".", "a/b", ""] {
            let text = format!("version = 1\n[[package]]\nname = {name:?}\npypi = \"a\"\nversion = \"1\"\n");
            let parsed = parse(&text, Path::new("r.toml"));
            assert!(parsed.packages.is_empty() && !parsed.problems.is_empty(), "{name}");
        }
    }
}
