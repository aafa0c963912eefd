//! Who works when two workers take turns: one at a time, round by round, in an order left to chance.
//!
//! A turn is held from a worker's start and given up only where it waits for its next round. Warm-up comes first; then rounds come
//! in pairs, one of each side, so that whatever the machine does meanwhile, it does to both.

use fastrand::Rng;
use parking_lot::{Condvar, Mutex};
use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

/// So many rounds without a partner are let pass before two sides count as measuring different things.
const CATCHING_UP: u64 = 40;
/// How often a side that waits looks whether the work is to end.
const TICK: Duration = Duration::from_millis(20);

/// When a series has enough.
#[derive(Clone, Copy, Debug)]
pub(super) struct Enough {
    /// Pairs of rounds.
    pub pairs: u64,
    /// Fewer do where this much time is over, but no less than `least`.
    pub time: Duration,
    pub least: u64,
}

pub(super) struct RoundOrder {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    enough: Enough,
    rng: Rng,
    sides: [Side; 2],
    /// Whose turn it is.
    holder: Option<usize>,
    /// Who has the last word among equals: the other goes first.
    last: usize,
    /// Who is still to run a round of the pair that has begun.
    pair: Vec<usize>,
    series: HashMap<String, Progress>,
    done: HashSet<String>,
    /// Measured rounds of each side.
    rounds: [u64; 2],
    /// Rounds without a partner: of a side that had another series next than the other.
    unpaired: u64,
}

struct Progress {
    began: Instant,
    pairs: u64,
}

#[derive(Clone, Debug, PartialEq)]
enum Side {
    /// It has not come yet, or it works.
    Away,
    Start,
    Round {
        series: String,
        measured: bool,
    },
    Ended,
}

impl RoundOrder {
    pub fn new(enough: Enough, seed: u64) -> RoundOrder {
        let mut rng = Rng::with_seed(seed);
        let last = rng.usize(..2);
        let state = State {
            enough,
            rng,
            sides: [Side::Away, Side::Away],
            holder: None,
            last,
            pair: vec![],
            series: HashMap::new(),
            done: HashSet::new(),
            rounds: [0, 0],
            unpaired: 0,
        };
        RoundOrder { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Waits until a side may start. `false`: the work is to end.
    pub fn start(&self, side: usize, stopped: &dyn Fn() -> bool) -> bool {
        self.wait(side, Side::Start, stopped)
    }

    /// Gives the turn up, and waits for the next. `false`: the series has enough, or the work is to end.
    pub fn next(&self, side: usize, series: &str, measured: bool, stopped: &dyn Fn() -> bool) -> bool {
        self.wait(side, Side::Round { series: series.into(), measured }, stopped)
    }

    /// A side has ended, in whatever way. It needs no turn any more.
    pub fn end(&self, side: usize) {
        let mut state = self.state.lock();
        state.sides[side] = Side::Ended;
        state.release(side);
        self.changed.notify_all();
    }

    fn wait(&self, side: usize, waits: Side, stopped: &dyn Fn() -> bool) -> bool {
        let mut state = self.state.lock();
        state.sides[side] = waits;
        state.release(side);
        self.changed.notify_all();
        loop {
            if stopped() {
                return false;
            }
            if let Some((chosen, granted)) = state.choose()
                && chosen == side
            {
                state.grant(side, granted);
                return granted;
            }
            self.changed.wait_for(&mut state, TICK);
        }
    }
}

impl State {
    fn release(&mut self, side: usize) {
        if self.holder == Some(side) {
            self.holder = None;
        }
    }

    fn grant(&mut self, side: usize, granted: bool) {
        let waited = std::mem::replace(&mut self.sides[side], Side::Away);
        self.holder = Some(side);
        self.last = side;
        if let (true, Side::Round { series, measured: true }) = (granted, waited) {
            let is_paired = self.pair.contains(&side);
            self.rounds[side] += 1;
            self.unpaired += u64::from(!is_paired);
            self.pair.retain(|waiting| *waiting != side);
            if is_paired
                && self.pair.is_empty()
                && let Some(progress) = self.series.get_mut(&series)
            {
                progress.pairs += 1;
            }
        }
    }

    /// Who is next, and whether for a round or because there were enough. `None`: somebody works, or is yet to come.
    fn choose(&mut self) -> Option<(usize, bool)> {
        if self.holder.is_some() || self.sides.contains(&Side::Away) {
            return None;
        }
        let waiting: Vec<usize> = (0..2).filter(|side| self.sides[*side] != Side::Ended).collect();
        let [first, second] = waiting[..] else {
            let alone = *waiting.first()?;
            // Without the other there are no pairs.
            return Some((alone, !matches!(self.sides[alone], Side::Round { measured: true, .. })));
        };
        let has_enough = |side: &usize| match &self.sides[*side] {
            Side::Round { series, measured: true } => self.done.contains(series),
            _ => false,
        };
        if let Some(side) = waiting.iter().find(|side| has_enough(side)) {
            return Some((*side, false));
        }
        let unpaired = |side: &usize| !matches!(self.sides[*side], Side::Round { measured: true, .. });
        let mut unpaired: Vec<usize> = waiting.iter().copied().filter(unpaired).collect();
        if !unpaired.is_empty() {
            unpaired.sort_by_key(|side| *side == self.last);
            return Some((unpaired[0], true));
        }
        if let Some(side) = self.pair.last() {
            return Some((*side, true));
        }
        let (Side::Round { series: of_first, .. }, Side::Round { series: of_second, .. }) =
            (self.sides[first].clone(), self.sides[second].clone())
        else {
            return None;
        };
        if of_first != of_second {
            // A benchmark that takes its series in turn may warm up longer on one side: who is behind catches up.
            if self.unpaired < CATCHING_UP {
                let behind = if self.rounds[first] <= self.rounds[second] { first } else { second };
                return Some((behind, true));
            }
            // They do not measure the same: what there is in pairs is all there will be.
            self.done.extend([of_first, of_second]);
            return Some((first, false));
        }
        let progress = self.series.entry(of_first.clone()).or_insert(Progress { began: Instant::now(), pairs: 0 });
        let over = progress.pairs >= self.enough.least && progress.began.elapsed() >= self.enough.time;
        if progress.pairs >= self.enough.pairs || over {
            self.done.insert(of_first);
            return Some((first, false));
        }
        self.pair = vec![first, second];
        self.rng.shuffle(&mut self.pair);
        self.pair.last().map(|side| (*side, true))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    const ENOUGH: Enough = Enough { pairs: 10, time: Duration::from_secs(60), least: 3 };

    /// Plays two sides with so many warm-up rounds each. Returns who worked, in order, in measured rounds.
    fn play(order: &RoundOrder, warm: [usize; 2], fails: Option<usize>) -> Vec<usize> {
        let (worked, working) = (Mutex::new(vec![]), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for (side, warm) in warm.into_iter().enumerate() {
                let (worked, working) = (&worked, &working);
                scope.spawn(move || {
                    let never = || false;
                    let work = |measured: bool| {
                        assert_eq!(working.fetch_add(1, Ordering::SeqCst), 0, "two work at once");
                        if measured {
                            worked.lock().push(side);
                        }
                        std::thread::sleep(Duration::from_micros(200));
                        working.fetch_sub(1, Ordering::SeqCst);
                    };
                    assert!(order.start(side, &never));
                    work(false);
                    for _ in 0..warm {
                        assert!(order.next(side, "latency", false, &never));
                        work(false);
                    }
                    let mut rounds = 0;
                    while order.next(side, "latency", true, &never) {
                        work(true);
                        rounds += 1;
                        if fails == Some(side) && rounds == 4 {
                            break;
                        }
                    }
                    order.end(side);
                });
            }
        });
        worked.into_inner()
    }

    #[test]
    fn rounds_come_in_pairs_whose_order_is_left_to_chance() {
        let order = play(&RoundOrder::new(ENOUGH, 1), [2, 7], None);
        assert_eq!(order.len(), 20);
        let pairs: Vec<&[usize]> = order.chunks(2).collect();
        assert!(pairs.iter().all(|pair| pair[0] != pair[1]), "{order:?}");
        assert!(pairs.iter().any(|pair| pair[0] == 0) && pairs.iter().any(|pair| pair[0] == 1), "{order:?}");
    }

    #[test]
    fn when_one_side_ends_the_other_is_not_left_waiting() {
        let order = play(&RoundOrder::new(ENOUGH, 2), [1, 1], Some(1));
        let of = |side| order.iter().filter(|who| **who == side).count();
        assert_eq!(of(1), 4);
        assert!((3..=5).contains(&of(0)), "{order:?}");
    }

    #[test]
    fn time_that_is_over_ends_a_series_after_the_least_number_of_pairs() {
        let order = play(&RoundOrder::new(Enough { time: Duration::ZERO, ..ENOUGH }, 3), [0, 0], None);
        assert_eq!(order.len(), 6);
    }

    #[test]
    fn series_that_are_measured_in_turn_come_in_pairs_though_one_side_warms_up_longer() {
        let order = RoundOrder::new(ENOUGH, 5);
        let never = || false;
        let rounds = std::thread::scope(|scope| {
            let side = |side: usize, warm: usize| {
                let order = &order;
                scope.spawn(move || {
                    assert!(order.start(side, &never));
                    let mut left = [("sequential", warm, 0), ("concurrent", 1, 0)].to_vec();
                    let mut counts = vec![];
                    while !left.is_empty() {
                        left.retain_mut(|(series, warm, rounds)| {
                            let warms = *warm > 0;
                            *warm = warm.saturating_sub(1);
                            *rounds += u32::from(!warms);
                            let goes_on = order.next(side, series, !warms, &never);
                            if !goes_on {
                                counts.push((*series, *rounds - 1));
                            }
                            goes_on
                        });
                    }
                    order.end(side);
                    counts
                })
            };
            [side(0, 1), side(1, 3)].map(|side| side.join().unwrap())
        });
        for (series, count) in rounds.iter().flatten() {
            assert!((10..=13).contains(count), "{series}: {count}");
        }
        assert_eq!(rounds.iter().flatten().count(), 4);
    }

    #[test]
    fn a_wish_to_stop_ends_the_waiting() {
        let order = RoundOrder::new(ENOUGH, 4);
        assert!(!order.start(0, &|| true));
    }
}
