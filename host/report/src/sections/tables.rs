//! Which columns tables have, under which names for people; and one figure with hardware beside hardware.

use super::rows::Rows;
use crate::Cell;
use crate::page::{PageCell, PageRow, PageTable, Tone};
use skillbench_record::catalog::column;
use std::collections::{HashMap, HashSet};

/// What a cell is known by, and its figures.
pub const RESULTS: [(&str, &str); 33] = [
    (column::MODEL_ID, "model"),
    ("hardware", "hardware"),
    (column::BENCHMARK, column::BENCHMARK),
    (column::AXES, column::AXES),
    (column::PRECISION, column::PRECISION),
    (column::THREADS, column::THREADS),
    (column::WORKERS, "at once"),
    (column::OPTIONS, column::OPTIONS),
    (column::OUTCOME, column::OUTCOME),
    (column::LATENCY_MEDIAN_MS, "median ms"),
    (column::LATENCY_CI95_LOW_MS, "95% from"),
    (column::LATENCY_CI95_HIGH_MS, "to"),
    (column::LATENCY_90P_MS, "p90 ms"),
    (column::LATENCY_99P_MS, "p99 ms"),
    (column::CPU_MEDIAN_MS, "CPU ms"),
    (column::THROUGHPUT_SAMPLES_PER_SEC, "samples/s (mean)"),
    (column::SPEEDUP_OVER_SEQUENTIAL, "at once over one by one"),
    (column::TIME_TO_FIRST_TOKEN_MS, "first token ms"),
    (column::TIME_PER_OUTPUT_TOKEN_MS, "per token ms"),
    (column::PREFILL_TOKENS_PER_SEC, "prefill tokens/s (mean)"),
    (column::DECODE_TOKENS_PER_SEC, "decode tokens/s (mean)"),
    (column::LOAD_MS, "load ms"),
    (column::FIRST_INFERENCE_MS, "first ms"),
    (column::PEAK_MEMORY_MB, "peak MiB"),
    (column::ENERGY_J_PER_ITEM, "J per item"),
    (column::ITERATIONS, "n"),
    (column::LATENCY_OUTLIERS, "outliers"),
    (column::STABLE, column::STABLE),
    (column::EMULATED, column::EMULATED),
    (column::VERIFIED, column::VERIFIED),
    (column::FIXES, "fixed"),
    (column::BESIDE, column::BESIDE),
    (column::RUN, column::RUN),
];

pub const SPEEDUPS: [(&str, &str); 14] = [
    ("hardware", "hardware"),
    (column::BENCHMARK, column::BENCHMARK),
    (column::PRECISION, column::PRECISION),
    (column::TRUST, column::TRUST),
    ("speedup_common", "speed-up, common work"),
    ("speedup_common_low", "95% from"),
    ("speedup_common_high", "to"),
    ("models_common", "models"),
    ("speedup_all", "speed-up, all it has"),
    ("speedup_all_low", "95% from"),
    ("speedup_all_high", "to"),
    ("models_used", "models"),
    ("models_missing", "models missing"),
    ("workloads_missing", "points missing"),
];

pub const GROUP: [(&str, &str); 9] = [
    ("hardware", "hardware"),
    (column::BENCHMARK, column::BENCHMARK),
    (column::PRECISION, column::PRECISION),
    (column::TRUST, column::TRUST),
    ("models", "models"),
    ("cells", "cells"),
    ("speedup", "speed-up over cpu"),
    ("speedup_least", "least"),
    ("speedup_most", "most"),
];

/// Whether the table of all cells has this column.
pub fn is_told(column: &str) -> bool {
    column == column::PLUGIN
        || column == column::DEVICE_ID
        || column == column::REASON
        || RESULTS.iter().any(|(name, _)| *name == column)
}

/// One figure of these rows, hardware beside hardware.
pub fn beside(rows: &Rows<'_>, of: &[usize], column: &str) -> PageTable {
    let key = |row: usize| {
        [column::MODEL_ID, column::BENCHMARK, column::AXES, column::PRECISION]
            .map(|column| rows.text(row, column).unwrap_or_default())
    };
    let place = |row: usize| (rows.text(row, column::MACHINE), rows.count(row, column::THREADS));
    let mut hardware: Vec<&str> = vec![];
    let mut known_hardware: HashSet<&str> = HashSet::new();
    let mut lines: Vec<([&str; 4], Vec<usize>)> = vec![];
    // Of each work its lines, in their order.
    let mut of_work: HashMap<[&str; 3], Vec<usize>> = HashMap::new();
    let several =
        of.iter().map(|row| rows.text(*row, column::MACHINE)).collect::<std::collections::BTreeSet<_>>().len() > 1;
    let threads = of
        .iter()
        .filter(|row| rows.number(**row, column::THREADS).is_some())
        .map(|row| rows.count(*row, column::THREADS));
    let threads = threads.collect::<std::collections::BTreeSet<_>>().len() > 1;
    for &row in of {
        let name = rows.text(row, "hardware").unwrap_or_default();
        if known_hardware.insert(name) {
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
        let same = |(line, of_it): &([&str; 4], Vec<usize>)| {
            here(of_it) && (!measured || line[3] == known[3] || line[3].is_empty())
        };
        let [model, benchmark, axes, precision] = known;
        let work = of_work.entry([model, benchmark, axes]).or_default();
        match work.iter().copied().find(|line| same(&lines[*line])) {
            Some(line) => {
                let (line, rows_of_it) = &mut lines[line];
                if line[3].is_empty() {
                    line[3] = precision;
                }
                rows_of_it.push(row);
            }
            None => {
                work.push(lines.len());
                lines.push((known, vec![row]));
            }
        }
    }
    let tried: HashSet<_> = of
        .iter()
        .map(|row| {
            let [model, benchmark, axes, _] = key(*row);
            (rows.text(*row, "hardware"), [model, benchmark, axes], place(*row))
        })
        .collect();
    lines.retain(|(_, of_it)| of_it.iter().any(|row| rows.number(*row, column).is_some()));
    let cell = |key: &[&str; 4], of_it: &[usize], name: &str| {
        let Some(row) = of_it.iter().rev().copied().find(|row| rows.text(*row, "hardware") == Some(name)) else {
            let [model, benchmark, axes, _] = *key;
            let is_elsewhere = tried.contains(&(Some(name), [model, benchmark, axes], place(of_it[0])));
            let told = if is_elsewhere { "other precision" } else { "not tried" };
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
                match rows.text(row, column::TRUST) {
                    Some(column::EMULATED) => {
                        PageCell { shown: format!("{} (emulated)", cell.shown), ..cell }.tone(Tone::Emulated)
                    }
                    Some("unverified") => {
                        PageCell { shown: format!("{} (unverified)", cell.shown), ..cell }.tone(Tone::Warn)
                    }
                    Some("remote") => PageCell { shown: format!("{} (remote)", cell.shown), ..cell }.tone(Tone::Info),
                    Some(column::IMPLAUSIBLE) => {
                        PageCell { shown: format!("{} (implausible)", cell.shown), ..cell }.tone(Tone::Bad)
                    }
                    _ => cell,
                }
            }
            None => {
                let tone = match rows.text(row, column::OUTCOME) {
                    Some("measured") => return PageCell::from(Cell::none()),
                    Some("unavailable" | "skipped") => Tone::Info,
                    _ => Tone::Bad,
                };
                PageCell::from(rows.text(row, column::OUTCOME).unwrap_or_default()).tone(tone)
            }
        }
    };
    let place_titles = [several.then_some(column::MACHINE), threads.then_some(column::THREADS)].into_iter().flatten();
    let titles = ["model", column::BENCHMARK, column::AXES, column::PRECISION]
        .into_iter()
        .chain(place_titles)
        .chain(hardware.iter().copied());
    PageTable {
        columns: titles.map(String::from).collect(),
        rows: lines
            .iter()
            .map(|(key, of_it)| {
                let mut attributes = rows.attributes(of_it[0]);
                attributes.remove("hardware");
                attributes.remove(column::OUTCOME);
                let place = [
                    several.then(|| rows.text(of_it[0], column::MACHINE).unwrap_or_default().to_string()),
                    threads.then(|| rows.count(of_it[0], column::THREADS).to_string()),
                ];
                let names =
                    key.iter().map(|text| PageCell::from(*text)).chain(place.into_iter().flatten().map(PageCell::from));
                PageRow { attributes, cells: names.chain(hardware.iter().map(|name| cell(key, of_it, name))).collect() }
            })
            .collect(),
    }
}
