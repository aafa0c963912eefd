//! Predictions for a machine of which little or nothing is measured, from machines whose law is known.

mod machine;

use machine::{PEAKS, Random, machine};
use skillbench_predict::{Basis, NotEnough, Peaks, Quantity, Sample, Source, Transfer};

/// Machines of all speeds, each off the common law by `off` (standard deviation of the logarithm) as a whole.
fn machines(seed: u64, count: usize, off: f64) -> Vec<Source> {
    let mut random = Random(seed);
    let mut one = |index: usize| {
        let speed = (1.5 * random.normal()).exp();
        let slower = (off * random.normal()).exp() / speed;
        let samples = machine(seed + index as u64, 12, 0.1, 0.02);
        let samples = samples.into_iter().map(|sample| Sample { value: sample.value * slower, ..sample });
        let peak = |peak: Option<f64>| peak.map(|peak| peak * speed);
        Source {
            machine: format!("machine-{index}"),
            peaks: Peaks { flops_per_s: peak(PEAKS.flops_per_s), bytes_per_s: peak(PEAKS.bytes_per_s) },
            samples: samples.collect(),
        }
    };
    (0..count).map(&mut one).collect()
}

fn nothing_measured_on(source: &Source) -> Source {
    Source { samples: vec![], ..source.clone() }
}

#[test]
fn a_machine_of_which_the_peaks_alone_are_known_is_predicted_from_others() {
    let mut all = machines(7, 13, 0.05);
    let new = all.pop().unwrap();
    let transfer = Transfer::train(all, Quantity::Latency);
    // Models that fit between those of the others.
    let asked = new.samples.iter().filter_map(|sample| {
        let told = transfer.predict(&nothing_measured_on(&new), &sample.work).ok()?;
        assert_eq!((told.basis, told.models, told.level), (Basis::OtherMachines, 12, 0.8));
        Some((told.value / sample.value).ln().abs())
    });
    let mut errors: Vec<f64> = asked.collect();
    errors.sort_by(f64::total_cmp);
    assert!(errors.len() > 20 && errors[errors.len() / 2] < 0.35, "{errors:?}");
}

#[test]
fn intervals_over_machines_hold_eight_of_ten_and_a_few_measured_models_narrow_them() {
    let (mut inside, mut all, mut cold, mut warm) = (0.0, 0.0, vec![], vec![]);
    for seed in 0..60 {
        let mut sources = machines(100 * (seed + 1), 9, 0.25);
        let new = sources.pop().unwrap();
        let transfer = Transfer::train(sources, Quantity::Latency);
        let names: Vec<String> = (0..4).map(|index| format!("model-{index}")).collect();
        let (known, unseen): (Vec<Sample>, Vec<Sample>) =
            new.samples.iter().cloned().partition(|sample| names.contains(&sample.work.model));
        let here = Source { samples: known, ..new.clone() };
        for sample in &unseen {
            if let Ok(told) = transfer.predict(&nothing_measured_on(&new), &sample.work) {
                cold.push(told.high / told.low);
            }
            let Ok(told) = transfer.predict(&here, &sample.work) else { continue };
            warm.push(told.high / told.low);
            inside += f64::from(u8::from((told.low..=told.high).contains(&sample.value)));
            all += 1.0;
        }
    }
    let coverage = inside / all;
    assert!(all > 500.0 && (0.75..=0.93).contains(&coverage), "{coverage} of {all}");
    let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
    assert!(mean(&warm) < mean(&cold), "{} and {}", mean(&warm), mean(&cold));
}

#[test]
fn too_few_machines_and_unknown_peaks_give_no_prediction() {
    let all = machines(3, 5, 0.05);
    let work = all[0].samples[0].work.clone();
    let few = Transfer::train(all[..3].to_vec(), Quantity::Latency);
    assert_eq!(few.predict(&nothing_measured_on(&all[4]), &work), Err(NotEnough::Machines { machines: 3, least: 4 }));
    // The machine that is asked about is no other.
    let own = Transfer::train(all[..4].to_vec(), Quantity::Latency);
    assert_eq!(own.predict(&all[0], &work), Err(NotEnough::Machines { machines: 3, least: 4 }));
    let enough = Transfer::train(all[..4].to_vec(), Quantity::Latency);
    let unknown = Source { peaks: Peaks::default(), ..nothing_measured_on(&all[4]) };
    assert_eq!(enough.predict(&unknown, &work), Err(NotEnough::Peaks));
}
