use crate::cells::{ended, frame, measured, near, number, numbers, only};
use polars::prelude::*;
use skillbench_record::Samples;
use skillbench_results::frames;
use skillbench_results::questions::{histogram, of_cells, quantiles};

fn series(cell: usize, name: &str, round: u64, values: impl IntoIterator<Item = f64>) -> Samples {
    let values = values.into_iter().collect();
    Samples { cell, series: name.into(), unit: "ms".into(), round, values, cpu_ns: None, wall_ns: None }
}

fn samples(all: &[Samples]) -> DataFrame {
    frames::samples("r1", all).unwrap()
}

#[test]
fn rounds_of_a_series_are_taken_together_and_series_apart() {
    let all =
        [series(0, "latency", 0, [4.0, 2.0]), series(0, "other", 0, [9.0]), series(0, "latency", 1, [3.0, 1.0, 5.0])];
    let found = quantiles(samples(&all)).unwrap();
    let latency = only(&found, "series", "latency");
    let told = ["n", "min", "q1", "median", "q3", "max"].map(|name| number(&latency, name));
    assert_eq!(told, [5.0, 1.0, 2.0, 3.0, 4.0, 5.0].map(Some));
    let other = only(&found, "series", "other");
    assert_eq!(
        (number(&other, "median"), number(&other, "q1")),
        (Some(9.0), Some(9.0)),
        "one sample is all its figures"
    );
}

#[test]
fn percentiles_go_by_the_rule_of_the_cells_figures() {
    let found =
        quantiles(samples(&[series(0, "a", 0, (0..63).map(f64::from)), series(1, "a", 0, (0..64).map(f64::from))]))
            .unwrap();
    assert_eq!(numbers(&found, "p90"), [None, Some(63.0)]);
    assert_eq!(numbers(&found, "p99"), [None, None]);
}

#[test]
fn what_is_no_number_counts_nowhere() {
    let found = quantiles(samples(&[series(0, "a", 0, [f64::NAN, 1.0, f64::INFINITY]), series(1, "a", 0, [f64::NAN])]))
        .unwrap();
    assert_eq!(numbers(&found, "n"), [Some(1.0), Some(0.0)]);
    assert_eq!(numbers(&found, "median"), [Some(1.0), None]);
}

#[test]
fn no_samples_no_rows() {
    assert_eq!(quantiles(samples(&[])).unwrap().height(), 0);
    assert_eq!(histogram(samples(&[])).unwrap().height(), 0);
    assert_eq!(histogram(samples(&[series(0, "a", 0, [f64::NAN])])).unwrap().height(), 0);
}

#[test]
fn bins_hold_every_sample_but_those_far_away_which_are_counted() {
    let found = histogram(samples(&[series(0, "a", 0, (0..100).map(f64::from).chain([1e6]))])).unwrap();
    let counted: f64 = numbers(&found, "count").into_iter().flatten().sum();
    assert_eq!((counted, numbers(&found, "beyond")[0]), (100.0, Some(1.0)));
    assert!(found.height() >= 8 && numbers(&found, "high").into_iter().flatten().fold(0.0, f64::max) < 1e3);
}

#[test]
fn samples_that_are_all_the_same_are_one_bin() {
    let found = histogram(samples(&[series(0, "a", 0, [2.0; 20])])).unwrap();
    assert_eq!((number(&found, "count"), number(&found, "low")), (Some(20.0), Some(2.0)));
    assert!(near(number(&found, "high"), 2.0));
}

#[test]
fn samples_know_the_cell_they_are_of_and_only_measured_ones_are_told() {
    let all = [series(0, "latency", 0, [1.0]), series(1, "latency", 0, [1.0])];
    let cells = frame([measured("cpu", "a", 1.0), ended("cpu", "b", "timed-out", "600 s")]);
    let found = of_cells(quantiles(samples(&all)).unwrap(), cells).unwrap();
    assert_eq!(found.height(), 1);
    assert_eq!(found.column("model_id").unwrap().str().unwrap().get(0), Some("a"));
}
