//! How often a shuffle of the same values can be split as well as they can.

use super::energy::{Scratch, Split, best_split};

/// A segment under test. Shuffles are drawn until it is clear that the split is nothing, or as many as were asked for.
pub struct Test {
    pub split: Split,
    shuffled: Vec<f64>,
    /// Two distances no further apart are the same but for rounding.
    rounding: f64,
    least_segment: usize,
    random: fastrand::Rng,
    scratch: Scratch,
    drawn: u32,
    as_well: u32,
    /// Nothing that is drawn further counts.
    pub ended: bool,
}

impl Test {
    /// `None`: too short for two segments. The shuffles follow from the seed and the values, whatever else is looked at.
    pub fn of(values: &[f64], least_segment: usize, seed: u64) -> Option<Test> {
        let mut scratch = Scratch::default();
        let split = best_split(values, least_segment, &mut scratch)?;
        let seed = values.iter().fold(seed, |seed, value| (seed ^ value.to_bits()).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let spread = values.iter().fold(0.0_f64, |most, value| most.max((value - values[0]).abs()));
        Some(Test {
            split,
            shuffled: values.to_vec(),
            rounding: spread * values.len() as f64 * 1e-12,
            least_segment,
            random: fastrand::Rng::with_seed(seed),
            scratch,
            drawn: 0,
            as_well: 0,
            ended: spread == 0.0,
        })
    }

    /// Draws on to so many shuffles, but no further than the one that makes `enough` of those that can be split as well.
    pub fn draw(&mut self, shuffles: u32, enough: u32) {
        while !self.ended && self.drawn < shuffles {
            self.random.shuffle(&mut self.shuffled);
            let found = best_split(&self.shuffled, self.least_segment, &mut self.scratch);
            let bound = self.split.distance - self.rounding;
            self.drawn += 1;
            self.as_well += u32::from(found.is_some_and(|found| found.distance >= bound));
            self.ended = self.as_well >= enough;
        }
    }

    /// None of the shuffles could be split as well, so that more of them would tell more.
    pub fn is_open(&self) -> bool {
        !self.ended && self.as_well == 0
    }

    /// The smallest p that so many shuffles can tell.
    pub fn p(&self) -> f64 {
        match (self.ended, self.as_well) {
            // All values are the same.
            (true, 0) => 1.0,
            // Drawn until there were so many: that share is a valid p by itself (Besag and Clifford 1991).
            (true, as_well) => f64::from(as_well) / f64::from(self.drawn),
            (false, as_well) => f64::from(as_well + 1) / f64::from(self.drawn + 1),
        }
    }
}
