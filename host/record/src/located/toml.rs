//! TOML.

use super::value::{Field, Located, Table, Value};
use super::{Lines, Malformed};
use ::toml::Spanned;
use ::toml::de::{DeTable, DeValue};

/// Reads TOML.
///
/// # Errors
/// It is none.
pub fn toml(text: &str) -> Result<Table, Malformed> {
    let lines = Lines::of(text);
    let root = DeTable::parse(text).map_err(|error| {
        let message = error.message().lines().next().unwrap_or("no TOML");
        let line = lines.at(error.span().map_or(0, |span| span.start));
        Malformed { line, message: format!("not valid TOML: {message}") }
    })?;
    Ok(of_table(root.get_ref(), &lines))
}

fn of_table(table: &DeTable<'_>, lines: &Lines) -> Table {
    let field = |(key, value): (&Spanned<std::borrow::Cow<'_, str>>, &Spanned<DeValue<'_>>)| Field {
        key: key.get_ref().to_string(),
        line: lines.at(key.span().start),
        value: of_value(value, lines),
    };
    Table(table.iter().map(field).collect())
}

fn of_value(value: &Spanned<DeValue<'_>>, lines: &Lines) -> Located {
    let own = match value.get_ref() {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) => Value::Number(number.to_string()),
            Err(_) => Value::Number(number.to_string()),
        },
        DeValue::Float(number) => Value::Number(number.as_str().into()),
        DeValue::Boolean(flag) => Value::Flag(*flag),
        DeValue::Datetime(moment) => Value::Moment(moment.to_string()),
        DeValue::Array(items) => Value::List(items.iter().map(|item| of_value(item, lines)).collect()),
        DeValue::Table(table) => Value::Table(of_table(table, lines)),
    };
    Located { line: lines.at(value.span().start), value: own }
}
