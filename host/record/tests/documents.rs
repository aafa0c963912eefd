//! The documents that are made from the types.

use skillbench_record::schema::run_schema;
use std::path::Path;

/// With BLESS=1 in the environment the file is written anew.
#[test]
fn the_schema_in_the_docs_is_made_from_the_types() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/run.schema.json");
    let made = serde_json::to_string_pretty(&run_schema()).unwrap() + "\n";
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&file, &made).unwrap();
    }
    let kept = std::fs::read_to_string(&file).unwrap();
    assert!(kept == made, "docs/run.schema.json is out of date: BLESS=1 cargo test --release -p skillbench-record");
}
