//! What a check found, as JSON: for `--format json`, `--json` and `--report`.

use crate::subject::Subject;
use serde_json::{Value, json};
use skillbench_record::hash;
use skillbench_worker::check::{Checked, RULES, Tally, Verdict};
use skillbench_worker::{libc_version, sandbox};

/// Grows with each change of the document that is more than another field.
const VERSION: u32 = 1;

/// The whole document. `ladder`: its totals, where it was climbed.
///
/// # Errors
/// The library cannot be read any more.
pub fn of(subject: &Subject, checked: &[Checked], ladder: Option<Value>) -> std::io::Result<Value> {
    let tally = Tally::of(checked.iter().map(|one| &one.verdict));
    Ok(json!({
        "version": VERSION,
        "program": { "name": "skillbench-check", "version": env!("CARGO_PKG_VERSION") },
        "contract": format!("{}.{}", skillbench_plugin_api::raw::SB_ABI_MAJOR, skillbench_plugin_api::raw::SB_ABI_MINOR),
        "rule_list": { "count": RULES.len(), "digest": digest_of_rules() },
        "machine": machine(),
        "library": library(subject)?,
        "options": subject.options,
        "kept": tally.kept,
        "broken": tally.broken,
        "not_checked": tally.unchecked,
        "rules": checked.iter().map(of_rule).collect::<Vec<_>>(),
        "ladder": ladder,
    }))
}

/// Another digest is another list: rules were added, or say something else.
fn digest_of_rules() -> String {
    let lines: String = RULES.iter().map(|rule| format!("{} {} {}\n", rule.number, rule.id, rule.sentence)).collect();
    hash::sha256_text(&lines)[..16].into()
}

fn machine() -> Value {
    json!({
        "os": std::env::consts::OS,
        "arch": std::env::consts::ARCH,
        "glibc": libc_version(),
        "processor": skillbench_record::machine::cpu_model(),
        "enforced": sandbox::enforced(),
    })
}

fn library(subject: &Subject) -> std::io::Result<Value> {
    let described = subject.description.as_ref();
    let file = subject.library.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let contract = described.ok().map(|it| format!("{}.{}", it.contract.0, it.contract.1));
    Ok(json!({
        "file": file,
        "sha256": hash::sha256(&subject.library.path)?,
        "id": described.ok().map(|it| &it.id),
        "plugin_version": described.ok().map(|it| &it.version),
        "contract": contract,
        "failure": described.err().map(ToString::to_string),
    }))
}

fn of_rule(checked: &Checked) -> Value {
    json!({
        "rule": checked.rule.number,
        "id": checked.rule.id,
        "for": checked.rule.applies.name(),
        "sentence": checked.rule.sentence,
        "verdict": verdict(&checked.verdict),
        "how": checked.verdict.how(),
        "seconds": (checked.took.as_secs_f64() * 1e3).round() / 1e3,
    })
}

fn verdict(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Kept => "kept",
        Verdict::Broken(_) => "broken",
        Verdict::Unchecked(_) => "not-checked",
        Verdict::NotApplicable => "not-applicable",
    }
}
