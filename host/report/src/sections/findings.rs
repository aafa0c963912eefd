//! Problems, ways around them, and what to change.

use super::rows::Rows;
use super::{SectionError, WORDS};
use crate::Cell;
use crate::page::{Finding, Tone};
use polars::prelude::DataFrame;
use skillbench_record::Run;
use skillbench_record::catalog::column;
use skillbench_results::questions;

/// Of one kind of advice, so many pieces are told one by one; the table has all.
const OF_A_KIND: usize = 5;

/// Cells that were not measured, by what stood in the way.
pub fn problems(cells: &DataFrame) -> Result<Vec<Finding>, SectionError> {
    let frame = questions::problems(cells.clone())?;
    let rows = Rows(&frame);
    let finding = |row: usize| {
        let outcome = rows.text(row, column::OUTCOME).unwrap_or_default();
        let tone = match outcome {
            "unavailable" | "skipped" => Tone::Info,
            "unsupported" => Tone::Warn,
            _ => Tone::Bad,
        };
        let hardware = rows.text(row, "hardware").unwrap_or_default();
        let cells = rows.count(row, "cells");
        let plural = if cells == 1 { column::CELL } else { "cells" };
        Finding {
            tone,
            title: format!("{hardware}: {outcome}"),
            evidence: format!(
                "{cells} {plural} of {}. {}",
                rows.text(row, "model_ids").unwrap_or_default(),
                rows.text(row, column::REASON).unwrap_or_default()
            ),
            advice: None,
            attributes: rows.attributes(row),
        }
    };
    Ok((0..rows.len()).map(finding).collect())
}

/// Backends that nobody asked for by name and that could not take part.
pub fn left_out(runs: &[Run]) -> Vec<Finding> {
    let all = runs.iter().flat_map(|run| &run.left_out);
    let mut findings: Vec<Finding> = vec![];
    for (plugin, why) in all {
        let attributes = [("hardware".to_string(), plugin.clone())].into();
        let finding = Finding {
            tone: Tone::Info,
            title: format!("{plugin}: left out"),
            evidence: why.clone(),
            advice: None,
            attributes,
        };
        if !findings.contains(&finding) {
            findings.push(finding);
        }
    }
    findings
}

/// What was done otherwise than asked.
pub fn fixes(cells: &DataFrame) -> Result<Vec<Finding>, SectionError> {
    let frame = questions::fixes(cells.clone())?;
    let rows = Rows(&frame);
    let finding = |row: usize| Finding {
        tone: Tone::Info,
        title: format!(
            "{}: {}",
            rows.text(row, "hardware").unwrap_or_default(),
            rows.text(row, column::FIXES).unwrap_or_default()
        ),
        evidence: format!(
            "{} of {} were measured that way: {}.",
            rows.count(row, "measured"),
            rows.count(row, "cells"),
            rows.text(row, "model_ids").unwrap_or_default()
        ),
        advice: Some("--no-fix refuses it.".into()),
        attributes: rows.attributes(row),
    };
    Ok((0..rows.len()).map(finding).collect())
}

/// What to change, each with what was measured.
pub fn advice(opportunities: &DataFrame) -> Vec<Finding> {
    let rows = Rows(opportunities);
    let mut told = std::collections::BTreeMap::new();
    let mut findings = vec![];
    for row in 0..rows.len() {
        let kind = rows.text(row, "kind").unwrap_or_default();
        let count = told.entry(kind).or_insert(0usize);
        *count += 1;
        let (Some(words), true) = (WORDS.advice.get(kind), *count <= OF_A_KIND) else { continue };
        let unit = rows.text(row, "unit").unwrap_or_default();
        let figure =
            |column: &str| rows.number(row, column).map(|value| format!("{} {unit}", Cell::number(value).shown));
        let (now, then) = (figure("now").unwrap_or_default(), figure("then"));
        let change = match (rows.text(row, "from"), rows.text(row, "to"), then) {
            (Some(from), Some(to), Some(then)) => format!("{from}: {now}; {to}: {then}"),
            (_, _, Some(then)) => format!("{now} against {then}"),
            _ => now,
        };
        let factor = rows.number(row, "factor").map(|factor| format!(", {factor:.2} times")).unwrap_or_default();
        let part = |column: &str| rows.text(row, column).unwrap_or_default();
        findings.push(Finding {
            tone: Tone::Info,
            title: words.title.clone(),
            evidence: format!(
                "{} on {}, {}, {}: {change}{factor}.",
                part(column::MODEL_ID),
                part("hardware"),
                part(column::BENCHMARK),
                part(column::AXES)
            ),
            advice: Some(words.todo.clone()),
            attributes: rows.attributes(row),
        });
    }
    findings
}
