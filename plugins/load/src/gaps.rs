//! The gaps between tokens of a session.

use crate::series::MOST;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

/// Gaps between tokens, with a place for each that is kept; 0 for none. Of long sessions those of some requests are kept, spread evenly.
pub struct Gaps {
    /// Of every so many requests.
    step: usize,
    /// Of a request.
    each: usize,
    all: Vec<AtomicU64>,
}

impl Gaps {
    /// With room for those of so many requests, each of at most so many tokens.
    pub fn of(requests: usize, tokens: usize) -> Gaps {
        let each = tokens.saturating_sub(1);
        let step = (requests * each).div_ceil(MOST).max(1);
        let kept = if each == 0 { 0 } else { requests.div_ceil(step) * each };
        Gaps { step, each, all: (0..kept).map(|_| AtomicU64::new(0)).collect() }
    }

    /// Those of a request, if they are kept.
    pub fn keep(&self, number: usize, gaps: &[u64]) {
        if self.each == 0 || !number.is_multiple_of(self.step) {
            return;
        }
        let places = &self.all[number / self.step * self.each..][..self.each];
        places.iter().zip(gaps).for_each(|(place, gap)| place.store((*gap).max(1), SeqCst));
    }

    /// All that were kept, in nanoseconds.
    pub fn kept(&self) -> Vec<u64> {
        self.all.iter().map(|gap| gap.load(SeqCst)).filter(|gap| *gap > 0).collect()
    }
}
