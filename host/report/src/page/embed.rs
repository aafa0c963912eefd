//! Data inside a `<script>` element that is no script, and the policy under which the page's own script runs.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// JSON text that cannot end the element it stands in. Outside of strings JSON has none of these characters, and inside
/// they mean the same when escaped.
pub fn json(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 64);
    for character in text.chars() {
        match character {
            '<' => out.push_str("\\u003c"),
            '>' => out.push_str("\\u003e"),
            '&' => out.push_str("\\u0026"),
            '\u{2028}' => out.push_str("\\u2028"),
            '\u{2029}' => out.push_str("\\u2029"),
            other => out.push(other),
        }
    }
    out
}

/// Any text, as one JSON string for such an element.
pub fn text(text: &str) -> String {
    json(&serde_json::Value::from(text).to_string())
}

/// Nothing is loaded, and of all scripts only this one runs.
pub fn policy(script: &str) -> String {
    let hash = STANDARD.encode(Sha256::digest(script.as_bytes()));
    format!(
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{hash}'; img-src data:; base-uri 'none'; \
         form-action 'none'"
    )
}

/// The start of a file's name, of characters that every system takes.
pub fn file_name(name: &str) -> String {
    let plain = |character: char| match character {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' | '.' => character,
        _ => '-',
    };
    let name: String = name.trim_start_matches('.').chars().take(100).map(plain).collect();
    if name.is_empty() { "skillbench".into() } else { name }
}

#[cfg(test)]
mod tests {
    use super::{file_name, json, text};
    use serde_json::{Value, json as value};

    #[test]
    fn embedded_json_means_the_same_and_cannot_end_its_element() {
        let hostile = value!({ "</script><script>alert(1)</script>": "<!-- & \u{2028} \"" });
        let embedded = json(&hostile.to_string());
        assert!(!embedded.contains(['<', '>', '&']));
        assert_eq!(serde_json::from_str::<Value>(&embedded).unwrap(), hostile);
    }

    #[test]
    fn embedded_text_comes_out_as_it_went_in() {
        let csv = "a,\"b \"\"c\"\"\"\r\n</script>,1\n";
        assert_eq!(serde_json::from_str::<String>(&text(csv)).unwrap(), csv);
    }

    #[test]
    fn a_file_name_leads_nowhere_else() {
        assert_eq!(file_name("../../etc/passwd"), "-..-etc-passwd");
        assert_eq!(file_name(""), "skillbench");
        assert_eq!(file_name("run 2026-11-21"), "run-2026-11-21");
    }
}
