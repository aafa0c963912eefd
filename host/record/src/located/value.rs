//! What a text holds, in whichever format it is written.

use std::collections::HashSet;
use std::fmt;

/// A value, and the line it begins on, from 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Located {
    pub line: usize,
    pub value: Value,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Null,
    Flag(bool),
    /// In decimal digits.
    Number(String),
    Text(String),
    /// A date or a time of TOML, as it is written.
    Moment(String),
    List(Vec<Located>),
    Table(Table),
}

/// The fields of an object or a table, in their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table(pub(super) Vec<Field>);

#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    pub key: String,
    /// The key's own.
    pub line: usize,
    pub value: Located,
}

impl Value {
    pub fn text(&self) -> Option<&str> {
        if let Value::Text(text) = self { Some(text) } else { None }
    }

    pub fn flag(&self) -> Option<bool> {
        if let Value::Flag(flag) = self { Some(*flag) } else { None }
    }

    /// A whole number.
    pub fn integer(&self) -> Option<i64> {
        if let Value::Number(text) = self { text.parse().ok() } else { None }
    }

    /// A finite number.
    pub fn float(&self) -> Option<f64> {
        if let Value::Number(text) = self { text.parse().ok().filter(|number: &f64| number.is_finite()) } else { None }
    }
}

/// As it stands in a message: its type, and itself where it is short.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.write_str("null"),
            Value::Flag(flag) => write!(f, "{flag}"),
            Value::Number(text) => write!(f, "the number {text}"),
            Value::Text(text) if text.is_empty() => f.write_str("an empty text"),
            Value::Text(text) => write!(f, "the text \"{}\"", text.chars().take(60).collect::<String>()),
            Value::Moment(text) => write!(f, "the time {text}"),
            Value::List(_) => f.write_str("a list"),
            Value::Table(_) => f.write_str("a table"),
        }
    }
}

impl Table {
    pub fn fields(&self) -> &[Field] {
        &self.0
    }

    pub fn field(&self, key: &str) -> Option<&Field> {
        self.0.iter().find(|field| field.key == key)
    }

    pub fn get(&self, key: &str) -> Option<&Located> {
        self.field(key).map(|field| &field.value)
    }

    /// Fields whose key stands there already.
    pub fn twice(&self) -> impl Iterator<Item = &Field> {
        let mut seen = HashSet::new();
        self.0.iter().filter(move |field| !seen.insert(field.key.as_str()))
    }
}
