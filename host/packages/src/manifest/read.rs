//! Reading a manifest.

use super::{Checked, Contract, Library, Manifest, OtherFile, Reach, Requirement};
use crate::archive::outside;
use crate::error::PackageError;
use crate::glibc;
use skillbench_record::PluginOptions;
use skillbench_record::located::{Field, Located, Reader, Table, Value, toml};
use std::path::Path;

const FORM: i64 = 1;
const TOP: [&str; 16] = [
    "manifest",
    "must_understand",
    "id",
    "version",
    "vendor",
    "license",
    "url",
    "contract",
    "kinds",
    "key",
    "library",
    "file",
    "requires",
    "reach",
    "options",
    "checked",
];
const LIBRARY: [&str; 4] = ["platform", "glibc", "file", "sha256"];
const OTHER: [&str; 2] = ["path", "sha256"];
const REQUIRES: [&str; 3] = ["what", "package", "option"];
const REACH: [&str; 3] = ["environment", "devices", "network"];
const CHECKED: [&str; 5] = ["by", "when", "kept", "broken", "unchecked"];
const KINDS: [&str; 3] = ["backend", "skillset", "benchmark"];

/// Whether files are listed with their hashes already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hashes {
    Given,
    ToFill,
}

/// Reads a manifest; `file` names it in messages.
///
/// # Errors
/// A form of a later host, keys that have to be understood and are not, and everything else that is wrong with it, at once.
pub(crate) fn read(text: &str, file: &Path, hashes: Hashes) -> Result<Manifest, PackageError> {
    let mut reading = Reading { reader: Reader::new(file), unknown: vec![], hashes };
    let table = match toml(text) {
        Ok(table) => table,
        Err(malformed) => {
            reading.reader.malformed(malformed);
            return Err(reading.wrong());
        }
    };
    match table.get("manifest").map(|form| &form.value) {
        Some(form) if form.integer() == Some(FORM) => {}
        Some(form) => return Err(PackageError::Form { file: file.into(), found: form.to_string() }),
        None => return Err(PackageError::Form { file: file.into(), found: "none (`manifest = 1` is missing)".into() }),
    }
    let asked: Vec<String> = reading.texts(&table, "must_understand");
    let keys: Vec<String> = asked.into_iter().filter(|key| !is_known(key)).collect();
    if !keys.is_empty() {
        return Err(PackageError::NotUnderstood { file: file.into(), keys });
    }
    let manifest = reading.manifest(&table);
    match manifest {
        Some(manifest) if reading.reader.problems.is_empty() => Ok(Manifest { unknown: reading.unknown, ..manifest }),
        _ => Err(reading.wrong()),
    }
}

/// Whether this host knows a key, by its dotted name.
fn is_known(key: &str) -> bool {
    let Some((table, inner)) = key.split_once('.') else { return TOP.contains(&key) };
    let known: &[&str] = match table {
        "library" => &LIBRARY,
        "file" => &OTHER,
        "requires" => &REQUIRES,
        "reach" => &REACH,
        "checked" => &CHECKED,
        "options" => return true,
        _ => return false,
    };
    known.contains(&inner)
}

struct Reading<'p> {
    reader: Reader<'p>,
    unknown: Vec<String>,
    hashes: Hashes,
}

impl Reading<'_> {
    fn wrong(self) -> PackageError {
        PackageError::Manifest { problems: self.reader.problems.iter().map(ToString::to_string).collect() }
    }

    fn manifest(&mut self, table: &Table) -> Option<Manifest> {
        self.look(table, "", &TOP);
        let (id, version) = (self.name(table, "id", is_id), self.name(table, "version", is_version));
        let contract = self.required(table, "contract").and_then(|value| self.contract(value));
        let kinds = self.texts(table, "kinds");
        if let Some(kind) = kinds.iter().find(|kind| !KINDS.contains(&kind.as_str())) {
            let line = table.get("kinds").map_or(1, |value| value.line);
            self.reader.problem(line, "kinds", format!("expected {}, found '{kind}'", KINDS.join(", ")));
        }
        let libraries = self.tables(table, "library", Reading::library);
        if libraries.is_empty() && self.reader.problems.is_empty() {
            self.reader.problem(1, "library", "expected one [[library]] at least");
        }
        let files = self.tables(table, "file", Reading::file);
        let requires = self.tables(table, "requires", Reading::requirement);
        let reach = table.get("reach").map(|value| self.reach(value)).unwrap_or_default();
        let mut options = PluginOptions::new();
        if let Some(value) = table.get("options") {
            self.options(value, "", &mut options);
        }
        let checked = table.get("checked").and_then(|value| self.checked(value));
        let key = table.get("key").and_then(|value| self.reader.string(value, "key"));
        let mut text = |key: &str| table.get(key).and_then(|value| self.reader.string(value, key)).unwrap_or_default();
        let (vendor, license, url) = (text("vendor"), text("license"), text("url"));
        Some(Manifest {
            id: id?,
            version: version?,
            vendor,
            license,
            url,
            contract: contract?,
            kinds,
            key,
            libraries,
            files,
            requires,
            reach,
            options,
            checked,
            unknown: vec![],
        })
    }

    /// Tells keys that this host does not know; they are left as they are.
    fn look(&mut self, table: &Table, prefix: &str, known: &[&str]) {
        for field in table.fields().iter().filter(|field| !known.contains(&field.key.as_str())) {
            let (file, line, key) = (self.reader.path.display(), field.line, &field.key);
            self.unknown
                .push(format!("{file}:{line}: key '{prefix}{key}' is not known to this host, and counts for nothing"));
        }
        for field in table.twice() {
            self.reader.problem(field.line, &format!("{prefix}{}", field.key), "stands there twice");
        }
    }

    fn required<'t>(&mut self, table: &'t Table, key: &str) -> Option<&'t Located> {
        let value = table.get(key);
        if value.is_none() {
            self.reader.problem(1, key, "is missing");
        }
        value
    }

    fn name(&mut self, table: &Table, key: &str, right: fn(&str) -> Option<&'static str>) -> Option<String> {
        let value = self.required(table, key)?;
        let text = self.reader.string(value, key)?;
        match right(&text) {
            None => Some(text),
            Some(expected) => self.reader.wrong(value, key, expected),
        }
    }

    fn contract(&mut self, value: &Located) -> Option<Contract> {
        let text = self.reader.string(value, "contract")?;
        let numbers = text
            .split_once('.')
            .and_then(|(major, minor)| Some(Contract { major: major.parse().ok()?, minor: minor.parse().ok()? }));
        numbers.or_else(|| self.reader.wrong(value, "contract", "a major and a minor, such as \"1.1\""))
    }

    fn tables<T>(&mut self, table: &Table, key: &str, read: fn(&mut Self, &Table, usize) -> Option<T>) -> Vec<T> {
        let items = self.reader.list(table.get(key), key);
        let mut found = vec![];
        for item in items {
            if let Some(table) = self.reader.table(item, key) {
                found.extend(read(self, table, item.line));
            }
        }
        found
    }

    fn text(&mut self, table: &Table, line: usize, prefix: &str, key: &str) -> Option<String> {
        let name = format!("{prefix}.{key}");
        match table.get(key) {
            Some(value) => self.reader.string(value, &name),
            None => {
                self.reader.problem(line, &name, "is missing");
                None
            }
        }
    }

    fn path(&mut self, table: &Table, line: usize, prefix: &str, key: &str) -> Option<String> {
        let path = self.text(table, line, prefix, key)?;
        match outside(&path) {
            None => Some(path),
            Some(why) => {
                self.reader.problem(line, &format!("{prefix}.{key}"), format!("'{path}', {why}"));
                None
            }
        }
    }

    fn sha256(&mut self, table: &Table, line: usize, prefix: &str) -> Option<String> {
        if self.hashes == Hashes::ToFill {
            return Some(String::new());
        }
        let hash = self.text(table, line, prefix, "sha256")?.to_lowercase();
        if hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Some(hash);
        }
        self.reader.problem(line, &format!("{prefix}.sha256"), "expected 64 hexadecimal digits");
        None
    }

    fn library(&mut self, table: &Table, line: usize) -> Option<Library> {
        const KEY: &str = "library";
        self.look(table, "library.", &LIBRARY);
        let platform = self.text(table, line, KEY, "platform");
        let file = self.path(table, line, KEY, "file");
        let sha256 = self.sha256(table, line, KEY);
        let glibc = table.get("glibc").and_then(|value| self.reader.string(value, "library.glibc"));
        if glibc.as_deref().is_some_and(|version| glibc::parse(version).is_none()) {
            self.reader.problem(line, "library.glibc", "expected a version such as \"2.28\"");
        }
        Some(Library { platform: platform?, glibc, file: file?, sha256: sha256? })
    }

    fn file(&mut self, table: &Table, line: usize) -> Option<OtherFile> {
        self.look(table, "file.", &OTHER);
        let path = self.path(table, line, "file", "path");
        let sha256 = self.sha256(table, line, "file");
        Some(OtherFile { path: path?, sha256: sha256? })
    }

    fn requirement(&mut self, table: &Table, line: usize) -> Option<Requirement> {
        self.look(table, "requires.", &REQUIRES);
        let what = self.text(table, line, "requires", "what");
        let mut given =
            |key: &str| table.get(key).and_then(|value| self.reader.string(value, &format!("requires.{key}")));
        let package = match (given("package"), given("option")) {
            (Some(package), Some(option)) => Some((package, option)),
            (None, None) => None,
            _ => {
                let text = "`package` and `option` go together: the registry's name of a package, and which option takes its path";
                self.reader.problem(line, "requires.package", text);
                None
            }
        };
        Some(Requirement { what: what?, package })
    }

    fn reach(&mut self, value: &Located) -> Reach {
        let Some(table) = self.reader.table(value, "reach") else { return Reach::default() };
        self.look(table, "reach.", &REACH);
        let network = match table.get("network").map(|value| (value, value.value.flag())) {
            None => false,
            Some((_, Some(flag))) => flag,
            Some((value, None)) => self.reader.wrong(value, "reach.network", "true or false").unwrap_or_default(),
        };
        Reach { environment: self.texts(table, "environment"), devices: self.texts(table, "devices"), network }
    }

    fn checked(&mut self, value: &Located) -> Option<Checked> {
        let table = self.reader.table(value, "checked")?;
        self.look(table, "checked.", &CHECKED);
        let (by, when) =
            (self.text(table, value.line, "checked", "by"), self.text(table, value.line, "checked", "when"));
        let [kept, broken, unchecked] = ["kept", "broken", "unchecked"].map(|key| self.texts(table, key));
        Some(Checked { by: by?, when: when?, kept, broken, unchecked })
    }

    fn texts(&mut self, table: &Table, key: &str) -> Vec<String> {
        let items = self.reader.list(table.get(key), key);
        items.iter().filter_map(|item| self.reader.string(item, key)).collect()
    }

    /// As registries take them: dotted keys, scalars as text.
    fn options(&mut self, value: &Located, prefix: &str, into: &mut PluginOptions) {
        for Field { key, value, .. } in self.reader.table(value, "options").map_or(&[][..], Table::fields) {
            let key = format!("{prefix}{key}");
            let text = match &value.value {
                Value::Text(text) | Value::Number(text) => text.clone(),
                Value::Flag(flag) => flag.to_string(),
                Value::Table(_) => {
                    self.options(value, &format!("{key}."), into);
                    continue;
                }
                _ => {
                    let expected = "a text, a number, true or false";
                    self.reader.wrong::<()>(value, &format!("options.{key}"), expected);
                    continue;
                }
            };
            into.insert(key, text);
        }
    }
}

/// What was expected of an id; `None`: it is one.
fn is_id(id: &str) -> Option<&'static str> {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let right = id.chars().all(allowed) && id.starts_with(|c: char| c != '-') && id.len() <= 64;
    (!right).then_some("a name of a-z, 0-9 and '-', of 64 characters at most")
}

/// What was expected of a version, which is the name of a folder too; `None`: it is one.
fn is_version(version: &str) -> Option<&'static str> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "._+-".contains(c);
    let right = version.starts_with(|c: char| c.is_ascii_alphanumeric()) && version.chars().all(allowed);
    (!(right && version.len() <= 64)).then_some("letters, digits and . _ + -, a letter or digit first, 64 at most")
}

#[cfg(test)]
mod tests {
    use super::*;

    const HASH: &str = "5752bd508126ae7c49894d3b9d2e83f0c3d487319246d04c444b393308d7ad7f";

    fn text(more: &str) -> String {
        format!(
            "manifest = 1\nid = \"acme\"\nversion = \"1.0.0\"\ncontract = \"1.1\"\n{more}\n[[library]]\nplatform = \"linux-x86_64\"\n\
             file = \"libacme.so\"\nsha256 = \"{HASH}\"\n"
        )
    }

    fn of(text: &str) -> Result<Manifest, String> {
        read(text, Path::new("m.toml"), Hashes::Given).map_err(|error| error.to_string())
    }

    #[test]
    fn a_key_of_tomorrow_is_told_and_counts_for_nothing() {
        let manifest = of(&text("colour = \"red\"")).unwrap();
        assert_eq!(manifest.title(), "acme 1.0.0");
        assert_eq!(manifest.unknown, ["m.toml:5: key 'colour' is not known to this host, and counts for nothing"]);
        let inner = of(&(text("") + "signed_for = \"x\"\n")).unwrap();
        assert!(inner.unknown[0].contains("'library.signed_for'"), "{:?}", inner.unknown);
    }

    #[test]
    fn a_key_of_tomorrow_that_must_be_understood_refuses_the_package() {
        let told = of(&text("must_understand = [\"colour\", \"id\", \"library.file\"]\ncolour = 7")).unwrap_err();
        assert!(told.contains("its keys colour be understood") && told.contains("take a newer host"), "{told}");
        let told = of("manifest = 2\nid = 7").unwrap_err();
        assert!(told.contains("form the number 2") && told.contains("take a newer host"), "{told}");
    }

    #[test]
    fn all_that_is_wrong_is_told_at_once_with_its_line() {
        let wrong =
            text("kinds = [\"engine\"]").replace("\"acme\"", "\"Acme!\"").replace("libacme.so", "../libacme.so");
        let told = of(&wrong.replace(HASH, "abc")).unwrap_err();
        for part in
            ["m.toml:2: key 'id'", "m.toml:5: key 'kinds'", "'library.file': '../libacme.so'", "'library.sha256'"]
        {
            assert!(told.contains(part), "{part}: {told}");
        }
        assert!(of("manifest = 1\nid = \"a\"\nversion=\"1\"\ncontract=\"1.0\"\n").unwrap_err().contains("[[library]]"));
    }

    #[test]
    fn an_id_or_a_version_is_never_a_path() {
        for bad in ["", ".", "..", "a/b", "/a", "-a", "a b"] {
            assert!(of(&text("").replace("\"acme\"", &format!("{bad:?}"))).is_err(), "id {bad}");
            assert!(of(&text("").replace("\"1.0.0\"", &format!("{bad:?}"))).is_err(), "version {bad}");
        }
    }

    #[test]
    fn everything_a_manifest_may_hold_is_read() {
        let more = "kinds = [\"backend\"]\nkey = \"RW\"\n[options]\nthreads = 2\n[options.deep]\non = true\n[reach]\n\
                    devices = [\"/dev/acme*\"]\nenvironment = [\"ACME_*\"]\n[[requires]]\nwhat = \"the driver, 2.0 or newer\"\n\
                    [[requires]]\nwhat = \"the runtime\"\npackage = \"acme-runtime\"\noption = \"library\"\n[checked]\n\
                    by = \"skillbench-check 0.1.0\"\nwhen = \"2026-01-31T12:00:00Z\"\nkept = [\"a\", \"b\"]\nunchecked = [\"c\"]\n\
                    [[file]]\npath = \"doc/LICENSE\"\nsha256 = \"5752bd508126ae7c49894d3b9d2e83f0c3d487319246d04c444b393308d7ad7f\"";
        let manifest = of(&text(more)).unwrap();
        assert_eq!(manifest.options.get("deep.on").map(String::as_str), Some("true"));
        assert_eq!(manifest.requires[1].package, Some(("acme-runtime".into(), "library".into())));
        assert_eq!(manifest.files[0].path, "doc/LICENSE");
        let checked = manifest.checked.unwrap().to_string();
        assert_eq!(checked, "2 rules kept, 0 broken, 1 not checked, by skillbench-check 0.1.0 on 2026-01-31");
        assert!(manifest.unknown.is_empty());
    }
}
