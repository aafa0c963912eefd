//! A page as JSON, for programs: what it tells, without the drawings.

use super::{Decisions, Page, PageTable};
use serde_json::{Map, Value, json};
use skillbench_record::catalog::column;

impl Page {
    /// Verdict, badges, findings and every table as rows; `cells` has what is behind them.
    pub fn json(&self) -> String {
        let sections: Vec<Value> = self
            .sections
            .iter()
            .map(|section| {
                let tables: Vec<Value> = section
                    .figures
                    .iter()
                    .map(|figure| json!({"title": figure.title, "note": figure.note, "rows": rows(&figure.table)}))
                    .collect();
                json!({"id": section.id, "title": section.title, "findings": section.findings, "tables": tables})
            })
            .collect();
        let page = json!({
            "title": self.title,
            "headline": self.decisions.as_ref().and_then(Decisions::headline),
            "decisions": self.decisions.as_ref().map(decisions),
            "context": self.context.iter().map(|(name, value)| json!({"name": name, "value": value})).collect::<Vec<_>>(),
            "verdict": self.verdict,
            "badges": self.badges,
            "notes": self.notes,
            "facts": self.facts.iter().map(|(name, value)| json!({"name": name, "value": value})).collect::<Vec<_>>(),
            "sections": sections,
            "cells": serde_json::from_str(&self.data.json).unwrap_or(Value::Null),
        });
        format!("{page:#}\n")
    }
}

/// What each metric decides at each point.
fn decisions(of: &Decisions) -> Vec<Value> {
    let metric = |(place, (metric, _)): (usize, &(crate::decision::Metric, Vec<crate::decision::Point>))| json!({"metric": metric, "decisions": of.decided(place).0});
    of.metrics.iter().enumerate().map(metric).collect()
}

/// Each row as an object. Columns of one name are told apart by number.
fn rows(table: &PageTable) -> Vec<Value> {
    let mut names: Vec<String> = vec![];
    for column in &table.columns {
        let same = names.iter().filter(|name| *name == column || name.starts_with(&format!("{column} "))).count();
        names.push(if same == 0 { column.clone() } else { format!("{column} {}", same + 1) });
    }
    let row = |row: &super::PageRow| {
        let mut object: Map<String, Value> =
            names.iter().cloned().zip(row.cells.iter().map(|cell| cell.value.clone())).collect();
        let why: Vec<&str> = row.cells.iter().filter_map(|cell| cell.why.as_deref()).collect();
        if !why.is_empty() {
            object.insert(column::REASON.into(), why.join("; ").into());
        }
        Value::Object(object)
    };
    table.rows.iter().map(row).collect()
}
