//! The one place that writes to the terminal: results to stdout, talk to stderr.

use skillbench_report::{Format, Table};
use std::io::Write;
use std::path::Path;

/// Results. A reader that went away (`| head`) has what it wanted; a disk that is full is an error.
pub fn print(text: &str) {
    let mut stdout = std::io::stdout().lock();
    if let Err(failure) = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush())
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
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let made = folder.map_or(Ok(()), std::fs::create_dir_all);
    made.and_then(|()| std::fs::write(file, bytes)).map_err(|error| format!("{}: {error}", file.display()))?;
    say(&format!("written: {}", file.display()));
    Ok(())
}

/// Talk: what is going on, hints. Not results.
pub fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

pub fn warning(text: &str) {
    say(&format!("warning: {text}"));
}

pub fn error(text: &str) {
    say(&format!("error: {text}"));
}
