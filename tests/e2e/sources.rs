//! Habits of the sources that no compiler holds.

use skillbench_record::catalog;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Files for other tools, whose keys are their own; names of plots; an option of plugins.
const MAY_NAME_COLUMNS: [&str; 5] =
    ["results/src/export", "results/src/matrix/json.rs", "plots/kind.rs", "session/src/conditions.rs", "/tests.rs"];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The strings of a line that are columns; a key of a JSON document, which has a colon behind it, is none.
fn columns_in<'l>(line: &'l str, columns: &BTreeSet<&str>) -> Vec<&'l str> {
    let parts: Vec<&str> = line.split('"').collect();
    let strings = parts.iter().enumerate().skip(1).step_by(2);
    strings
        .filter(|(place, text)| {
            columns.contains(**text) && !parts.get(place + 1).is_some_and(|after| after.starts_with(':'))
        })
        .map(|(_, text)| *text)
        .collect()
}

#[test]
fn questions_and_reports_name_columns_by_the_catalogues_constants() {
    let columns: BTreeSet<&str> = catalog::all().map(|column| column.name).collect();
    let host = Path::new(env!("CARGO_MANIFEST_DIR")).join("../host");
    let mut files = vec![];
    for part in ["results", "report", "predict", "session"] {
        sources(&host.join(part).join("src"), &mut files);
    }
    assert!(files.len() > 50, "{files:?}");
    let mut slips = vec![];
    for file in files.iter().filter(|file| !MAY_NAME_COLUMNS.iter().any(|part| file.to_string_lossy().contains(part))) {
        let text = std::fs::read_to_string(file).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for (number, line) in code.lines().enumerate() {
            let trimmed = line.trim_start();
            if !trimmed.starts_with("//") && !trimmed.starts_with("#[") && trimmed.contains('"') {
                let named = columns_in(line, &columns).into_iter();
                slips.extend(named.map(|name| format!("{}:{}: {name}", file.display(), number + 1)));
            }
        }
    }
    assert_eq!(slips, Vec::<String>::new(), "write catalog::column::NAME");
}
