//! How often 95% intervals hold the truth, by simulation: the table of docs/statistics.md.
//!
//! Samples keep a share of the one before and have a deviation of 2%; launches differ by a deviation of their own.

use crate::compare::of_pairs;
use crate::{Launches, half_widths, median, median_interval, of_launches};
use fastrand::Rng;

const SERIES: usize = 2_000;
const SAMPLES: usize = 400;
const PAIRS: usize = 12;
const SPREAD: f64 = 0.02;

fn normal(rng: &mut Rng) -> f64 {
    (0..12).map(|_| rng.f64()).sum::<f64>() - 6.0
}

/// Samples around a level, of which each keeps `memory` of the one before.
fn series(rng: &mut Rng, count: usize, memory: f64, level: f64) -> Vec<f64> {
    let step = (1.0 - memory * memory).sqrt();
    let mut state = normal(rng);
    let mut next = || {
        state = memory * state + step * normal(rng);
        level * (1.0 + SPREAD * state)
    };
    (0..count).map(|_| next()).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn holds(interval: [f64; 2]) -> bool {
    (interval[0]..=interval[1]).contains(&1.0)
}

/// The share of so many tries in which an interval holds 1.
fn share(holds: impl Fn(&mut Rng) -> bool) -> f64 {
    let mut rng = Rng::with_seed(11);
    (0..SERIES).filter(|_| holds(&mut rng)).count() as f64 / SERIES as f64
}

fn around(figure: f64, half: f64) -> [f64; 2] {
    [figure * (1.0 - half), figure * (1.0 + half)]
}

/// Order statistics, which take samples for independent.
fn median_of_independent(memory: f64, launch: f64) -> f64 {
    share(|rng| {
        let level = 1.0 + launch * normal(rng);
        let mut values = series(rng, SAMPLES, memory, level);
        values.sort_by(f64::total_cmp);
        median_interval(&values).is_some_and(holds)
    })
}

fn median_of_batches(memory: f64, launch: f64, known: Option<Launches>) -> f64 {
    share(|rng| {
        let level = 1.0 + launch * normal(rng);
        let values = series(rng, SAMPLES, memory, level);
        half_widths(&values, known).is_some_and(|half| holds(around(median(&values).unwrap_or(0.0), half.median)))
    })
}

fn mean_of_batches(memory: f64) -> f64 {
    share(|rng| {
        let values = series(rng, SAMPLES, memory, 1.0);
        half_widths(&values, None).is_some_and(|half| holds(around(mean(&values), half.mean)))
    })
}

/// A cell in several launches that share its samples.
fn median_over_launches(count: usize, launch: f64) -> f64 {
    share(|rng| {
        let one = |rng: &mut Rng| {
            let level = 1.0 + launch * normal(rng);
            series(rng, SAMPLES / count, 0.5, level)
        };
        let launches: Vec<Vec<f64>> = (0..count).map(|_| one(rng)).collect();
        let levels: Vec<f64> = launches.iter().filter_map(|values| median(values)).collect();
        let all = launches.concat();
        half_widths(&all, of_launches(&levels))
            .is_some_and(|half| holds(around(median(&all).unwrap_or(0.0), half.median)))
    })
}

/// A comparison of the same code in so many launches of rounds in pairs.
fn comparison(count: usize, launch: f64) -> f64 {
    share(|rng| {
        let one = |rng: &mut Rng| {
            let side = |rng: &mut Rng| {
                let level = 1.0 + launch / 2f64.sqrt() * normal(rng);
                series(rng, PAIRS, 0.5, level)
            };
            let (before, after) = (side(rng), side(rng));
            before.into_iter().zip(after).map(|(before, after)| [before, after]).collect::<Vec<_>>()
        };
        let launches: Vec<Vec<[f64; 2]>> = (0..count).map(|_| one(rng)).collect();
        of_pairs(&launches, 1).and_then(|evidence| evidence.interval).is_some_and(holds)
    })
}

#[test]
#[ignore = "a table for people"]
fn the_table_of_coverage() {
    let row = |name: &str, before: Option<Vec<f64>>, now: Vec<f64>| {
        let told =
            |shares: &[f64]| shares.iter().map(|share| format!("{:.0}%", share * 100.0)).collect::<Vec<_>>().join(", ");
        let before = before.map_or("none".into(), |before| told(&before));
        println!("| {name} | {before} | {} |", told(&now));
    };
    let (memories, launches) = ([0.0, 0.5, 0.8], [0.01, 0.02, 0.03]);
    row(
        "median within a launch; neighbours keep 0, 0.5, 0.8",
        Some(memories.map(|memory| median_of_independent(memory, 0.0)).to_vec()),
        memories.map(|memory| median_of_batches(memory, 0.0, None)).to_vec(),
    );
    row("mean, and with it the rate, the same", None, memories.map(mean_of_batches).to_vec());
    row(
        "median of a cell, launches that differ by 1, 2, 3%, which `doctor --noise` measured",
        Some(launches.map(|launch| median_of_independent(0.5, launch)).to_vec()),
        launches
            .map(|launch| median_of_batches(0.5, launch, Some(Launches { deviation: launch, count: 120 })))
            .to_vec(),
    );
    for count in [3, 5] {
        let name = format!("median of a cell in {count} launches that differ by 1, 2, 3% (`--launches {count}`)");
        row(&name, None, launches.map(|launch| median_over_launches(count, launch)).to_vec());
    }
    for count in [5, 15] {
        let name = format!("comparison of {count} launches that differ by 1, 2, 3%");
        row(&name, None, launches.map(|launch| comparison(count, launch)).to_vec());
    }
}

#[test]
fn intervals_of_launches_hold_what_they_say() {
    for launch in [0.01, 0.03] {
        for found in [median_over_launches(5, launch), comparison(5, launch)] {
            assert!((0.93..=0.985).contains(&found), "{launch}: {found}");
        }
    }
}
