//! The one place that writes to the terminal: results to stdout, talk to stderr.
//!
//! Whatever goes out here holds no character that a terminal obeys, and no message has a line that stands as one of its own: both are seen
//! to here, and by nobody who prints. Colours are given to meanings here, and to terminals alone.

use crate::called;
use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use skillbench_record::shown;
use skillbench_report::page::Tone;
use skillbench_report::{Format, Piece, Table, wrapped};
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use terminal_size::{Width, terminal_size_of};

/// Whether `--wide` was asked for.
static WIDE: AtomicBool = AtomicBool::new(false);
/// Narrower than this is no terminal that people read tables on.
const NARROWEST: usize = 20;

pub fn set_wide(wide: bool) {
    WIDE.store(wide, Ordering::Relaxed);
}

/// So many characters a line may have: those of the terminal, else what COLUMNS says. `None`: in a pipe nothing is cut.
fn room(terminal: Option<(Width, terminal_size::Height)>) -> Option<usize> {
    let said = || std::env::var("COLUMNS").ok()?.trim().parse::<usize>().ok();
    let width = terminal.map(|(Width(width), _)| usize::from(width)).or_else(said);
    width.filter(|width| *width > 0).map(|width| width.max(NARROWEST))
}

/// The room for results.
fn table_room() -> Option<usize> {
    match WIDE.load(Ordering::Relaxed) {
        true => None,
        false => room(terminal_size_of(std::io::stdout())),
    }
}

/// Results. A reader that went away (`| head`) has what it wanted; a disk that is full is an error.
pub fn print(text: &str) {
    write_out(&shown::lines(text));
}

fn write_out(text: &str) {
    let mut stdout = std::io::stdout().lock();
    if let Err(failure) = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush())
        && failure.kind() != std::io::ErrorKind::BrokenPipe
    {
        error(&format!("the results could not be printed: {failure}"));
        std::process::exit(1);
    }
}

/// A table in its form; on a terminal it fits the width.
pub fn table(table: &Table, format: Format) {
    match format {
        Format::Table => view(table),
        _ => print(&table.render(format)),
    }
}

/// A table as text. On a terminal it fits the width; a file gets all of it.
pub fn drawn(table: &Table, format: Format, file: Option<&Path>) -> String {
    match (format, file) {
        (Format::Table, None) => table.view(table_room()).text(),
        _ => table.render(format),
    }
}

fn view(table: &Table) {
    let mut table = table.clone();
    table.rows.iter_mut().flatten().for_each(|cell| cell.shown = called::named(&cell.shown));
    let view = table.view(table_room());
    let colour = AutoStream::choice(&std::io::stdout()) != ColorChoice::Never;
    write_out(
        &view
            .lines
            .iter()
            .map(|line| line.iter().map(|piece| painted(piece, colour)).collect::<String>() + "\n")
            .collect::<String>(),
    );
    if !view.left_out.is_empty() {
        say(&format!("no room for: {} (--wide shows all, --format csv writes all)", view.left_out.join(", ")));
    }
}

/// A piece with the colour of what it means.
fn painted(piece: &Piece, colour: bool) -> String {
    let text = shown::lines(&piece.text);
    let style = match piece.tone {
        Some(Tone::Good) => Style::new().bold().fg_color(Some(AnsiColor::Green.into())),
        Some(Tone::Bad) => Style::new().fg_color(Some(AnsiColor::Red.into())),
        Some(Tone::Warn) => Style::new().fg_color(Some(AnsiColor::Yellow.into())),
        Some(Tone::Emulated) => Style::new().fg_color(Some(AnsiColor::Magenta.into())),
        Some(Tone::Info) => Style::new().dimmed(),
        None if piece.strong => Style::new().bold(),
        None => return text,
    };
    if colour { format!("{style}{text}{style:#}") } else { text }
}

/// Sentences under a table, in its room.
pub fn notes(texts: &[String]) {
    let room = table_room().unwrap_or(usize::MAX);
    texts.iter().for_each(|text| print(&(folded(text, room) + "\n")));
}

/// A text in lines of a room: those after the first are indented. Words stay whole: paths and commands are there to be copied.
fn folded(text: &str, room: usize) -> String {
    wrapped(&shown::lines(&called::named(text)), room.saturating_sub(2), false).join("\n  ")
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
    let room = room(terminal_size_of(std::io::stderr())).unwrap_or(usize::MAX);
    let _ = writeln!(std::io::stderr(), "{}", folded(text, room));
}

pub fn warning(text: &str) {
    say(&format!("warning: {text}"));
}

/// How something came about: for whoever asked for it with `--verbose`.
pub fn debug(text: &str) {
    say(&format!("debug: {text}"));
}

pub fn error(text: &str) {
    say(&format!("error: {text}"));
}
