//! All that is printed. Results go to stdout, talk to stderr; texts of plugins are shown so that no terminal obeys them.

use skillbench_record::shown;
use std::io::Write;

/// A result. A reader that is gone is no failure.
pub fn print(text: &str) {
    let _ = std::io::stdout().lock().write_all(shown::lines(text).as_bytes());
}

/// Talk.
pub fn say(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{}", shown::lines(text));
}

pub fn error(text: &str) {
    say(&format!("error: {text}"));
}

pub fn warning(text: &str) {
    say(&format!("warning: {text}"));
}
