//! What a page is made of. Whoever fills it decides what is told; the page only lays it out.

use crate::decision::{Metric, Point};
use crate::{Cell, Table};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// A whole page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    pub kind: Kind,
    pub title: String,
    /// How much was measured.
    pub verdict: String,
    /// Which hardware to take; what a reader in a hurry takes away is computed from it.
    pub decisions: Option<Decisions>,
    /// Where it was measured: machine, engines, threads, precision, batch, date.
    pub context: Vec<(String, String)>,
    pub badges: Vec<Badge>,
    /// Warnings in plain words.
    pub notes: Vec<String>,
    /// Other pages beside this one.
    pub links: Vec<Link>,
    pub filters: Vec<Filter>,
    /// What the rows of counting figures are: "cells", "runs", "models".
    pub unit: String,
    pub sections: Vec<Section>,
    /// Provenance: names and values.
    pub facts: Vec<(String, String)>,
    pub data: Data,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    #[default]
    Run,
    Dashboard,
    Model,
    Index,
    Comparison,
}

/// How something is meant. It is told by a sign as well as by a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tone {
    Good,
    Warn,
    Bad,
    Info,
    Emulated,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Badge {
    /// One word or two: "valid", "noisy", "emulated", "remote".
    pub text: String,
    pub tone: Tone,
    /// What makes it so; it stands beside the badge.
    pub why: String,
}

/// Lets readers choose values of an attribute. Where none is chosen, all are shown.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Filter {
    /// The attribute, without `data-`: "hardware".
    pub key: String,
    pub label: String,
    pub values: Vec<Choice>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Choice {
    /// As attributes have it.
    pub value: String,
    /// As people read it.
    pub label: String,
}

impl<T: Into<String>> From<T> for Choice {
    fn from(value: T) -> Choice {
        let value = value.into();
        Choice { label: value.clone(), value }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Section {
    /// Part of the address: small letters, digits and dashes, once in a page.
    pub id: String,
    pub title: String,
    pub intro: String,
    pub findings: Vec<Finding>,
    pub figures: Vec<Figure>,
    /// For whoever wants all the numbers: closed until it is asked for.
    pub folded: bool,
}

/// What was measured at each point, by metric: those first that decide.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decisions {
    pub metrics: Vec<(Metric, Vec<Point>)>,
    /// The colour of each hardware.
    pub colours: BTreeMap<String, String>,
}

/// A problem, a way around one, or an advice.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    pub tone: Tone,
    pub title: String,
    /// What it was seen by.
    pub evidence: String,
    /// What to do, where there is something.
    pub advice: Option<String>,
    pub attributes: BTreeMap<String, String>,
}

/// A chart with the table behind it, or a table alone.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Figure {
    pub title: String,
    pub note: String,
    /// A drawing of `skillbench_charts` in the theme `Page`. It goes into the page as it is: nothing else may stand here.
    pub svg: Option<String>,
    pub table: PageTable,
    /// What filters act on, where the whole figure belongs to one value.
    pub attributes: BTreeMap<String, String>,
    /// Its table tells what nothing else on the page does, so that it stands in Markdown too.
    pub stands_alone: bool,
    /// Whether its rows are what the page counts. Where no figure says so, all rows are counted.
    pub counts: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PageTable {
    pub columns: Vec<String>,
    pub rows: Vec<PageRow>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PageRow {
    /// What filters act on: "hardware" to "cuda".
    pub attributes: BTreeMap<String, String>,
    pub cells: Vec<PageCell>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PageCell {
    pub value: Value,
    pub shown: String,
    pub tone: Option<Tone>,
    /// The reason, shown below: why a cell failed, or was not run.
    pub why: Option<String>,
    /// Another page, relative to this one.
    pub href: Option<String>,
}

/// What readers can save, and the start of the file names.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Data {
    /// JSON text; written without spaces it makes a smaller page.
    pub json: String,
    pub csv: String,
    pub name: String,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Link {
    /// Relative to this page.
    pub href: String,
    pub text: String,
}

impl PageRow {
    pub fn new<const N: usize>(attributes: &[(&str, &str)], cells: [PageCell; N]) -> PageRow {
        let attributes = attributes.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        PageRow { attributes, cells: cells.into() }
    }
}

impl PageCell {
    pub fn tone(self, tone: Tone) -> PageCell {
        PageCell { tone: Some(tone), ..self }
    }

    pub fn why(self, why: impl Into<String>) -> PageCell {
        PageCell { why: Some(why.into()), ..self }
    }

    pub fn href(self, href: impl Into<String>) -> PageCell {
        PageCell { href: Some(href.into()), ..self }
    }
}

impl<T: Into<Cell>> From<T> for PageCell {
    fn from(cell: T) -> PageCell {
        let Cell { value, shown, tone } = cell.into();
        PageCell { value, shown, tone, why: None, href: None }
    }
}

impl From<Table> for PageTable {
    fn from(table: Table) -> PageTable {
        let row = |cells: Vec<Cell>| PageRow {
            attributes: BTreeMap::new(),
            cells: cells.into_iter().map(PageCell::from).collect(),
        };
        PageTable { columns: table.columns, rows: table.rows.into_iter().map(row).collect() }
    }
}
