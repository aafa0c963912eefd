//! The host's own clock: how long each run took, and what the audit around it cost, which is taken out of what a benchmark claims.

use crate::DeviceTimes;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};

/// One run of a round, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ran {
    /// Which thread it was on.
    pub thread: u64,
    pub run_ns: u64,
    /// What the audit took before and after it, binding left out.
    pub audit_ns: u64,
    /// CPU time while the audit and the binding went on: of the whole process, whose engine's threads may spin meanwhile; of this
    /// thread alone, where others run too.
    pub audit_cpu_ns: u64,
    /// Binding the inputs, and what a plain copy of them takes.
    pub bind_ns: u64,
    pub copy_ns: u64,
    /// What the backend tells of the time within the run.
    pub device: DeviceTimes,
}

thread_local! {
    static THREAD: Cell<u64> = const { Cell::new(0) };
}

/// A number for this thread.
pub(super) fn thread() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    THREAD.with(|thread| {
        if thread.get() == 0 {
            thread.set(LAST.fetch_add(1, Ordering::Relaxed) + 1);
        }
        thread.get()
    })
}

/// The samples of a round without what the audit cost.
#[derive(Debug, Default)]
pub(crate) struct Corrected {
    pub values: Vec<f64>,
    /// In each sample: what binding took.
    pub bind_ns: Vec<f64>,
    /// What a plain copy of all that was bound takes.
    pub copy_ns: f64,
    /// What the audit took of the round's time, and of its CPU time.
    pub audit_ns: f64,
    pub audit_cpu_ns: f64,
    /// On how many threads runs were.
    pub threads: usize,
    /// The samples claim less time than the host saw a thread spend on their runs.
    pub too_short: bool,
    /// Of all runs together.
    pub device: DeviceTimes,
}

/// A claim may fall short of the host's own time by this share, or by the other much: clocks are read at different moments.
const SHARE: f64 = 0.05;
const SLACK_NS: f64 = 2_000.0;

/// `values`: what a benchmark claims, a sample for each iteration. Where several threads run at once they wait for each other, and the
/// audit counts by its CPU time, for as many of them as can run at once on `cores`.
pub(crate) fn correct(values: &[f64], runs: &[Ran], cores: usize) -> Corrected {
    let threads: BTreeSet<u64> = runs.iter().map(|run| run.thread).collect();
    let (alone, at_once) = (threads.len() <= 1, threads.len().min(cores).max(1) as f64);
    let audit_of = |run: &Ran| (if alone { run.audit_ns + run.bind_ns } else { run.audit_cpu_ns }) as f64;
    let mut all = Corrected { values: values.to_vec(), threads: threads.len(), ..Corrected::default() };
    for run in runs {
        all.copy_ns += run.copy_ns as f64 / at_once;
        all.audit_ns += audit_of(run) / at_once;
        all.audit_cpu_ns += run.audit_cpu_ns as f64;
    }
    // One thread's runs are one after the other, however many threads there are.
    let spent = |run: &Ran| (run.run_ns + run.audit_ns + run.bind_ns) as f64;
    let of_thread = |thread: &u64| runs.iter().filter(|run| run.thread == *thread).map(spent).sum();
    let least: f64 = threads.iter().map(of_thread).fold(0.0, f64::max);
    let claimed: f64 = values.iter().sum();
    all.too_short = claimed < least * (1.0 - SHARE) - SLACK_NS * values.len() as f64;
    let of = |runs: &[Ran], share: f64| {
        let bind = runs.iter().map(|run| run.bind_ns as f64).sum::<f64>() / share;
        (bind, runs.iter().map(audit_of).sum::<f64>() / share)
    };
    all.device = DeviceTimes::together(runs.iter().map(|run| run.device));
    let samples = values.len().max(1);
    let each = runs.len() / samples;
    // As many runs in each; else everybody has its share of all.
    let shared = (!runs.len().is_multiple_of(samples)).then(|| of(runs, at_once * samples as f64));
    for (index, value) in all.values.iter_mut().enumerate() {
        let (bind, audit) = shared.unwrap_or_else(|| of(&runs[index * each..][..each], at_once));
        all.bind_ns.push(bind);
        if *value > audit {
            *value -= audit;
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(thread: u64, run_ns: u64, audit_ns: u64) -> Ran {
        Ran { thread, run_ns, audit_ns, ..Ran::default() }
    }

    #[test]
    fn what_the_audit_took_is_in_no_sample() {
        let runs = [run(1, 1_000_000, 50_000), run(1, 2_000_000, 10_000)];
        let corrected = correct(&[1_050_000.0, 2_010_000.0], &runs, 2);
        assert_eq!((corrected.values, corrected.too_short), (vec![1_000_000.0, 2_000_000.0], false));
        assert_eq!(corrected.audit_ns, 60_000.0);
    }

    #[test]
    fn threads_that_wait_for_each_other_are_counted_by_their_cpu_time() {
        let waiting = |thread| Ran { audit_cpu_ns: 100_000, ..run(thread, 1_000_000, 900_000) };
        let runs = [waiting(1), waiting(2), waiting(3), waiting(4)];
        assert_eq!(correct(&[2_200_000.0], &runs, 2).values, [2_000_000.0]);
    }

    #[test]
    fn samples_that_claim_less_than_their_runs_took_are_too_short() {
        let runs = [run(1, 1_000_000, 50_000), run(1, 1_000_000, 50_000)];
        assert!(correct(&[1.0, 1.0], &runs, 2).too_short);
        assert!(correct(&[105_000.0, 105_000.0], &runs, 2).too_short);
        assert!(!correct(&[900_000.0, 1_200_000.0], &runs, 2).too_short, "one may have more of the runs than another");
    }

    #[test]
    fn a_benchmark_that_runs_nothing_has_nothing_taken_out() {
        let corrected = correct(&[5.0, 6.0], &[], 2);
        assert_eq!((corrected.values, corrected.too_short), (vec![5.0, 6.0], false));
    }
}
