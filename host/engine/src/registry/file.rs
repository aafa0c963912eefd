//! Reading one registry file: every entry that is right, and a problem for every one that is not.

use super::entry::{Entry, LibraryName};
use super::origin::{Origin, Problem};
use super::package::{Package, PackagePath};
use super::reader::{Reader, Value, shown};
use super::search::platform;
use skillbench_record::PluginOptions;
use skillbench_record::paths;
use skillbench_worker::PluginKind;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use toml::de::{DeTable, DeValue};

pub(super) struct Parsed {
    pub entries: Vec<Entry>,
    pub packages: Vec<Package>,
    pub search: Vec<PathBuf>,
    /// Where machines have libraries of packages.
    pub machine: Vec<String>,
    pub problems: Vec<Problem>,
}

/// Parses a registry. `path` names it in messages, and relative paths are relative to its folder.
pub(super) fn parse(text: &str, path: &Path) -> Parsed {
    let mut reader = Reader { text, path, problems: vec![] };
    let (mut entries, mut packages, mut search, mut machine) = (vec![], vec![], vec![], vec![]);
    match DeTable::parse(text) {
        Err(error) => {
            let at = error.span().map_or(0, |span| span.start);
            let message = error.message().lines().next().unwrap_or("not TOML").to_string();
            reader.problem(at, "", format!("not valid TOML: {message}"));
        }
        Ok(root) => {
            let table = root.get_ref();
            reader.known_keys(table, "", &["version", "search", "package", "plugin"]);
            match table.get("version").map(|v| (v.span().start, v.get_ref())) {
                Some((_, DeValue::Integer(number))) if number.as_str() == "1" => {}
                Some((at, other)) => reader.problem(at, "version", format!("expected 1, found {}", shown(other))),
                None => reader.problem(0, "version", "expected `version = 1` at the top".into()),
            }
            if let Some(value) = table.get("search") {
                (search, machine) = reader.search(value);
            }
            for value in reader.array(table.get("package"), "package") {
                packages.extend(reader.package(value));
            }
            for value in reader.array(table.get("plugin"), "plugin") {
                entries.extend(reader.entry(value));
            }
        }
    }
    Parsed { entries, packages, search, machine, problems: reader.problems }
}

impl<'t> Reader<'t> {
    /// A path as written; relative ones are relative to the registry's folder.
    fn resolve(&self, path: &str) -> PathBuf {
        let path = paths::expand(path);
        let base = self.path.parent().unwrap_or(Path::new("."));
        if path.is_absolute() { path } else { base.join(path) }
    }

    /// Folders for plugins, and those where machines have libraries of packages.
    fn search(&mut self, value: &Value<'t>) -> (Vec<PathBuf>, Vec<String>) {
        let DeValue::Table(table) = value.get_ref() else {
            return self.wrong(value, "search", "a table with `paths` and `machine`").unwrap_or_default();
        };
        self.known_keys(table, "search.", &["paths", "machine"]);
        let mut texts = |key: &str, name: &str| -> Vec<String> {
            let items = self.array(table.get(key), name);
            items.into_iter().filter_map(|item| self.string(item, name)).collect()
        };
        let (paths, machine) = (texts("paths", "search.paths"), texts("machine", "search.machine"));
        (paths.iter().map(|path| self.resolve(path)).collect(), machine)
    }

    /// An entry, or nothing where any of its keys is wrong: half an entry is not what was asked for.
    fn entry(&mut self, value: &Value<'t>) -> Option<Entry> {
        const KEYS: [&str; 9] = ["id", "aliases", "kind", "library", "sha256", "match", "runtime", "options", "colour"];
        let before = self.problems.len();
        let at = value.span().start;
        let DeValue::Table(table) = value.get_ref() else { return self.wrong(value, "plugin", "a table") };
        self.known_keys(table, "plugin.", &KEYS);

        let id = match table.get("id") {
            Some(value) => self.id(value),
            None => {
                self.problem(at, "id", "expected `id = \"name\"`".into());
                None
            }
        };
        let library = match table.get("library") {
            Some(value) => self.library(value),
            None => {
                self.problem(at, "library", "expected `library = \"name\"` or a path".into());
                None
            }
        };
        let kinds = self.array(table.get("kind"), "kind").into_iter().filter_map(|kind| self.kind(kind)).collect();
        let aliases = self.array(table.get("aliases"), "aliases");
        let aliases = aliases.into_iter().filter_map(|alias| self.string(alias, "aliases")).collect();
        let sha256 = table.get("sha256").and_then(|value| self.sha256(value, "sha256"));
        let pci_vendors = table.get("match").map(|value| self.matches(value)).unwrap_or_default();
        let runtime = table.get("runtime").map(|value| self.runtime(value)).unwrap_or_default();
        let options = table.get("options").map(|value| self.options(value)).unwrap_or_default();
        let colour = table.get("colour").and_then(|value| self.colour(value));
        if self.problems.len() > before {
            return None;
        }
        let origin = Origin { file: self.path.into(), line: self.line(at) };
        Some(Entry {
            id: id?,
            aliases,
            kinds,
            library: library?,
            sha256,
            pci_vendors,
            runtime,
            options,
            colour,
            origin,
        })
    }

    fn id(&mut self, value: &Value<'_>) -> Option<String> {
        let id = self.string(value, "id")?;
        let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        match id.chars().all(allowed) {
            true => Some(id),
            false => self.wrong(value, "id", "a name of a-z, 0-9 and '-'"),
        }
    }

    fn kind(&mut self, value: &Value<'_>) -> Option<PluginKind> {
        let name = self.string(value, "kind")?;
        PluginKind::from_name(&name)
            .or_else(|| self.wrong(value, "kind", &format!("one of {}", PluginKind::NAMES.join(", "))))
    }

    fn library(&mut self, value: &Value<'_>) -> Option<LibraryName> {
        let name = match value.get_ref() {
            DeValue::Table(table) => match table.get(platform().as_str()) {
                Some(name) => self.string(name, &format!("library.{}", platform()))?,
                None => {
                    let message = format!("has no name for this platform, {}", platform());
                    self.problem(value.span().start, "library", message);
                    return None;
                }
            },
            _ => self.string(value, "library")?,
        };
        let is_path = name.contains(['/', '\\']) || Path::new(&name).extension().is_some();
        Some(if is_path { LibraryName::Path(self.resolve(&name)) } else { LibraryName::Bare(name) })
    }

    fn matches(&mut self, value: &Value<'t>) -> Vec<String> {
        let DeValue::Table(table) = value.get_ref() else {
            return self.wrong(value, "match", "a table with `pci-vendor`").unwrap_or_default();
        };
        self.known_keys(table, "match.", &["pci-vendor"]);
        let items = self.array(table.get("pci-vendor"), "match.pci-vendor");
        items.into_iter().filter_map(|v| self.string(v, "match.pci-vendor")).map(|v| v.to_lowercase()).collect()
    }

    /// What a plugin needs: for each of its options, the path of a package that goes into it, or several.
    fn runtime(&mut self, value: &Value<'t>) -> BTreeMap<String, Vec<PackagePath>> {
        let mut needs = BTreeMap::new();
        for (option, named) in self.table(value, "runtime").into_iter().flat_map(|table| table.iter()) {
            let (option, key) = (option.get_ref().to_string(), format!("runtime.{}", option.get_ref()));
            let texts: Vec<&Value<'t>> = match named.get_ref() {
                DeValue::Array(items) => items.iter().collect(),
                _ => vec![named],
            };
            for text in texts.into_iter().filter_map(|text| self.string(text, &key)).collect::<Vec<_>>() {
                let (package, path) = text.split_once(':').unwrap_or((&text, &option));
                let path = PackagePath { package: package.into(), path: path.into() };
                needs.entry(option.clone()).or_insert_with(Vec::new).push(path);
            }
        }
        needs
    }

    /// Options as plugins get them: dotted keys, scalars as text.
    fn options(&mut self, value: &Value<'_>) -> PluginOptions {
        let mut options = PluginOptions::new();
        match value.get_ref() {
            DeValue::Table(table) => self.flatten(table, "", &mut options),
            _ => self.wrong(value, "options", "a table").unwrap_or_default(),
        }
        options
    }

    fn flatten(&mut self, table: &DeTable<'_>, prefix: &str, into: &mut PluginOptions) {
        for (key, value) in table.iter() {
            let key = format!("{prefix}{}", key.get_ref());
            let text = match value.get_ref() {
                DeValue::String(text) => text.to_string(),
                DeValue::Integer(number) => number.as_str().to_string(),
                DeValue::Float(number) => number.as_str().to_string(),
                DeValue::Boolean(flag) => flag.to_string(),
                DeValue::Table(inner) => {
                    self.flatten(inner, &format!("{key}."), into);
                    continue;
                }
                _ => {
                    let _: Option<()> = self.wrong(value, &format!("options.{key}"), "a text, a number, true or false");
                    continue;
                }
            };
            into.insert(key, text);
        }
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
    fn options_become_dotted_text() {
        let text = "version=1\n[[plugin]]\nid=\"a\"\nlibrary=\"x\"\n[plugin.options]\nn = 3\n[plugin.options.deep]\non = true\n";
        let parsed = parse(text, Path::new("r.toml"));
        let want = [("deep.on", "true"), ("n", "3")].map(|(k, v)| (k.to_string(), v.to_string()));
        assert_eq!(parsed.entries[0].options, PluginOptions::from(want));
    }
}
