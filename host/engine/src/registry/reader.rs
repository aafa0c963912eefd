//! Reading typed values out of TOML, with a problem for each one that is of another type or unknown.

use super::origin::Problem;
use skillbench_record::suggest;
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

pub(super) type Value<'a> = Spanned<DeValue<'a>>;

/// A value as it stands in a message: its type, and the value where it is short.
pub(super) fn shown(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => format!("the text \"{text}\""),
        DeValue::Integer(number) => format!("the number {}", number.as_str()),
        other => format!("a value of type {}", other.type_str()),
    }
}

pub(super) struct Reader<'t> {
    pub text: &'t str,
    pub path: &'t Path,
    pub problems: Vec<Problem>,
}

impl<'t> Reader<'t> {
    pub fn line(&self, at: usize) -> usize {
        self.text.as_bytes()[..at.min(self.text.len())].iter().filter(|b| **b == b'\n').count() + 1
    }

    pub fn problem(&mut self, at: usize, key: &str, message: String) {
        let line = self.line(at);
        self.problems.push(Problem { file: self.path.into(), line, key: key.into(), message });
    }

    pub fn known_keys(&mut self, table: &DeTable<'_>, prefix: &str, known: &[&str]) -> bool {
        let mut all_known = true;
        for key in table.keys().filter(|key| !known.contains(&key.get_ref().as_ref())) {
            let hint = suggest::did_you_mean(key.get_ref(), known.iter().copied());
            let message = format!("unknown key; expected one of {}{hint}", known.join(", "));
            self.problem(key.span().start, &format!("{prefix}{}", key.get_ref()), message);
            all_known = false;
        }
        all_known
    }

    pub fn wrong<T>(&mut self, value: &Value<'_>, key: &str, expected: &str) -> Option<T> {
        let message = format!("expected {expected}, found {}", shown(value.get_ref()));
        self.problem(value.span().start, key, message);
        None
    }

    pub fn array<'a>(&mut self, value: Option<&'a Value<'t>>, key: &str) -> Vec<&'a Value<'t>> {
        match value.map(|value| (value, value.get_ref())) {
            None => vec![],
            Some((_, DeValue::Array(items))) => items.iter().collect(),
            Some((value, _)) => self.wrong(value, key, "a list").unwrap_or_default(),
        }
    }

    pub fn string(&mut self, value: &Value<'_>, key: &str) -> Option<String> {
        match value.get_ref() {
            DeValue::String(text) if !text.is_empty() => Some(text.to_string()),
            _ => self.wrong(value, key, "a text"),
        }
    }

    pub fn sha256(&mut self, value: &Value<'_>, key: &str) -> Option<String> {
        let hash = self.string(value, key)?.to_lowercase();
        match hash.len() == 64 && hash.chars().all(|c| c.is_ascii_hexdigit()) {
            true => Some(hash),
            false => self.wrong(value, key, "64 hexadecimal digits"),
        }
    }

    pub fn colour(&mut self, value: &Value<'_>) -> Option<String> {
        let colour = self.string(value, "colour")?.to_lowercase();
        let digits = colour.strip_prefix('#').unwrap_or_default();
        match digits.len() == 6 && digits.chars().all(|c| c.is_ascii_hexdigit()) {
            true => Some(colour),
            false => self.wrong(value, "colour", "a colour such as \"#2ca02c\""),
        }
    }

    /// A table, with the name it has in messages.
    pub fn table<'a>(&mut self, value: &'a Value<'t>, key: &str) -> Option<&'a DeTable<'t>> {
        match value.get_ref() {
            DeValue::Table(table) => Some(table),
            _ => self.wrong(value, key, "a table"),
        }
    }
}
