//! The one place that writes to the terminal: results to stdout, talk to stderr.
//!
//! Whatever goes out here holds no character that a terminal obeys, and no message has a line that stands as one of its own: both are seen
//! to here, and by nobody who prints.

use skillbench_record::shown;
use skillbench_report::{Format, Table};
use std::io::Write;
use std::path::Path;

/// Results. A reader that went away (`| head`) has what it wanted; a disk that is full is an error.
pub fn print(text: &str) {
    let mut stdout = std::io::stdout().lock();
    if let Err(failure) = stdout.write_all(shown::lines(text).as_bytes()).and_then(|()| stdout.flush())
        && failure.kind() != std::io::ErrorKind::BrokenPipe
    {
        error(&format!("the results could not be printed: {failure}"));
        std::process::exit(1);
    }
}

pub fn table(table: &Table, format: Format) {
    print(&table.render(format));
}

/// Results into a file; the folder is made.
///
/// # Errors
/// A sentence: the file, and why it cannot be written.
pub fn to_file(file: &Path, bytes: &[u8]) -> Result<(), String> {
    write(file, bytes)?;
    say(&format!("written: {}", file.display()));
    Ok(())
}

/// The same, without a word.
///
/// # Errors
/// As [`to_file`].
pub fn write(file: &Path, bytes: &[u8]) -> Result<(), String> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let made = folder.map_or(Ok(()), std::fs::create_dir_all);
    made.and_then(|()| std::fs::write(file, bytes)).map_err(|error| format!("{}: {error}", file.display()))
}

/// Talk: what is going on, hints. Not results. Lines after the first are indented: only the host begins a line.
pub fn say(text: &str) {
    let text = shown::lines(text).replace('\n', "\n  ");
    let _ = writeln!(std::io::stderr(), "{text}");
}

pub fn warning(text: &str) {
    say(&format!("warning: {text}"));
}

/// How something came about: for whoever asked for it with `--debug`.
pub fn debug(text: &str) {
    say(&format!("debug: {text}"));
}

pub fn error(text: &str) {
    say(&format!("error: {text}"));
}
