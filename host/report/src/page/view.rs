//! The page as the template reads it: what a table's markup needs is worked out here, once per column or cell.

use super::decisions::DecisionsView;
use super::embed;
use super::model::{
    Badge, Data, Decisions, Figure, Filter, Finding, Kind, Link, Page, PageCell, PageRow, PageTable, Section, Tone,
};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Serialize)]
pub struct View<'a> {
    kind: Kind,
    title: &'a str,
    verdict: &'a str,
    headline: Option<String>,
    decisions: Option<DecisionsView>,
    context: &'a [(String, String)],
    badges: &'a [Badge],
    notes: &'a [String],
    links: &'a [Link],
    filters: &'a [Filter],
    unit: &'a str,
    facts: &'a [(String, String)],
    sections: Vec<SectionView<'a>>,
    /// Whether there are models to search.
    searchable: bool,
    /// Nothing where there is nothing to save.
    json: String,
    csv: String,
    file_name: String,
}

#[derive(Serialize)]
struct SectionView<'a> {
    id: &'a str,
    title: &'a str,
    intro: &'a str,
    findings: &'a [Finding],
    /// What is seen at once.
    figures: Vec<FigureView<'a>>,
    /// What is seen when it is asked for.
    more: Vec<FigureView<'a>>,
    folded: bool,
}

#[derive(Serialize)]
struct FigureView<'a> {
    title: &'a str,
    note: &'a str,
    svg: Option<&'a str>,
    attributes: &'a BTreeMap<String, String>,
    counts: bool,
    /// Of the table, for the address. No section can have it, for the underscore in it.
    id: String,
    columns: &'a [String],
    /// Which columns hold numbers, as classes of the table.
    numeric: String,
    rows: Vec<RowView<'a>>,
}

#[derive(Serialize)]
struct RowView<'a> {
    attributes: &'a BTreeMap<String, String>,
    cells: Vec<CellView<'a>>,
}

#[derive(Serialize)]
struct CellView<'a> {
    shown: &'a str,
    /// What it is sorted by, where what is shown does not tell.
    sort: Option<String>,
    /// Nothing but its text, as nearly all are.
    plain: bool,
    tone: Option<Tone>,
    why: Option<&'a str>,
    href: Option<&'a str>,
}

impl<'a> View<'a> {
    pub fn of(page: &'a Page) -> View<'a> {
        let Page {
            kind,
            title,
            verdict,
            decisions,
            context,
            badges,
            notes,
            links,
            filters,
            unit,
            sections,
            facts,
            data,
        } = page;
        let Data { json, csv, name } = data;
        View {
            kind: *kind,
            title,
            verdict,
            headline: decisions.as_ref().map(|decisions| decisions.headline().unwrap_or_else(nothing)),
            decisions: decisions.as_ref().map(Decisions::view),
            context,
            badges,
            notes,
            links,
            filters,
            unit,
            facts,
            searchable: sections.iter().any(has_models),
            sections: sections.iter().map(section).collect(),
            json: embed::json(json),
            csv: if csv.is_empty() { String::new() } else { embed::text(csv) },
            file_name: embed::file_name(name),
        }
    }
}

/// So many figures of a section are seen at once.
const AT_ONCE: usize = 1;

/// What stands in place of a headline where nothing is compared.
fn nothing() -> String {
    crate::decision::WORDS.get("nothing").cloned().unwrap_or_default()
}

fn has_models(section: &Section) -> bool {
    let figures = section.figures.iter();
    let rows = figures.clone().flat_map(|figure| &figure.table.rows).map(|row| &row.attributes);
    let findings = section.findings.iter().map(|finding| &finding.attributes);
    rows.chain(findings)
        .chain(figures.map(|figure| &figure.attributes))
        .any(|attributes| attributes.contains_key("model"))
}

fn section(section: &Section) -> SectionView<'_> {
    let Section { id, title, intro, findings, figures, folded } = section;
    let numbered = figures.iter().enumerate();
    let mut figures: Vec<FigureView<'_>> =
        numbered.map(|(index, drawn)| figure(drawn, format!("{id}_{}", index + 1))).collect();
    let more = if *folded { vec![] } else { figures.split_off(figures.len().min(AT_ONCE)) };
    SectionView { id, title, intro, findings, figures, more, folded: *folded }
}

fn figure(figure: &Figure, id: String) -> FigureView<'_> {
    let Figure { title, note, svg, table, attributes, counts, stands_alone: _ } = figure;
    FigureView {
        title,
        note,
        svg: svg.as_deref(),
        attributes,
        counts: *counts,
        id,
        columns: &table.columns,
        numeric: numeric(table),
        rows: table.rows.iter().map(row).collect(),
    }
}

/// A column is one of numbers where a number stands in it. The style knows the first forty.
fn numeric(table: &PageTable) -> String {
    let holds_numbers = |column: &usize| table.rows.iter().any(|row| row.cells[*column].value.is_number());
    let classes = (0..table.columns.len().min(40)).filter(holds_numbers).map(|column| format!("n{}", column + 1));
    classes.collect::<Vec<_>>().join(" ")
}

fn row(row: &PageRow) -> RowView<'_> {
    RowView { attributes: &row.attributes, cells: row.cells.iter().map(cell).collect() }
}

fn cell(cell: &PageCell) -> CellView<'_> {
    let PageCell { value, shown, tone, why, href } = cell;
    let sort = sort_key(value, shown);
    let plain = sort.is_none() && tone.is_none() && why.is_none() && href.is_none();
    CellView { shown, sort, plain, tone: *tone, why: why.as_deref(), href: href.as_deref() }
}

/// The number behind a text that is not that number to about three digits.
fn sort_key(value: &Value, shown: &str) -> Option<String> {
    let number = value.as_f64()?;
    let close = |told: f64| (told - number).abs() <= 0.006 * number.abs();
    if shown.parse().is_ok_and(close) { None } else { Some(value.to_string()) }
}

#[cfg(test)]
mod tests {
    use super::sort_key;
    use serde_json::json;

    #[test]
    fn a_number_is_written_twice_only_where_what_is_shown_hides_it() {
        assert_eq!(sort_key(&json!(1.2345), "1.23"), None);
        assert_eq!(sort_key(&json!(1.2345), "1.23×"), Some("1.2345".into()));
        assert_eq!(sort_key(&json!(4_000_000), "4 M"), Some("4000000".into()));
        assert_eq!(sort_key(&json!("cpu"), "cpu"), None);
        assert_eq!(sort_key(&json!(null), "-"), None);
    }
}
