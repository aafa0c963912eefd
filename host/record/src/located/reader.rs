//! Typed values out of a file, with a problem for each one that is of another type or unknown.

use super::value::{Located, Table, Value};
use super::{Malformed, Problem};
use crate::suggest;
use std::path::Path;

/// Reads one file, and gathers what is wrong with it. Keys are those that messages name.
pub struct Reader<'p> {
    /// As messages name it.
    pub path: &'p Path,
    pub problems: Vec<Problem>,
}

impl<'p> Reader<'p> {
    pub fn new(path: &'p Path) -> Reader<'p> {
        Reader { path, problems: vec![] }
    }

    pub fn problem(&mut self, line: usize, key: &str, message: impl Into<String>) {
        self.problems.push(Problem { file: self.path.into(), line, key: key.into(), message: message.into() });
    }

    pub fn malformed(&mut self, Malformed { line, message }: Malformed) {
        self.problem(line, "", message);
    }

    /// `None`, with the problem that a value is not what was expected.
    pub fn wrong<T>(&mut self, value: &Located, key: &str, expected: &str) -> Option<T> {
        self.problem(value.line, key, format!("expected {expected}, found {}", value.value));
        None
    }

    /// Every key of a table that is none of those known is a problem. `prefix` stands before keys in messages.
    pub fn known_keys(&mut self, table: &Table, prefix: &str, known: &[&str]) {
        for field in table.fields().iter().filter(|field| !known.contains(&field.key.as_str())) {
            let hint = suggest::did_you_mean(&field.key, known.iter().copied());
            let message = format!("unknown key; expected one of {}{hint}", known.join(", "));
            self.problem(field.line, &format!("{prefix}{}", field.key), message);
        }
    }

    /// The items of a list; none where there is no value.
    pub fn list<'v>(&mut self, value: Option<&'v Located>, key: &str) -> &'v [Located] {
        match value.map(|value| (value, &value.value)) {
            None => &[],
            Some((_, Value::List(items))) => items,
            Some((value, _)) => self.wrong(value, key, "a list").unwrap_or_default(),
        }
    }

    /// A text that is not empty.
    pub fn string(&mut self, value: &Located, key: &str) -> Option<String> {
        match value.value.text() {
            Some(text) if !text.is_empty() => Some(text.to_string()),
            _ => self.wrong(value, key, "a text"),
        }
    }

    pub fn table<'v>(&mut self, value: &'v Located, key: &str) -> Option<&'v Table> {
        match &value.value {
            Value::Table(table) => Some(table),
            _ => self.wrong(value, key, "a table"),
        }
    }
}
