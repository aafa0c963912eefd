//! A cell that was measured in several processes, which shared its measuring time: one report of all.

use skillbench_record::Audit;
use skillbench_stats::{Launches, median, of_launches};
use skillbench_worker::{CellReport, RoundRecord, SeriesRecord, append};
use std::time::Duration;

/// What each process tells alike, and what the initialization figures have of each.
const OF_EACH: [&str; 5] =
    ["first_inference", "slo.allowed", "trial.allowed", "trial.stay_of_length", "cache_kept_by_backend"];
/// When requests were due, since the first session of their process began.
const DUE: &str = "due";

/// Adds what another process measured of the same cell. Loads and first inferences are left to the initialization figures.
/// `before`: how long the measured rounds of those took that are in it.
pub(super) fn add(all: &mut CellReport, other: &CellReport, before: Duration) {
    let launch = all.launches;
    all.launches += other.launches;
    for series in &mut all.series {
        let Some(more) = other.series.iter().find(|more| more.name == series.name) else { continue };
        add_series(series, more, launch, before);
    }
    if let (Some(seen), Some(more)) = (&mut all.audit, &other.audit) {
        *seen = both(seen, more);
    }
    append(&mut all.over_time, &other.over_time, before);
    let most = |one: Option<u64>, other: Option<u64>| one.max(other);
    all.memory_load_peak = most(all.memory_load_peak, other.memory_load_peak);
    all.memory_first_peak = most(all.memory_first_peak, other.memory_first_peak);
    all.memory_peak = most(all.memory_peak, other.memory_peak);
    all.device_peak = most(all.device_peak, other.device_peak);
}

fn add_series(all: &mut SeriesRecord, other: &SeriesRecord, launch: u64, before: Duration) {
    if OF_EACH.contains(&all.name.as_str()) {
        return;
    }
    let last = all.rounds.iter().map(|round| round.id).max().unwrap_or(0);
    let round = |round: &RoundRecord| RoundRecord { id: last + round.id, launch, ..round.clone() };
    all.rounds.extend(other.rounds.iter().map(round));
    let later = if all.name == DUE { before.as_nanos() as f64 } else { 0.0 };
    all.singles.extend(other.singles.iter().map(|value| value + later));
    all.stable &= other.stable;
    let ran_out = [&all.stopped_by, &other.stopped_by].iter().any(|why| why.as_deref() == Some("budget"));
    all.stopped_by = if ran_out { Some("budget".into()) } else { all.stopped_by.take().or(other.stopped_by.clone()) };
    all.binding_counts |= other.binding_counts;
    let news = other.implausible.iter().filter(|why| !all.implausible.contains(why)).cloned().collect::<Vec<_>>();
    all.implausible.extend(news);
    all.for_counter_ns.extend(&other.for_counter_ns);
    all.energy = all.energy.take().zip(other.energy.clone()).and_then(|(mut energy, more)| {
        energy.rounds.extend(more.rounds);
        energy.long.extend(more.long);
        energy.idle_half_watts = energy.idle_half_watts.max(more.idle_half_watts);
        energy.other = None;
        ((&energy.source, &energy.scope) == (&more.source, &more.scope)).then_some(energy)
    });
}

fn both(one: &Audit, other: &Audit) -> Audit {
    let mut inputs_by_size = one.inputs_by_size.clone();
    other.inputs_by_size.iter().for_each(|(size, inputs)| *inputs_by_size.entry(size.clone()).or_default() += inputs);
    Audit {
        rounds: one.rounds + other.rounds,
        rounds_of: one.rounds_of + other.rounds_of,
        inputs: one.inputs + other.inputs,
        after_last: one.after_last + other.after_last,
        inputs_by_size,
        runs: one.runs + other.runs,
        furthest: one.furthest.into_iter().chain(other.furthest).reduce(f64::max),
        repeat_difference: one.repeat_difference.into_iter().chain(other.repeat_difference).reduce(f64::max),
        ..one.clone()
    }
}

/// How far the processes of a cell are apart in a series, where it ran in several.
pub(super) fn apart(series: &SeriesRecord, launches: u64) -> Option<Launches> {
    let of_launch = |launch: u64| {
        let rounds = series.rounds.iter().filter(|round| round.measured && round.launch == launch);
        median(&rounds.flat_map(|round| round.values.iter().copied()).collect::<Vec<_>>())
    };
    of_launches(&(0..launches).filter_map(of_launch).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(values: &[f64]) -> SeriesRecord {
        let round = RoundRecord { id: 1, measured: true, values: values.to_vec(), ..RoundRecord::default() };
        SeriesRecord { name: "latency".into(), rounds: vec![round], stable: true, ..SeriesRecord::default() }
    }

    #[test]
    fn rounds_of_all_launches_stand_side_by_side_and_say_how_far_launches_are_apart() {
        let mut all = series(&[100.0, 100.0]);
        add_series(&mut all, &SeriesRecord { stable: false, ..series(&[103.0, 103.0]) }, 1, Duration::ZERO);
        add_series(&mut all, &series(&[97.0, 97.0]), 2, Duration::ZERO);
        assert_eq!(
            all.rounds.iter().map(|round| (round.id, round.launch)).collect::<Vec<_>>(),
            [(1, 0), (2, 1), (3, 2)]
        );
        assert!(!all.stable);
        let apart = apart(&all, 3).unwrap();
        assert!((apart.deviation - 0.03 / 3f64.sqrt()).abs() < 1e-3 && apart.count == 3, "{apart:?}");
    }

    #[test]
    fn what_each_process_tells_alike_stands_once_and_the_requests_of_one_come_after_those_of_another() {
        let named = |name: &str, singles: &[f64]| SeriesRecord {
            name: name.into(),
            singles: singles.to_vec(),
            ..SeriesRecord::default()
        };
        let both = |name: &str| {
            let mut all = named(name, &[0.01, 5.0]);
            add_series(&mut all, &named(name, &[0.01, 5.0]), 1, Duration::from_secs(1));
            all.singles
        };
        assert_eq!(both("slo.allowed"), [0.01, 5.0]);
        assert_eq!(both("trial.over"), [0.01, 5.0, 0.01, 5.0]);
        assert_eq!(both("due"), [0.01, 5.0, 1e9 + 0.01, 1e9 + 5.0]);
    }

    #[test]
    fn one_launch_says_nothing_of_others() {
        assert_eq!(apart(&series(&[1.0, 2.0]), 1), None);
    }
}
