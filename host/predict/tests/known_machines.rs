//! Predictions for machines whose law is known.

mod machine;

use machine::{PEAKS, Random, law, machine};
use skillbench_predict::{Basis, Method, NotEnough, Peaks, Predictor, Quantity, Sample, Work, evaluate};

fn trained(samples: Vec<Sample>) -> Predictor {
    Predictor::train(samples, Quantity::Latency, PEAKS)
}

fn typical() -> Work {
    Work {
        model: "new".into(),
        family: "vision".into(),
        batch: 4.0,
        flops: 4e9,
        weight_bytes: 4e7,
        activation_bytes: 1.6e8,
        kernels: 200.0,
        parameter_bytes: 4e7,
    }
}

#[test]
fn a_machine_that_keeps_its_law_is_foretold_to_a_few_percent_and_its_rates_are_found() {
    let predictor = trained(machine(1, 30, 0.0, 0.01));
    let told = predictor.predict(&typical()).unwrap();
    assert!((told.value / law(&typical()) - 1.0).abs() < 0.05, "{told:?}");
    assert!(told.low < told.value && told.value < told.high && told.high / told.low < 1.3, "{told:?}");
    assert_eq!((told.models, told.basis, told.learned), (30, Basis::OtherModels, true));
    let found = predictor.efficiency().unwrap();
    assert!((found.flops_per_s / 0.5e11 - 1.0).abs() < 0.1, "{found:?}");
    assert!((found.bytes_per_s / 1e10 - 1.0).abs() < 0.1, "{found:?}");
}

#[test]
fn peaks_that_nobody_measured_are_fitted() {
    let predictor = Predictor::train(machine(2, 30, 0.0, 0.01), Quantity::Latency, Peaks::default());
    let told = predictor.predict(&typical()).unwrap();
    assert!((told.value / law(&typical()) - 1.0).abs() < 0.05, "{told:?}");
    assert!((predictor.efficiency().unwrap().flops_per_s / 0.5e11 - 1.0).abs() < 0.1);
}

/// Over many machines, nine of ten new models lie inside of their interval: a little more, since models are finite.
#[test]
fn intervals_hold_nine_of_ten_models_that_were_never_seen() {
    let (mut inside, mut all, mut factors) = (0.0, 0.0, vec![]);
    for seed in 0..150 {
        let mut samples = machine(1000 + seed, 40, 0.3, 0.05);
        let unseen = samples.split_off(30 * 3);
        let predictor = trained(samples);
        for sample in &unseen {
            let Ok(told) = predictor.predict(&sample.work) else { continue };
            inside += f64::from(u8::from((told.low..=told.high).contains(&sample.value)));
            all += 1.0;
            factors.push((told.high / told.low).sqrt());
        }
    }
    let coverage = inside / all;
    assert!((0.87..=0.95).contains(&coverage), "{coverage}");
    factors.sort_by(f64::total_cmp);
    // 1.645 standard deviations of 0.3, and some for what thirty models leave open.
    let median = factors[factors.len() / 2];
    assert!((1.5..=2.1).contains(&median), "{median}");
}

#[test]
fn another_size_of_a_measured_model_is_foretold_from_its_own_points() {
    let mut samples = machine(5, 30, 0.5, 0.02);
    let held_out = samples.remove(10);
    let told = trained(samples).predict(&held_out.work).unwrap();
    assert_eq!(told.basis, Basis::OtherPoints);
    assert!((told.value / held_out.value - 1.0).abs() < 0.15, "{told:?} {}", held_out.value);
    assert!(told.high / told.low < 1.5, "{told:?}");
}

#[test]
fn what_was_measured_of_a_work_does_not_go_into_what_is_foretold_of_it() {
    let samples = machine(6, 30, 0.3, 0.05);
    let work = samples[10].work.clone();
    let told = trained(samples.clone()).predict(&work).unwrap();
    let mut other = samples;
    other[10].value *= 1.4;
    let after = trained(other).predict(&work).unwrap();
    assert_eq!(after.value, told.value);
}

#[test]
fn too_few_models_say_nothing_however_many_points_they_have() {
    let told = trained(machine(7, 8, 0.1, 0.02)).predict(&typical());
    assert_eq!(told, Err(NotEnough::Models { models: 8, least: 9 }));
    assert_eq!(trained(vec![]).predict(&typical()), Err(NotEnough::Models { models: 0, least: 9 }));
    assert!(matches!(trained(machine(7, 1, 0.1, 0.02)).predict(&typical()), Err(NotEnough::Models { models: 1, .. })));
}

#[test]
fn a_machine_without_a_law_gets_no_interval_that_says_nothing() {
    let told = trained(machine(8, 30, 1.5, 0.1)).predict(&typical());
    assert!(matches!(told, Err(NotEnough::Wide { .. })), "{told:?}");
}

#[test]
fn what_lies_outside_of_what_was_measured_is_refused() {
    let predictor = trained(machine(9, 30, 0.1, 0.02));
    let outside = [
        Work { batch: 64.0, ..typical() },
        Work { flops: 1e13, ..typical() },
        Work { parameter_bytes: 1e10, ..typical() },
        Work { kernels: 1e5, ..typical() },
        Work { activation_bytes: f64::NAN, ..typical() },
    ];
    for work in outside {
        assert!(matches!(predictor.predict(&work), Err(NotEnough::Outside { .. })), "{work:?}");
    }
    let audio = Work { family: "audio".into(), ..typical() };
    assert_eq!(predictor.predict(&audio), Err(NotEnough::Family { family: "audio".into() }));
}

#[test]
fn a_throughput_is_foretold_as_items_in_a_second() {
    let samples = machine(10, 30, 0.0, 0.01);
    let items = |sample: &Sample| Sample { value: 1e3 * sample.work.batch / sample.value, ..sample.clone() };
    let predictor = Predictor::train(samples.iter().map(items).collect(), Quantity::Throughput, PEAKS);
    let told = predictor.predict(&typical()).unwrap();
    let expected = 4e3 / law(&typical());
    assert!((told.value / expected - 1.0).abs() < 0.05, "{told:?} {expected}");
    assert!(told.low < told.value && told.value < told.high);
}

#[test]
fn memory_is_a_floor_and_what_lies_on_it() {
    let mib = 1_048_576.0;
    let of = |work: &Work| 60.0 + 1.8 * work.parameter_bytes / mib + 0.1 * work.activation_bytes / mib;
    let samples = machine(11, 30, 0.0, 0.0);
    let memory = samples.into_iter().map(|sample| Sample { value: of(&sample.work), ..sample }).collect();
    let told = Predictor::train(memory, Quantity::Memory, PEAKS).predict(&typical()).unwrap();
    assert!((told.value / of(&typical()) - 1.0).abs() < 0.03 && !told.learned, "{told:?}");
}

#[test]
fn what_is_no_figure_teaches_nothing() {
    let mut samples = machine(12, 30, 0.1, 0.02);
    let told = trained(samples.clone()).predict(&typical());
    let mut broken = samples[0].clone();
    for value in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        broken.value = value;
        samples.push(broken.clone());
    }
    assert_eq!(trained(samples).predict(&typical()), told);
}

#[test]
fn the_residual_is_worth_its_while_where_the_law_misses_something_that_can_be_learned() {
    let mut samples = machine(13, 40, 0.05, 0.02);
    // Large batches are cheaper than the law says, and one family dearer.
    for sample in &mut samples {
        let dearer = if sample.work.family == "vision" { 1.5 } else { 1.0 };
        sample.value *= dearer * sample.work.batch.powf(-0.15);
    }
    let of = |method| evaluate(&samples, Quantity::Latency, PEAKS, method).unwrap();
    let (law, learned, kin) = (of(Method::Law), of(Method::Residual), of(Method::OtherPoint));
    assert!(learned.median_error_percent < 0.6 * law.median_error_percent, "{law:?} {learned:?}");
    assert!(learned.factor < law.factor && kin.factor < learned.factor, "{law:?} {learned:?} {kin:?}");
    assert!((learned.models, learned.answered + learned.refused) == (40, 120) || learned.refused > 0, "{learned:?}");
}

#[test]
fn an_evaluation_needs_one_model_more_than_an_interval() {
    let of = |models| evaluate(&machine(14, models, 0.1, 0.02), Quantity::Latency, PEAKS, Method::Residual);
    assert!(of(9).is_none());
    assert!(of(10).is_some_and(|told| told.answered > 0));
}

#[test]
fn the_tests_own_random_numbers_are_normal() {
    let mut random = Random(3);
    let values: Vec<f64> = (0..10_000).map(|_| random.normal()).collect();
    let mean = values.iter().sum::<f64>() / 1e4;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / 1e4;
    assert!(mean.abs() < 0.05 && (variance - 1.0).abs() < 0.05, "{mean} {variance}");
}
