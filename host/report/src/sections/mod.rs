//! What stored results tell: which questions are asked of them, in which order, and in which words. The page and the Markdown are
//! drawn from it.
//!
//! - `head`: badges, warnings, where the figures come from. `decided`: what the decision table stands on.
//! - `build`: tables and charts by subject. `findings`: problems, ways around, and what to change.
//! - `dashboard`: pages over all runs. `trend`: changes over time. `matrix`: the compatibility matrix. `rows`, `tables`: frames as tables that readers can filter.
//! - `words.toml`: the words.
//!
//! Not here: figures. Each is asked of `skillbench_results`, and stands here as it was answered.

mod build;
mod dashboard;
mod decided;
mod findings;
mod head;
mod matrix;
mod rows;
mod tables;
pub mod trend;

pub use build::sources;
pub use dashboard::{Site, dashboard};
pub use matrix::matrix;

use crate::page::{Choice, Data, Filter, Kind, Page, PageError, Section};
use crate::plots::{PlotError, PlotKind};
use polars::prelude::{DataFrame, PolarsError};
pub(crate) use rows::{Rows, now, placed};
use serde::Deserialize;
use skillbench_charts::Look;
use skillbench_results::Stored;
use std::collections::BTreeMap;
use std::sync::LazyLock;

#[derive(Debug, thiserror::Error)]
pub enum SectionError {
    #[error("the results could not be worked through: {0}")]
    Frames(#[from] PolarsError),
    #[error(transparent)]
    Plot(#[from] PlotError),
    #[error(transparent)]
    Page(#[from] PageError),
}

/// What a report is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// All that one run, or several together, tell.
    Run,
    /// Hardware side by side, and two runs before and after.
    Comparison,
    /// What to change, with the evidence for it.
    Optimization,
    /// Plots alone.
    Drawings,
}

#[derive(Deserialize)]
struct Words {
    section: BTreeMap<String, SectionWords>,
    advice: BTreeMap<String, Advice>,
}

#[derive(Deserialize)]
struct SectionWords {
    title: String,
    intro: String,
}

#[derive(Deserialize)]
struct Advice {
    title: String,
    todo: String,
}

static WORDS: LazyLock<Words> =
    LazyLock::new(|| toml::from_str(include_str!("words.toml")).expect("words.toml is part of the crate"));

/// The report of what is stored, ready to be drawn.
///
/// # Errors
/// Results that cannot be worked through.
pub fn report(stored: &Stored, about: About, look: &Look) -> Result<Page, SectionError> {
    let asked = build::Asked { stored, look };
    let sections = match about {
        About::Run => asked.all()?,
        About::Comparison => asked.comparison()?,
        About::Optimization => asked.optimization()?,
        About::Drawings => vec![],
    };
    let kind = if about == About::Comparison { Kind::Comparison } else { Kind::Run };
    Ok(Page {
        kind,
        title: head::title(stored, about),
        verdict: head::verdict(&stored.cells)?,
        decisions: decided::decisions(&stored.cells, look)?,
        context: decided::context(stored)?,
        badges: head::badges(&stored.cells)?,
        notes: head::notes(stored)?,
        links: vec![],
        filters: filters(&stored.cells)?,
        unit: "cells".into(),
        sections: within(sections),
        facts: head::facts(stored),
        data: data(stored)?,
    })
}

/// A page of plots. Kinds that were asked for by name stand there with nothing to draw, too.
///
/// # Errors
/// As [`report`].
pub fn drawings(stored: &Stored, kinds: &[PlotKind], asked: bool, look: &Look) -> Result<Page, SectionError> {
    let build = build::Asked { stored, look };
    let mut sections = vec![];
    for kind in kinds {
        sections.push(Section {
            id: kind.name().into(),
            title: kind.meaning().trim().trim_end_matches('.').into(),
            figures: build.figures_of(*kind, asked)?,
            ..Section::default()
        });
    }
    Ok(Page { sections: within(build::with_content(sections)), ..report(stored, About::Drawings, look)? })
}

/// What readers choose by: each with the values that are there.
fn filters(cells: &DataFrame) -> Result<Vec<Filter>, SectionError> {
    let placed = rows::placed(cells.clone())?;
    let rows = Rows(&placed);
    let mut filters = vec![];
    for (key, label, column) in rows::ATTRIBUTES {
        let mut values: Vec<String> = (0..rows.len()).filter_map(|row| rows.said(row, column)).collect();
        values.sort_by(|one, other| match (one.parse::<f64>(), other.parse::<f64>()) {
            (Ok(one), Ok(other)) => one.total_cmp(&other),
            _ => one.cmp(other),
        });
        values.dedup();
        // With one value there is nothing to choose.
        if values.len() > 1 {
            let values = values.into_iter().map(Choice::from).collect();
            filters.push(Filter { key: key.into(), label: label.into(), values });
        }
    }
    Ok(filters)
}

/// So many bytes of charts a page carries. What goes beyond is told, and drawn by `host plot`.
const CHARTS: usize = 700_000;

/// The sections with the charts that a page can carry, in the order in which they stand.
fn within(mut sections: Vec<Section>) -> Vec<Section> {
    let mut room = CHARTS;
    for section in &mut sections {
        let before = section.figures.len();
        section.figures.retain(|figure| match figure.svg.as_ref().map(String::len) {
            Some(size) if size > room => false,
            Some(size) => {
                room -= size;
                true
            }
            None => true,
        });
        let left_out = before - section.figures.len();
        if left_out > 0 {
            section.intro += &format!(" {left_out} more charts do not fit into a page: `host plot` draws them.");
        }
    }
    sections
}

/// The cells as they are stored, for whoever goes on with them: a list of columns and a list of rows.
fn data(stored: &Stored) -> Result<Data, SectionError> {
    let mut table = rows::table(&stored.cells);
    table.keep_columns(|_, cells| cells.iter().any(|cell| !cell.value.is_null()));
    let name = stored.runs.last().map_or("results", |run| run.run_id.as_str());
    let values: Vec<Vec<&serde_json::Value>> =
        table.rows.iter().map(|row| row.iter().map(|cell| &cell.value).collect()).collect();
    let json = serde_json::json!({"columns": table.columns, "rows": values}).to_string();
    table.keep_columns(|name, _| tables::is_told(name));
    Ok(Data { json, csv: table.render(crate::Format::Csv), name: format!("skillbench-{name}") })
}
