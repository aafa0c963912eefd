//! Joules for each item or token, with an interval; and in words where the sensor cannot tell.

use skillbench_record::{EnergyMetrics, OtherEnergy};
use skillbench_stats::student;
use skillbench_worker::{EnergyRecord, RoundEnergy, SeriesRecord};

/// Two sensors of the same thing agree within this share.
const AGREE: f64 = 0.1;
/// Where a counter moved so often in one round, rounds in which it did not say less than that one.
const MOVES: f64 = 10.0;
/// A counter is too coarse where what it may have missed at the ends of rounds is more than this share of what was used.
const COARSE: f64 = 0.1;

/// What a sensor counted around measured rounds, and how many items each round had. Where some rounds are long for the sensor, only these.
pub(super) struct Counted<'r> {
    record: &'r EnergyRecord,
    rounds: Vec<(RoundEnergy, f64)>,
}

impl<'r> Counted<'r> {
    /// Of a series each of whose samples is of as many items. `None` without a sensor.
    pub fn of_samples(series: &'r SeriesRecord) -> Option<Counted<'r>> {
        let measured = series.rounds.iter().filter(|round| round.measured);
        let samples = measured.map(|round| (round.values.len() as u64 + round.settled) as f64);
        Counted::of_rounds(series, samples.map(|samples| samples * series.items_per_sample).collect())
    }

    /// Of a series whose measured rounds had so many items each. `None` without a sensor.
    pub fn of_rounds(series: &'r SeriesRecord, items: Vec<f64>) -> Option<Counted<'r>> {
        let record = series.energy.as_ref()?;
        if items.len() != record.rounds.len() {
            return None;
        }
        let mut rounds: Vec<(RoundEnergy, f64)> = record.rounds.iter().copied().zip(items).collect();
        let is_long = |round: &RoundEnergy| record.period_s.is_some_and(|period| round.seconds >= MOVES * period);
        if rounds.iter().any(|(round, _)| is_long(round)) {
            rounds.retain(|(round, _)| is_long(round));
        }
        let counted = Counted { record, rounds };
        (counted.items() > 0.0).then_some(counted)
    }

    fn items(&self) -> f64 {
        self.rounds.iter().map(|(_, items)| items).sum()
    }

    fn sums(&self) -> Sums {
        let of = |each: fn(&RoundEnergy) -> f64| self.rounds.iter().map(|(round, _)| each(round)).sum();
        Sums {
            joules: of(|round| round.joules),
            seconds: of(|round| round.seconds),
            idle: of(|round| round.idle_watts * round.seconds),
        }
    }
}

/// Joules above what flows when nothing is done, for each item; `None` where the sensor cannot tell.
pub(super) fn per_item(counted: &Counted<'_>) -> Option<f64> {
    figure(counted).ok().map(|figure| figure.each)
}

pub(super) fn metrics(counted: &Counted<'_>) -> EnergyMetrics {
    let record = counted.record;
    let figure = figure(counted);
    let Sums { joules, seconds, idle } = counted.sums();
    let other = record.other.as_ref().filter(|_| joules > 0.0).map(|other| {
        let ratio = other.joules / joules;
        let agrees = (other.scope == record.scope).then_some((ratio - 1.0).abs() <= AGREE);
        OtherEnergy { source: other.source.clone(), scope: other.scope.clone(), joules: other.joules, ratio, agrees }
    });
    let ci95 = figure.as_ref().ok().map(|one| [one.each - one.half, one.each + one.half]);
    EnergyMetrics {
        source: record.source.clone(),
        scope: record.scope.clone(),
        joules,
        seconds,
        idle_watts: idle / seconds,
        idle_half_watts: Some(record.idle_half_watts),
        ci95,
        period_ms: record.period_s.map(|seconds| seconds * 1e3),
        other,
        reason: figure.err(),
    }
}

struct Figure {
    each: f64,
    /// Half of its 95% interval.
    half: f64,
}

/// Of all measured rounds, in joules and seconds; `idle`: the joules that flow in that time when nothing is done.
struct Sums {
    joules: f64,
    seconds: f64,
    idle: f64,
}

/// An error says why the sensor cannot tell.
fn figure(counted: &Counted<'_>) -> Result<Figure, String> {
    let Counted { record, rounds } = counted;
    let all = counted.items();
    let Sums { joules, seconds, idle } = counted.sums();
    let count = rounds.len() as f64;
    let Some(period) = record.period_s else {
        return Err(format!("{} did not move twice in a second: it is too coarse for rounds", record.source));
    };
    let above = joules - idle;
    // Each end of a round falls somewhere between two moves of the counter.
    let missed = student(u64::MAX) * (count / 6.0).sqrt() * period * joules / seconds;
    if above <= 0.0 {
        return Err(format!("the rounds used no more than flows at idle, by {}", record.source));
    }
    if missed > COARSE * above {
        return Err(format!(
            "{} moves every {:.1} ms, and {count} rounds took {:.1} ms: up to {missed:.2} J of {above:.2} J may be missed",
            record.source,
            period * 1e3,
            seconds * 1e3
        ));
    }
    let each = above / all;
    let idle_half = record.idle_half_watts * seconds / all;
    let squares =
        |(round, items): &(RoundEnergy, f64)| (round.joules - round.idle_watts * round.seconds - each * items).powi(2);
    // One round says nothing of how rounds differ, but for its ends.
    let half = match rounds.len() {
        1 => missed / all,
        of => student(of as u64 - 1) * (rounds.iter().map(squares).sum::<f64>() * count / (count - 1.0)).sqrt() / all,
    };
    let half = half.hypot(idle_half);
    match half {
        half if half >= each => Err(format!(
            "{each:.2e} J for each item is within the error of {}, {half:.1e} J: what flows at idle varies as much",
            record.source
        )),
        half => Ok(Figure { each, half }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skillbench_worker::{OtherEnergy as Other, RoundRecord};

    /// Rounds of ten items and half a second, of so many joules each, beside an idle power of 10 watts.
    fn series(joules: &[f64], period_s: Option<f64>) -> SeriesRecord {
        let round = || RoundRecord { measured: true, values: vec![5e7; 10], ..RoundRecord::default() };
        let energy = EnergyRecord {
            source: "RAPL".into(),
            scope: "package".into(),
            rounds: joules
                .iter()
                .map(|joules| RoundEnergy { joules: *joules, seconds: 0.5, idle_watts: 10.0 })
                .collect(),
            idle_half_watts: 0.1,
            period_s,
            other: Some(Other {
                source: "vendor".into(),
                scope: "package".into(),
                joules: 1.05 * joules.iter().sum::<f64>(),
            }),
        };
        SeriesRecord {
            items_per_sample: 2.0,
            rounds: joules.iter().map(|_| round()).collect(),
            energy: Some(energy),
            ..SeriesRecord::default()
        }
    }

    #[test]
    fn joules_of_an_item_are_above_idle_and_have_an_interval() {
        let series = series(&[24.0, 26.0, 25.0, 25.0], Some(0.001));
        let counted = Counted::of_samples(&series).unwrap();
        assert_eq!(per_item(&counted), Some(1.0), "20 J above idle in each round of 20 items");
        let energy = metrics(&counted);
        let [low, high] = energy.ci95.unwrap();
        assert!(low > 0.9 && low < 0.97 && high > 1.03 && high < 1.1, "{low} {high}");
        assert_eq!((energy.joules, energy.seconds, energy.period_ms), (100.0, 2.0, Some(1.0)));
        let other = energy.other.unwrap();
        assert!((other.ratio - 1.05).abs() < 1e-9 && other.agrees == Some(true));
    }

    #[test]
    fn a_counter_that_is_too_coarse_gives_no_figure_and_says_why() {
        for (period, why) in [(Some(0.2), "moves every 200.0 ms"), (None, "did not move twice")] {
            let series = series(&[24.0, 26.0, 25.0, 25.0], period);
            let counted = Counted::of_samples(&series).unwrap();
            assert_eq!(per_item(&counted), None);
            let energy = metrics(&counted);
            assert!(energy.reason.unwrap().contains(why));
            assert_eq!(energy.ci95, None);
        }
    }

    #[test]
    fn of_a_slow_counter_the_rounds_count_in_which_it_moved_often() {
        let mut series = series(&[9.0, 2.0, 50.0], Some(0.1));
        let energy = series.energy.as_mut().unwrap();
        // The last one has a hundred items in five seconds.
        energy.rounds[2] = RoundEnergy { joules: 250.0, seconds: 5.0, idle_watts: 10.0 };
        series.rounds[2].values = vec![5e7; 100];
        let counted = Counted::of_samples(&series).unwrap();
        assert_eq!(per_item(&counted), Some(1.0), "200 J above idle of 200 items; the others tell nothing");
        let energy = metrics(&counted);
        assert_eq!((energy.joules, energy.seconds), (250.0, 5.0));
        let [low, high] = energy.ci95.unwrap();
        assert!(low > 0.9 && low < 0.99 && high < 1.1, "its ends are in the interval: {low} {high}");
    }

    #[test]
    fn what_lies_within_the_error_is_no_figure() {
        let series = series(&[5.2, 4.9, 5.3, 4.8], Some(0.0001));
        let energy = metrics(&Counted::of_samples(&series).unwrap());
        assert!(energy.reason.is_some(), "{energy:?}");
    }
}
