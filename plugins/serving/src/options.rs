//! What can be asked of each benchmark, as a JSON Schema.

use skillbench_load::options::text;
use skillbench_load::schema;
use std::ffi::CStr;

pub const OF_ITEMS: &CStr = text(schema!(
    r#",
        "sizes": {
            "type": "string",
            "format": "sizes",
            "pattern": "^[a-z_0-9]+:[0-9]+(,[0-9]+)+$",
            "description": "Requests of several sizes: an axis and its values, sequence:32,64,128. Each request has one of them, from the seed: one that is named twice comes twice as often. Of a trace with lengths each has the least that holds it. The cell is that of the largest"
        }"#,
    ""
));

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
    fn the_schemas_are_json_and_have_all_that_they_share() {
        let read = |schema: &CStr| serde_json::from_str::<serde_json::Value>(schema.to_str().unwrap()).unwrap();
        let common = serde_json::from_str::<serde_json::Value>(text(schema!("", "")).to_str().unwrap()).unwrap();
        let common = common["properties"].as_object().unwrap();
        for (schema, more) in [(OF_ITEMS, 1), (OF_TOKENS, 3)] {
            let schema = read(schema);
            let all = schema["properties"].as_object().unwrap();
            assert!(common.iter().all(|(key, value)| all[key] == *value));
            assert_eq!(all.len(), common.len() + more);
        }
    }
}
