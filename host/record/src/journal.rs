//! The lines of a journal: how one is written, and what can be read of many, damaged ones among them. Bytes in, documents out.
//!
//! A line is one JSON object: `{"type":"run","request":..,"run":..}` first, then `{"type":"cell","cell":..,"samples":[..]}` for each cell
//! and `{"type":"leftout","plugin":..,"why":..}`. It ends with `,"sum":"0123456789abcdef"}`: the first 16 hexadecimal digits of the SHA-256 of
//! all of the line before that comma. Lines of older hosts have no sum; they count where they are JSON.
//!
//! A line that is damaged costs itself and nothing else. Of a cell that stands there twice, the later line counts.

use crate::hash::sha256_bytes;
use crate::{Cell, Run, RunRequest, Samples};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

const MARK: &str = ",\"sum\":\"";
const END: &str = "\"}";
/// So many hexadecimal digits of the hash.
const DIGITS: usize = 16;

/// One line, as it is written.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Line<'a> {
    /// The first: what was asked for, and the run without cells.
    Run {
        request: &'a RunRequest,
        run: &'a Run,
    },
    Cell {
        cell: &'a Cell,
        samples: &'a [Samples],
    },
    LeftOut {
        plugin: &'a str,
        why: &'a str,
    },
}

impl Line<'_> {
    /// The line as it stands in the file, with its sum and its end.
    ///
    /// # Errors
    /// It cannot be JSON: a path in it is no Unicode.
    pub fn text(&self) -> serde_json::Result<Vec<u8>> {
        let mut text = serde_json::to_vec(self)?;
        // The brace that ends the object comes after the sum.
        text.pop();
        let sum = sum(&text);
        text.extend_from_slice(format!("{MARK}{sum}{END}\n").as_bytes());
        Ok(text)
    }
}

fn sum(text: &[u8]) -> String {
    let mut sum = sha256_bytes(text);
    sum.truncate(DIGITS);
    sum
}

/// Whether the sum of a line holds; `None`: it has none.
fn holds(line: &[u8]) -> Option<bool> {
    let line = line.strip_suffix(END.as_bytes())?;
    let (line, found) = line.split_at(line.len().checked_sub(DIGITS)?);
    let text = line.strip_suffix(MARK.as_bytes())?;
    Some(sum(text).as_bytes() == found)
}

/// One line, as it is read. Not an enum by `type`: that would parse every line twice.
#[derive(Deserialize)]
struct Read {
    #[serde(rename = "type")]
    kind: Kind,
    request: Option<Box<RunRequest>>,
    run: Option<Box<Run>>,
    cell: Option<Box<Cell>>,
    #[serde(default)]
    samples: Vec<Samples>,
    plugin: Option<String>,
    why: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Run,
    Cell,
    LeftOut,
}

/// A line that does not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damaged {
    /// Counted from 1.
    pub line: usize,
    pub why: String,
}

impl std::fmt::Display for Damaged {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {} is left out: {}", self.line, self.why)
    }
}

/// What can be read of a journal.
#[derive(Default)]
pub struct Contents {
    /// What was asked for, and the run without cells; `None`: the first line is not there.
    pub head: Option<(Box<RunRequest>, Box<Run>)>,
    /// By their places in the plan.
    pub cells: BTreeMap<usize, (Cell, Vec<Samples>)>,
    pub left_out: BTreeMap<String, String>,
    pub damaged: Vec<Damaged>,
    /// So many bytes at the beginning end with the last line that is not damaged.
    pub whole: usize,
}

impl Contents {
    /// Whatever the bytes are, this is an answer.
    pub fn read(bytes: &[u8]) -> Contents {
        let mut journal = Contents::default();
        for (raw, line) in parsed(bytes) {
            let kept = line.and_then(|line| journal.add(line));
            // What its sum vouches for was written so, whoever understands it.
            if kept.is_ok() || holds(raw.text) == Some(true) {
                journal.whole = raw.end;
            }
            if let Err(why) = kept {
                journal.damaged.push(Damaged { line: raw.number, why });
            }
        }
        journal
    }

    fn add(&mut self, line: Read) -> Result<(), String> {
        match (line.kind, line) {
            (Kind::Run, Read { request: Some(request), run: Some(run), .. }) => match &self.head {
                Some((_, known)) if known.run_id != run.run_id => {
                    return Err(format!("another run begins there, {}", run.run_id));
                }
                Some(_) => {}
                None => self.head = Some((request, run)),
            },
            (Kind::Cell, Read { cell: Some(cell), samples, .. }) => {
                self.cells.insert(cell.index, (*cell, samples));
            }
            (Kind::LeftOut, Read { plugin: Some(plugin), why: Some(why), .. }) => {
                self.left_out.insert(plugin, why);
            }
            _ => return Err("it lacks what its type has".into()),
        }
        Ok(())
    }
}

/// When the run of a journal's first line began; `None`: that is no first line.
pub fn began(first: &str) -> Option<String> {
    serde_json::from_str::<Read>(first).ok()?.run.map(|run| run.started_at)
}

/// A line among others.
#[derive(Clone, Copy)]
struct Raw<'a> {
    number: usize,
    /// Where it ends in the file, with the end of the line.
    end: usize,
    /// Without the end of the line.
    text: &'a [u8],
    is_ended: bool,
}

impl Raw<'_> {
    fn parse(&self) -> Result<Read, String> {
        if holds(self.text) == Some(false) {
            return Err("its sum does not hold".into());
        }
        serde_json::from_slice(self.text).map_err(|error| match error.is_eof() || !self.is_ended {
            true => "it was cut off".into(),
            false => error.to_string(),
        })
    }
}

/// So many lines are worth a thread.
const LEAST_SHARE: usize = 256;

/// The lines that are not empty; parsed on all processors, since a long run has many megabytes of them.
fn parsed(bytes: &[u8]) -> Vec<(Raw<'_>, Result<Read, String>)> {
    let mut end = 0;
    let mut lines = vec![];
    for (number, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
        end += line.len();
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        if !text.is_empty() {
            lines.push(Raw { number: number + 1, end, text, is_ended: text.len() < line.len() });
        }
    }
    let parse = |lines: &[Raw<'_>]| lines.iter().map(Raw::parse).collect::<Vec<_>>();
    // Cells come one by one from a run that goes on: for a line no thread is begun.
    if lines.len() <= LEAST_SHARE {
        let parts = parse(&lines);
        return lines.into_iter().zip(parts).collect();
    }
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let share = lines.len().div_ceil(threads).max(LEAST_SHARE);
    let parts: Vec<_> = std::thread::scope(|scope| {
        let parts: Vec<_> = lines.chunks(share).map(|part| scope.spawn(move || parse(part))).collect();
        let joined = parts.into_iter().map(|part| part.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        joined.flatten().collect()
    });
    lines.into_iter().zip(parts).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(index: usize) -> Cell {
        Cell { index, ..Cell::blank() }
    }

    /// A run with so many cells, line by line.
    fn lines(id: &str, cells: usize) -> Vec<Vec<u8>> {
        let run: Run = serde_json::from_value(serde_json::json!({
            "schema": crate::RUN_SCHEMA, "run_id": id, "started_at": "2026-01-31T12:00:00Z", "command": [], "seed": 42,
            "environment": {"host_version": "0.1.0", "os": "linux", "arch": "x86_64", "clock": "monotonic", "plugin_sha256": {}},
            "left_out": {}, "cells": []
        }))
        .unwrap();
        let request = RunRequest::default();
        let mut lines = vec![Line::Run { request: &request, run: &run }.text().unwrap()];
        lines.extend((0..cells).map(|index| Line::Cell { cell: &cell(index), samples: &[] }.text().unwrap()));
        lines
    }

    fn places(journal: &Contents) -> Vec<usize> {
        journal.cells.keys().copied().collect()
    }

    #[test]
    fn a_line_is_json_that_ends_with_its_sum() {
        for line in lines("it", 1) {
            let document: serde_json::Value = serde_json::from_slice(&line).unwrap();
            let last = document.as_object().unwrap().keys().next_back().unwrap();
            assert_eq!((last.as_str(), document["sum"].as_str().unwrap().len()), ("sum", DIGITS));
        }
    }

    #[test]
    fn every_byte_that_changes_costs_its_own_line_and_no_other() {
        let lines = lines("it", 3);
        let before: usize = lines[..2].iter().map(Vec::len).sum();
        let text = lines.concat();
        // In the second cell, but for its end: a line without one is two lines in one.
        for place in before..before + lines[2].len() - 1 {
            let mut text = text.clone();
            text[place] ^= 1;
            let journal = Contents::read(&text);
            let is_sum_alone = place >= before + lines[2].len() - 1 - MARK.len() - DIGITS - END.len();
            assert!(journal.head.is_some() && journal.cells.contains_key(&0) && journal.cells.contains_key(&2));
            assert!(is_sum_alone || places(&journal) == [0, 2], "byte {place} changed, and nobody saw it");
            assert_eq!(journal.whole, text.len(), "what is damaged is not at the end");
        }
    }

    #[test]
    fn what_an_older_host_wrote_is_read_without_sums() {
        let older = |line: &Vec<u8>| {
            let mut document: serde_json::Value = serde_json::from_slice(line).unwrap();
            document.as_object_mut().unwrap().remove("sum");
            document.to_string() + "\n"
        };
        let text: String = lines("it", 2).iter().map(older).collect();
        let journal = Contents::read(text.as_bytes());
        assert_eq!((places(&journal), journal.damaged.len(), journal.whole), (vec![0, 1], 0, text.len()));
    }

    #[test]
    fn whatever_stands_at_the_end_is_known_as_damage_from_where_it_begins() {
        let text = lines("it", 2).concat();
        let half = lines("it", 3).pop().unwrap();
        let ends: [&[u8]; 5] =
            [&half[..half.len() / 2], &[0; 300], b"\xff\xfe\x00garbage\nmore\n", b"\n\0\0\n", b"{}\n"];
        for end in ends {
            let journal = Contents::read(&[&text[..], end].concat());
            assert_eq!((places(&journal), journal.whole), (vec![0, 1], text.len()), "{end:?}");
            assert!(!journal.damaged.is_empty() && journal.damaged.iter().all(|damaged| damaged.line > 3), "{end:?}");
        }
    }

    #[test]
    fn a_line_of_another_run_or_of_a_newer_host_does_not_count_and_the_latter_stays() {
        let mut newer = b"{\"type\":\"weather\"".to_vec();
        newer.extend_from_slice(format!("{MARK}{}{END}\n", sum(&newer)).as_bytes());
        let text = [lines("it", 1).concat(), lines("other", 0).concat(), newer].concat();
        let journal = Contents::read(&text);
        assert_eq!(journal.head.unwrap().1.run_id, "it");
        assert_eq!(journal.damaged.iter().map(|damaged| damaged.line).collect::<Vec<_>>(), [3, 4]);
        assert_eq!(journal.whole, text.len());
    }

    #[test]
    fn any_bytes_have_an_answer() {
        for bytes in [&b""[..], b"\n\n", b"\"}", b",\"sum\":\"\"}", b"[", &[0xFF; 64]] {
            let journal = Contents::read(bytes);
            assert!(journal.head.is_none() && journal.whole == 0);
        }
    }
}
