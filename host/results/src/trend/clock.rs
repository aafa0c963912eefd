//! Runs whose time is in doubt: histories are in the order of the clocks of their machines, and a clock may have gone backwards.

use skillbench_store::{Database, DatabaseError};
use std::collections::BTreeMap;

/// When a run began by the clock of its machine, and when it was stored; in microseconds since 1970-01-01.
#[derive(Clone, Debug)]
pub struct When {
    pub run: String,
    pub machine: Option<String>,
    pub began: i64,
    pub stored: i64,
}

impl When {
    /// Of every run of the database.
    ///
    /// # Errors
    /// As for any use of the file.
    pub fn all(database: &Database) -> Result<Vec<When>, DatabaseError> {
        let sql = "SELECT run, machine, epoch_us(timestamp), epoch_us(stored_at) FROM runs
                   WHERE timestamp IS NOT NULL ORDER BY stored_at, timestamp, run";
        let answer = database.query(sql)?;
        let of = |row: &Vec<serde_json::Value>| {
            Some(When {
                run: row.first()?.as_str()?.into(),
                machine: row.get(1)?.as_str().map(String::from),
                began: row.get(2)?.as_i64()?,
                stored: row.get(3)?.as_i64()?,
            })
        };
        Ok(answer.rows.iter().filter_map(of).collect())
    }
}

/// What is to be said of runs whose time is in doubt, at this moment: those that lie in the future, and those that were stored after runs
/// of the same machine that began later. What one commit stored has no order.
pub fn doubts(mut runs: Vec<When>, now: i64, slack_s: i64) -> Vec<String> {
    let slack = slack_s.saturating_mul(1_000_000);
    let future: Vec<&str> =
        runs.iter().filter(|run| run.began > now.saturating_add(slack)).map(|run| run.run.as_str()).collect();
    let mut told = vec![];
    if !future.is_empty() {
        told.push(format!(
            "{} in the future, by the clock of this machine: {}",
            count(future.len(), "lies", "lie"),
            names(&future)
        ));
    }
    runs.sort_by_key(|run| run.stored);
    let mut late = vec![];
    // By machine: the latest beginning of what was stored before, and of what was stored in the same moment.
    let mut latest: BTreeMap<&Option<String>, (i64, i64, i64)> = BTreeMap::new();
    for run in &runs {
        let (before, stored, same) = latest.entry(&run.machine).or_insert((i64::MIN, run.stored, i64::MIN));
        if *stored < run.stored {
            (*before, *stored) = ((*before).max(*same), run.stored);
        }
        if run.began < *before {
            late.push(run.run.as_str());
        }
        *same = (*same).max(run.began);
    }
    if !late.is_empty() {
        told.push(format!(
            "{} stored after runs that began later: brought in late, or a clock went backwards; they stand at the time they tell: {}",
            count(late.len(), "was", "were"),
            names(&late)
        ));
    }
    told
}

fn count(n: usize, one: &str, several: &str) -> String {
    if n == 1 { format!("1 run {one}") } else { format!("{n} runs {several}") }
}

fn names(runs: &[&str]) -> String {
    const SHOWN: usize = 5;
    let more = runs.len().saturating_sub(SHOWN);
    let shown = runs[..runs.len().min(SHOWN)].join(", ");
    if more > 0 { format!("{shown} and {more} more") } else { shown }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn when(run: &str, began: i64, stored: i64) -> When {
        When { run: run.into(), machine: Some("lab".into()), began: began * 1_000_000, stored: stored * 1_000_000 }
    }

    fn describe(runs: Vec<When>) -> Vec<String> {
        doubts(runs, 1_000 * 1_000_000, 60)
    }

    #[test]
    fn runs_in_order_are_beyond_doubt_and_so_are_those_brought_in_together() {
        assert_eq!(describe(vec![when("a", 1, 2), when("b", 3, 4), when("c", 5, 6)]), [] as [&str; 0]);
        assert_eq!(describe(vec![when("c", 5, 9), when("a", 1, 9), when("b", 3, 9)]), [] as [&str; 0]);
    }

    #[test]
    fn a_clock_that_went_backwards_is_told_and_another_machine_has_another_clock() {
        let mut runs = vec![when("a", 100, 101), when("b", 50, 102), when("c", 110, 111)];
        let found = describe(runs.clone());
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("1 run was stored after") && found[0].ends_with(": b"), "{found:?}");
        runs[1].machine = Some("other".into());
        assert_eq!(describe(runs), [] as [&str; 0]);
    }

    #[test]
    fn a_run_in_the_future_is_told() {
        let found = describe(vec![when("a", 100, 101), when("b", 5_000, 102)]);
        assert_eq!(found, ["1 run lies in the future, by the clock of this machine: b"]);
    }
}
