//! The JSON Schema of suite files, made from the type that is read. `docs/suite.schema.json` is its text, and a test holds both together.

use super::SuiteFile;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

/// The schema, in draft 2020-12. `x-other-names` are the names of flags that a key may have too.
pub fn suite_schema() -> Value {
    let schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<SuiteFile>();
    let mut schema = Value::from(schema);
    schema["x-other-names"] = json!(SuiteFile::OTHER_NAMES.into_iter().collect::<std::collections::BTreeMap<_, _>>());
    schema
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    /// With BLESS=1 in the environment the file is written anew.
    #[test]
    fn the_schema_in_the_docs_is_made_from_the_type() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/suite.schema.json");
        let made = serde_json::to_string_pretty(&suite_schema()).unwrap() + "\n";
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&file, &made).unwrap();
        }
        let kept = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(
            kept == made,
            "docs/suite.schema.json is out of date: BLESS=1 cargo test --release -p skillbench-engine suite"
        );
    }

    #[test]
    fn the_schema_has_the_keys_that_are_read() {
        let schema = suite_schema();
        let told: BTreeSet<&str> = schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(told, SuiteFile::KEYS.into_iter().collect());
    }
}
