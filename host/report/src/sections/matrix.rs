//! The compatibility matrix as a page.

use super::build::tabled;
use super::head;
use crate::Cell;
use crate::page::{Choice, Data, Filter, Kind, Page, PageCell, PageRow, PageTable, Section, Tone};
use skillbench_record::catalog::column;
use skillbench_results::matrix::{self, Entry, Matrix, Rating, Status};

/// The page of a matrix.
pub fn matrix(matrix: &Matrix) -> Page {
    let rule = matrix::rule();
    let mut models = empty(matrix, &[column::FAMILY, "model"]);
    let mut families = empty(matrix, &[column::FAMILY]);
    for family in &matrix.families {
        let attributes = [(column::FAMILY, family.name.as_str())];
        families.rows.push(row(&attributes, &[&family.name], &family.entries));
        for model in &family.models {
            let attributes = [(column::FAMILY, family.name.as_str()), ("model", model.id.as_str())];
            models.rows.push(row(&attributes, &[&family.name, &model.describe()], &model.entries));
        }
    }
    let mut legend = PageTable { columns: vec!["rating".into(), "at least".into(), "means".into()], rows: vec![] };
    for rating in &rule.ratings {
        let least =
            rating.at_least.map_or_else(Cell::none, |least| Cell::text(format!("{least} times {}", rule.baseline)));
        let cells =
            [PageCell::from(rating.name.name()), PageCell::from(least), PageCell::from(rating.meaning.as_str())];
        legend.rows.push(PageRow::new(&[], cells));
    }
    let count = |status: Status| {
        matrix.models().flat_map(|model| &model.entries).filter(|entry| entry.status == status).count()
    };
    let names: Vec<&str> = matrix.families.iter().map(|family| family.name.as_str()).collect();
    let by_model = crate::page::Figure { counts: true, ..tabled("Models", "", models) };
    Page {
        kind: Kind::Index,
        title: "What runs where".into(),
        verdict: format!(
            "{} on {}: {} pairs measured, {} failed, {} unsupported, {} unavailable, {} not tried.",
            head::plural(matrix.models().count(), "model"),
            head::plural(matrix.hardware.len(), "backend"),
            count(Status::Measured),
            count(Status::Failed),
            count(Status::Unsupported),
            count(Status::Unavailable),
            count(Status::NotTried)
        ),
        filters: vec![Filter {
            key: column::FAMILY.into(),
            label: "Family".into(),
            values: names.into_iter().map(Choice::from).collect(),
        }],
        unit: "models".into(),
        sections: vec![
            Section {
                id: "matrix".into(),
                title: "Models by hardware".into(),
                intro: format!("Speed against {} at the same points and precision.", rule.baseline),
                figures: vec![by_model, tabled("Families", "Geometric means over their models.", families)],
                ..Section::default()
            },
            Section {
                id: "rule".into(),
                title: "The rule".into(),
                intro: "Failed, unavailable and not tried are three different things; none of them is a rating.".into(),
                figures: vec![tabled("Ratings", "", legend)],
                ..Section::default()
            },
        ],
        data: Data { json: matrix::json(matrix).to_string(), csv: csv(matrix), name: "compatibility-matrix".into() },
        ..Page::default()
    }
}

fn empty(matrix: &Matrix, first: &[&str]) -> PageTable {
    let columns = first.iter().map(|name| name.to_string()).chain(matrix.hardware.iter().cloned()).collect();
    PageTable { columns, rows: vec![] }
}

fn row(attributes: &[(&str, &str)], names: &[&str], entries: &[Entry]) -> PageRow {
    let cells = names.iter().map(|name| PageCell::from(*name)).chain(entries.iter().map(cell)).collect();
    PageRow { cells, ..PageRow::new(attributes, []) }
}

fn cell(entry: &Entry) -> PageCell {
    let cell = PageCell::from(entry.describe());
    let toned = match (entry.rating, entry.status) {
        (Rating::High | Rating::MediumHigh, _) => cell.tone(Tone::Good),
        (Rating::Medium, _) => cell,
        (Rating::Low, _) => cell.tone(Tone::Warn),
        (_, Status::Failed | Status::Unsupported) => cell.tone(Tone::Bad),
        _ if entry.emulated => cell.tone(Tone::Emulated),
        _ => cell.tone(Tone::Info),
    };
    match &entry.reason {
        Some(reason) => toned.why(reason.clone()),
        None => toned,
    }
}

fn csv(of: &Matrix) -> String {
    let (columns, rows) = matrix::table(of, true);
    crate::Table::from_values(columns, rows).render(crate::Format::Csv)
}
