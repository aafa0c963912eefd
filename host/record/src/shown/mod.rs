//! Figures and texts as people read them, and texts as each kind of output may hold them.
//!
//! Names and messages of plugins, models, results and files are other people's: each output has one function that keeps them from being
//! anything but text. [`lines()`] and [`line()`]: a terminal. [`csv`]: files of rows. [`markdown`]: pages and comments.
//!
//! Not here: HTML, which the template engine of `report` escapes, and SVG, which `charts` does.

pub mod csv;
pub mod markdown;
mod terminal;

pub use terminal::{line, lines};

/// Texts that try to be more than text, for the tests of every output.
#[cfg(test)]
const HOSTILE: [&str; 12] = [
    "\u{1b}[31mred\u{1b}[0m",
    "\u{1b}]8;;https://evil.example\u{7}link\u{1b}]8;;\u{7}",
    "\u{9b}2J\u{9d}0;title\u{9c}",
    "all is well\nerror: forged",
    "100%\rerror: forged",
    "abc\u{8}\u{8}\u{8}xyz\u{7f}",
    "user\u{202e}txt.exe\u{2066}\u{2069}",
    "gpt\u{200b}2\u{feff}\u{2060}\u{ad}\u{e0041}",
    "one\u{2028}two\u{2029}three\u{85}four",
    "\\<img src=x onerror=alert(1)>",
    "=cmd|' /C calc'!A0",
    "\0",
];

/// Three significant digits, and whole numbers in full: "0.431", "12.3", "1234".
pub fn number(number: f64) -> String {
    let digits = match number.abs() {
        0.0 => 0,
        size => (2.0 - size.log10().floor()).clamp(0.0, 12.0) as usize,
    };
    format!("{number:.digits$}")
}

/// Two digits at most: "0.03", "0.4", "2.1", "12".
pub fn short(value: f64) -> String {
    match value.abs() {
        size if size >= 9.95 || size == 0.0 => format!("{value:.0}"),
        size if size >= 0.095 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// How many parameters a model has: "1.1 B", "22.6 M", "66 k".
pub fn parameters(count: u64) -> String {
    let units = [(1_000_000_000, " B"), (1_000_000, " M"), (1000, " k")];
    let (unit, name) = units.into_iter().find(|(unit, _)| count >= *unit).unwrap_or((1, ""));
    let text = number(count as f64 / unit as f64);
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text}{name}")
}

/// The axes of a point as people chose them. Of a generation all but these follow from the prompt.
pub fn axes(axes: &str) -> String {
    let chosen = ["batch", "prompt", "new_tokens"];
    let is_generation = axes.split(' ').any(|axis| axis.starts_with("new_tokens="));
    let name = |axis: &&str| axis.split_once('=').is_none_or(|(name, _)| chosen.contains(&name));
    axes.split(' ').filter(|axis| !is_generation || name(axis)).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::{axes, number, parameters, short};

    #[test]
    fn of_a_generation_only_what_was_chosen_is_shown() {
        assert_eq!(axes("batch=1 new_tokens=4 past=0 prompt=8 sequence=8"), "batch=1 new_tokens=4 prompt=8");
        assert_eq!(axes("batch=1 sequence=128"), "batch=1 sequence=128");
        assert_eq!(axes(""), "");
    }

    #[test]
    fn a_share_has_two_digits_at_most() {
        assert_eq!([0.0, 0.034, 0.43, 2.13, 12.4, 9.97].map(short), ["0", "0.03", "0.4", "2.1", "12", "10"]);
    }

    #[test]
    fn parameters_are_counted_in_millions_and_billions() {
        let counts = [1_100_048_421, 22_565_382, 12_448, 7];
        assert_eq!(counts.map(parameters), ["1.1 B", "22.6 M", "12.4 k", "7"]);
    }

    #[test]
    fn three_digits_are_shown_and_whole_numbers_in_full() {
        assert_eq!([0.0, 0.0123456, 0.4309, 12.34, 1234.5].map(number), ["0", "0.0123", "0.431", "12.3", "1234"]);
    }
}
