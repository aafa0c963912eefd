//! The matrix for people: Markdown, and a table for the terminal or for a file of rows.

use super::rule::rule;
use super::{Entry, Matrix, Rating, Status};
use serde_json::{Value, json};
use skillbench_record::catalog::column;
use skillbench_record::shown::markdown::{cell, line};
use std::fmt::Write;

impl Entry {
    /// A few words: "high, 4.12 times", "n/a, failed", "unknown, emulated".
    pub fn describe(&self) -> String {
        let rating = self.rating.name();
        let since: u64 = self.failures.iter().filter(|failure| failure.since).map(|failure| failure.cells).sum();
        let text = match (&self.speedup, self.status) {
            (Some(speedup), _) => format!("{rating}, {:.2}×", speedup.value),
            (None, Status::Measured) if self.rating != Rating::Unknown => rating.into(),
            (None, Status::Measured) if self.emulated => format!("{rating}, emulated"),
            (None, Status::Measured) if self.verified == Some(false) => format!("{rating}, unverified"),
            (None, Status::NotTried) => format!("{rating}, not tried"),
            (None, status) => format!("{rating}, {}", status.name()),
        };
        match since {
            0 => text,
            1 => format!("{text}; 1 cell did not succeed when tried again"),
            n => format!("{text}; {n} cells did not succeed when tried again"),
        }
    }

    /// How many models a family's rating is over: "3 models", "2 of 3 models"; `None` for a model, and where none is rated.
    fn over(&self) -> Option<String> {
        let all: u64 = self.models.values().sum();
        let rated = self.speedup.as_ref()?.models;
        (all > 0).then(|| match (rated, all) {
            (1, 1) => "1 model".into(),
            (rated, all) if rated == all => format!("{all} models"),
            (rated, all) => format!("{rated} of {all} models"),
        })
    }

    /// What stands below the table: why there is no rating, and of what is rated which cells are not measured.
    fn remarks(&self) -> Vec<String> {
        if self.status != Status::Measured || self.failures.is_empty() {
            let next = self.next.as_ref().map_or(String::new(), |next| format!(" (next: `{next}`)"));
            return self.reason.iter().map(|reason| format!("{reason}{next}")).collect();
        }
        let cells = |n: u64| if n == 1 { "1 cell".to_string() } else { format!("{n} cells") };
        let failed = self.failures.iter().map(|one| {
            let since = if one.since { " when tried again" } else { "" };
            format!("{} {}{since}: {}", cells(one.cells), one.outcome, one.reason)
        });
        self.reason.iter().cloned().chain(failed).collect()
    }
}

/// Rows for families and their models, columns for hardware: for people. As a list of rows (`long`) for programs.
pub fn table(matrix: &Matrix, long: bool) -> (Vec<String>, Vec<Vec<Value>>) {
    if long {
        return rows(matrix);
    }
    let mut columns = vec![column::FAMILY.to_string(), "model".into()];
    columns.extend(matrix.hardware.iter().cloned());
    let mut rows = vec![];
    for family in &matrix.families {
        let line = |model: Value, entries: &[Entry], describe: fn(&Entry) -> String| {
            let head = [json!(family.name), model];
            head.into_iter().chain(entries.iter().map(|entry| json!(describe(entry)))).collect::<Vec<_>>()
        };
        rows.push(line(Value::Null, &family.entries, of_family));
        rows.extend(family.models.iter().map(|model| line(json!(model.describe()), &model.entries, Entry::describe)));
    }
    (columns, rows)
}

fn of_family(entry: &Entry) -> String {
    entry.over().map_or_else(|| entry.describe(), |over| format!("{} ({over})", entry.describe()))
}

const LONG: [&str; 15] = [
    column::FAMILY,
    "model",
    "hardware",
    "status",
    "performance_rating",
    "compatible",
    "speedup_over_cpu",
    column::PRECISION,
    column::MACHINE,
    "points",
    "models_rated",
    column::EMULATED,
    column::VERIFIED,
    column::REASON,
    "next_step",
];

fn rows(matrix: &Matrix) -> (Vec<String>, Vec<Vec<Value>>) {
    let mut rows = vec![];
    for family in &matrix.families {
        let line = |model: Value, entry: &Entry| {
            let speedup = entry.speedup.as_ref();
            vec![
                json!(family.name),
                model,
                json!(entry.hardware),
                json!(entry.status),
                json!(entry.rating),
                json!(entry.compatible),
                json!(speedup.map(|speedup| speedup.value)),
                json!(speedup.map(|speedup| &speedup.precision)),
                json!(speedup.map(|speedup| &speedup.machine)),
                json!(speedup.map(|speedup| speedup.points)),
                json!(speedup.map(|speedup| speedup.models)),
                json!(entry.emulated),
                json!(entry.verified),
                json!(entry.reason),
                json!(entry.next),
            ]
        };
        rows.extend(family.entries.iter().map(|entry| line(Value::Null, entry)));
        for model in &family.models {
            rows.extend(model.entries.iter().map(|entry| line(json!(model.id), entry)));
        }
    }
    (LONG.map(String::from).to_vec(), rows)
}

/// A page in Markdown: the table, what its words mean, and the reasons.
pub fn markdown(matrix: &Matrix) -> String {
    let mut page = String::from("# Compatibility matrix\n\n");
    let newest =
        matrix.timestamp.as_deref().map_or("There is no run in it.".into(), |time| format!("Newest run: {time}."));
    let _ = writeln!(page, "{newest}\n");
    let mut remarks: Vec<String> = vec![];
    let head: Vec<String> = matrix.hardware.iter().map(|id| cell(id)).collect();
    let _ = writeln!(page, "| model | {} |", head.join(" | "));
    let _ = writeln!(page, "|---|{}", "---|".repeat(matrix.hardware.len()));
    for family in &matrix.families {
        let own: Vec<String> = family.entries.iter().map(|entry| cell(&of_family(entry))).collect();
        let _ = writeln!(page, "| **{}** | {} |", cell(&family.name), own.join(" | "));
        for model in &family.models {
            let own: Vec<String> = model.entries.iter().map(|entry| noted(entry, &mut remarks)).collect();
            let _ = writeln!(page, "| {} | {} |", cell(&model.describe()), own.join(" | "));
        }
    }
    page.push_str(&legend(matrix));
    if !remarks.is_empty() {
        page.push_str("\n## Reasons\n\n");
        for (place, remark) in remarks.iter().enumerate() {
            let _ = writeln!(page, "{}. {}", place + 1, line(remark));
        }
    }
    page
}

/// An entry with the numbers of its remarks, which stand below once each.
fn noted(entry: &Entry, remarks: &mut Vec<String>) -> String {
    let mut numbers = vec![];
    for remark in entry.remarks() {
        let place = remarks.iter().position(|known| *known == remark).unwrap_or_else(|| {
            remarks.push(remark);
            remarks.len() - 1
        });
        numbers.push((place + 1).to_string());
    }
    let told = cell(&entry.describe());
    if numbers.is_empty() { told } else { format!("{told} \\[{}\\]", numbers.join(", ")) }
}

fn legend(matrix: &Matrix) -> String {
    let rule = rule();
    let mut text = format!(
        "\nA rating is by the speed-up over `{}` on the same machine: median latency of `{}` at the same point and in the same precision, \
         geometric mean over the points, and over the models of a family. Emulated, unverified and remote cells have none.\n\n",
        rule.baseline, rule.benchmark
    );
    for rating in &rule.ratings {
        let bound = rating.at_least.map_or(String::new(), |least| format!(" (from {least}× on)"));
        let _ = writeln!(text, "- **{}**{bound}: {}", rating.name.name(), rating.meaning);
    }
    let shown: Vec<_> = matrix
        .families
        .iter()
        .flat_map(|family| family.entries.iter().chain(family.models.iter().flat_map(|model| &model.entries)))
        .filter_map(|entry| entry.speedup.as_ref())
        .collect();
    let mut kinds: Vec<String> = shown.iter().map(|one| format!("{} on {}", one.precision, one.machine)).collect();
    kinds.sort_unstable();
    kinds.dedup();
    if !kinds.is_empty() {
        let _ = writeln!(text, "\nSpeed-ups shown: {}.", line(&kinds.join("; ")));
    }
    text
}
