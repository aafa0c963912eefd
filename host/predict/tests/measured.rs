//! Predictions held against what was measured: `../data/measured.csv`, whose head says where and how.

use skillbench_predict::{Evaluation, Method, Peaks, Quantity, Sample, Work, evaluate};
use std::collections::{BTreeMap, BTreeSet};

const MEASURED: &str = include_str!("../data/measured.csv");

type Row = BTreeMap<&'static str, &'static str>;

fn rows() -> Vec<Row> {
    let mut lines = MEASURED.lines().filter(|line| !line.starts_with('#'));
    let columns: Vec<&str> = lines.next().unwrap().split(',').collect();
    lines.map(|line| columns.iter().copied().zip(line.split(',')).collect()).collect()
}

fn number(row: &Row, name: &str) -> f64 {
    row[name].parse().unwrap()
}

fn hardware() -> BTreeSet<&'static str> {
    rows().iter().map(|row| row["plugin"]).collect()
}

fn describe(plugin: &str, quantity: Quantity, method: Method) -> Evaluation {
    let rows: Vec<Row> =
        rows().into_iter().filter(|row| row["plugin"] == plugin && row["quantity"] == quantity.name()).collect();
    let peaks = Peaks {
        flops_per_s: rows[0]["peak_flops_per_s"].parse().ok(),
        bytes_per_s: rows[0]["peak_bytes_per_s"].parse().ok(),
    };
    let sample = |row: &Row| Sample {
        work: Work {
            model: row["model"].into(),
            family: row["family"].into(),
            batch: number(row, "batch"),
            flops: number(row, "flops"),
            weight_bytes: number(row, "weight_bytes"),
            activation_bytes: number(row, "activation_bytes"),
            kernels: number(row, "kernels"),
            parameter_bytes: number(row, "parameter_bytes"),
        },
        value: number(row, "value"),
    };
    let samples: Vec<Sample> = rows.iter().map(sample).collect();
    evaluate(&samples, quantity, peaks, method).unwrap()
}

#[test]
fn intervals_of_nine_in_ten_hold_for_models_that_were_held_out() {
    for plugin in hardware() {
        for quantity in Quantity::ALL {
            let told = describe(plugin, quantity, Method::Residual);
            let all = format!("{plugin} {}: {told:?}", quantity.name());
            assert!(told.models >= 20 && told.answered > 2 * told.refused, "{all}");
            assert!((0.80..=0.97).contains(&told.coverage), "{all}");
        }
    }
}

#[test]
fn intervals_hold_for_other_sizes_of_measured_models_too() {
    for plugin in hardware() {
        let told = describe(plugin, Quantity::Latency, Method::OtherPoint);
        assert!((0.80..=0.97).contains(&told.coverage), "{plugin}: {told:?}");
    }
}

/// On each hardware by itself it may not: the roofline tells most of it.
#[test]
fn over_all_hardware_the_residual_makes_times_more_certain_than_the_roofline_alone() {
    let mean = |method: Method, of: fn(&Evaluation) -> f64| {
        let times = [Quantity::Latency, Quantity::Throughput];
        let all: Vec<f64> = hardware()
            .iter()
            .flat_map(|plugin| times.map(|quantity| of(&describe(plugin, quantity, method))))
            .collect();
        all.iter().sum::<f64>() / all.len() as f64
    };
    for of in [|told: &Evaluation| told.median_error_percent, |told: &Evaluation| told.p90_error_percent] {
        let (law, learned) = (mean(Method::Law, of), mean(Method::Residual, of));
        assert!(learned < law, "{law} {learned}");
    }
}
