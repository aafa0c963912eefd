//! How often made histories are judged right: the table of docs/trends.md.

use super::noise::{Noise, history};
use super::{Rules, change_points};
use std::ops::Range;

const HISTORIES: u64 = 400;

struct Shape {
    name: &'static str,
    step: f64,
    slower: Range<usize>,
}

/// Of all histories, those with a change within two runs of each planted one; and those with a change elsewhere.
fn rates(noise: Noise, shape: &Shape, rules: &Rules) -> (f64, f64) {
    let planted: Vec<usize> = match shape.step {
        0.0 => vec![],
        _ => [shape.slower.start, shape.slower.end].into_iter().filter(|at| *at < 60).collect(),
    };
    let (mut found, mut elsewhere) = (0, 0);
    for seed in 0..HISTORIES {
        let values = history(noise, shape.step, shape.slower.clone(), &mut fastrand::Rng::with_seed(seed));
        let points = change_points(&[values], rules, crate::rules().trend.seed).remove(0);
        let near = |at: &usize| points.iter().any(|point| point.at.abs_diff(*at) <= 2);
        found += u64::from(!planted.is_empty() && planted.iter().all(near));
        elsewhere += u64::from(points.iter().any(|point| planted.iter().all(|at| point.at.abs_diff(*at) > 2)));
    }
    (found as f64 / HISTORIES as f64, elsewhere as f64 / HISTORIES as f64)
}

#[test]
#[ignore = "a table for people, a minute of work"]
fn the_table_of_rates() {
    let rules = crate::rules().trend.rules;
    let shape = |name, step, slower| Shape { name, step, slower };
    let shapes = [
        shape("flat", 0.0, 60..60),
        shape("+3% from run 45 on", 0.03, 45..60),
        shape("+5% from run 45 on", 0.05, 45..60),
        shape("+10% from run 45 on", 0.10, 45..60),
        shape("+10% in the last 8", 0.10, 52..60),
        shape("+10% in the last 4", 0.10, 56..60),
        shape("+10% in the runs 25 to 34", 0.10, 25..35),
    ];
    let noises = [Noise::Normal, Noise::Outliers, Noise::TwoModes, Noise::Correlated];
    println!("| history of sixty runs | normal | outliers | two modes | correlated |\n|---|---|---|---|---|");
    for shape in &shapes {
        let cells: Vec<String> = noises
            .iter()
            .map(|noise| match rates(*noise, shape, &rules) {
                (_, elsewhere) if shape.step == 0.0 => format!("{:.1}%", elsewhere * 100.0),
                (found, elsewhere) => format!("{:.0}% ({:.1}%)", found * 100.0, elsewhere * 100.0),
            })
            .collect();
        println!("| {} | {} |", shape.name, cells.join(" | "));
    }
    let (families, size) = (40, 100);
    for noise in noises {
        let (mut alarms, mut found) = (0, 0);
        let start = std::time::Instant::now();
        for family in 0..families {
            let mut random = fastrand::Rng::with_seed(family);
            let mut all: Vec<Vec<f64>> = (0..size).map(|_| history(noise, 0.0, 60..60, &mut random)).collect();
            alarms += u32::from(change_points(&all, &rules, 1).iter().any(|points| !points.is_empty()));
            all[0] = history(noise, 0.10, 45..60, &mut random);
            found += u32::from(change_points(&all, &rules, 1)[0].iter().any(|point| point.at.abs_diff(45) <= 2));
        }
        let took = start.elapsed().as_secs_f64() / (2 * families) as f64;
        println!(
            "{size} histories together, {noise:?}: any alarm in {alarms} of {families} flat families; one step of 10% \
             among them found in {found} of {families}; {took:.2} s each"
        );
    }
}
