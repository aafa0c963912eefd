//! How wide text is, and how it is cut where there is no room for all of it.

use std::collections::HashMap;
use std::sync::LazyLock;

use skrifa::instance::{LocationRef, Size};
use skrifa::{FontRef, MetadataProvider};

/// Advances of the characters that charts are mostly made of, in ems, by DejaVu Sans: one of the widest fonts, so that what
/// fits in it fits in the reader's own.
struct Advances {
    regular: HashMap<char, f32>,
    bold: HashMap<char, f32>,
}

static ADVANCES: LazyLock<Advances> =
    LazyLock::new(|| Advances { regular: advances(dejavu::sans::regular()), bold: advances(dejavu::sans::bold()) });

/// What a character without an entry takes: about that of an ideograph.
const OTHER: f32 = 1.0;

fn advances(font: &'static [u8]) -> HashMap<char, f32> {
    let Ok(font) = FontRef::new(font) else {
        return HashMap::new();
    };
    let metrics = font.glyph_metrics(Size::new(1.0), LocationRef::default());
    let pairs = font.charmap().mappings();
    pairs.filter_map(|(code, glyph)| Some((char::from_u32(code)?, metrics.advance_width(glyph)?))).collect()
}

/// The width of text in pixels.
pub(crate) fn width(text: &str, size: f64, bold: bool) -> f64 {
    let advances = if bold { &ADVANCES.bold } else { &ADVANCES.regular };
    let ems: f32 = text.chars().map(|character| advances.get(&character).copied().unwrap_or(OTHER)).sum();
    f64::from(ems) * size
}

/// The text, or as much of it as fits, with an ellipsis in the middle: names differ at both ends.
pub(crate) fn fit(text: &str, room: f64, size: f64, bold: bool) -> String {
    let text = one_line(text);
    if width(&text, size, bold) <= room {
        return text;
    }
    let characters: Vec<char> = text.chars().collect();
    let short = |kept: usize| {
        let head = kept.div_ceil(2);
        let tail = characters.len() - (kept - head);
        let mut out: String = characters[..head].iter().collect();
        out.push('…');
        out.extend(&characters[tail..]);
        out
    };
    let kept = longest(characters.len().saturating_sub(1), |kept| width(&short(kept), size, bold) <= room);
    kept.map_or_else(String::new, |kept| if kept == 0 { "…".to_owned() } else { short(kept) })
}

/// The text, or as much of it as fits from its start.
pub(crate) fn fit_start(text: &str, room: f64, size: f64, bold: bool) -> String {
    let text = one_line(text);
    if width(&text, size, bold) <= room {
        return text;
    }
    let characters: Vec<char> = text.chars().collect();
    let short = |kept: usize| format!("{}…", characters[..kept].iter().collect::<String>().trim_end());
    longest(characters.len(), |kept| width(&short(kept), size, bold) <= room).map_or_else(String::new, short)
}

/// The text in lines that fit, at most so many; the last one says by an ellipsis that there was more.
pub(crate) fn wrap(text: &str, room: f64, size: f64, bold: bool, most: usize) -> Vec<String> {
    let text = one_line(text);
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut lines = Vec::new();
    let mut start = 0;
    while start < words.len() && most > 0 {
        let rest = words[start..].join(" ");
        if lines.len() + 1 == most {
            lines.push(fit_start(&rest, room, size, bold));
            break;
        }
        let mut end = start + 1;
        while end < words.len() && width(&words[start..=end].join(" "), size, bold) <= room {
            end += 1;
        }
        lines.push(fit_start(&words[start..end].join(" "), room, size, bold));
        start = end;
    }
    lines
}

fn longest(most: usize, fits: impl Fn(usize) -> bool) -> Option<usize> {
    let (mut low, mut high) = (0, most + 1);
    if !fits(0) {
        return None;
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if fits(middle) { low = middle } else { high = middle }
    }
    Some(low)
}

fn one_line(text: &str) -> String {
    text.replace(unseen, " ")
}

/// Control characters, of which XML has no way to write most, and those that have text read in another order than it stands in: no reader
/// of a chart would see them.
fn unseen(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Text as it may stand in XML, in an element or between quotes. Whatever goes into a drawing goes through here.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            hidden if unseen(hidden) => out.push(' '),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_fits_is_left_alone_and_what_does_not_keeps_both_ends() {
        assert_eq!(fit("gpt2", 100.0, 11.0, false), "gpt2");
        let short = fit("sentence-transformers/all-MiniLM-L6-v2", 120.0, 11.0, false);
        assert!(short.starts_with("sent") && short.contains('…') && short.ends_with("v2"), "{short}");
        assert!(width(&short, 11.0, false) <= 120.0);
        assert_eq!(fit("gpt2", 0.0, 11.0, false), "");
    }

    #[test]
    fn lines_break_between_words_and_the_last_says_that_there_is_more() {
        let lines = wrap("one two three four five six seven", 60.0, 10.0, false, 2);
        assert_eq!(lines.len(), 2);
        assert!(lines[1].ends_with('…'));
        assert!(lines.iter().all(|line| width(line, 10.0, false) <= 60.0));
        assert!(wrap("", 60.0, 10.0, false, 2).is_empty());
    }

    #[test]
    fn bold_text_is_wider_and_size_scales_it() {
        assert!(width("Latency", 10.0, true) > width("Latency", 10.0, false));
        assert!((width("Latency", 20.0, false) - 2.0 * width("Latency", 10.0, false)).abs() < 1e-3);
    }

    #[test]
    fn what_xml_cannot_hold_is_not_written() {
        assert_eq!(escape("<a b=\"c\">&'\u{0}\n\u{1}"), "&lt;a b=&quot;c&quot;&gt;&amp;&#39;   ");
        assert_eq!(escape("]]>\u{1b}[m\u{9b}\u{7f}\u{202e}\u{2067}\u{fffe}\u{ffff}"), "]]&gt; [m    \u{fffd}\u{fffd}");
        let allowed = |c: char| !c.is_control() && !matches!(c, '\u{fffe}' | '\u{ffff}' | '<' | '>' | '"' | '\'');
        assert!(
            (0..=u32::from(char::MAX)).filter_map(char::from_u32).all(|c| escape(&c.to_string()).chars().all(allowed))
        );
    }
}
