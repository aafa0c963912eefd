//! What `skillbench-check --report FILE` found, as a package tells it.

use super::Checked;
use crate::error::{PackageError, io};
use serde::Deserialize;
use skillbench_record::time::utc;
use std::path::Path;
use std::time::UNIX_EPOCH;

const VERSION: u32 = 1;

#[derive(Deserialize)]
struct Report {
    version: u32,
    program: Program,
    library: Library,
    rules: Vec<Rule>,
}

#[derive(Deserialize)]
struct Program {
    name: String,
    version: String,
}

#[derive(Deserialize)]
struct Library {
    sha256: String,
}

#[derive(Deserialize)]
struct Rule {
    id: String,
    verdict: String,
}

impl Checked {
    /// Reads a report, and the hash of the library that it is about. When it was made is when its file was written.
    ///
    /// # Errors
    /// The file is no such report.
    pub fn of_report(file: &Path) -> Result<(Checked, String), PackageError> {
        let wrong = |text: String| PackageError::Report { file: file.into(), text };
        let bytes = std::fs::read(file).map_err(io(file))?;
        let report: Report = serde_json::from_slice(&bytes).map_err(|error| wrong(error.to_string()))?;
        if report.version != VERSION {
            return Err(wrong(format!("expected version {VERSION} of it, found {}", report.version)));
        }
        let written = std::fs::metadata(file).and_then(|data| data.modified()).map_err(io(file))?;
        let seconds = written.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let of = |verdict: &str| -> Vec<String> {
            report.rules.iter().filter(|rule| rule.verdict == verdict).map(|rule| rule.id.clone()).collect()
        };
        let checked = Checked {
            by: format!("{} {}", report.program.name, report.program.version),
            when: utc(i64::try_from(seconds).unwrap_or_default()),
            kept: of("kept"),
            broken: of("broken"),
            unchecked: of("not-checked"),
        };
        Ok((checked, report.library.sha256))
    }
}
