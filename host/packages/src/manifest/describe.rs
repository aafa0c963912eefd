//! Writing a manifest: for a package that is made from libraries alone, and what `pack` fills in.

use super::{Checked, Manifest};
use toml::{Table, Value};

impl Manifest {
    /// The manifest's text as a table. Hashes that are yet to be filled in are left out.
    pub(crate) fn table(&self) -> Table {
        let mut table = Table::new();
        table.insert("manifest".into(), Value::Integer(1));
        let contract = self.contract.to_string();
        for (key, text) in [
            ("id", &self.id),
            ("version", &self.version),
            ("vendor", &self.vendor),
            ("license", &self.license),
            ("url", &self.url),
            ("contract", &contract),
        ] {
            if !text.is_empty() {
                table.insert(key.into(), text.as_str().into());
            }
        }
        table.insert("kinds".into(), texts(&self.kinds));
        let libraries = self.libraries.iter().map(|library| {
            let mut one = Table::new();
            one.insert("platform".into(), library.platform.as_str().into());
            if let Some(glibc) = &library.glibc {
                one.insert("glibc".into(), glibc.as_str().into());
            }
            one.insert("file".into(), library.file.as_str().into());
            Value::Table(one)
        });
        table.insert("library".into(), Value::Array(libraries.collect()));
        if let Some(checked) = &self.checked {
            table.insert("checked".into(), checked.table());
        }
        table
    }
}

impl Checked {
    pub(crate) fn table(&self) -> Value {
        let Checked { by, when, kept, broken, unchecked } = self;
        let mut table = Table::new();
        table.insert("by".into(), by.as_str().into());
        table.insert("when".into(), when.as_str().into());
        for (key, rules) in [("kept", kept), ("broken", broken), ("unchecked", unchecked)] {
            table.insert(key.into(), texts(rules));
        }
        Value::Table(table)
    }
}

fn texts(texts: &[String]) -> Value {
    Value::Array(texts.iter().map(|text| text.as_str().into()).collect())
}
