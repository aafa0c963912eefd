//! Text in Markdown that is nothing but text: no HTML, link, image, mention, formula, fence or cell begins in it, as GitHub reads it.
//!
//! A word between two single backticks stays a code span: nothing in one is live.

use super::terminal;

/// A character without width as an entity: what GitHub finds in a text after Markdown was read, a backslash does not keep it from.
const APART: &str = "&#8203;";

/// Text for a place within a line: a cell of a table, a word in a sentence.
pub fn cell(text: &str) -> String {
    let text = terminal::line(text);
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    let mut rest = text.as_str();
    let mut before = None;
    while let Some(character) = rest.chars().next() {
        let after = &rest[character.len_utf8()..];
        let next = after.chars().next();
        if let Some(span) = code_span(rest).filter(|_| before != Some('`')) {
            out.push_str(span);
            (before, rest) = (Some('`'), &rest[span.len()..]);
            continue;
        }
        match character {
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            '@' if links(before, after) => out.extend(["@", APART]),
            '#' if next.is_some_and(|next| next.is_ascii_digit()) => out.extend(["#", APART]),
            other => {
                let escaped = match other {
                    '\\' | '`' | '*' | '|' | '~' | '$' => true,
                    // Within a word it is a character like any other.
                    '_' => ![before, next].iter().all(|beside| beside.is_some_and(char::is_alphanumeric)),
                    // A pair of brackets alone is text: a link has more behind it, and nothing defines what a pair alone leads to.
                    '[' => matches!(next, Some('[' | '^')),
                    ']' => matches!(next, Some('(' | '[' | ']' | ':' | '{')),
                    ':' => after.starts_with("//"),
                    '.' => ends_with_www(&out),
                    _ => false,
                };
                if escaped {
                    out.push('\\');
                }
                out.push(other);
            }
        }
        (before, rest) = (Some(character), after);
    }
    out
}

/// Text for a line of its own, or the start of one: it begins no heading, list, quote, rule or definition either.
pub fn line(text: &str) -> String {
    let text = cell(text);
    let text = text.trim_start();
    let behind = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = behind.len() < text.len()
        && behind.starts_with(['.', ')'])
        && behind[1..].chars().next().is_none_or(char::is_whitespace);
    if numbered {
        return format!("{}\\{behind}", &text[..text.len() - behind.len()]);
    }
    if text.starts_with(['#', '>', '+', '-', '=', '[']) { format!("\\{text}") } else { text.into() }
}

/// The code span that the text starts with: between two single backticks, with nothing in it that a table would cut.
fn code_span(text: &str) -> Option<&str> {
    let inside = text.strip_prefix('`')?;
    let end = inside.find('`').filter(|end| *end > 0)?;
    let closed = !inside[end + 1..].starts_with('`') && !inside[..end].contains(['|', '\\']);
    closed.then(|| &text[..end + 2])
}

/// Whether GitHub makes a mention or an address of what stands around an `@`.
fn links(before: Option<char>, after: &str) -> bool {
    let within_word = before.is_some_and(|before| before.is_ascii_alphanumeric());
    let name = after.find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '-' | '_')).unwrap_or(after.len());
    name > 0 && (!within_word || after[name..].starts_with('.'))
}

fn ends_with_www(text: &str) -> bool {
    text.len() >= 3 && text.as_bytes()[text.len() - 3..].eq_ignore_ascii_case(b"www")
}

#[cfg(test)]
mod tests {
    use super::super::HOSTILE;
    use super::*;

    #[test]
    fn nothing_is_live() {
        for (text, told) in [
            ("<script>alert(1)</script>", "&lt;script>alert(1)&lt;/script>"),
            ("\\<img src=x onerror=alert(1)>", "\\\\&lt;img src=x onerror=alert(1)>"),
            ("&lt;b&gt; &#60;", "&amp;lt;b&amp;gt; &amp;#&#8203;60;"),
            ("[x](javascript:alert(1))", "[x\\](javascript:alert(1))"),
            ("![x](https://evil.example/a.png)", "![x\\](https\\://evil.example/a.png)"),
            ("\\[x\\](y)", "\\\\[x\\\\\\](y)"),
            ("[x][y] [[wiki]] [^1]", "[x\\][y] \\[[wiki\\]] \\[^1]"),
            ("see http://evil.example www.evil.example", "see http\\://evil.example www\\.evil.example"),
            ("<https://evil.example>", "&lt;https\\://evil.example>"),
            ("ask @somebody, mail a@b.example", "ask @&#8203;somebody, mail a@&#8203;b.example"),
            ("fixes #12", "fixes #&#8203;12"),
            ("a|b\\|c", "a\\|b\\\\\\|c"),
            (
                "*bold* **x** _it_ __x__ ~~x~~ $x$",
                "\\*bold\\* \\*\\*x\\*\\* \\_it\\_ \\_\\_x\\_\\_ \\~\\~x\\~\\~ \\$x\\$",
            ),
            ("```\ncode\n```", "\\`\\`\\` code \\`\\`\\`"),
            ("one ` alone, ``two`` and `a|b`", "one \\` alone, \\`\\`two\\`\\` and \\`a\\|b\\`"),
            ("two\nlines\r\n| of | cells |", "two lines \\| of \\| cells \\|"),
            ("\u{1b}[31m\u{202e}", "\\\\u001b[31m\\\\u202e"),
        ] {
            assert_eq!(cell(text), told, "{text:?}");
        }
    }

    #[test]
    fn what_is_harmless_reads_as_it_was() {
        for text in [
            "latency_median_ms of bert-tiny, batch=4 sequence=32",
            "rten@threads=1 (beside cpu) is 1.5x slower: 1 -> 2 ms",
            "Wall time of one run [ms]",
            "CPU time of the round [ns]; null where there is no round",
            "next: `host why <PLUGIN> *`",
            "sentence-transformers/all-MiniLM-L6-v2, 50% of #cores!",
            "-1.5",
            "-",
        ] {
            assert_eq!(cell(text), text);
        }
    }

    #[test]
    fn no_line_begins_a_block() {
        for (text, told) in [
            ("# heading", "\\# heading"),
            ("> quote", "\\> quote"),
            ("- item", "\\- item"),
            ("+ item", "\\+ item"),
            ("* item", "\\* item"),
            ("12. item", "12\\. item"),
            ("1) item", "1\\) item"),
            ("---", "\\---"),
            ("===", "\\==="),
            ("[x]: javascript:alert(1)", "\\[x\\]: javascript:alert(1)"),
            ("[ ] task", "\\[ ] task"),
            ("    code", "code"),
            ("1.5 times", "1.5 times"),
            ("", ""),
        ] {
            assert_eq!(line(text), told, "{text:?}");
        }
    }

    #[test]
    fn every_hostile_text_is_one_line_without_a_tag_or_a_cell() {
        let ascii: Vec<String> = (0..128_u8).map(|byte| char::from(byte).to_string()).collect();
        let pairs =
            ascii.iter().flat_map(|one| ascii.iter().map(move |other| format!("{one}{other}|<{one}`<{other}`")));
        for text in HOSTILE.map(String::from).into_iter().chain(pairs) {
            let told = line(&text);
            assert!(!told.contains(char::is_control), "{text:?}: {told:?}");
            let (mut odd, mut in_code) = (false, false);
            for character in told.chars() {
                assert!(odd || in_code || !matches!(character, '<' | '|'), "{text:?}: {told:?}");
                in_code ^= character == '`' && !odd;
                odd = character == '\\' && !odd && !in_code;
            }
            assert!(!in_code, "{text:?}: {told:?}");
        }
    }
}
