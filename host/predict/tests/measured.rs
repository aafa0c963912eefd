//! Predictions held against what was measured: `data/measured.csv`, whose head says where and how.

use skillbench_predict::{Evaluation, Method, Peaks, Quantity, Sample, Work, evaluate};
use std::collections::BTreeMap;

const MEASURED: &str = include_str!("data/measured.csv");

/// Samples of a quantity by hardware.
fn samples(quantity: Quantity) -> BTreeMap<&'static str, Vec<Sample>> {
    let mut lines = MEASURED.lines().filter(|line| !line.starts_with('#'));
    let columns: Vec<&str> = lines.next().unwrap().split(',').collect();
    let mut samples: BTreeMap<&str, Vec<Sample>> = BTreeMap::new();
    for line in lines {
        let row: BTreeMap<&str, &'static str> = columns.iter().copied().zip(line.split(',')).collect();
        let number = |name: &str| row[name].parse::<f64>().unwrap();
        let work = Work {
            model: row["model"].into(),
            family: row["family"].into(),
            batch: number("batch"),
            flops: number("flops"),
            weight_bytes: number("weight_bytes"),
            activation_bytes: number("activation_bytes"),
            kernels: number("kernels"),
            parameter_bytes: number("parameter_bytes"),
        };
        let value = number(match quantity {
            Quantity::Latency => "latency_ms",
            Quantity::Throughput => "throughput_per_s",
            Quantity::Memory => "peak_memory_mb",
        });
        samples.entry(row["plugin"]).or_default().push(Sample { work, value });
    }
    samples
}

/// As the roofline benchmark found them in the same hour: lines `# peak PLUGIN FLOP/s B/s`.
fn peaks(plugin: &str) -> Peaks {
    let line = MEASURED.lines().find_map(|line| line.strip_prefix(&format!("# peak {plugin} "))).unwrap();
    let numbers: Vec<f64> = line.split(' ').map(|number| number.parse().unwrap()).collect();
    Peaks { flops_per_s: Some(numbers[0]), bytes_per_s: Some(numbers[1]) }
}

fn told(plugin: &str, quantity: Quantity, method: Method) -> Evaluation {
    evaluate(&samples(quantity)[plugin], quantity, peaks(plugin), method).unwrap()
}

#[test]
#[ignore]
fn table() {
    for quantity in Quantity::ALL {
        for (plugin, samples) in samples(quantity) {
            for method in Method::ALL {
                let start = std::time::Instant::now();
                println!(
                    "{plugin} {} {:?} {:?}",
                    quantity.name(),
                    evaluate(&samples, quantity, peaks(plugin), method),
                    start.elapsed()
                );
            }
        }
    }
}
