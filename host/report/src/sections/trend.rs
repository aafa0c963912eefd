//! Changes over time, as a table, as a text for a pull request, and in a sentence.

use super::SectionError;
use super::build::{Asked, tabled};
use crate::page::{PageTable, Section};
use crate::plots::PlotKind;
use crate::{Cell, Format, Table};
use skillbench_record::catalog::column;
use skillbench_record::shown::markdown::line;
use skillbench_record::subject;
use skillbench_results::questions::latest::HARDWARE;
use skillbench_results::trend::{self, Change, Judged, date};
use std::collections::{BTreeMap, BTreeSet};

type Reported<'a> = (&'a Judged, &'a Change);

/// Columns that people need only where there is something to tell apart.
const APART: [&str; 7] = [
    column::MACHINE,
    column::THREADS,
    column::WORKERS,
    column::OPTIONS,
    column::BESIDE,
    column::TRUST,
    column::PRECISION,
];

/// A row for each change. Programs get every column.
pub fn table(told: &[Reported<'_>], whole: bool) -> Table {
    let mut table = Table::new([
        "model",
        "hardware",
        column::BENCHMARK,
        column::AXES,
        column::PRECISION,
        column::THREADS,
        column::WORKERS,
        column::OPTIONS,
        column::BESIDE,
        column::TRUST,
        column::MACHINE,
        "metric",
        column::RUN,
        "began",
        "before",
        "runs_before",
        "after",
        "runs_after",
        "change",
        "p",
        "changed_with_it",
    ])
    .least([
        column::MACHINE,
        "p",
        "began",
        "runs_before",
        "runs_after",
        column::TRUST,
        column::PRECISION,
        column::BENCHMARK,
        column::THREADS,
        column::RUN,
        column::AXES,
        "changed_with_it",
    ]);
    for (judged, change) in told {
        let (history, of) = (&judged.history, &judged.history.of);
        let figure = |value: f64| {
            let cell = Cell::number(value);
            Cell { shown: format!("{} {}", cell.shown, history.metric.unit), ..cell }
        };
        let point = change.point(history);
        let text = |text: &Option<String>| Cell::maybe(text.as_deref(), Cell::text);
        table.row([
            of.model_id.as_str().into(),
            of.hardware.as_str().into(),
            of.benchmark.as_str().into(),
            of.axes.as_str().into(),
            text(&of.precision),
            Cell::maybe(of.threads, |n| Cell::count(n.unsigned_abs())),
            Cell::maybe(of.workers, |n| Cell::count(n.unsigned_abs())),
            text(&of.options),
            text(&of.beside),
            of.trust.as_str().into(),
            of.machine.as_str().into(),
            history.metric.name.as_str().into(),
            Cell::maybe(point, |point| point.run.as_str().into()),
            Cell::maybe(point, |point| date(point.time).into()),
            figure(change.before.median),
            Cell::count(change.before.n as u64),
            figure(change.after.median),
            Cell::count(change.after.n as u64),
            Cell::new(change.ratio, history.metric.describe(change.ratio)),
            Cell::number(change.p),
            change.explained().into(),
        ]);
    }
    if !whole {
        table.keep_columns(|name, cells| {
            let values: BTreeSet<&str> = cells.iter().map(|cell| cell.shown.as_str()).collect();
            let usual = name != column::TRUST || values.iter().all(|value| *value == HARDWARE);
            !APART.contains(&name) || values.len() > 1 || !usual
        });
    }
    table
}

/// So many rows of a table a comment has; the largest changes stand in it.
const MOST: usize = 20;

/// Short enough for a comment on a pull request.
pub fn markdown(summary: &str, notes: &[String], told: &[Reported<'_>]) -> String {
    let mut text = format!("### Trend: {}\n", line(summary));
    for (worse, title) in [(true, "Worse"), (false, "Better")] {
        let mut some: Vec<Reported<'_>> = told.iter().copied().filter(|(_, change)| change.worse == worse).collect();
        if some.is_empty() {
            continue;
        }
        let size = |told: &Reported<'_>| told.1.ratio.ln().abs();
        some.sort_by(|one, other| size(other).total_cmp(&size(one)));
        let more = some.len().saturating_sub(MOST);
        some.truncate(MOST);
        let mut table = table(&some, false);
        table.keep_columns(|name, _| !["runs_before", "runs_after"].contains(&name));
        text += &format!("\n**{title}**\n\n{}", table.render(Format::Markdown));
        if more > 0 {
            text += &format!("\n{more} smaller ones: `host trend`\n");
        }
    }
    if !notes.is_empty() {
        text.push('\n');
        notes.iter().for_each(|note| text += &format!("- {}\n", line(note)));
    }
    text
}

/// The section of a page: what changed, and the figures over time.
pub(super) fn section(asked: &Asked<'_>) -> Result<Section, SectionError> {
    let mut section = asked.drawn("trend", &[PlotKind::Trend])?;
    let judged = trend::judge(trend::histories(asked.stored.cells.clone(), &asked.stored.runs, None)?);
    let told: Vec<Reported<'_>> =
        judged.iter().flat_map(|one| one.changes.iter().flatten().map(move |change| (one, change))).collect();
    let long_enough = judged.iter().filter(|one| one.changes.is_some()).count();
    if told.is_empty() {
        if long_enough > 0 {
            section.intro += &format!(" No change was found in {long_enough} histories.");
        }
        return Ok(section);
    }
    let short = judged.len() - long_enough;
    let note = format!("{long_enough} histories were judged together; {short} are too short for it.");
    let mut page = PageTable::from(table(&told, false));
    for (row, (judged, _)) in page.rows.iter_mut().zip(&told) {
        let of = &judged.history.of;
        let known = [("model", &of.model_id), ("hardware", &of.hardware), (column::BENCHMARK, &of.benchmark)];
        let known = known.into_iter().chain(of.precision.as_ref().map(|precision| (column::PRECISION, precision)));
        row.attributes = known.map(|(name, value)| (name.to_string(), value.clone())).collect::<BTreeMap<_, _>>();
    }
    section.figures.insert(0, tabled("Changes", &note, page));
    Ok(section)
}

/// "bert-tiny on cpu (inference, batch=1): 1.25x slower since run ...".
pub fn sentence(judged: &Judged, change: &Change) -> String {
    let (history, of) = (&judged.history, &judged.history.of);
    let number = |value: f64| Cell::number(value).shown;
    let trust = if of.trust == HARDWARE { "" } else { of.trust.as_str() };
    let benchmark = if of.model_id.is_empty() { "" } else { of.benchmark.as_str() };
    let circumstances = [benchmark, &of.axes, of.precision.as_deref().unwrap_or_default(), trust];
    let circumstances: Vec<&str> = circumstances.into_iter().filter(|text| !text.is_empty()).collect();
    let what = match of.model_id.is_empty() {
        true => subject("", &of.hardware, &of.benchmark),
        false => format!("{} on {}", of.model_id, of.hardware),
    };
    let (run, began) = change.point(history).map(|point| (point.run.as_str(), date(point.time))).unwrap_or_default();
    format!(
        "{what} ({}): {} {} since run {run} of {began}: {} -> {} {}, medians of {} and {} runs, p {}; {}",
        circumstances.join(", "),
        history.metric.name,
        history.metric.describe(change.ratio),
        number(change.before.median),
        number(change.after.median),
        history.metric.unit,
        change.before.n,
        change.after.n,
        number(change.p),
        change.explained()
    )
}
