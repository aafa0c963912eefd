//! docs/models.md says what the records say.

use std::process::Command;

#[test]
fn the_page_of_models_is_what_the_script_writes() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/models-table");
    let output = match Command::new("python3").args(["-B", script, "--check"]).output() {
        Ok(output) => output,
        // The script writes it; without Python there is nobody to hold it against.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return,
        Err(error) => panic!("{error}"),
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
