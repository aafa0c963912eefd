//! A run: its table for people, and its table for programs.

use crate::decision::{METRICS, facets, headline, points};
use crate::page::Tone;
use crate::sections::{Rows, SectionError, now, placed};
use crate::{Cell, Table};
use polars::prelude::{DataFrame, SortMultipleOptions};
use skillbench_record::catalog::column;
use skillbench_record::shown;
use skillbench_results::questions::{self, Added};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// How people read a column of figures of `questions::summary`: its heading with the unit, and the columns that a narrow terminal
/// does without come last. The last two are kept longest.
const FIGURES: [(&str, &str); 47] = [
    ("median_ms", "latency (ms)"),
    ("first_token_ms", "first token (ms)"),
    ("per_token_ms", "per token (ms)"),
    ("per_second", "samples/s (mean)"),
    ("speedup", "times one at a time"),
    ("capacity_per_s", "capacity (requests/s)"),
    ("capacity_from_per_s", "95% from"),
    ("capacity_to_per_s", "95% to"),
    ("goodput_per_s", "goodput (requests/s)"),
    (column::TTFT_MEDIAN_MS, "ttft (ms)"),
    (column::TTFT_99P_MS, "ttft, p99 (ms)"),
    (column::TPOT_MEDIAN_MS, "tpot (ms)"),
    (column::TPOT_99P_MS, "tpot, p99 (ms)"),
    (column::OUTPUT_TOKENS_PER_SEC, "tokens/s (mean)"),
    ("p99_ms", "p99 (ms)"),
    ("p90_ms", "p90 (ms)"),
    ("within_slo_pct", "within limit (%)"),
    (column::SLO_KEPT, "limit kept"),
    ("refused_pct", "refused (%)"),
    ("utilization_pct", "busy (%)"),
    (column::REQUESTS_PER_RUN, "requests a run"),
    ("queue_ms", "in queue (ms)"),
    ("service_ms", "service (ms)"),
    ("late_p99_us", "issued late, p99 (us)"),
    ("decode_per_s", "decode (mean tokens/s)"),
    ("prefill_per_s", "prefill (mean tokens/s)"),
    ("gflops_float32", "float32 (GFLOP/s)"),
    ("gb_per_s", "memory (GB/s)"),
    ("to_device_gb_per_s", "to device (GB/s)"),
    ("from_device_gb_per_s", "from device (GB/s)"),
    ("gflops_float16", "float16 (GFLOP/s)"),
    ("gflops_bfloat16", "bfloat16 (GFLOP/s)"),
    ("gops_int8", "int8 (GOP/s)"),
    ("peak_mb", "peak memory (MB)"),
    (column::LOAD_MS, "load (ms)"),
    ("first_ms", "first inference (ms)"),
    ("j_per_item", "energy (J/item)"),
    ("cpu_ms", "CPU time (ms)"),
    ("flops_pct", "of peak FLOP/s (%)"),
    ("bandwidth_pct", "of peak bandwidth (%)"),
    (column::OTHER_CORES, "cores of others"),
    (column::THROTTLED, column::THROTTLED),
    (column::PRECISION, column::PRECISION),
    ("host_to_device_ms", "to device (ms)"),
    ("device_ms", "on device (ms)"),
    ("device_to_host_ms", "from device (ms)"),
    ("n", "samples"),
];
/// So many of the figures are shown at any width.
const KEPT: usize = 3;
/// Other work on less of a core is what an idle machine does too.
const OTHER_WORK: f64 = 0.25;
/// A model that is what its name says: nothing to add.
const FULL: &str = "full";
/// So many series of benchmarks are shown; where there are more, none is.
const SERIES: usize = 6;
/// So many names are listed one by one.
const NAMES: usize = 4;

/// What people see of a run.
#[derive(Clone, Debug)]
pub struct RunView {
    /// Grouped by model; the best of each point stands first, and is marked where it wins.
    pub table: Table,
    /// A sentence for each thing that stood in the way of cells.
    pub causes: Vec<String>,
    /// What is not shown, and where it is.
    pub notes: Vec<String>,
    /// Who is ahead.
    pub headline: Option<String>,
}

/// The summary's frame as a table for programs: every column, each under its own name.
pub fn summary(frame: &DataFrame) -> Table {
    Table::from_frame(frame)
}

/// A run for people, with what benchmarks of plugins `added`.
///
/// # Errors
/// Polars' own.
pub fn run_view(cells: &DataFrame, added: &[Added]) -> Result<RunView, SectionError> {
    let figures = questions::summary(cells.clone(), added)?;
    let cells_now = now(cells.clone())?;
    let headline = headline(&Rows(&cells_now));
    let cells = placed(cells.clone())?.sort([column::CELL], SortMultipleOptions::default())?;
    let (cells, figures) = (Rows(&cells), Rows(&figures));
    let causes = Causes::of(&cells);
    let winners = winners(&Rows(&cells_now));
    let columns = columns(&figures, added);
    let any_unmeasured = !causes.0.is_empty();
    let doubts: Vec<Vec<&str>> = (0..cells.len()).map(|row| doubts(&cells, row)).collect();
    let any_doubt = doubts.iter().any(|doubts| !doubts.is_empty());
    let heads = ["model", "on", "at"].into_iter().chain(any_unmeasured.then_some("result"));
    let heads = heads.chain(columns.iter().map(|(_, head)| *head)).chain(any_doubt.then_some("doubts"));
    let mut table = Table { columns: heads.map(String::from).collect(), grouped: true, ..Table::default() };
    let may_go = FIGURES.iter().skip(KEPT).map(|(_, head)| head.to_string());
    table.least = may_go.rev().collect();
    for row in order(&cells, &figures) {
        let text = |name: &str| cells.text(row, name).unwrap_or_default();
        let wins =
            winners.contains(&(text(column::MODEL_ID).to_string(), text("hardware").to_string(), place(&cells, row)));
        let mut line = vec![heading(&cells, row).into(), hardware(text("hardware"), wins), point(&cells, row).into()];
        if any_unmeasured {
            line.push(result(&cells, row, &causes));
        }
        line.extend(columns.iter().map(|(name, _)| figure(&figures, row, name)));
        if any_doubt {
            line.push(match doubts[row].is_empty() {
                true => "".into(),
                false => Cell::text(doubts[row].join(", ")).tone(Tone::Warn),
            });
        }
        table.rows.push(line);
    }
    let left_out = added.len() - shown_of(added).len();
    let note = format!("{left_out} series have no column here: summary.csv, run.json and `--format csv` have them");
    let notes = (left_out > 0).then_some(note).into_iter().collect();
    Ok(RunView { table, causes: causes.sentences(), notes, headline })
}

/// Series that have a column of their own: more of them than can be read have none.
fn shown_of(added: &[Added]) -> &[Added] {
    if added.len() > SERIES { &[] } else { added }
}

/// The figures that any cell has.
fn columns<'a>(figures: &Rows<'_>, added: &'a [Added]) -> Vec<(&'a str, &'a str)> {
    let has = |name: &str| (0..figures.len()).any(|row| figures.number(row, name).is_some());
    let tells = |name: &str| match name {
        // Beside the copies; alone it is most often the latency once more.
        "device_ms" => has(name) && has("host_to_device_ms"),
        // Where the machine was its own, there is nothing to say.
        column::OTHER_CORES | column::THROTTLED => {
            (0..figures.len()).any(|row| figures.number(row, name).is_some_and(|value| value > OTHER_WORK))
        }
        _ => (0..figures.len()).any(|row| figures.number(row, name).is_some() || figures.text(row, name).is_some()),
    };
    let added = shown_of(added).iter().map(|series| (series.heading.as_str(), series.heading.as_str()));
    let (most, count) = FIGURES.split_at(FIGURES.len() - 1);
    most.iter().copied().chain(added).chain(count.iter().copied()).filter(|(name, _)| tells(name)).collect()
}

/// Model, hardware and point of each that wins.
fn winners(cells: &Rows<'_>) -> HashSet<(String, String, String)> {
    let mut winners = HashSet::new();
    for metric in METRICS.iter().take(2) {
        let decisions = facets(points(cells, metric), metric).into_values().flatten();
        for decision in decisions.filter(|decision| decision.certainty.wins()) {
            let point = &decision.point;
            let threads = point.facet.threads;
            let at = format!("{} {} {} {threads}", metric.benchmark, point.axes, point.facet.precision);
            winners.extend(decision.best().map(|best| (point.model.clone(), best.hardware.clone(), at)));
        }
    }
    winners
}

/// What is compared with what: benchmark, point, precision and threads.
fn place(cells: &Rows<'_>, row: usize) -> String {
    let text = |name: &str| cells.text(row, name).unwrap_or_default();
    let precision = cells.text(row, column::PRECISION).unwrap_or("unknown");
    format!("{} {} {precision} {}", text(column::BENCHMARK), text(column::AXES), cells.count(row, column::THREADS))
}

/// The rows by model and point in the order of the plan; at a point the best first, and last what was not measured.
fn order(cells: &Rows<'_>, figures: &Rows<'_>) -> Vec<usize> {
    let mut models: Vec<&str> = vec![];
    let mut places: Vec<(usize, String)> = vec![];
    let mut keys = vec![];
    for row in 0..cells.len() {
        let model = cells.text(row, column::MODEL_ID).unwrap_or_default();
        let model = models.iter().position(|known| *known == model).unwrap_or_else(|| {
            models.push(model);
            models.len() - 1
        });
        // The precision of what was not measured is not known.
        let at = (model, point(cells, row));
        let place = places.iter().position(|known| *known == at).unwrap_or_else(|| {
            places.push(at);
            places.len() - 1
        });
        let value = ["median_ms", "per_token_ms"].into_iter().find_map(|name| figures.number(row, name));
        keys.push((model, place, value.unwrap_or(f64::INFINITY), row));
    }
    keys.sort_by(|one, other| {
        (one.0, one.1).cmp(&(other.0, other.1)).then(one.2.total_cmp(&other.2)).then(one.3.cmp(&other.3))
    });
    keys.into_iter().map(|(.., row)| row).collect()
}

/// "bert-tiny, 4.39 M parameters".
fn heading(cells: &Rows<'_>, row: usize) -> String {
    let model = cells.text(row, column::MODEL_ID).unwrap_or_default().to_string();
    let count = cells.number(row, column::PARAMETER_COUNT).filter(|count| *count > 0.0);
    let parts = [
        count.map(|count| format!("{} parameters", shown::parameters(count as u64))),
        cells.text(row, column::RELATION).filter(|relation| *relation != FULL).map(String::from),
    ];
    std::iter::once(model).chain(parts.into_iter().flatten()).collect::<Vec<_>>().join(", ")
}

fn hardware(name: &str, wins: bool) -> Cell {
    match wins {
        true => Cell::new(name, format!("▸ {}", shown::line(name))).tone(Tone::Good),
        false => Cell::new(name, format!("  {}", shown::line(name))),
    }
}

/// "batch=1", and the benchmark where it is not inference.
fn point(cells: &Rows<'_>, row: usize) -> String {
    let text = |name: &str| cells.text(row, name).unwrap_or_default();
    match (text(column::BENCHMARK), text(column::AXES)) {
        ("inference", axes) => axes.to_string(),
        (benchmark, axes) => format!("{benchmark} {}", shown::axes(axes)).trim_end().to_string(),
    }
}

/// What became of a cell; the number is that of its cause.
fn result(cells: &Rows<'_>, row: usize, causes: &Causes) -> Cell {
    match cells.text(row, column::OUTCOME).unwrap_or_default() {
        "measured" => "".into(),
        outcome => {
            let text = Cell::text(format!("{outcome} ({})", causes.number(cells, row)));
            text.tone(if matches!(outcome, "skipped" | "unavailable") { Tone::Info } else { Tone::Bad })
        }
    }
}

/// Half the interval of a median stands beside it.
const HALVES: [(&str, &str); 3] = [
    ("median_ms", "interval_pct"),
    ("first_token_ms", "first_token_interval_pct"),
    ("per_token_ms", "per_token_interval_pct"),
];

/// A median with half its interval, every other figure as it is.
fn figure(figures: &Rows<'_>, row: usize, name: &str) -> Cell {
    let Some(value) = figures.number(row, name) else {
        return figures.text(row, name).map_or_else(Cell::none, Cell::text);
    };
    let half = HALVES.iter().find(|(figure, _)| *figure == name);
    match half.and_then(|(_, half)| figures.number(row, half)) {
        Some(percent) => Cell::new(value, format!("{} ± {}%", shown::number(value), shown::short(percent))),
        None if name == "n" => Cell::count(value as u64),
        None => Cell::number(value),
    }
}

/// Why a figure is to be read with care.
fn doubts(cells: &Rows<'_>, row: usize) -> Vec<&'static str> {
    let has = |name: &str| cells.text(row, name).is_some_and(|text| !text.is_empty());
    let measured = cells.text(row, column::OUTCOME) == Some("measured");
    let trust = cells.text(row, column::TRUST).unwrap_or_default();
    let all = [
        ("not settled", cells.flag(row, column::STABLE) == Some(false)),
        (column::EMULATED, trust == questions::latest::EMULATED),
        ("unverified", trust == questions::latest::UNVERIFIED),
        ("remote", trust == questions::latest::REMOTE),
        (column::IMPLAUSIBLE, trust == questions::latest::IMPLAUSIBLE),
        ("weakly checked", has(column::WEAK) || cells.flag(row, column::WEAK) == Some(true)),
        ("done otherwise", has(column::FIXES)),
        ("side by side", has(column::BESIDE)),
    ];
    all.into_iter().filter(|(_, holds)| measured && *holds).map(|(name, _)| name).collect()
}

/// What stood in the way, with the rows that it stopped.
struct Causes(Vec<Cause>);

struct Cause {
    outcome: String,
    reason: String,
    cells: usize,
    hardware: BTreeSet<String>,
    models: BTreeSet<String>,
}

impl Causes {
    fn of(cells: &Rows<'_>) -> Causes {
        let mut places: BTreeMap<(String, String), usize> = BTreeMap::new();
        let mut causes: Vec<Cause> = vec![];
        for row in 0..cells.len() {
            let Some(key) = key(cells, row) else { continue };
            let place = *places.entry(key.clone()).or_insert(causes.len());
            if place == causes.len() {
                let (outcome, reason) = key;
                causes.push(Cause { outcome, reason, cells: 0, hardware: BTreeSet::new(), models: BTreeSet::new() });
            }
            let cause = &mut causes[place];
            cause.cells += 1;
            cause.hardware.extend(cells.text(row, "hardware").map(String::from));
            cause.models.extend(cells.text(row, column::MODEL_ID).map(String::from));
        }
        Causes(causes)
    }

    /// From 1.
    fn number(&self, cells: &Rows<'_>, row: usize) -> usize {
        let key = key(cells, row);
        let is_it =
            |cause: &Cause| key.as_ref().is_some_and(|key| *key == (cause.outcome.clone(), cause.reason.clone()));
        self.0.iter().position(is_it).map_or(0, |place| place + 1)
    }

    /// "(1) unavailable, 27 cells on cuda: this machine has no NVIDIA GPU".
    fn sentences(&self) -> Vec<String> {
        let told = |(place, cause): (usize, &Cause)| {
            let cells = if cause.cells == 1 { "1 cell".to_string() } else { format!("{} cells", cause.cells) };
            let (hardware, models) = (names(&cause.hardware), names(&cause.models));
            format!("({}) {}, {cells} on {hardware} of {models}: {}", place + 1, cause.outcome, cause.reason)
        };
        self.0.iter().enumerate().map(told).collect()
    }
}

/// Outcome and reason of a cell that was not measured.
fn key(cells: &Rows<'_>, row: usize) -> Option<(String, String)> {
    let outcome = cells.text(row, column::OUTCOME).filter(|outcome| *outcome != "measured")?;
    Some((outcome.into(), cells.text(row, column::REASON).unwrap_or("no reason is known").into()))
}

fn names(all: &BTreeSet<String>) -> String {
    let few: Vec<&str> = all.iter().take(NAMES).map(String::as_str).collect();
    match all.len().saturating_sub(NAMES) {
        0 => few.join(", "),
        more => format!("{} and {more} more", few.join(", ")),
    }
}
