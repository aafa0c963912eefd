//! Faster, slower, same or unclear. A difference counts where it is statistically clear, larger than what this machine shows of the
//! same code against itself, and larger than what was asked for; anything less is `same` or `unclear`.

use super::{Evidence, FloorFrom, Metric};
use crate::rules;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    Faster,
    Slower,
    /// Of memory.
    Less,
    /// Of memory.
    More,
    Same,
    Unclear,
}

impl Verdict {
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Faster => "faster",
            Verdict::Slower => "slower",
            Verdict::Less => "less",
            Verdict::More => "more",
            Verdict::Same => "same",
            Verdict::Unclear => "unclear",
        }
    }

    /// After is worse than before.
    pub fn is_worse(self) -> bool {
        matches!(self, Verdict::Slower | Verdict::More)
    }

    /// There is a difference.
    pub fn is_difference(self) -> bool {
        !matches!(self, Verdict::Same | Verdict::Unclear)
    }
}

/// How large a difference has to be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bar {
    /// What the same code against itself shows here: 0.03 for 3%.
    pub floor: f64,
    pub floor_from: FloorFrom,
    /// What was asked for.
    pub effect: f64,
}

impl Bar {
    fn highest(&self) -> f64 {
        self.floor.max(self.effect)
    }

    fn describe(&self) -> String {
        match &self.floor_from {
            FloorFrom::Measured { comparisons, .. } => {
                format!("{} of noise, as {comparisons} comparisons with itself showed", percent(self.floor))
            }
            FloorFrom::Assumed => {
                format!("{} of noise, which is assumed: `host doctor --noise` measures it", percent(self.floor))
            }
        }
    }
}

fn percent(share: f64) -> String {
    let text = format!("{:.1}%", share * 100.0);
    text.replace(".0%", "%")
}

/// The ratio and its interval as a cost: above 1, after is worse.
fn cost(metric: &Metric, evidence: &Evidence) -> (f64, Option<[f64; 2]>) {
    match metric.higher_is_better {
        false => (evidence.ratio, evidence.interval),
        true => (1.0 / evidence.ratio, evidence.interval.map(|[low, high]| [1.0 / high, 1.0 / low])),
    }
}

/// The verdict, and why.
pub fn judge(metric: &Metric, evidence: &Evidence, bar: &Bar) -> (Verdict, String) {
    let rules = &rules().compare;
    let (ratio, interval) = cost(metric, evidence);
    let (Some([low, high]), Some(p)) = (interval, evidence.p) else {
        return (Verdict::Unclear, "one sample on a side says nothing of how it varies".into());
    };
    if evidence.rounds < rules.least_rounds {
        let text = format!("{} rounds are too few: {} at least", evidence.rounds, rules.least_rounds);
        return (Verdict::Unclear, text);
    }
    let (worse, better) = match metric.name == Metric::MEMORY {
        true => (Verdict::More, Verdict::Less),
        false => (Verdict::Slower, Verdict::Faster),
    };
    let (verdict, by, nearest) =
        if ratio >= 1.0 { (worse, ratio - 1.0, low - 1.0) } else { (better, 1.0 / ratio - 1.0, 1.0 / high - 1.0) };
    let clear = nearest > 0.0 && p < rules.significance;
    if clear && nearest > bar.floor && by > bar.effect {
        return (verdict, format!("the whole interval is beyond {}; p {}", bar.describe(), small(p)));
    }
    // A floor that nobody measured hides differences: only what was asked for bounds them.
    let most = if bar.floor_from == FloorFrom::Assumed { bar.effect } else { bar.highest() };
    if high <= 1.0 + most && low >= 1.0 / (1.0 + most) {
        let text = match bar.effect >= most {
            true => format!("any difference is below the {} asked for", percent(bar.effect)),
            false => format!("any difference is within {}", bar.describe()),
        };
        return (Verdict::Same, text);
    }
    let why = match () {
        () if nearest <= 0.0 => format!("the interval holds no difference, and is wider than {}", bar.describe()),
        () if p >= rules.significance => format!("the rounds overlap too much: p {}", small(p)),
        () if nearest <= bar.floor => format!("the interval reaches into {}", bar.describe()),
        () => format!("it is smaller than the {} asked for", percent(bar.effect)),
    };
    (Verdict::Unclear, why)
}

fn small(p: f64) -> String {
    if p < 0.0001 { "below 0.0001".into() } else { format!("{p:.4}") }
}

/// What a limit on regressions says of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    Kept,
    Broken,
    /// Neither that it is kept nor that it is broken can be told.
    Unclear,
}

/// Whether after is worse by more than `most` (0.05 for 5%).
pub fn gate(metric: &Metric, evidence: &Evidence, verdict: Verdict, most: f64) -> Gate {
    let (ratio, interval) = cost(metric, evidence);
    let is_excluded = interval.is_some_and(|[_, high]| high <= 1.0 + most);
    match verdict {
        // Too few to say what an interval of them says.
        Verdict::Unclear if evidence.rounds < rules().compare.least_rounds => Gate::Unclear,
        verdict if verdict.is_worse() && ratio > 1.0 + most => Gate::Broken,
        Verdict::Faster | Verdict::Less => Gate::Kept,
        _ if is_excluded => Gate::Kept,
        _ => Gate::Unclear,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evidence(ratio: f64, interval: [f64; 2], p: f64) -> Evidence {
        Evidence {
            before: 10.0,
            after: 10.0 * ratio,
            ratio,
            interval: Some(interval),
            p: Some(p),
            rounds: 60,
            launches: 5,
            levels: vec![],
        }
    }

    fn bar(floor: f64, effect: f64) -> Bar {
        Bar { floor, floor_from: FloorFrom::Assumed, effect }
    }

    fn latency() -> Metric {
        Metric::new(Metric::LATENCY, "ms", false)
    }

    #[test]
    fn a_difference_counts_when_it_is_clear_and_beyond_noise_and_effect() {
        let found = evidence(1.10, [1.08, 1.12], 1e-9);
        assert_eq!(judge(&latency(), &found, &bar(0.03, 0.05)).0, Verdict::Slower);
        let found = evidence(0.90, [0.88, 0.92], 1e-9);
        assert_eq!(judge(&latency(), &found, &bar(0.03, 0.05)).0, Verdict::Faster);
    }

    #[test]
    fn each_of_the_three_alone_is_not_enough() {
        let slower = evidence(1.10, [1.08, 1.12], 1e-9);
        let (verdict, why) = judge(&latency(), &slower, &bar(0.09, 0.0));
        assert_eq!(verdict, Verdict::Unclear);
        assert!(why.contains("reaches into 9% of noise"), "{why}");
        let (verdict, why) = judge(&latency(), &slower, &bar(0.0, 0.11));
        assert_eq!(verdict, Verdict::Unclear);
        assert!(why.contains("smaller than the 11% asked for"), "{why}");
        let (verdict, why) = judge(&latency(), &evidence(1.10, [1.08, 1.12], 0.2), &bar(0.03, 0.0));
        assert_eq!(verdict, Verdict::Unclear);
        assert!(why.contains("p 0.2"), "{why}");
        let (verdict, why) = judge(&latency(), &evidence(1.10, [0.99, 1.2], 1e-9), &bar(0.03, 0.0));
        assert_eq!(verdict, Verdict::Unclear);
        assert!(why.contains("holds no difference"), "{why}");
    }

    #[test]
    fn what_stays_within_the_noise_is_the_same() {
        let measured =
            |floor| Bar { floor_from: FloorFrom::Measured { at: "then".into(), comparisons: 12 }, ..bar(floor, 0.0) };
        let (verdict, why) = judge(&latency(), &evidence(1.01, [1.002, 1.02], 1e-9), &measured(0.03));
        assert_eq!(verdict, Verdict::Same, "clear, and still within what the same code shows");
        assert!(why.contains("within 3% of noise"), "{why}");
        assert_eq!(judge(&latency(), &evidence(1.0, [1.0, 1.0], 1.0), &measured(0.0)).0, Verdict::Same);
    }

    #[test]
    fn nothing_is_the_same_on_a_floor_that_nobody_measured() {
        for planted in [1.07, 1.15, 1.46] {
            let found = evidence(planted, [planted - 0.03, planted + 0.03], 1e-9);
            assert_eq!(judge(&latency(), &found, &bar(0.5, 0.01)).0, Verdict::Unclear, "{planted}");
        }
        let within = judge(&latency(), &evidence(1.0, [0.99, 1.01], 0.5), &bar(0.5, 0.05)).0;
        assert_eq!(within, Verdict::Same, "any difference is below what was asked for");
    }

    #[test]
    fn directions_are_those_of_the_metric() {
        let throughput = Metric::new(Metric::THROUGHPUT, "1/s", true);
        let half = evidence(0.5, [0.48, 0.52], 1e-9);
        assert_eq!(judge(&throughput, &half, &bar(0.03, 0.05)).0, Verdict::Slower);
        assert_eq!(judge(&Metric::memory(), &half, &bar(0.03, 0.05)).0, Verdict::Less);
        assert_eq!(judge(&Metric::memory(), &evidence(2.0, [1.9, 2.1], 1e-9), &bar(0.03, 0.05)).0, Verdict::More);
    }

    #[test]
    fn one_sample_and_few_rounds_are_unclear() {
        let one = Evidence { interval: None, p: None, rounds: 1, ..evidence(3.0, [1.0, 1.0], 0.0) };
        assert_eq!(judge(&latency(), &one, &bar(0.03, 0.0)).0, Verdict::Unclear);
        let few = Evidence { rounds: 2, ..evidence(3.0, [2.9, 3.1], 0.001) };
        assert_eq!(judge(&latency(), &few, &bar(0.03, 0.0)).0, Verdict::Unclear);
    }

    #[test]
    fn a_limit_on_regressions_is_broken_only_by_what_is_confirmed() {
        let slower = evidence(1.10, [1.08, 1.12], 1e-9);
        assert_eq!(gate(&latency(), &slower, Verdict::Slower, 0.05), Gate::Broken);
        assert_eq!(gate(&latency(), &slower, Verdict::Slower, 0.15), Gate::Kept);
        assert_eq!(gate(&latency(), &slower, Verdict::Unclear, 0.05), Gate::Unclear);
        assert_eq!(gate(&latency(), &slower, Verdict::Unclear, 0.15), Gate::Kept, "excluded by the interval");
        let same = evidence(1.01, [0.99, 1.03], 0.5);
        assert_eq!(gate(&latency(), &same, Verdict::Same, 0.05), Gate::Kept);
        assert_eq!(
            gate(&latency(), &same, Verdict::Same, 0.02),
            Gate::Unclear,
            "the same within a floor above the limit"
        );
        let wide = evidence(1.04, [1.03, 1.12], 1e-9);
        assert_eq!(gate(&latency(), &wide, Verdict::Slower, 0.05), Gate::Unclear);
        let few = Evidence { rounds: 1, ..evidence(1.0, [1.0, 1.0], 1.0) };
        assert_eq!(gate(&latency(), &few, Verdict::Unclear, 0.3), Gate::Unclear);
    }
}
