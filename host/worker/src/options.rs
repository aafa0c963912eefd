//! A plugin's options, held against its JSON Schema before the plugin sees them.

use crate::contents;
use jsonschema::error::ValidationErrorKind;
use serde_json::{Map, Value};
use skillbench_record::PluginOptions;
use skillbench_record::suggest;
use std::path::Path;

/// Checks options against a schema; an empty schema takes none.
///
/// # Errors
/// One sentence that names the option and what was expected.
pub fn check(options: &PluginOptions, schema: &str, owner: &str) -> Result<(), String> {
    if let Some((key, _)) = options.iter().find(|(_, value)| names_somebody(value)) {
        return Err(format!(
            "option '{key}' of {owner} is an address with a name or a key before its '@', and options are stored with the results: give it in the environment, as {owner} says"
        ));
    }
    if schema.is_empty() {
        return match options.keys().next() {
            None => Ok(()),
            Some(key) => Err(format!("{owner} takes no options, and was given '{key}'")),
        };
    }
    let schema: Value =
        serde_json::from_str(schema).map_err(|e| format!("the options schema of {owner} is not JSON: {e}"))?;
    if schema.get("additionalProperties") == Some(&Value::Bool(false))
        && let Some(unknown) = options.keys().find(|key| property(&schema, key).is_none())
    {
        let known: Vec<&str> = names(&schema);
        let hint = suggest::did_you_mean(unknown, known.iter().copied());
        let known = if known.is_empty() { "none".into() } else { known.join(", ") };
        return Err(format!("{owner} has no option '{unknown}'{hint} (it takes: {known})"));
    }
    if let Some(elsewhere) = reference_elsewhere(&schema) {
        return Err(format!(
            "the options schema of {owner} refers to '{elsewhere}', which lies outside of it; only its own parts can be referred to: #/..."
        ));
    }
    let typed: Map<String, Value> = options.iter().map(|(k, v)| (k.clone(), typed(v, property(&schema, k)))).collect();
    let validator =
        jsonschema::validator_for(&schema).map_err(|e| format!("the options schema of {owner} is not valid: {e}"))?;
    match validator.iter_errors(&Value::Object(typed)).next() {
        None => Ok(()),
        Some(error) => {
            let at = error.instance_path().to_string();
            let key = at.trim_start_matches('/');
            // A regular expression tells people less than the words beside it.
            let words = property(&schema, key).and_then(|property| property.get("description")).and_then(Value::as_str);
            match (error.kind(), words) {
                (ValidationErrorKind::Pattern { .. }, Some(words)) => {
                    Err(format!("option '{key}' of {owner}: {} does not fit: {words}", error.instance()))
                }
                (ValidationErrorKind::Required { property }, _) if key.is_empty() => {
                    Err(format!("{owner} needs the option {property}"))
                }
                _ => Err(format!("option '{key}' of {owner}: {error}")),
            }
        }
    }
}

/// Whether a schema is one by which options can be checked, whichever it wants in any case.
///
/// # Errors
/// As for [`check`].
pub fn check_schema(schema: &str, owner: &str) -> Result<(), String> {
    let mut parsed: Value = serde_json::from_str(schema).unwrap_or_default();
    match parsed.as_object_mut() {
        None => check(&PluginOptions::new(), schema, owner),
        Some(fields) => {
            fields.remove("required");
            check(&PluginOptions::new(), &parsed.to_string(), owner)
        }
    }
}

/// A `$ref` that leads out of the schema: to a file or an address, which nobody fetches for a plugin.
fn reference_elsewhere(schema: &Value) -> Option<&str> {
    match schema {
        Value::Object(fields) => fields.iter().find_map(|(key, value)| match (key.as_str(), value.as_str()) {
            ("$ref" | "$dynamicRef", Some(to)) if !to.starts_with('#') => Some(to),
            _ => reference_elsewhere(value),
        }),
        Value::Array(items) => items.iter().find_map(reference_elsewhere),
        _ => None,
    }
}

fn property<'a>(schema: &'a Value, key: &str) -> Option<&'a Value> {
    schema.get("properties")?.get(key)
}

/// Of the options that a plugin is opened with, those that make a measurement another one. A number of threads is a dimension of its
/// own, what is the plugin's default changes nothing, and a file or folder counts as what it holds, which is provenance; unless its content is
/// part of what is measured (`contents`).
pub fn of_key(options: &PluginOptions, schema: &str) -> PluginOptions {
    let schema: Value = serde_json::from_str(schema).unwrap_or_default();
    let is_default = |key: &str, value: &str| {
        let property = property(&schema, key);
        let default = property.and_then(|property| property.get("default"));
        default.is_some_and(|default| typed(value, property) == *default)
    };
    let counts = |(key, value): &(&String, &String)| {
        *key != "threads" && !is_default(key, value) && !is_path(&schema, key, value)
    };
    let by_content = |(key, value): (&String, &String)| {
        let name = is_of_format(&schema, key, CONTENT).then(|| contents::name_of(value))?;
        Some((key.clone(), name?))
    };
    let plain = options.iter().filter(counts).map(|(key, value)| (key.clone(), value.clone()));
    plain.chain(options.iter().filter_map(by_content)).collect()
}

/// What a schema calls a file whose content is part of what is measured.
const CONTENT: &str = "content";

/// The options of a schema that lead to such a file.
pub fn contents_of(schema: &str) -> Vec<String> {
    all_of_format(schema, CONTENT)
}

/// The option of a schema in which a benchmark takes an axis with values, of which it has requests: `sequence:32,64,128`. `None`: it takes none.
pub fn sizes_of(schema: &str) -> Option<String> {
    all_sizes_of(schema).into_iter().next()
}

pub(crate) fn all_sizes_of(schema: &str) -> Vec<String> {
    all_of_format(schema, "sizes")
}

fn all_of_format(schema: &str, format: &str) -> Vec<String> {
    let schema: Value = serde_json::from_str(schema).unwrap_or_default();
    names(&schema).into_iter().filter(|key| is_of_format(&schema, key, format)).map(String::from).collect()
}

fn is_of_format(schema: &Value, key: &str, format: &str) -> bool {
    property(schema, key).and_then(|property| property.get("format")).is_some_and(|known| known == format)
}

fn is_path(schema: &Value, key: &str, value: &str) -> bool {
    let is_told = ["path", CONTENT].iter().any(|format| is_of_format(schema, key, format));
    is_told || Path::new(value).is_absolute() || Path::new(value).exists()
}

/// Whether an option may lead to a file: its schema says so, or its value reads like a path, of this system or another.
pub fn names_a_file(schema: &str, key: &str, value: &str) -> bool {
    let schema: Value = serde_json::from_str(schema).unwrap_or_default();
    is_path(&schema, key, value) || value.contains(['/', '\\'])
}

/// Whether a schema has a property of this name.
pub fn takes(schema: &str, key: &str) -> bool {
    serde_json::from_str::<Value>(schema).is_ok_and(|schema| property(&schema, key).is_some())
}

/// The options that a schema wants in any case.
pub fn required(schema: &str) -> Vec<String> {
    let schema: Value = serde_json::from_str(schema).unwrap_or_default();
    let names = schema.get("required").and_then(Value::as_array);
    names.into_iter().flatten().filter_map(Value::as_str).map(String::from).collect()
}

/// What a schema says an option is where nobody gives it.
pub fn default_of(schema: &str, key: &str) -> Option<Value> {
    property(&serde_json::from_str::<Value>(schema).ok()?, key)?.get("default").cloned()
}

fn names(schema: &Value) -> Vec<&str> {
    schema
        .get("properties")
        .and_then(Value::as_object)
        .map(|p| p.keys().map(String::as_str).collect())
        .unwrap_or_default()
}

/// The text of an option as the type its schema asks for; as text where it is not of that type, so that the validator says so.
fn typed(text: &str, schema: Option<&Value>) -> Value {
    let wanted = schema.and_then(|schema| schema.get("type")).and_then(Value::as_str).unwrap_or("string");
    let parsed = match wanted {
        "string" => None,
        _ => serde_json::from_str(text).ok(),
    };
    parsed.unwrap_or_else(|| Value::String(text.into()))
}

/// Whether a text is an address like `https://name:key@host`.
fn names_somebody(text: &str) -> bool {
    let authority = text.split_once("://").map(|(_, rest)| rest.split(['/', '?', '#']).next().unwrap_or_default());
    authority.is_some_and(|authority| authority.contains('@'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMA: &str = r#"{"type":"object","additionalProperties":false,
        "properties":{"threads":{"type":"integer","minimum":1},"library":{"type":"string"}}}"#;

    fn describe(key: &str, value: &str) -> Result<(), String> {
        check(&PluginOptions::from([(key.to_string(), value.to_string())]), SCHEMA, "cpu")
    }

    #[test]
    fn a_schema_that_wants_an_option_is_one_and_what_is_none_is_told() {
        let wants = SCHEMA.replace("{\"type\":\"object\",", "{\"type\":\"object\",\"required\":[\"library\"],");
        assert_eq!(required(&wants), ["library"]);
        assert!(check(&PluginOptions::new(), &wants, "cpu").unwrap_err().contains("needs the option \"library\""));
        assert_eq!(check_schema(&wants, "cpu"), Ok(()));
        assert_eq!((check_schema("", "cpu"), required("")), (Ok(()), vec![]));
        assert!(check_schema("{", "cpu").is_err() && check_schema(r#"{"type": 5}"#, "cpu").is_err());
    }

    #[test]
    fn options_that_fit_pass() {
        assert_eq!(describe("threads", "2"), Ok(()));
        assert_eq!(describe("library", "7"), Ok(()));
    }

    #[test]
    fn a_text_of_the_wrong_form_is_refused_in_the_words_of_the_schema() {
        let schema =
            r#"{"properties":{"slo":{"type":"string","pattern":"^p[0-9]+$","description":"A limit, such as p99"}}}"#;
        let given = |value: &str| PluginOptions::from([("slo".to_string(), value.to_string())]);
        assert_eq!(check(&given("p99"), schema, "'serving'"), Ok(()));
        let told = check(&given("q99"), schema, "'serving'").unwrap_err();
        assert_eq!(told, "option 'slo' of 'serving': \"q99\" does not fit: A limit, such as p99");
    }

    #[test]
    fn an_address_with_a_key_in_it_is_refused_before_it_is_stored_and_not_repeated() {
        let told = describe("library", "https://me:hunter2@host/path").unwrap_err();
        assert!(told.contains("in the environment") && !told.contains("hunter2"), "{told}");
        assert_eq!(describe("library", "https://host/a@b?c=d@e"), Ok(()));
    }

    #[test]
    fn only_what_differs_from_the_defaults_and_names_no_file_is_of_the_key() {
        let schema = r#"{"properties": {"level": {"type": "integer", "default": 3}, "cache": {"type": "string"}}}"#;
        let options = |pairs: &[(&str, &str)]| -> PluginOptions {
            pairs.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect()
        };
        let given = options(&[("level", "3"), ("threads", "2"), ("library", "/opt/engine.so"), ("cache", "off")]);
        assert_eq!(of_key(&given, schema), options(&[("cache", "off")]));
        assert_eq!(of_key(&options(&[("level", "2")]), schema), options(&[("level", "2")]));
    }

    #[test]
    fn a_schema_that_refers_to_a_file_or_an_address_is_refused_in_plain_words() {
        for to in ["file:///etc/passwd", "https://example.com/schema.json", "other.json"] {
            let schema = format!(r#"{{"properties": {{"a": {{"$ref": "{to}"}}}}}}"#);
            let options = PluginOptions::from([("a".to_string(), "1".to_string())]);
            let refused = check(&options, &schema, "cpu").unwrap_err();
            assert!(refused.contains(to) && refused.contains("lies outside of it"), "{refused}");
        }
        let within = r##"{"properties": {"a": {"$ref": "#/$defs/n"}}, "$defs": {"n": {"type": "string"}}}"##;
        assert_eq!(check(&PluginOptions::from([("a".to_string(), "x".to_string())]), within, "cpu"), Ok(()));
    }

    #[test]
    fn what_the_schema_calls_a_path_or_reads_like_one_names_a_file() {
        let schema =
            r#"{"properties": {"library": {"type": "string", "format": "path"}, "cache": {"type": "string"}}}"#;
        for (key, value) in [("library", "x"), ("cache", "/x"), ("cache", "../x"), ("cache", "a/b"), ("else", "C:\\x")]
        {
            assert!(names_a_file(schema, key, value), "{key}={value}");
        }
        assert!(!names_a_file(schema, "cache", "off"));
        assert!(names_a_file("", "any", "/x") && !names_a_file("", "any", "x"));
    }

    #[test]
    fn an_unknown_option_names_the_nearest() {
        assert!(describe("thread", "2").unwrap_err().contains("did you mean threads?"));
    }

    #[test]
    fn a_wrong_value_names_the_option() {
        assert!(describe("threads", "0").unwrap_err().starts_with("option 'threads' of cpu"));
        assert!(describe("threads", "many").unwrap_err().starts_with("option 'threads' of cpu"));
    }
}
