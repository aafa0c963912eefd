use super::noise::{Noise, history};
use super::*;

fn of_trend() -> Rules {
    crate::rules().trend.rules
}

const NOISES: [Noise; 3] = [Noise::Normal, Noise::Outliers, Noise::TwoModes];

fn found(values: &[f64]) -> Vec<usize> {
    change_points(&[values.to_vec()], &of_trend(), 42).remove(0).iter().map(|point| point.at).collect()
}

#[test]
fn a_planted_step_is_found_within_two_runs_of_its_place() {
    for noise in NOISES {
        for seed in 0..30 {
            let mut random = fastrand::Rng::with_seed(seed);
            let at = random.usize(10..50);
            let points = found(&history(noise, 0.15, at..60, &mut random));
            assert!(
                points.iter().any(|point| point.abs_diff(at) <= 2),
                "{noise:?}, seed {seed}: at {at}, found {points:?}"
            );
        }
    }
}

#[test]
fn of_many_flat_histories_looked_at_together_none_changed() {
    for noise in NOISES {
        let mut random = fastrand::Rng::with_seed(7);
        let histories: Vec<Vec<f64>> = (0..300).map(|_| history(noise, 0.0, 60..60, &mut random)).collect();
        let points = change_points(&histories, &of_trend(), 42);
        assert!(points.iter().all(Vec::is_empty), "{noise:?}: {points:?}");
    }
}

#[test]
fn one_step_among_many_flat_histories_is_found_all_the_same() {
    let mut random = fastrand::Rng::with_seed(3);
    let mut histories: Vec<Vec<f64>> = (0..200).map(|_| history(Noise::Normal, 0.0, 60..60, &mut random)).collect();
    histories.push(history(Noise::Normal, 0.10, 45..60, &mut random));
    let points = change_points(&histories, &of_trend(), 42);
    let changed: Vec<usize> = (0..points.len()).filter(|history| !points[*history].is_empty()).collect();
    assert_eq!(changed, [200]);
    assert!(points[200][0].at.abs_diff(45) <= 2 && points[200][0].p < 1e-4, "{:?}", points[200]);
}

#[test]
fn several_steps_are_found_each_at_its_place() {
    let mut random = fastrand::Rng::with_seed(5);
    let mut values = history(Noise::Normal, 0.0, 60..60, &mut random);
    values[20..].iter_mut().for_each(|value| *value *= 1.2);
    values[40..].iter_mut().for_each(|value| *value *= 0.7);
    assert_eq!(found(&values), [20, 40]);
}

#[test]
fn what_went_and_came_back_is_two_changes() {
    let mut random = fastrand::Rng::with_seed(6);
    let mut values = history(Noise::Normal, 0.0, 60..60, &mut random);
    values[25..35].iter_mut().for_each(|value| *value *= 1.1);
    assert_eq!(found(&values), [25, 35]);
}

#[test]
fn identical_values_a_single_outlier_and_a_short_history_are_no_change() {
    assert_eq!(found(&[5.0; 60]), [] as [usize; 0]);
    let mut values = [5.0; 60];
    values[31] = 50.0;
    assert_eq!(found(&values), [] as [usize; 0]);
    let short: Vec<f64> = [vec![1.0; 4], vec![2.0; 4]].concat();
    assert!(short.len() < of_trend().least_runs);
    assert_eq!(found(&short), [] as [usize; 0]);
    assert_eq!(found(&[]), [] as [usize; 0]);
}

#[test]
fn a_change_too_small_to_matter_is_none_however_sure() {
    let mut random = fastrand::Rng::with_seed(9);
    let mut step = |size: f64| -> Vec<f64> {
        (0..60).map(|run| if run < 30 { 1.0 } else { 1.0 + size } * (1.0 + 1e-4 * random.f64())).collect()
    };
    assert_eq!(found(&step(0.01)), [] as [usize; 0]);
    assert_eq!(found(&step(0.03)), [30]);
}

#[test]
fn what_is_found_is_the_same_each_time_and_for_any_unit() {
    let mut random = fastrand::Rng::with_seed(11);
    let values = history(Noise::Outliers, 0.1, 33..60, &mut random);
    let scaled: Vec<f64> = values.iter().map(|value| value * 1024.0).collect();
    let one = change_points(std::slice::from_ref(&values), &of_trend(), 1);
    assert_eq!(one, change_points(&[values], &of_trend(), 1));
    assert_eq!(one[0].len(), change_points(&[scaled], &of_trend(), 1)[0].len());
}

#[test]
fn a_history_with_a_value_that_is_no_figure_is_not_judged() {
    let mut values = vec![1.0; 30];
    values.extend([2.0; 30]);
    values[10] = 0.0;
    assert_eq!(found(&values), [] as [usize; 0]);
    values[10] = f64::NAN;
    assert_eq!(found(&values), [] as [usize; 0]);
}
