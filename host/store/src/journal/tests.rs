//! A journal meets with harm: a second writer, damage, a folder that goes away.

use super::write::{Journal, Moved, WRITER};
use super::{NAME, read};
use skillbench_record::{Cell, Run, RunRequest};
use std::fs::File;
use std::io::Write;
use std::path::Path;

/// The head of a run of this id.
fn head(id: &str) -> Run {
    serde_json::from_value(serde_json::json!({
        "schema": skillbench_record::RUN_SCHEMA, "run_id": id, "started_at": "2026-01-31T12:00:00Z", "command": [], "seed": 42,
        "environment": {"host_version": "0.1.0", "os": "linux", "arch": "x86_64", "clock": "monotonic", "plugin_sha256": {}},
        "left_out": {}, "cells": []
    }))
    .unwrap()
}

fn begun(folder: &Path) -> Journal {
    let mut journal = Journal::create(folder, &RunRequest::default()).unwrap();
    journal.begun(&head("it")).unwrap();
    journal
}

fn measure(journal: &mut Journal, index: usize) -> Option<String> {
    journal.cell_ended(&Cell { index, ..Cell::blank() }, &[]).unwrap()
}

fn cells(place: &Path) -> Vec<usize> {
    read(place).unwrap().run.cells.iter().map(|cell| cell.index).collect()
}

#[test]
fn one_process_at_a_time_writes_a_run_and_the_second_is_told_who_does() {
    let folder = tempfile::tempdir().unwrap();
    let mut first = begun(folder.path());
    measure(&mut first, 0);
    let Err(busy) = Journal::resume(folder.path()) else { panic!("two write the same run") };
    let named = format!("is being written by process {}", std::process::id());
    assert!(busy.to_string().contains(&named), "{busy}");
    assert!(Journal::create(folder.path(), &RunRequest::default()).is_err());
    drop(first);
    assert!(!folder.path().join(WRITER).exists());
    let (mut second, found) = Journal::resume(folder.path()).unwrap();
    assert_eq!(found.run.cells.len(), 1);
    measure(&mut second, 1);
    assert_eq!(cells(folder.path()), [0, 1]);
}

#[cfg(unix)]
#[test]
fn links_in_a_folder_lead_no_write_out_of_it() {
    let (folder, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    drop(begun(folder.path()));
    let precious = outside.path().join("precious");
    std::fs::write(&precious, "kept").unwrap();
    std::os::unix::fs::symlink(&precious, folder.path().join(WRITER)).unwrap();
    drop(Journal::resume(folder.path()).unwrap());
    std::fs::rename(folder.path().join(NAME), outside.path().join(NAME)).unwrap();
    std::os::unix::fs::symlink(outside.path().join(NAME), folder.path().join(NAME)).unwrap();
    let Err(refused) = Journal::resume(folder.path()) else { panic!("a link was opened") };
    assert!(refused.to_string().contains("no plain file"), "{refused}");
    assert_eq!(std::fs::read(&precious).unwrap(), b"kept");
}

#[test]
fn a_damaged_end_is_set_aside_before_anything_is_appended() {
    for end in [&b"{\"type\":\"cell\",\"ce"[..], &[0; 64], b"\xff\xfegarbage\nmore\n\n"] {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = begun(folder.path());
        measure(&mut journal, 0);
        drop(journal);
        let path = folder.path().join(NAME);
        File::options().append(true).open(&path).unwrap().write_all(end).unwrap();
        assert_eq!(cells(folder.path()), [0], "what is whole is read as it lies");
        let (mut journal, found) = Journal::resume(folder.path()).unwrap();
        assert_eq!(found.run.cells.len(), 1);
        assert!(journal.notes.iter().any(|note| note.contains("journal.damaged-1")), "{:?}", journal.notes);
        measure(&mut journal, 1);
        drop(journal);
        assert_eq!(std::fs::read(folder.path().join("journal.damaged-1")).unwrap(), end);
        assert!(read(folder.path()).unwrap().damaged.is_empty());
        assert_eq!(cells(folder.path()), [0, 1]);
    }
}

#[test]
fn a_line_that_is_damaged_in_the_middle_costs_its_cell_which_can_be_measured_again() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = begun(folder.path());
    (0..3).for_each(|index| drop(measure(&mut journal, index)));
    drop(journal);
    let path = folder.path().join(NAME);
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("\"index\":1", "\"index\":9")).unwrap();
    let (mut journal, found) = Journal::resume(folder.path()).unwrap();
    assert_eq!(found.run.cells.iter().map(|cell| cell.index).collect::<Vec<_>>(), [0, 2]);
    assert!(journal.notes[0].contains("line 3 is left out: its sum does not hold"), "{:?}", journal.notes);
    measure(&mut journal, 1);
    drop(journal);
    assert_eq!(cells(folder.path()), [0, 1, 2]);
}

#[test]
fn a_last_line_that_lost_its_end_counts_and_is_ended_first() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = begun(folder.path());
    measure(&mut journal, 0);
    drop(journal);
    let path = folder.path().join(NAME);
    let text = std::fs::read(&path).unwrap();
    std::fs::write(&path, &text[..text.len() - 1]).unwrap();
    let (mut journal, _) = Journal::resume(folder.path()).unwrap();
    measure(&mut journal, 1);
    assert_eq!(cells(folder.path()), [0, 1]);
}

#[test]
fn a_folder_that_goes_away_is_said_once_and_made_again_at_the_end() {
    let runs = tempfile::tempdir().unwrap();
    let folder = runs.path().join("it");
    std::fs::create_dir(&folder).unwrap();
    let mut journal = begun(&folder);
    assert_eq!(measure(&mut journal, 0), None);
    std::fs::remove_dir_all(&folder).unwrap();
    let said = measure(&mut journal, 1).expect("it is said at once");
    assert!(said.contains("the journal is gone") && said.contains("the run goes on"), "{said}");
    assert_eq!(measure(&mut journal, 2), None);
    assert_eq!(journal.end("it", &[]).unwrap(), None);
    assert_eq!(cells(&folder), [0, 1, 2]);
}

#[test]
fn a_run_whose_place_another_file_took_is_written_elsewhere() {
    let runs = tempfile::tempdir().unwrap();
    let (folder, elsewhere) = (runs.path().join("it"), runs.path().join("elsewhere"));
    std::fs::create_dir(&folder).unwrap();
    let mut journal = begun(&folder);
    std::fs::rename(folder.join(NAME), folder.join("taken")).unwrap();
    std::fs::write(folder.join(NAME), "another's").unwrap();
    assert!(measure(&mut journal, 0).unwrap().contains("another file"));
    let nowhere = folder.join(NAME);
    let moved = journal.end("it", &[nowhere, elsewhere.clone()]).unwrap();
    assert_eq!(moved, Some(Moved { from: folder.clone(), to: elsewhere.join("it") }));
    assert_eq!(cells(&elsewhere.join("it")), [0]);
    assert_eq!(std::fs::read(folder.join(NAME)).unwrap(), b"another's");
}

#[test]
fn a_journal_that_is_cut_short_is_written_again() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = begun(folder.path());
    (0..2).for_each(|index| drop(measure(&mut journal, index)));
    File::options().write(true).open(folder.path().join(NAME)).unwrap().set_len(100).unwrap();
    assert!(measure(&mut journal, 2).unwrap().contains("cut the journal short"));
    assert_eq!(cells(folder.path()), [0, 1, 2]);
    assert_eq!(journal.end("it", &[]).unwrap(), None);
}

#[test]
fn a_run_that_no_place_takes_stays_in_memory_and_all_places_are_named() {
    let runs = tempfile::tempdir().unwrap();
    let folder = runs.path().join("it");
    std::fs::create_dir(&folder).unwrap();
    let mut journal = begun(&folder);
    std::fs::remove_dir_all(&folder).unwrap();
    std::fs::write(&folder, "a file has the name").unwrap();
    measure(&mut journal, 0);
    let nowhere = folder.join("deeper");
    let lost = journal.end("it", std::slice::from_ref(&nowhere)).unwrap_err().to_string();
    assert!(lost.contains(nowhere.to_str().unwrap()) && lost.contains(folder.to_str().unwrap()), "{lost}");
    assert_eq!(journal.recorded().unwrap().run.cells.len(), 1);
}
