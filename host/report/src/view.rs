//! A table as a terminal shows it: lines of pieces, each with what it means. Colours are given to meanings by whoever prints.

use crate::fit::{Column, fit};
use crate::page::Tone;
use crate::{Cell, Table};
use skillbench_record::shown;
use unicode_width::UnicodeWidthStr;

/// Between two columns.
const GAP: usize = 2;
/// No column of text is narrower, unless nothing else helps.
const NARROW: usize = 24;
/// Before the rows of a group.
const INDENT: usize = 2;

/// A part of a line. Its text holds nothing that a terminal obeys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Piece {
    pub text: String,
    pub tone: Option<Tone>,
    /// A heading.
    pub strong: bool,
}

/// Lines, and the columns for which there was no room.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View {
    pub lines: Vec<Vec<Piece>>,
    pub left_out: Vec<String>,
}

impl View {
    /// Without meanings, with a newline at the end of each line.
    pub fn text(&self) -> String {
        let line = |pieces: &Vec<Piece>| pieces.iter().map(|piece| piece.text.as_str()).collect::<String>() + "\n";
        self.lines.iter().map(line).collect()
    }
}

impl Table {
    /// The table in a room of so many characters, or as wide as it is.
    pub fn view(&self, room: Option<usize>) -> View {
        let groups = usize::from(self.grouped && !self.columns.is_empty());
        let indent = groups * INDENT;
        let heads: Vec<String> = self.columns.iter().skip(groups).map(|name| shown::line(name)).collect();
        let columns: Vec<Column> =
            heads.iter().enumerate().map(|(place, head)| self.column(head, place + groups)).collect();
        let room = room.map_or(usize::MAX / 2, |room| room.saturating_sub(indent));
        let widths = fit(&columns, room, GAP);
        let mut lines = vec![];
        let head: Vec<Cell> = heads.iter().map(|head| Cell::text(head.as_str())).collect();
        let is_number = |place: usize| {
            self.rows.iter().filter_map(|row| row.get(place + groups)).any(|cell| cell.value.is_number())
        };
        let right: Vec<bool> = (0..heads.len()).map(is_number).collect();
        lines.extend(row(&head, &widths, &right, indent, true));
        let all = widths.iter().flatten().sum::<usize>() + GAP * widths.iter().flatten().count().saturating_sub(1);
        lines.push(vec![Piece { text: "─".repeat(all + indent), ..Piece::default() }]);
        let mut group = None;
        for cells in &self.rows {
            if let (1, Some(heading)) = (groups, cells.first().map(|cell| shown::lines(&cell.shown)))
                && group.as_ref() != Some(&heading)
            {
                lines.extend(
                    wrapped(&heading, all + indent, true)
                        .into_iter()
                        .map(|text| vec![Piece { text, strong: true, tone: None }]),
                );
                group = Some(heading);
            }
            lines.extend(row(cells.get(groups..).unwrap_or_default(), &widths, &right, indent, false));
        }
        let left_out = heads.into_iter().zip(&widths).filter(|(_, width)| width.is_none()).map(|(name, _)| name);
        View { lines, left_out: left_out.collect() }
    }

    fn column(&self, head: &str, place: usize) -> Column {
        let cells = || self.rows.iter().filter_map(move |row| row.get(place));
        let widest = |text: &str| text.lines().map(UnicodeWidthStr::width).max().unwrap_or(0);
        let word = |text: &str| text.split_whitespace().map(UnicodeWidthStr::width).max().unwrap_or(0);
        let over = |measure: &dyn Fn(&str) -> usize| cells().map(|cell| measure(&shown::lines(&cell.shown))).max();
        let natural = over(&widest).unwrap_or(0);
        // A figure and its unit stay on one line.
        let is_text = cells().any(|cell| cell.value.is_string());
        let narrow = match is_text {
            true => over(&word).unwrap_or(0).max(NARROW),
            false => natural,
        };
        let goes = self.columns.get(place).and_then(|name| self.least.iter().position(|least| least == name));
        Column { natural: natural.max(head.width()), narrow: narrow.max(word(head)), is_text, goes }
    }
}

/// The lines of one row.
fn row(cells: &[Cell], widths: &[Option<usize>], right: &[bool], indent: usize, strong: bool) -> Vec<Vec<Piece>> {
    let kept = cells.iter().zip(widths).zip(right);
    let kept: Vec<(&Cell, usize, bool, Vec<String>)> = kept
        .filter_map(|((cell, width), right)| {
            let width = (*width)?;
            Some((cell, width, *right, wrapped(&shown::lines(&cell.shown), width, true)))
        })
        .collect();
    let height = kept.iter().map(|(.., lines)| lines.len()).max().unwrap_or(0);
    let line = |at: usize| {
        let mut pieces = vec![Piece { text: " ".repeat(indent), ..Piece::default() }];
        let mut behind = 0;
        for (cell, width, right, lines) in &kept {
            let text = lines.get(at).map_or("", String::as_str);
            let free = width.saturating_sub(text.width());
            let before = if *right { free } else { 0 };
            // Spaces stand before a text, never after the last one.
            if !text.is_empty() {
                pieces.push(Piece { text: " ".repeat(behind + before), ..Piece::default() });
                pieces.push(Piece { text: text.into(), tone: cell.tone, strong });
                behind = 0;
            }
            behind += match text.is_empty() {
                true => width + GAP,
                false => free - before + GAP,
            };
        }
        pieces.retain(|piece| !piece.text.is_empty());
        pieces
    };
    (0..height).map(line).collect()
}

/// A text in lines of so many characters: it wraps between words, and within those that are longer where `breaks` says so.
pub fn wrapped(text: &str, most: usize, breaks: bool) -> Vec<String> {
    let most = most.max(1);
    let mut lines = vec![];
    for paragraph in text.lines() {
        if paragraph.width() <= most {
            lines.push(paragraph.to_string());
            continue;
        }
        let mut line = String::new();
        for word in paragraph.split_whitespace() {
            let needed = if line.is_empty() { word.width() } else { line.width() + 1 + word.width() };
            if needed > most && !line.is_empty() {
                lines.push(std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            if !breaks {
                line.push_str(word);
                continue;
            }
            for letter in word.chars() {
                let wide = line.width() + letter.to_string().width();
                if wide > most {
                    lines.push(std::mem::take(&mut line));
                }
                line.push(letter);
            }
        }
        lines.push(line);
    }
    match lines.is_empty() {
        true => vec![String::new()],
        false => lines,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new(["model", "on", "ms", "path", "why"]).least(["path"]);
        table.grouped = true;
        table.row([
            "vit".into(),
            "cpu".into(),
            Cell::number(1.5),
            "/a/long/path/of/a/file".into(),
            "because it is so".into(),
        ]);
        table.row(["vit".into(), "openvino".into(), Cell::number(12.0), Cell::none(), Cell::none()]);
        table.row([Cell::text("x".repeat(200)), "cpu".into(), Cell::none(), Cell::none(), "it | crashed".into()]);
        table
    }

    #[test]
    fn no_line_is_wider_than_its_room_at_any_width() {
        for room in 30..260 {
            let view = table().view(Some(room));
            let text = view.text();
            assert!(text.lines().all(|line| line.width() <= room), "{room}:\n{text}");
            assert!(!text.contains(" \n"), "nothing ends in a space");
        }
    }

    #[test]
    fn a_column_that_goes_is_named_and_without_a_room_none_goes() {
        assert_eq!(table().view(Some(40)).left_out, ["path"]);
        let whole = table().view(None);
        assert!(whole.left_out.is_empty() && whole.text().contains("/a/long/path/of/a/file"));
    }

    #[test]
    fn rows_that_share_their_first_column_stand_under_one_heading() {
        let text = table().view(None).text();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "  on          ms  path                    why");
        assert_eq!(lines[2], "vit");
        assert_eq!(lines[3], "  cpu       1.50  /a/long/path/of/a/file  because it is so");
        assert_eq!(lines[4], "  openvino  12.0  -                       -");
        assert_eq!(text.matches("vit").count(), 1);
    }

    #[test]
    fn texts_wrap_between_words_and_long_words_break() {
        assert_eq!(wrapped("one two three", 8, true), ["one two", "three"]);
        assert_eq!(wrapped("abcdefghij", 4, true), ["abcd", "efgh", "ij"]);
        assert_eq!(wrapped("see /a/long/path now", 6, false), ["see", "/a/long/path", "now"]);
        assert_eq!(wrapped("", 4, true), [""]);
        assert_eq!(wrapped("a\nb", 4, true), ["a", "b"]);
        assert_eq!(wrapped("日本語テキスト", 4, true), ["日本", "語テ", "キス", "ト"]);
    }
}
