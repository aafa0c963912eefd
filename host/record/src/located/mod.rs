//! The text of a TOML or JSON file as values, each with the line it stands on; and a reader that tells all that is wrong with them.
//!
//! - `value`: what a text holds, in whichever of the formats it is written. `json`, `toml`: the formats.
//! - `reader`: typed values out of it. `problem`: what is wrong, and where.
//!
//! Not here: what a registry, a suite or a list of models may hold.

mod json;
mod problem;
mod reader;
mod toml;
mod value;

pub use json::json;
pub use problem::{Origin, Problem};
pub use reader::Reader;
pub use toml::toml;
pub use value::{Field, Located, Table, Value};

/// A text that is not of its format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// From 1.
    pub line: usize,
    pub message: String,
}

/// The line of each place of a text, from 1.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Lines {
        Lines(text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at).collect())
    }

    fn at(&self, place: usize) -> usize {
        self.0.partition_point(|newline| *newline < place) + 1
    }
}

/// The path of something within another: `schedule.time`, `batch_sizes[2]`.
pub fn within(path: &str, key: &str) -> String {
    match path.is_empty() || key.starts_with('[') {
        true => format!("{path}{key}"),
        false => format!("{path}.{key}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values without their lines, and the line of each by its path.
    fn flat(table: &Table, path: &str) -> Vec<(String, usize, String)> {
        fn of(value: &Located, path: &str) -> Vec<(String, usize, String)> {
            match &value.value {
                Value::Table(table) => flat(table, path),
                Value::List(items) => {
                    let item = |(index, item): (usize, &Located)| {
                        let path = within(path, &format!("[{index}]"));
                        let own = (path.clone(), item.line, item.value.to_string());
                        std::iter::once(own).chain(of(item, &path)).collect::<Vec<_>>()
                    };
                    items.iter().enumerate().flat_map(item).collect()
                }
                _ => vec![],
            }
        }
        let field = |field: &Field| {
            let path = within(path, &field.key);
            let own = (path.clone(), field.line, field.value.value.to_string());
            std::iter::once(own).chain(of(&field.value, &path)).collect::<Vec<_>>()
        };
        table.fields().iter().flat_map(field).collect()
    }

    #[test]
    fn both_formats_have_the_same_values_and_each_its_own_lines() {
        let of_json = json("{\n \"a\": [1,\n  2.5],\n \"b\": {\"c\\n\": \"}\", \"d\": true}\n}").unwrap();
        let Value::Table(of_json) = of_json.value else { panic!("a table") };
        let of_toml = toml("a = [1,\n  2.5]\n[b]\n\"c\\n\" = \"}\"\nd = true\n").unwrap();
        let (of_json, of_toml) = (flat(&of_json, ""), flat(&of_toml, ""));
        let values = |all: &[(String, usize, String)]| -> Vec<(String, String)> {
            all.iter().map(|(path, _, value)| (path.clone(), value.clone())).collect()
        };
        assert_eq!(values(&of_json), values(&of_toml));
        let lines = |all: &[(String, usize, String)]| all.iter().map(|(_, line, _)| *line).collect::<Vec<_>>();
        assert_eq!((lines(&of_json), lines(&of_toml)), (vec![2, 2, 3, 4, 4, 4], vec![1, 1, 2, 3, 4, 5]));
    }

    #[test]
    fn a_text_that_is_of_neither_format_is_refused_with_its_line() {
        assert_eq!(json("{\n\"a\": }\n").unwrap_err().line, 2);
        assert_eq!(toml("a = 1\nb = \n").unwrap_err().line, 2);
        for lax in ["{\"a\": 1,}", "{a: 1}", "{\"a\": 'b'}", "// c\n{}", "{\"a\": 0x1}", "{\"a\": NaN}", "", "[1] 2"] {
            assert!(json(lax).is_err(), "{lax}");
        }
        assert!(json(&"[".repeat(100_000)).is_err(), "no depth of a text ends the program");
    }

    #[test]
    fn a_key_that_stands_twice_is_there_twice_in_json_and_refused_in_toml() {
        let Value::Table(table) = json("{\"a\": 1,\n\"b\": {\"a\": 1},\n\"a\": 2}").unwrap().value else { panic!() };
        let twice: Vec<(&str, usize)> = table.twice().map(|field| (field.key.as_str(), field.line)).collect();
        assert_eq!(twice, [("a", 3)]);
        assert_eq!(toml("a = 1\na = 2\n").unwrap_err().line, 2);
    }

    #[test]
    fn numbers_are_read_as_they_are_meant() {
        let table = toml("hex = 0xff\nlong = 1_000\nfloat = 2.5\nneg = -7\nhuge = 1e400\n").unwrap();
        let number = |key: &str| table.get(key).map(|located| (located.value.integer(), located.value.float()));
        assert_eq!(number("hex"), Some((Some(255), Some(255.0))));
        assert_eq!(number("long"), Some((Some(1000), Some(1000.0))));
        assert_eq!(number("float"), Some((None, Some(2.5))));
        assert_eq!(number("neg"), Some((Some(-7), Some(-7.0))));
        assert_eq!(number("huge"), Some((None, None)));
    }
}
