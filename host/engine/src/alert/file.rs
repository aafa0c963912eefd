//! Alerts in a file, a line of JSON each.

use super::{Alert, Undelivered};
use std::collections::HashSet;
use std::io::{Read, Write};
use std::path::Path;

/// Appends those that do not stand there yet; the folder is made.
pub fn append(path: &Path, alerts: &[Alert]) -> Result<String, Undelivered> {
    let failed = |error: std::io::Error| Undelivered { to: path.display().to_string(), why: error.to_string() };
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    let mut file = std::fs::File::options().create(true).append(true).read(true).open(path).map_err(failed)?;
    let mut there = vec![];
    file.read_to_end(&mut there).map_err(failed)?;
    let known: HashSet<String> = there
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice::<serde_json::Value>(line).ok()?["id"].as_str().map(String::from))
        .collect();
    // What was cut off before does not swallow the first line of now.
    let mut text = if there.last().is_some_and(|last| *last != b'\n') { vec![b'\n'] } else { vec![] };
    let mut new = 0;
    for alert in alerts.iter().filter(|alert| !known.contains(&alert.id)) {
        serde_json::to_writer(&mut text, alert).map_err(|error| failed(error.into()))?;
        text.push(b'\n');
        new += 1;
    }
    if new > 0 {
        file.write_all(&text).map_err(failed)?;
    }
    Ok(match alerts.len() - new {
        0 => format!("{}: {new} written", path.display()),
        known => format!("{}: {new} written, {known} stood there already", path.display()),
    })
}
