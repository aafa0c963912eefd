//! Joules for each item or token, with an interval; and in words where the sensor cannot tell.

use skillbench_record::{EnergyMetrics, OtherEnergy};
use skillbench_stats::{median, student};
use skillbench_worker::{EnergyRecord, RoundEnergy, SeriesRecord, above_idle, missed_joules, too_coarse};

/// Two sensors of the same thing agree within this share.
const AGREE: f64 = 0.1;
/// Rounds that are played for a counter alone take as long for each sample as the measured ones, within this share.
const ALIKE: f64 = 0.1;

/// What a sensor counted around rounds, and how many items each round had.
pub(super) struct Counted<'r> {
    record: &'r EnergyRecord,
    rounds: &'r [RoundEnergy],
    items: Vec<f64>,
    /// Why rounds for the counter alone tell nothing of the measured ones.
    unlike: Option<String>,
}

impl<'r> Counted<'r> {
    /// Of a series each of whose samples is of as many items: of rounds for the counter alone, where there are any. `None` without a sensor.
    pub fn of_samples(series: &'r SeriesRecord) -> Option<Counted<'r>> {
        let record = series.energy.as_ref()?;
        let rounds = if record.long.is_empty() { &record.rounds } else { &record.long };
        let items: Vec<f64> = rounds.iter().map(|round| round.samples as f64 * series.items_per_sample).collect();
        let counted = Counted { record, rounds, items, unlike: unlike(series, &record.long) };
        (counted.count() > 0.0).then_some(counted)
    }

    /// Of a series whose measured rounds had so many items each. `None` without a sensor.
    pub fn of_rounds(series: &'r SeriesRecord, items: Vec<f64>) -> Option<Counted<'r>> {
        let record = series.energy.as_ref()?;
        let counted = Counted { record, rounds: &record.rounds, items, unlike: None };
        (counted.items.len() == record.rounds.len() && counted.count() > 0.0).then_some(counted)
    }

    fn count(&self) -> f64 {
        self.items.iter().sum()
    }

    fn sum(&self, of: fn(&RoundEnergy) -> f64) -> f64 {
        self.rounds.iter().map(of).sum()
    }
}

/// Why rounds for a counter alone are none of the work that was measured; `None`: they are.
fn unlike(series: &SeriesRecord, long: &[RoundEnergy]) -> Option<String> {
    let measured = median(&super::summarize::measured(series))?;
    let found = long.iter().filter_map(|round| round.median);
    let apart = found.map(|median| median / measured).find(|ratio| (ratio - 1.0).abs() > ALIKE)?;
    Some(format!(
        "a round that was played for the energy counter took {apart:.2} times as long for each sample as the measured ones"
    ))
}

/// Joules above what flows when nothing is done, for each item; `None` where the sensor cannot tell.
pub(super) fn per_item(counted: &Counted<'_>) -> Option<f64> {
    figure(counted).ok().map(|figure| figure.each)
}

pub(super) fn metrics(counted: &Counted<'_>) -> EnergyMetrics {
    let record = counted.record;
    let figure = figure(counted);
    let (joules, seconds) = (counted.sum(|round| round.joules), counted.sum(|round| round.seconds));
    let other_joules = counted.rounds.iter().map(|round| round.other_joules).sum::<Option<f64>>();
    let other = record.other.as_ref().zip(other_joules).filter(|_| joules > 0.0).map(|(other, other_joules)| {
        let ratio = other_joules / joules;
        let agrees = (other.scope == record.scope).then_some((ratio - 1.0).abs() <= AGREE);
        OtherEnergy { source: other.source.clone(), scope: other.scope.clone(), joules: other_joules, ratio, agrees }
    });
    let ci95 = figure.as_ref().ok().and_then(|one| Some([one.each - one.half?, one.each + one.half?]));
    EnergyMetrics {
        source: record.source.clone(),
        scope: record.scope.clone(),
        joules,
        seconds,
        idle_watts: counted.sum(|round| round.idle_watts * round.seconds) / seconds,
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
    half: Option<f64>,
}

/// An error says why the sensor cannot tell.
fn figure(counted: &Counted<'_>) -> Result<Figure, String> {
    let Counted { record, rounds, items, unlike } = counted;
    if let Some(unlike) = unlike {
        return Err(unlike.clone());
    }
    let (all, count) = (counted.count(), rounds.len() as f64);
    let Some(period) = record.period_s else {
        return Err(format!("{} did not move twice in a second: it is too coarse for rounds", record.source));
    };
    let (above, seconds) = (above_idle(rounds), counted.sum(|round| round.seconds));
    if above <= 0.0 {
        return Err(format!("the rounds used no more than flows at idle, by {}", record.source));
    }
    if too_coarse(rounds, period) {
        return Err(format!(
            "{} moves every {:.1} ms, and {count} rounds took {:.1} ms: up to {:.2} J of {above:.2} J may be missed",
            record.source,
            period * 1e3,
            seconds * 1e3,
            missed_joules(rounds, period)
        ));
    }
    let each = above / all;
    let idle_half = record.idle_half_watts * seconds / all;
    let half = (rounds.len() > 1).then(|| {
        let apart = |(round, items): (&RoundEnergy, &f64)| {
            (round.joules - round.idle_watts * round.seconds - each * items).powi(2)
        };
        let squares: f64 = rounds.iter().zip(items).map(apart).sum();
        let between = student(rounds.len() as u64 - 1) * (squares * count / (count - 1.0)).sqrt() / all;
        between.hypot(idle_half)
    });
    match half {
        Some(half) if half >= each => Err(format!(
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

    const ROUND: RoundEnergy =
        RoundEnergy { joules: 0.0, seconds: 0.5, idle_watts: 10.0, samples: 10, median: None, other_joules: None };

    /// Rounds of ten samples and half a second, of so many joules each, beside an idle power of 10 watts.
    fn series(joules: &[f64], period_s: Option<f64>) -> SeriesRecord {
        let round = || RoundRecord { measured: true, values: vec![5e7; 10], ..RoundRecord::default() };
        let energy = EnergyRecord {
            source: "RAPL".into(),
            scope: "package".into(),
            rounds: joules
                .iter()
                .map(|joules| RoundEnergy { joules: *joules, other_joules: Some(1.05 * joules), ..ROUND })
                .collect(),
            long: vec![],
            idle_half_watts: 0.1,
            period_s,
            other: Some(Other { source: "vendor".into(), scope: "package".into() }),
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
    fn of_a_slow_counter_only_the_rounds_count_that_were_played_for_it() {
        let long = |joules: f64, median: f64| RoundEnergy {
            joules,
            seconds: 5.0,
            samples: 100,
            median: Some(median),
            other_joules: Some(joules),
            ..ROUND
        };
        let with = |median: f64| {
            let mut series = series(&[9.0, 2.0, 7.0], Some(0.1));
            series.energy.as_mut().unwrap().long = vec![long(248.0, median), long(252.0, 5e7), long(250.0, 5e7)];
            series
        };
        let series = with(5.1e7);
        let counted = Counted::of_samples(&series).unwrap();
        assert_eq!(per_item(&counted), Some(1.0), "600 J above idle of 600 items; the others tell nothing");
        let energy = metrics(&counted);
        assert_eq!((energy.joules, energy.seconds), (750.0, 15.0));
        assert_eq!(energy.other.unwrap().ratio, 1.0, "the second sensor is held against the same rounds");
        let [low, high] = energy.ci95.unwrap();
        assert!(low > 0.95 && low < 0.995 && high < 1.05, "how far the rounds are apart: {low} {high}");
        let other_work = with(3e7);
        let energy = metrics(&Counted::of_samples(&other_work).unwrap());
        assert!(energy.reason.unwrap().contains("0.60 times as long"), "less work in the rounds for the counter");
    }

    #[test]
    fn what_lies_within_the_error_is_no_figure() {
        let series = series(&[5.2, 4.9, 5.3, 4.8], Some(0.0001));
        let energy = metrics(&Counted::of_samples(&series).unwrap());
        assert!(energy.reason.is_some(), "{energy:?}");
    }
}
