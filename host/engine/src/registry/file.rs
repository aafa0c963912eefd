//! Reading one registry file: every entry that is right, and a problem for every one that is not.

use super::entry::{Entry, LibraryName};
use super::package::{Package, PackagePath, package};
use super::reader::{colour, required, sha256};
use super::search::platform;
use skillbench_record::PluginOptions;
use skillbench_record::located::{Field, Located, Origin, Problem, Reader, Table, Value, toml};
use skillbench_record::paths;
use skillbench_worker::PluginKind;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

#[derive(Default)]
pub(super) struct Parsed {
    pub entries: Vec<Entry>,
    pub packages: Vec<Package>,
    pub search: Vec<PathBuf>,
    /// Where machines have libraries of packages.
    pub machine: Vec<String>,
    /// Indexes of plugin packages: addresses, or paths.
    pub indexes: Vec<String>,
    pub problems: Vec<Problem>,
}

/// Parses a registry. `path` names it in messages, and relative paths are relative to its folder.
pub(super) fn parse(text: &str, path: &Path) -> Parsed {
    let mut reader = Reader::new(path);
    let mut parsed = Parsed::default();
    match toml(text) {
        Err(malformed) => reader.malformed(malformed),
        Ok(table) => {
            reader.known_keys(&table, "", &["version", "search", "package", "plugin", "index"]);
            match table.get("version") {
                Some(version) if version.value.integer() == Some(1) => {}
                Some(other) => drop(reader.wrong::<()>(other, "version", "1")),
                None => reader.problem(1, "version", "expected `version = 1` at the top"),
            }
            if let Some(value) = table.get("search") {
                (parsed.search, parsed.machine) = search(&mut reader, value);
            }
            for value in reader.list(table.get("index"), "index") {
                parsed.indexes.extend(index(&mut reader, value));
            }
            for value in reader.list(table.get("package"), "package") {
                parsed.packages.extend(package(&mut reader, value));
            }
            for value in reader.list(table.get("plugin"), "plugin") {
                parsed.entries.extend(entry(&mut reader, value));
            }
        }
    }
    parsed.problems = reader.problems;
    parsed
}

/// A path as written; relative ones are relative to the registry's folder.
fn resolve(reader: &Reader<'_>, path: &str) -> PathBuf {
    let path = paths::expand(path);
    let base = reader.path.parent().unwrap_or(Path::new("."));
    if path.is_absolute() { path } else { base.join(path) }
}

/// Folders for plugins, and those where machines have libraries of packages.
fn search(reader: &mut Reader<'_>, value: &Located) -> (Vec<PathBuf>, Vec<String>) {
    let Value::Table(table) = &value.value else {
        return reader.wrong(value, "search", "a table with `paths` and `machine`").unwrap_or_default();
    };
    reader.known_keys(table, "search.", &["paths", "machine"]);
    let mut texts = |key: &str, name: &str| -> Vec<String> {
        let items = reader.list(table.get(key), name);
        items.iter().filter_map(|item| reader.string(item, name)).collect()
    };
    let (paths, machine) = (texts("paths", "search.paths"), texts("machine", "search.machine"));
    (paths.iter().map(|path| resolve(reader, path)).collect(), machine)
}

/// Where an index of plugin packages is: an address, or a path.
fn index(reader: &mut Reader<'_>, value: &Located) -> Option<String> {
    let table = reader.table(value, "index")?;
    reader.known_keys(table, "index.", &["url"]);
    let url = required(reader, value, "index.url", table.get("url"))?;
    match url.contains("://") {
        true => Some(url),
        false => Some(resolve(reader, &url).to_string_lossy().into_owned()),
    }
}

/// An entry, or nothing where any of its keys is wrong: half an entry is not what was asked for.
fn entry(reader: &mut Reader<'_>, value: &Located) -> Option<Entry> {
    const KEYS: [&str; 12] = [
        "id",
        "aliases",
        "kind",
        "library",
        "sha256",
        "match",
        "runtime",
        "options",
        "environment",
        "network",
        "devices",
        "colour",
    ];
    let before = reader.problems.len();
    let Value::Table(table) = &value.value else { return reader.wrong(value, "plugin", "a table") };
    reader.known_keys(table, "plugin.", &KEYS);

    let id = match table.get("id") {
        Some(value) => id(reader, value),
        None => {
            reader.problem(value.line, "id", "expected `id = \"name\"`");
            None
        }
    };
    let library = match table.get("library") {
        Some(value) => library(reader, value),
        None => {
            reader.problem(value.line, "library", "expected `library = \"name\"` or a path");
            None
        }
    };
    let kinds = reader.list(table.get("kind"), "kind").iter().filter_map(|value| kind(reader, value)).collect();
    let aliases = texts(reader, table, "aliases");
    let environment = texts(reader, table, "environment");
    let devices = texts(reader, table, "devices");
    let network = table.get("network").and_then(|value| flag(reader, value, "network")).unwrap_or_default();
    let sha256 = table.get("sha256").and_then(|value| sha256(reader, value, "sha256"));
    let pci_vendors = table.get("match").map(|value| matches(reader, value)).unwrap_or_default();
    let runtime = table.get("runtime").map(|value| runtime(reader, value)).unwrap_or_default();
    let options = table.get("options").map(|value| options(reader, value)).unwrap_or_default();
    let colour = table.get("colour").and_then(|value| colour(reader, value));
    if reader.problems.len() > before {
        return None;
    }
    let origin = Origin { file: reader.path.into(), line: value.line };
    let library = library?;
    let id = id?;
    Some(Entry {
        id,
        aliases,
        kinds,
        library,
        sha256,
        pci_vendors,
        runtime,
        options,
        environment,
        network,
        devices,
        colour,
        origin,
    })
}

/// One text, or a list of them.
fn texts(reader: &mut Reader<'_>, table: &Table, key: &str) -> Vec<String> {
    reader.list(table.get(key), key).iter().filter_map(|value| reader.string(value, key)).collect()
}

fn flag(reader: &mut Reader<'_>, value: &Located, key: &str) -> Option<bool> {
    match &value.value {
        Value::Flag(flag) => Some(*flag),
        _ => reader.wrong(value, key, "true or false"),
    }
}

fn id(reader: &mut Reader<'_>, value: &Located) -> Option<String> {
    let id = reader.string(value, "id")?;
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    match id.chars().all(allowed) {
        true => Some(id),
        false => reader.wrong(value, "id", "a name of a-z, 0-9 and '-'"),
    }
}

fn kind(reader: &mut Reader<'_>, value: &Located) -> Option<PluginKind> {
    let name = reader.string(value, "kind")?;
    PluginKind::from_name(&name)
        .or_else(|| reader.wrong(value, "kind", &format!("one of {}", PluginKind::NAMES.join(", "))))
}

fn library(reader: &mut Reader<'_>, value: &Located) -> Option<LibraryName> {
    let name = match &value.value {
        Value::Table(table) => match table.get(platform().as_str()) {
            Some(name) => reader.string(name, &format!("library.{}", platform()))?,
            None => {
                reader.problem(value.line, "library", format!("has no name for this platform, {}", platform()));
                return None;
            }
        },
        _ => reader.string(value, "library")?,
    };
    let is_path = name.contains(['/', '\\']) || Path::new(&name).extension().is_some();
    Some(if is_path { LibraryName::Path(resolve(reader, &name)) } else { LibraryName::Bare(name) })
}

fn matches(reader: &mut Reader<'_>, value: &Located) -> Vec<String> {
    const KEY: &str = "match.pci-vendor";
    let Value::Table(table) = &value.value else {
        return reader.wrong(value, "match", "a table with `pci-vendor`").unwrap_or_default();
    };
    reader.known_keys(table, "match.", &["pci-vendor"]);
    let items = reader.list(table.get("pci-vendor"), KEY);
    items.iter().filter_map(|item| reader.string(item, KEY)).map(|vendor| vendor.to_lowercase()).collect()
}

/// What a plugin needs: for each of its options, the path of a package that goes into it, or several.
fn runtime(reader: &mut Reader<'_>, value: &Located) -> BTreeMap<String, Vec<PackagePath>> {
    let mut needs = BTreeMap::new();
    for Field { key: option, value: named, .. } in reader.table(value, "runtime").map_or(&[][..], Table::fields) {
        let texts = match &named.value {
            Value::List(items) => &items[..],
            _ => std::slice::from_ref(named),
        };
        let key = format!("runtime.{option}");
        for text in texts.iter().filter_map(|text| reader.string(text, &key)) {
            let (package, path) = text.split_once(':').unwrap_or((&text, option));
            let path = PackagePath { package: package.into(), path: path.into() };
            needs.entry(option.clone()).or_insert_with(Vec::new).push(path);
        }
    }
    needs
}

/// Options as plugins get them: dotted keys, scalars as text.
fn options(reader: &mut Reader<'_>, value: &Located) -> PluginOptions {
    let mut options = PluginOptions::new();
    if let Some(table) = reader.table(value, "options") {
        flatten(reader, table, "", &mut options);
    }
    options
}

fn flatten(reader: &mut Reader<'_>, table: &Table, prefix: &str, into: &mut PluginOptions) {
    for Field { key, value, .. } in table.fields() {
        let key = format!("{prefix}{key}");
        let text = match &value.value {
            Value::Text(text) | Value::Number(text) => text.clone(),
            Value::Flag(flag) => flag.to_string(),
            Value::Table(inner) => {
                flatten(reader, inner, &format!("{key}."), into);
                continue;
            }
            _ => {
                let _: Option<()> = reader.wrong(value, &format!("options.{key}"), "a text, a number, true or false");
                continue;
            }
        };
        into.insert(key, text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(text: &str) -> Vec<String> {
        parse(text, Path::new("r.toml")).problems.iter().map(Problem::to_string).collect()
    }

    #[test]
    fn a_wrong_type_is_told_with_line_key_and_what_was_expected() {
        let text = "version = 1\n[[plugin]]\nid = 7\nlibrary = \"x\"\n";
        assert_eq!(problems(text), ["r.toml:3: key 'id': expected a text, found the number 7"]);
    }

    #[test]
    fn an_unknown_key_is_told_with_the_nearest_one() {
        let told = problems("version = 1\n[[plugin]]\nid = \"a\"\nlibrary = \"x\"\nlibrery = \"y\"\n");
        assert!(told[0].starts_with("r.toml:5: key 'plugin.librery': unknown key"), "{told:?}");
        assert!(told[0].ends_with("did you mean library?"), "{told:?}");
    }

    #[test]
    fn a_bad_entry_leaves_the_good_ones() {
        let text = "version = 1\n[[plugin]]\nid = \"a\"\n[[plugin]]\nid = \"b\"\nlibrary = \"./b.so\"\n";
        let parsed = parse(text, Path::new("/etc/r.toml"));
        assert_eq!(parsed.entries.len(), 1);
        assert_eq!(parsed.entries[0].library, LibraryName::Path("/etc/./b.so".into()));
        assert_eq!(parsed.problems.len(), 1);
    }

    #[test]
    fn text_that_is_not_toml_is_one_problem_at_its_line() {
        let told = problems("version = 1\n[[plugin\n");
        assert_eq!(told.len(), 1);
        assert!(told[0].starts_with("r.toml:2: not valid TOML"), "{told:?}");
    }

    #[test]
    fn an_index_is_an_address_or_a_path_from_the_registrys_folder() {
        let text = "version = 1\n[[index]]\nurl = \"https://example.org/index.json\"\n[[index]]\nurl = \"./own.toml\"\n[[index]]\nuri = \"x\"\n";
        let parsed = parse(text, Path::new("/etc/r.toml"));
        assert_eq!(parsed.indexes, ["https://example.org/index.json", "/etc/./own.toml"]);
        let told: Vec<String> = parsed.problems.iter().map(Problem::to_string).collect();
        assert!(
            told[0].contains("'index.uri': unknown key") && told[1].contains("'index.url': is missing"),
            "{told:?}"
        );
    }

    #[test]
    fn options_become_dotted_text() {
        let text = "version=1\n[[plugin]]\nid=\"a\"\nlibrary=\"x\"\n[plugin.options]\nn = 3\n[plugin.options.deep]\non = true\n";
        let parsed = parse(text, Path::new("r.toml"));
        let want = [("deep.on", "true"), ("n", "3")].map(|(k, v)| (k.to_string(), v.to_string()));
        assert_eq!(parsed.entries[0].options, PluginOptions::from(want));
    }
}
