//! JSON, to the letter of RFC 8259: serde_json says whether it is some, jsonc-parser where its values stand.

use super::value::{Field, Located, Table, Value};
use super::{Lines, Malformed};
use jsonc_parser::ast::{self, ObjectPropName};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde::de::IgnoredAny;

/// Reads JSON.
///
/// # Errors
/// It is none.
pub fn json(text: &str) -> Result<Located, Malformed> {
    // This one also ends a text that is nested too deeply.
    let checked: Result<IgnoredAny, _> = serde_json::from_str(text);
    checked.map_err(|error| Malformed { line: error.line().max(1), message: format!("not valid JSON: {error}") })?;
    let none = || Malformed { line: 1, message: "not valid JSON".into() };
    let parsed = parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default()).map_err(|_| none())?;
    Ok(of_value(&parsed.value.ok_or_else(none)?, &Lines::of(text)))
}

fn of_value(value: &ast::Value<'_>, lines: &Lines) -> Located {
    let own = match value {
        ast::Value::NullKeyword(_) => Value::Null,
        ast::Value::BooleanLit(flag) => Value::Flag(flag.value),
        ast::Value::NumberLit(number) => Value::Number(number.value.into()),
        ast::Value::StringLit(text) => Value::Text(text.value.to_string()),
        ast::Value::Array(items) => Value::List(items.elements.iter().map(|item| of_value(item, lines)).collect()),
        ast::Value::Object(object) => {
            let field = |property: &ast::ObjectProp<'_>| Field {
                key: match &property.name {
                    ObjectPropName::String(text) => text.value.to_string(),
                    ObjectPropName::Word(word) => word.value.to_string(),
                },
                line: lines.at(property.range.start),
                value: of_value(&property.value, lines),
            };
            Value::Table(Table(object.properties.iter().map(field).collect()))
        }
    };
    Located { line: lines.at(value.start()), value: own }
}
