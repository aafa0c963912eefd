//! Pages over all that is stored: an index of runs, and one page for each model, each backend and each of the newest runs. Wherever a
//! run is named, its page is a step away.

use super::build::{Asked, section, tabled, with_content};
use super::rows::{Rows, page_table, placed};
use super::{About, SectionError, data, decided, filters, head, report, trend, within};
use crate::Cell;
use crate::page::{Kind, Link, Page, PageCell, PageRow, PageTable};
use crate::plots::PlotKind;
use polars::prelude::*;
use skillbench_charts::Look;
use skillbench_record::catalog::column;
use skillbench_results::{Stored, questions};
use std::collections::{BTreeMap, BTreeSet};

/// So many runs have pages of their own, the newest.
const RUN_PAGES: usize = 50;

/// Pages by their file, relative to the first.
pub struct Site {
    pub pages: Vec<(String, Page)>,
}

/// The dashboard of what is stored; `index.html` comes first.
///
/// # Errors
/// Results that cannot be worked through.
pub fn dashboard(stored: &Stored, look: &Look) -> Result<Site, SectionError> {
    let (models, backends) = (files(&stored.cells, column::MODEL_ID), files(&stored.cells, column::PLUGIN));
    let mut runs = files(&stored.cells, column::RUN);
    let newest: BTreeSet<&str> = stored.runs.iter().rev().take(RUN_PAGES).map(|run| run.run_id.as_str()).collect();
    runs.retain(|run, _| newest.contains(run.as_str()));
    let mut pages = vec![("index.html".to_string(), index(stored, look, &models, &backends)?)];
    for (model, file) in &models {
        pages.push((format!("models/{file}"), page_of(model, &only(stored, column::MODEL_ID, model)?, look)?));
    }
    for (backend, file) in &backends {
        let page = page_of(backend, &only(stored, column::PLUGIN, backend)?, look)?;
        // A backend by itself decides nothing.
        pages.push((format!("hardware/{file}"), Page { decisions: None, ..page }));
    }
    for (run, file) in &runs {
        let page = report(&only(stored, column::RUN, run)?, About::Run, look)?;
        pages.push((format!("runs/{file}"), Page { links: vec![back()], ..page }));
    }
    for (file, page) in &mut pages {
        link_runs(page, &runs, if file.contains('/') { "../" } else { "" });
    }
    Ok(Site { pages })
}

/// Leads from each run that a table names to its page.
fn link_runs(page: &mut Page, runs: &BTreeMap<String, String>, to_index: &str) {
    for table in page.sections.iter_mut().flat_map(|section| &mut section.figures).map(|figure| &mut figure.table) {
        let Some(place) = table.columns.iter().position(|name| name == column::RUN) else { continue };
        for cell in table.rows.iter_mut().filter_map(|row| row.cells.get_mut(place)) {
            let file = cell.value.as_str().and_then(|run| runs.get(run));
            cell.href = file.map(|file| format!("{to_index}runs/{file}"));
        }
    }
}

fn back() -> Link {
    Link { href: "../index.html".into(), text: "All benchmarks".into() }
}

/// What is stored of one model, backend or run.
fn only(stored: &Stored, column: &str, name: &str) -> Result<Stored, SectionError> {
    let cells = stored.cells.clone().lazy().filter(col(column).eq(lit(name))).collect()?;
    let runs: BTreeSet<String> = texts(&cells, column::RUN).into_iter().collect();
    Ok(Stored {
        runs: stored.runs.iter().filter(|run| runs.contains(&run.run_id)).cloned().collect(),
        cells,
        samples: None,
        plugin_metrics: vec![],
        damaged: vec![],
    })
}

fn texts(frame: &DataFrame, column: &str) -> Vec<String> {
    let rows = Rows(frame);
    (0..rows.len()).filter_map(|row| rows.text(row, column)).map(String::from).collect()
}

/// A file for each name in a column. Names may hold anything; files do not.
fn files(cells: &DataFrame, column: &str) -> BTreeMap<String, String> {
    let mut taken: BTreeSet<String> = BTreeSet::new();
    let mut files = BTreeMap::new();
    for model in texts(cells, column).into_iter().collect::<BTreeSet<_>>() {
        let plain: String = model
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || c == '-' { c.to_ascii_lowercase() } else { '-' })
            .collect();
        let mut name = plain.clone();
        let mut number = 1;
        while !taken.insert(name.clone()) {
            number += 1;
            name = format!("{plain}-{number}");
        }
        files.insert(model, format!("{name}.html"));
    }
    files
}

fn index(
    stored: &Stored,
    look: &Look,
    files: &BTreeMap<String, String>,
    backends: &BTreeMap<String, String>,
) -> Result<Page, SectionError> {
    let asked = Asked { stored, look };
    let mut models = section("models");
    let mut table = page_table(
        &questions::by_model(stored.cells.clone())?,
        &[
            (column::MODEL_ID, "model"),
            ("hardware", "hardware"),
            (column::BENCHMARK, column::BENCHMARK),
            (column::PRECISION, column::PRECISION),
            (column::TRUST, column::TRUST),
            (column::FAMILY, column::FAMILY),
            (column::PARAMETER_COUNT, "parameters"),
            ("cells", "cells"),
            ("latency_least_ms", "least ms"),
            ("latency_most_ms", "most ms"),
            ("throughput_most_per_sec", "most per second"),
            (column::PEAK_MEMORY_MB, "peak MiB"),
            ("speedup", "speed-up over cpu"),
        ],
    );
    for row in &mut table.rows {
        let href = row.attributes.get("model").and_then(|model| files.get(model)).map(|file| format!("models/{file}"));
        if let (Some(first), Some(href)) = (row.cells.first_mut(), href) {
            first.href = Some(href);
        }
    }
    models.figures.push(tabled("All models", "", table));
    models.figures.push(tabled("All backends", "", backends_table(stored, backends)));
    let mut matrix = section("hardware");
    matrix.figures = asked.figures(PlotKind::ModelHeatMap)?;
    matrix.figures.extend(asked.figures(PlotKind::HeatMap)?);
    let sections = vec![matrix, asked.relative()?, asked.groups()?, models, trend::section(&asked)?, runs(stored)?];
    Ok(Page {
        kind: Kind::Dashboard,
        title: "Benchmarks".into(),
        verdict: head::verdict(&stored.cells)?,
        decisions: decided::decisions(&stored.cells, look)?,
        context: decided::context(stored)?,
        badges: head::badges(&stored.cells)?,
        notes: head::notes(stored)?,
        filters: filters(&stored.cells)?,
        unit: "rows".into(),
        sections: within(with_content(sections)),
        facts: vec![],
        links: vec![],
        data: data(stored)?,
    })
}

/// Each backend with its page, and how many of its cells were measured.
fn backends_table(stored: &Stored, files: &BTreeMap<String, String>) -> PageTable {
    let rows = Rows(&stored.cells);
    let columns = ["backend", "cells", "measured"].map(String::from).into();
    let of = |(backend, file): (&String, &String)| {
        let own: Vec<usize> =
            (0..rows.len()).filter(|row| rows.text(*row, column::PLUGIN) == Some(backend.as_str())).collect();
        let measured = own.iter().filter(|row| rows.text(**row, column::OUTCOME) == Some("measured")).count();
        let name = PageCell::from(backend.as_str()).href(format!("hardware/{file}"));
        PageRow::new(&[], [name, Cell::count(own.len() as u64).into(), Cell::count(measured as u64).into()])
    };
    PageTable { columns, rows: files.iter().map(of).collect() }
}

/// The index of runs.
fn runs(stored: &Stored) -> Result<crate::page::Section, SectionError> {
    let frame = placed(stored.cells.clone())?;
    let rows = Rows(&frame);
    let mut counts: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for row in 0..rows.len() {
        let count = counts.entry(rows.text(row, column::RUN).unwrap_or_default()).or_default();
        count.0 += 1;
        count.1 += u64::from(rows.text(row, column::OUTCOME) == Some("measured"));
    }
    let mut table = PageTable {
        columns: [column::RUN, "began", column::MACHINE, "cells", "measured", "command"].map(String::from).into(),
        rows: vec![],
    };
    for run in stored.runs.iter().rev() {
        let (cells, measured) = counts.get(run.run_id.as_str()).copied().unwrap_or_default();
        let machine = run.environment.hostname.clone().unwrap_or_default();
        table.rows.push(PageRow {
            attributes: BTreeMap::new(),
            cells: vec![
                PageCell::from(run.run_id.as_str()),
                PageCell::from(run.started_at.as_str()),
                PageCell::from(machine),
                PageCell::from(Cell::count(cells)),
                PageCell::from(Cell::count(measured)),
                PageCell::from(run.command.join(" ")),
            ],
        });
    }
    let mut section = section("runs");
    section.figures.push(tabled("All runs", "The newest first.", table));
    Ok(section)
}

/// The page of a model, or of a backend.
fn page_of(name: &str, stored: &Stored, look: &Look) -> Result<Page, SectionError> {
    let asked = Asked { stored, look };
    let mut sections = asked.all()?;
    let trend = with_content(vec![trend::section(&asked)?]);
    let before_results = sections.len().saturating_sub(1);
    sections.splice(before_results..before_results, trend);
    Ok(Page {
        kind: Kind::Model,
        title: name.into(),
        verdict: head::verdict(&stored.cells)?,
        decisions: decided::decisions(&stored.cells, look)?,
        context: decided::context(stored)?,
        badges: head::badges(&stored.cells)?,
        notes: head::notes(stored)?,
        links: vec![back()],
        filters: filters(&stored.cells)?,
        unit: "cells".into(),
        sections: within(sections),
        facts: head::facts(stored),
        data: data(stored)?,
    })
}
