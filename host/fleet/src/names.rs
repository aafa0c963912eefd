//! The subjects that messages have, and which names may stand in them.
//!
//! | subject | what |
//! |---|---|
//! | `skb.job.v1.MACHINE.SUBMISSION.LOT` | a job in the queue of its machine |
//! | `skb.of.SUBMISSION.head` | the submission |
//! | `skb.of.SUBMISSION.cell.MACHINE.KEY` | the outcome of a cell |
//! | `skb.of.SUBMISSION.end.MACHINE.LOT` | a lot that has ended |
//! | `skb.file.SHA256.N` | part N of a file |
//! | `skb.file.SHA256.whole` | a file all of whose parts are stored |
//!
//! `v1` keeps agents of another form from ever seeing a job.

use skillbench_record::CellName;
use skillbench_record::hash::sha256_text;

/// All jobs.
pub const JOBS: &str = "skb.job.>";
/// All that is stored of submissions.
pub const SUBMISSIONS: &str = "skb.of.>";

/// All parts of files.
pub const FILES: &str = "skb.file.>";
/// The files that are there whole.
pub const WHOLE_FILES: &str = "skb.file.*.whole";

/// The longest name of a machine, a user or a submission.
const LONGEST: usize = 64;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' cannot be a name in a fleet: up to {most} letters, digits, '-' and '_' can", most = LONGEST)]
pub struct BadName(String);

/// # Errors
/// The text is no single word of a subject.
pub fn check(name: &str) -> Result<(), BadName> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    match !name.is_empty() && name.len() <= LONGEST && !name.starts_with('-') && name.chars().all(plain) {
        true => Ok(()),
        false => Err(BadName(name.chars().take(LONGEST).flat_map(char::escape_debug).collect())),
    }
}

/// A machine's own name as one that can stand in a subject; `None`: nothing of it can.
pub fn of_host(hostname: &str) -> Option<String> {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    let name: String = hostname.chars().map(plain).take(LONGEST).collect();
    let name = name.trim_matches('-').to_string();
    check(&name).ok().map(|()| name)
}

/// A cell of a submission, whichever its place in a plan is: 16 hexadecimal digits.
pub fn key(cell: &CellName) -> String {
    let mut digest = sha256_text(&serde_json::to_string(cell).unwrap_or_default());
    digest.truncate(16);
    digest
}

pub fn job(machine: &str, submission: &str, lot: &str) -> String {
    format!("skb.job.v1.{machine}.{submission}.{lot}")
}

/// The jobs of a machine.
pub fn queue(machine: &str) -> String {
    format!("skb.job.v1.{machine}.>")
}

/// The jobs of a submission in the queue of a machine.
pub fn jobs_of_machine(machine: &str, submission: &str) -> String {
    format!("skb.job.v1.{machine}.{submission}.>")
}

/// The submission that a job is of, by its subject.
pub fn submission_of_job(subject: &str) -> Option<String> {
    matches(JOBS, subject).then(|| subject.split('.').nth(4).map(String::from))?
}

/// The jobs of a submission, in whichever queue.
pub fn jobs_of(submission: &str) -> String {
    format!("skb.job.*.*.{submission}.>")
}

pub fn head(submission: &str) -> String {
    format!("skb.of.{submission}.head")
}

/// All that is stored of a submission.
pub fn all_of(submission: &str) -> String {
    format!("skb.of.{submission}.>")
}

/// The heads of all submissions.
pub const HEADS: &str = "skb.of.*.head";

pub fn outcome(submission: &str, machine: &str, key: &str) -> String {
    format!("skb.of.{submission}.cell.{machine}.{key}")
}

/// The outcomes of a machine's cells.
pub fn outcomes_of(submission: &str, machine: &str) -> String {
    format!("skb.of.{submission}.cell.{machine}.*")
}

pub fn end(submission: &str, machine: &str, lot: &str) -> String {
    format!("skb.of.{submission}.end.{machine}.{lot}")
}

pub fn file_part(sha256: &str, number: u64) -> String {
    format!("skb.file.{sha256}.{number}")
}

pub fn whole_file(sha256: &str) -> String {
    format!("skb.file.{sha256}.whole")
}

/// All that is stored of a file.
pub fn all_of_file(sha256: &str) -> String {
    format!("skb.file.{sha256}.>")
}

/// The hash of the file that a message is of, by its subject.
pub fn hash_of_file(subject: &str) -> Option<String> {
    matches(FILES, subject).then(|| subject.split('.').nth(2).map(String::from))?
}

/// The key of a submission's priority.
pub fn priority(submission: &str) -> String {
    format!("priority-{submission}")
}

/// The key of what a machine is offered.
pub fn offer(machine: &str) -> String {
    format!("offer-{machine}")
}

/// The key of the submission that a machine's undone cells were moved to.
pub fn failover(submission: &str, machine: &str) -> String {
    format!("failover-{submission}.{machine}")
}

/// The key of what was begun of a lot.
pub fn lease(machine: &str, submission: &str, lot: &str) -> String {
    format!("{machine}.{submission}.{lot}")
}

/// Whether a subject is one that a filter means: `*` is a word, `>` the rest.
pub fn matches(filter: &str, subject: &str) -> bool {
    let (mut filter, mut subject) = (filter.split('.'), subject.split('.'));
    loop {
        match (filter.next(), subject.next()) {
            (Some(">"), Some(_)) => return true,
            (Some("*"), Some(_)) => {}
            (Some(word), Some(found)) if word == found => {}
            (None, None) => return true,
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_word_of_a_subject_and_never_a_path_or_a_pattern() {
        for name in ["h1", "jetson-orin_2", "20261125-101500-0a1b2c3d"] {
            assert_eq!(check(name), Ok(()), "{name}");
        }
        let long = "a".repeat(LONGEST + 1);
        for name in ["", "-x", "a.b", "*", ">", "a b", "../x", "a\n", "ä", &long] {
            assert!(check(name).is_err(), "{name}");
        }
        assert_eq!(of_host("box.example.org").as_deref(), Some("box-example-org"));
        assert_eq!(of_host("..."), None);
    }

    #[test]
    fn subjects_match_as_on_the_server() {
        assert!(matches("skb.job.v1.h1.>", &job("h1", "s", "0")));
        assert!(!matches("skb.job.v1.h1.>", &job("h10", "s", "0")));
        assert!(matches(&jobs_of("s"), &job("h1", "s", "0")) && !matches(&jobs_of("s"), &job("h1", "t", "0")));
        assert!(matches(&jobs_of_machine("h1", "s"), &job("h1", "s", "0")));
        assert_eq!(submission_of_job(&job("h1", "s", "0")).as_deref(), Some("s"));
        assert_eq!(submission_of_job(&head("s")), None);
        assert!(matches(HEADS, &head("s")) && !matches(HEADS, &end("s", "h1", "0")) && !matches("a.>", "a"));
    }
}
