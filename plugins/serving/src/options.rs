//! What can be asked of each benchmark, as a JSON Schema.

use skillbench_load::options::text;
use skillbench_load::schema;
use std::ffi::CStr;

pub const OF_ITEMS: &CStr = text(schema!("", ""));

/// Of requests that nobody serves. A rate is wanted, so that it is run only where it is named.
pub const OF_GENERATOR: &CStr = text(schema!("", r#""rate""#));

pub const OF_TOKENS: &CStr = text(schema!(
    r#",
        "new_tokens": {
            "type": "integer",
            "minimum": 1,
            "maximum": 100000,
            "default": 32,
            "description": "Tokens that a request makes"
        },
        "prompt": {
            "type": "integer",
            "minimum": 1,
            "description": "Tokens of the prompt. Default: the cell's axis of that name"
        },
        "lengths": {
            "type": "string",
            "default": "fixed",
            "enum": ["fixed", "uniform"],
            "description": "Whether all requests are as long as that, or each from one token to that, evenly, from the seed"
        }"#,
    ""
));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schemas_are_json_and_those_of_tokens_have_all_of_the_others() {
        let read = |schema: &CStr| serde_json::from_str::<serde_json::Value>(schema.to_str().unwrap()).unwrap();
        let (items, tokens) = (read(OF_ITEMS), read(OF_TOKENS));
        let more = tokens["properties"].as_object().unwrap();
        assert!(items["properties"].as_object().unwrap().iter().all(|(key, value)| more[key] == *value));
        assert_eq!(more.len(), items["properties"].as_object().unwrap().len() + 3);
    }
}
