//! Choices that nobody can foresee: from the system's own randomness, not from the run's seed.

use std::hash::{BuildHasher, RandomState};

/// Variants that a reference engine may know are below.
const FIRST: u64 = 1 << 32;

pub(super) struct Random(u64);

impl Default for Random {
    fn default() -> Random {
        Random(RandomState::new().hash_one(std::process::id()))
    }
}

impl Random {
    /// splitmix64.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^ (x >> 31)
    }

    /// From 0 to less than 1.
    pub fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A variant of inputs that nothing else has.
    pub fn variant(&mut self) -> u64 {
        self.next() | FIRST
    }
}

impl Random {
    pub fn seeded(seed: u64) -> Random {
        Random(seed)
    }
}
