//! Which columns tables have, under which names for people; and one figure with hardware beside hardware.

use super::rows::Rows;
use crate::Cell;
use crate::page::{PageCell, PageRow, PageTable, Tone};

/// What a cell is known by, and its figures.
pub const RESULTS: [(&str, &str); 33] = [
    ("model_id", "model"),
    ("hardware", "hardware"),
    ("benchmark", "benchmark"),
    ("axes", "axes"),
    ("precision", "precision"),
    ("threads", "threads"),
    ("workers", "at once"),
    ("options", "options"),
    ("outcome", "outcome"),
    ("latency_median_ms", "median ms"),
    ("latency_ci95_low_ms", "95% from"),
    ("latency_ci95_high_ms", "to"),
    ("latency_90p_ms", "p90 ms"),
    ("latency_99p_ms", "p99 ms"),
    ("cpu_median_ms", "CPU ms"),
    ("throughput_samples_per_sec", "per second"),
    ("speedup_over_sequential", "at once over one by one"),
    ("time_to_first_token_ms", "first token ms"),
    ("time_per_output_token_ms", "per token ms"),
    ("prefill_tokens_per_sec", "prefill per s"),
    ("decode_tokens_per_sec", "decode per s"),
    ("load_ms", "load ms"),
    ("first_inference_ms", "first ms"),
    ("peak_memory_mb", "peak MiB"),
    ("energy_j_per_item", "J per item"),
    ("iterations", "n"),
    ("latency_outliers", "outliers"),
    ("stable", "stable"),
    ("emulated", "emulated"),
    ("verified", "verified"),
    ("fixes", "fixed"),
    ("beside", "beside"),
    ("run", "run"),
];

pub const SPEEDUPS: [(&str, &str); 10] = [
    ("hardware", "hardware"),
    ("benchmark", "benchmark"),
    ("precision", "precision"),
    ("trust", "trust"),
    ("speedup_common", "speed-up, common work"),
    ("models_common", "models"),
    ("speedup_all", "speed-up, all it has"),
    ("models_used", "models"),
    ("models_missing", "models missing"),
    ("workloads_missing", "points missing"),
];

pub const GROUP: [(&str, &str); 9] = [
    ("hardware", "hardware"),
    ("benchmark", "benchmark"),
    ("precision", "precision"),
    ("trust", "trust"),
    ("models", "models"),
    ("cells", "cells"),
    ("speedup", "speed-up over cpu"),
    ("speedup_least", "least"),
    ("speedup_most", "most"),
];

/// Whether the table of all cells has this column.
pub fn is_told(column: &str) -> bool {
    column == "plugin" || column == "device_id" || column == "reason" || RESULTS.iter().any(|(name, _)| *name == column)
}

/// One figure of these rows, hardware beside hardware.
pub fn beside(rows: &Rows<'_>, of: &[usize], column: &str) -> PageTable {
    let key = |row: usize| {
        ["model_id", "benchmark", "axes", "precision"].map(|column| rows.text(row, column).unwrap_or_default())
    };
    let place = |row: usize| (rows.text(row, "machine"), rows.count(row, "threads"));
    let mut hardware: Vec<&str> = vec![];
    let mut lines: Vec<([&str; 4], Vec<usize>)> = vec![];
    let several = of.iter().map(|row| rows.text(*row, "machine")).collect::<std::collections::BTreeSet<_>>().len() > 1;
    let threads =
        of.iter().filter(|row| rows.number(**row, "threads").is_some()).map(|row| rows.count(*row, "threads"));
    let threads = threads.collect::<std::collections::BTreeSet<_>>().len() > 1;
    for &row in of {
        let name = rows.text(row, "hardware").unwrap_or_default();
        if !hardware.contains(&name) {
            hardware.push(name);
        }
        // What was not measured has no precision of its own: it stands with the first of its work that has.
        let known = key(row);
        let measured = rows.number(row, column).is_some();
        // Machines are not put side by side, nor other numbers of threads.
        let here = |of_it: &[usize]| {
            let (one, other) = (place(of_it[0]), place(row));
            (!several || one.0 == other.0) && (!threads || one.1 == other.1 || (!measured && other.1 == 0))
        };
        let same = |line: &[&str; 4], of_it: &[usize]| {
            here(of_it) && line[..3] == known[..3] && (!measured || line[3] == known[3] || line[3].is_empty())
        };
        match lines.iter_mut().find(|(line, of_it)| same(line, of_it)) {
            Some((line, rows_of_it)) => {
                if line[3].is_empty() {
                    line[3] = known[3];
                }
                rows_of_it.push(row);
            }
            None => lines.push((known, vec![row])),
        }
    }
    lines.retain(|(_, of_it)| of_it.iter().any(|row| rows.number(*row, column).is_some()));
    let cell = |key: &[&str; 4], of_it: &[usize], name: &str| {
        let Some(row) = of_it.iter().rev().copied().find(|row| rows.text(*row, "hardware") == Some(name)) else {
            let elsewhere = |row: &&usize| {
                let of = ["model_id", "benchmark", "axes"].map(|column| rows.text(**row, column).unwrap_or_default());
                rows.text(**row, "hardware") == Some(name) && of[..] == key[..3] && place(**row) == place(of_it[0])
            };
            let told = if of.iter().any(|row| elsewhere(&row)) { "other precision" } else { "not tried" };
            return PageCell::from(told).tone(Tone::Info);
        };
        match rows.number(row, column) {
            Some(value) => {
                let cell = PageCell::from(Cell::number(value));
                let cell = match rows.text(row, "newer_outcome") {
                    // What was tried since stands beside the figure, and not in its place.
                    Some(outcome) => PageCell { shown: format!("{} (since then {outcome})", cell.shown), ..cell }
                        .tone(Tone::Warn)
                        .why(rows.text(row, "newer_reason").unwrap_or_default()),
                    None => cell,
                };
                match rows.text(row, "trust") {
                    Some("emulated") => {
                        PageCell { shown: format!("{} (emulated)", cell.shown), ..cell }.tone(Tone::Emulated)
                    }
                    Some("unverified") => {
                        PageCell { shown: format!("{} (unverified)", cell.shown), ..cell }.tone(Tone::Warn)
                    }
                    _ => cell,
                }
            }
            None => {
                let tone = match rows.text(row, "outcome") {
                    Some("measured") => return PageCell::from(Cell::none()),
                    Some("unavailable" | "skipped") => Tone::Info,
                    _ => Tone::Bad,
                };
                PageCell::from(rows.text(row, "outcome").unwrap_or_default()).tone(tone)
            }
        }
    };
    let place_titles = [several.then_some("machine"), threads.then_some("threads")].into_iter().flatten();
    let titles =
        ["model", "benchmark", "axes", "precision"].into_iter().chain(place_titles).chain(hardware.iter().copied());
    PageTable {
        columns: titles.map(String::from).collect(),
        rows: lines
            .iter()
            .map(|(key, of_it)| {
                let mut attributes = rows.attributes(of_it[0]);
                attributes.remove("hardware");
                attributes.remove("outcome");
                let place = [
                    several.then(|| rows.text(of_it[0], "machine").unwrap_or_default().to_string()),
                    threads.then(|| rows.count(of_it[0], "threads").to_string()),
                ];
                let names =
                    key.iter().map(|text| PageCell::from(*text)).chain(place.into_iter().flatten().map(PageCell::from));
                PageRow { attributes, cells: names.chain(hardware.iter().map(|name| cell(key, of_it, name))).collect() }
            })
            .collect(),
    }
}
