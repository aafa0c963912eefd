//! Fields of CSV files, by RFC 4180, that a spreadsheet takes for text. Each row is one line.

use super::line;
use std::fmt::Display;

/// What makes a formula of a field, also in the wide forms that spreadsheets of East Asia take.
const FORMULA: [char; 8] = ['=', '+', '-', '@', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}'];

/// A value for a writer that sets quotes by itself: a text that would start a formula has an apostrophe before it. Numbers stay.
pub fn value(text: &str) -> String {
    let text = line(text);
    let formula = text.trim_start().starts_with(FORMULA);
    let number = || text.parse::<f64>().is_ok_and(f64::is_finite);
    if formula && !number() { format!("'{text}") } else { text }
}

/// A line of fields, in quotes where they have to be, with its end.
pub fn row(fields: impl IntoIterator<Item = impl Display>) -> String {
    let field = |field| {
        let text = value(&format!("{field}"));
        if text.contains([',', '"']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
    };
    fields.into_iter().map(field).collect::<Vec<_>>().join(",") + "\n"
}

#[cfg(test)]
mod tests {
    use super::super::HOSTILE;
    use super::*;

    #[test]
    fn no_text_starts_a_formula_and_numbers_stay_numbers() {
        for text in
            ["=1+1", "+1+1", "-cmd", "@SUM(A1)", "\t=1", "\n=1", "\r=1", "  =1", "＝1+1", "-1+cmd|' /C calc'!A0"]
        {
            assert!(value(text).starts_with('\''), "{text:?}: {}", value(text));
        }
        for number in ["-1.5", "+3", "-1e-9", "0", ""] {
            assert_eq!(value(number), number);
        }
        assert_eq!([value("-inf"), value("-")], ["'-inf", "'-"]);
        assert_eq!(value("batch=4"), "batch=4");
    }

    #[test]
    fn fields_are_quoted_where_they_have_to_be() {
        assert_eq!(row(["a, \"b\"", "two\nlines", "plain", ""]), "\"a, \"\"b\"\"\",two lines,plain,\n");
        assert_eq!(row(["=HYPERLINK(\"http://x\",\"y\")"]), "\"'=HYPERLINK(\"\"http://x\"\",\"\"y\"\")\"\n");
        assert_eq!(row([1.5, -2.0]), "1.5,-2\n");
    }

    #[test]
    fn a_row_is_one_line_that_controls_no_terminal() {
        for text in HOSTILE {
            let row = row([text]);
            assert!(row.ends_with('\n') && !row.trim_end().contains(char::is_control), "{text:?}");
        }
    }
}
