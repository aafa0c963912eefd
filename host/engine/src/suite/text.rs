//! The text of a suite file as values, each with the line it stands on, whichever of the two formats it is in.

use super::Format;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use toml::de::{DeTable, DeValue};

/// Values of a file, and the line of each by its path: `schedule.time`, `batch_sizes[2]`.
#[derive(Debug, Default)]
pub(super) struct Text {
    pub root: Map<String, Value>,
    pub lines: BTreeMap<String, usize>,
    /// Keys that stand there twice, with the line of the second.
    pub twice: Vec<(String, usize)>,
}

/// # Errors
/// A line, and what is wrong there.
pub(super) fn parse(text: &str, format: Format) -> Result<Text, (usize, String)> {
    match format {
        Format::Json => json(text),
        Format::Toml => toml(text),
    }
}

/// The path of something within another.
pub(super) fn within(path: &str, key: &str) -> String {
    match path.is_empty() || key.starts_with('[') {
        true => format!("{path}{key}"),
        false => format!("{path}.{key}"),
    }
}

fn json(text: &str) -> Result<Text, (usize, String)> {
    let value: Value =
        serde_json::from_str(text).map_err(|error| (error.line(), format!("not valid JSON: {error}")))?;
    let Value::Object(root) = value else {
        return Err((1, "expected an object with the keys of a suite".into()));
    };
    let mut scan = Scan { text, at: 0, line: 1, found: Text { root, ..Text::default() } };
    scan.value("");
    Ok(scan.found)
}

/// Where things stand in JSON that is known to be valid.
struct Scan<'t> {
    text: &'t str,
    at: usize,
    line: usize,
    found: Text,
}

impl Scan<'_> {
    fn next(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Goes on to the next byte that says something.
    fn skip(&mut self) {
        while let Some(byte) = self.next().filter(|byte| byte.is_ascii_whitespace() || b",:".contains(byte)) {
            self.line += usize::from(byte == b'\n');
            self.at += 1;
        }
    }

    fn string(&mut self) -> String {
        let start = self.at;
        self.at += 1;
        while let Some(byte) = self.next().filter(|byte| *byte != b'"') {
            self.at += if byte == b'\\' { 2 } else { 1 };
        }
        self.at += 1;
        serde_json::from_str(self.text.get(start..self.at).unwrap_or_default()).unwrap_or_default()
    }

    fn value(&mut self, path: &str) {
        self.skip();
        match self.next() {
            Some(b'"') => drop(self.string()),
            Some(open @ (b'{' | b'[')) => {
                self.at += 1;
                let mut index = 0;
                loop {
                    self.skip();
                    if self.next().is_none_or(|byte| b"}]".contains(&byte)) {
                        break;
                    }
                    let line = self.line;
                    let key = if open == b'{' { self.string() } else { format!("[{index}]") };
                    index += 1;
                    let path = within(path, &key);
                    if self.found.lines.insert(path.clone(), line).is_some() {
                        self.found.twice.push((path.clone(), line));
                    }
                    self.value(&path);
                }
                self.at += 1;
            }
            _ => {
                let ends = |byte: u8| byte.is_ascii_whitespace() || b",:]}".contains(&byte);
                while self.next().is_some_and(|byte| !ends(byte)) {
                    self.at += 1;
                }
            }
        }
    }
}

fn toml(text: &str) -> Result<Text, (usize, String)> {
    let line = |at: usize| text.as_bytes()[..at.min(text.len())].iter().filter(|byte| **byte == b'\n').count() + 1;
    let root = DeTable::parse(text).map_err(|error| {
        let message = error.message().lines().next().unwrap_or("no TOML");
        (line(error.span().map_or(0, |span| span.start)), format!("not valid TOML: {message}"))
    })?;
    let mut found = Text::default();
    let value = of_table(root.get_ref(), "", &line, &mut found.lines);
    if let Value::Object(root) = value {
        found.root = root;
    }
    Ok(found)
}

fn of_table(
    table: &DeTable<'_>,
    path: &str,
    line: &dyn Fn(usize) -> usize,
    lines: &mut BTreeMap<String, usize>,
) -> Value {
    let mut object = Map::new();
    for (key, value) in table.iter() {
        let path = within(path, key.get_ref());
        lines.insert(path.clone(), line(key.span().start));
        object.insert(key.get_ref().to_string(), of_value(value.get_ref(), &path, line, lines));
    }
    Value::Object(object)
}

fn of_value(
    value: &DeValue<'_>,
    path: &str,
    line: &dyn Fn(usize) -> usize,
    lines: &mut BTreeMap<String, usize>,
) -> Value {
    match value {
        DeValue::String(text) => Value::from(text.as_ref()),
        DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) => Value::from(number),
            Err(_) => Value::from(number.to_string()),
        },
        DeValue::Float(number) => match number.as_str().parse::<f64>() {
            Ok(parsed) if parsed.is_finite() => Value::from(parsed),
            _ => Value::from(number.to_string()),
        },
        DeValue::Boolean(flag) => Value::from(*flag),
        DeValue::Datetime(moment) => Value::from(moment.to_string()),
        DeValue::Array(items) => {
            let element = |(index, item): (usize, &toml::Spanned<DeValue<'_>>)| {
                let path = within(path, &format!("[{index}]"));
                lines.insert(path.clone(), line(item.span().start));
                of_value(item.get_ref(), &path, line, lines)
            };
            Value::Array(items.iter().enumerate().map(element).collect())
        }
        DeValue::Table(table) => of_table(table, path, line, lines),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_formats_tell_the_same_values_and_each_its_own_lines() {
        let of_json =
            parse("{\n \"a\": [1,\n  2.5],\n \"b\": {\"c\\n\": \"}\", \"d\": true}\n}", Format::Json).unwrap();
        let of_toml = parse("a = [1,\n  2.5]\n[b]\n\"c\\n\" = \"}\"\nd = true\n", Format::Toml).unwrap();
        assert_eq!(of_json.root, of_toml.root);
        let at = |text: &Text| ["a", "a[0]", "a[1]", "b.c\n", "b.d"].map(|path| text.lines[path]);
        assert_eq!((at(&of_json), at(&of_toml)), ([2, 2, 3, 4, 4], [1, 1, 2, 4, 5]));
    }

    #[test]
    fn a_key_that_stands_there_twice_is_found() {
        let twice = parse("{\"a\": 1,\n\"b\": {\"a\": 1},\n\"a\": 2}", Format::Json).unwrap().twice;
        assert_eq!(twice, [("a".to_string(), 3)]);
        assert_eq!(parse("a = 1\na = 2\n", Format::Toml).unwrap_err().0, 2);
    }

    #[test]
    fn a_text_that_is_neither_is_told_with_its_line() {
        assert_eq!(parse("{\n\"a\": }\n", Format::Json).unwrap_err().0, 2);
        assert_eq!(parse("a = 1\nb = \n", Format::Toml).unwrap_err().0, 2);
        assert!(parse("[1]", Format::Json).unwrap_err().1.contains("expected an object"));
    }
}
