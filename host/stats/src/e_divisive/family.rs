//! Many histories at once.
//!
//! The more histories are looked at, the more of them show something by chance. So all segments of one depth are judged
//! together, by Benjamini and Hochberg's step-up rule: where nothing changed anywhere, a change is found with a probability of
//! `significance` at most, however many histories there are; else that is the share of false ones among those found.
//! That asks for small p, hence for many shuffles, of those histories alone that no shuffle has matched so far.

use super::test::Test;
use super::{ChangePoint, Rules, large_enough};

/// A part of a history that may be split.
struct Segment {
    history: usize,
    from: usize,
    to: usize,
}

/// The change points of each history, in order. Values are above 0; a history shorter than the rules want has none, and one is
/// found whole or not at all whatever else is in the family.
pub fn change_points(histories: &[Vec<f64>], rules: &Rules, seed: u64) -> Vec<Vec<ChangePoint>> {
    let usable = |history: &Vec<f64>| history.iter().all(|value| value.is_finite() && *value > 0.0);
    let logs: Vec<Vec<f64>> = histories
        .iter()
        .map(|history| if usable(history) { history.iter().map(|value| value.ln()).collect() } else { vec![] })
        .collect();
    let mut found: Vec<Vec<ChangePoint>> = histories.iter().map(|_| vec![]).collect();
    let long_enough = |history: &Vec<f64>| history.len() >= rules.least_runs;
    let mut depth: Vec<Segment> = (0..logs.len())
        .filter(|history| long_enough(&logs[*history]))
        .map(|history| Segment { history, from: 0, to: logs[history].len() })
        .collect();
    while !depth.is_empty() {
        let mut tested: Vec<(Segment, Test)> = depth
            .into_iter()
            .filter_map(|segment| {
                let values = &logs[segment.history][segment.from..segment.to];
                Some((Test::of(values, rules.least_segment, seed)?, segment)).map(|(test, segment)| (segment, test))
            })
            .collect();
        judge(&mut tested, rules);
        let bound = bound(tested.iter().map(|(_, test)| test.p()).collect(), rules.significance);
        depth = vec![];
        for (Segment { history, from, to }, test) in tested {
            if test.p() <= bound {
                let at = from + test.split.at;
                found[history].push(ChangePoint { at, p: test.p() });
                depth.extend([Segment { history, from, to: at }, Segment { history, from: at, to }]);
            }
        }
    }
    found
        .into_iter()
        .zip(histories)
        .map(|(points, history)| large_enough(history, points, rules.least_change))
        .collect()
}

/// Draws shuffles until every p that could count is small enough to.
fn judge(tested: &mut [(Segment, Test)], rules: &Rules) {
    let family = tested.len() as f64;
    // With so many as good a split it cannot count any more.
    let hopeless = (rules.significance * f64::from(rules.permutations + 1)).floor() as u32;
    draw(tested, rules.permutations, hopeless.max(1));
    loop {
        let open = tested.iter().filter(|(_, test)| test.is_open()).count();
        if open == 0 {
            return;
        }
        let wanted = (family / (rules.significance * open as f64)).ceil();
        let wanted = wanted.min(f64::from(rules.most_permutations)) as u32;
        if wanted <= rules.permutations {
            return;
        }
        draw(tested, wanted, 1);
        if tested.iter().filter(|(_, test)| test.is_open()).count() == open {
            return;
        }
    }
}

/// On all processors. After the first round only what is still open is drawn for.
fn draw(tested: &mut [(Segment, Test)], shuffles: u32, enough: u32) {
    let mut open: Vec<&mut Test> =
        tested.iter_mut().map(|(_, test)| test).filter(|test| enough > 1 || test.is_open()).collect();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let share = open.len().div_ceil(threads).max(1);
    std::thread::scope(|scope| {
        for some in open.chunks_mut(share) {
            scope.spawn(move || some.iter_mut().for_each(|test| test.draw(shuffles, enough)));
        }
    });
}

/// The largest p that counts: the largest of the sorted ones that is at most its rank's share of `significance`.
fn bound(mut all: Vec<f64>, significance: f64) -> f64 {
    all.sort_by(f64::total_cmp);
    let family = all.len() as f64;
    let counts = |(rank, p): &(usize, &f64)| **p <= significance * (*rank + 1) as f64 / family;
    all.iter().enumerate().rev().find(counts).map_or(0.0, |(_, p)| *p)
}

#[cfg(test)]
mod tests {
    use super::bound;

    #[test]
    fn what_counts_is_what_the_step_up_rule_lets_through() {
        // Benjamini and Hochberg (1995), section 3.2: fifteen p-values, of which the four smallest count at 5%.
        let published = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528,
            0.7590, 1.0,
        ];
        assert_eq!(bound(published.to_vec(), 0.05), 0.0095);
        assert_eq!(bound(vec![0.02, 0.9], 0.01), 0.0);
    }
}
