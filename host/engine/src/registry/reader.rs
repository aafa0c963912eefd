//! What registries hold besides the values that every file has.

use skillbench_record::located::{Located, Reader};

/// A hash, in lower-case hexadecimal.
pub(super) fn sha256(reader: &mut Reader<'_>, value: &Located, key: &str) -> Option<String> {
    let hash = reader.string(value, key)?.to_lowercase();
    match hash.len() == 64 && hash.chars().all(|c| c.is_ascii_hexdigit()) {
        true => Some(hash),
        false => reader.wrong(value, key, "64 hexadecimal digits"),
    }
}

/// A colour, in lower-case hexadecimal: "#2ca02c".
pub(super) fn colour(reader: &mut Reader<'_>, value: &Located) -> Option<String> {
    const KEY: &str = "colour";
    let colour = reader.string(value, KEY)?.to_lowercase();
    let digits = colour.strip_prefix('#').unwrap_or_default();
    match digits.len() == 6 && digits.chars().all(|c| c.is_ascii_hexdigit()) {
        true => Some(colour),
        false => reader.wrong(value, KEY, "a colour such as \"#2ca02c\""),
    }
}

/// A value that has to be there, within its owner.
pub(super) fn required(reader: &mut Reader<'_>, owner: &Located, key: &str, value: Option<&Located>) -> Option<String> {
    match value {
        Some(value) => reader.string(value, key),
        None => {
            reader.problem(owner.line, key, "is missing");
            None
        }
    }
}
