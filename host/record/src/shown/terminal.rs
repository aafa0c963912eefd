//! Text that a terminal shows and does not obey.
//!
//! What a terminal would act on is written as JSON writes it, `\u001b`, so that a JSON document that went through here is still the same
//! document.

/// A text of several lines: line ends and tabs stay, and every other character that controls, hides or reorders is written out.
pub fn lines(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\n' | '\t' => out.push(character),
            // Alone it would have the next text written over this one.
            '\r' if characters.peek() == Some(&'\n') => {}
            '\r' => out.push('\n'),
            acting if acts(acting) => {
                let mut units = [0; 2];
                out.extend(acting.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
            }
            plain => out.push(plain),
        }
    }
    out
}

/// The same on one line: line ends and tabs, with the spaces around them, become one space.
pub fn line(text: &str) -> String {
    let text = lines(text);
    if !text.contains(['\n', '\t']) {
        return text;
    }
    text.split(['\n', '\t']).map(str::trim).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Whether a terminal acts on it, or shows nothing for it: control characters, and the format characters of Unicode that hide, join or
/// reorder what stands around them. Marks that are seen, as those of Arabic numbers, are none.
fn acts(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}'
                | '\u{61c}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

#[cfg(test)]
mod tests {
    use super::super::HOSTILE;
    use super::*;

    #[test]
    fn no_character_controls_hides_or_reorders_whatever_comes() {
        for text in
            (0..=u32::from(char::MAX)).filter_map(char::from_u32).map(String::from).chain(HOSTILE.map(String::from))
        {
            let text = format!("a{text}b");
            let (several, one) = (lines(&text), line(&text));
            assert!(several.chars().all(|c| !acts(c) || matches!(c, '\n' | '\t')), "{text:?}: {several:?}");
            assert!(!one.chars().any(acts), "{text:?}: {one:?}");
            assert_eq!((lines(&several), line(&one)), (several.clone(), one.clone()), "what is safe stays as it is");
        }
    }

    #[test]
    fn what_was_there_can_be_seen() {
        let told = HOSTILE.map(lines);
        assert_eq!(told[0], r"\u001b[31mred\u001b[0m");
        assert_eq!(told[2], r"\u009b2J\u009d0;title\u009c");
        assert_eq!(told[4], "100%\nerror: forged");
        assert_eq!(told[6], r"user\u202etxt.exe\u2066\u2069");
        assert_eq!(told[7], r"gpt\u200b2\ufeff\u2060\u00ad\udb40\udc41");
        assert_eq!(lines("größe 模型 عربى ✓ × \u{301}"), "größe 模型 عربى ✓ × \u{301}");
    }

    #[test]
    fn one_line_is_one_line() {
        assert_eq!(line("all is well\r\n\n  error:\tforged\n"), "all is well error: forged");
        assert_eq!(line("  as it is  "), "  as it is  ");
        assert!(HOSTILE.iter().all(|text| line(text).lines().count() <= 1));
    }

    #[test]
    fn a_json_document_stays_the_document_that_it_was() {
        let all: String = (0..=u32::from(char::MAX)).filter_map(char::from_u32).collect();
        let document = serde_json::json!({ "hostile": HOSTILE, "\u{9b}\u{202e}": [all, "ends with a backslash \\"] });
        for text in [document.to_string(), format!("{document:#}\n")] {
            assert_eq!(serde_json::from_str::<serde_json::Value>(&lines(&text)).unwrap(), document);
        }
    }
}
