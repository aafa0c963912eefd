//! Sequences that were made while they were timed: a few are kept, by chance, and held against a run over all their tokens when the clock stands still.
//! While a backend makes them it cannot know which they will be, and what it made it cannot take back. That run is its own, too: one that remembers all that
//! it made, and says the same again, is not found out here.

use crate::check::magnitude;
use crate::largest;
use crate::sequence::before;
use fastrand::Rng;
use skillbench_plugin_api::sdk::Reporter;
use skillbench_plugin_api::{Code, Error, Result, SeriesInfo, SeriesKind};
use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, Instant};

/// So many are kept of all that were made.
const KEPT: usize = 4;

/// Once one was read again, others are only until this is over, of all workers together: a large model takes long.
const PATIENCE: Duration = Duration::from_secs(20);

/// Reading again: how many tokens were held against a run over all before them, and until when further ones are.
pub struct Again {
    pub checked: usize,
    until: Instant,
}

impl Default for Again {
    fn default() -> Again {
        Again { checked: 0, until: Instant::now() + PATIENCE }
    }
}

/// Each that was made is as likely to be kept as any other.
pub struct Sampled {
    rng: Rng,
    seen: usize,
    kept: [Option<Sample>; KEPT],
}

impl Default for Sampled {
    /// Its chance is the system's own, not that of the run's seed.
    fn default() -> Sampled {
        let seed = RandomState::new().hash_one(std::process::id());
        Sampled { rng: Rng::with_seed(seed), seen: 0, kept: Default::default() }
    }
}

/// Sequences of one batch that are to be kept.
pub struct Sample {
    place: usize,
    /// The tokens of the prompts, those of a sequence after those of another.
    prompt: Vec<i64>,
    /// The tokens of each step, one for each sequence.
    tokens: Vec<Vec<i64>>,
}

impl Sample {
    /// A step made these tokens.
    pub fn made(&mut self, tokens: Vec<i64>) {
        self.tokens.push(tokens);
    }

    /// How many sequences lay in the batch.
    fn batch(&self) -> usize {
        self.tokens.first().map_or(1, Vec::len)
    }
}

impl Sampled {
    /// Sequences begin whose time counts; `None`: they are not kept.
    pub fn begin(&mut self, prompt: &[i64]) -> Option<Sample> {
        self.seen += 1;
        let place = if self.seen <= KEPT { self.seen - 1 } else { self.rng.usize(0..self.seen) };
        (place < KEPT).then(|| Sample { place, prompt: prompt.to_vec(), tokens: vec![] })
    }

    /// They are done.
    pub fn keep(&mut self, sample: Sample) {
        let place = sample.place;
        self.kept[place] = Some(sample);
    }

    /// Holds the last token of each sequence, and another one by chance, against the logits of a run over all before it. `read` makes one: a row for each
    /// sequence of the batch.
    ///
    /// # Errors
    /// `WrongOutput` for a token that another is more likely than by more than `tolerance` explains, as a share of the largest magnitude; and what `read` says.
    pub fn check(
        &mut self,
        tolerance: f64,
        again: &mut Again,
        mut read: impl FnMut(&[i64]) -> Result<Vec<Vec<f32>>>,
    ) -> Result<()> {
        for sample in std::mem::take(&mut self.kept).into_iter().flatten() {
            if again.checked > 0 && Instant::now() > again.until {
                break;
            }
            let Some(last) = sample.tokens.len().checked_sub(1) else { continue };
            let other = (last > 0).then(|| self.rng.usize(0..last));
            for step in other.into_iter().chain([last]) {
                let all = before(&sample.prompt, &sample.tokens[..step], sample.batch());
                for (logits, token) in read(&all)?.iter().zip(&sample.tokens[step]) {
                    says(logits, *token, tolerance).map_err(|text| {
                        let read = all.len() / sample.batch();
                        let text = format!(
                            "token {step} of a sequence that was timed is {token}, and a run over all {read} tokens before it {text}"
                        );
                        Error::new(Code::WrongOutput, text)
                    })?;
                    again.checked += 1;
                }
            }
        }
        self.seen = 0;
        Ok(())
    }
}

/// Tells the host of how many tokens that were timed it was found; nothing where there was none to look at.
///
/// # Errors
/// What the host says.
pub fn tell_checked(reporter: &Reporter, again: &Again) -> Result<()> {
    if again.checked == 0 {
        return Ok(());
    }
    let series = reporter.series(&SeriesInfo {
        name: "tokens_checked".into(),
        unit: "tokens".into(),
        kind: SeriesKind::Count,
        higher_is_better: None,
        concurrent: false,
        items_per_sample: 1.0,
    })?;
    reporter.single(series, again.checked as f64)
}

/// Whether logits say a token, or one that is as likely as far as two runs may differ, each by the tolerance.
fn says(logits: &[f32], token: i64, tolerance: f64) -> Result<(), String> {
    let most = largest(logits).ok_or("has no finite maximum")?;
    let of_token = usize::try_from(token).ok().and_then(|token| logits.get(token)).ok_or("knows no such token")?;
    let apart = f64::from(logits[most] - of_token) / magnitude(logits);
    let allowed = 2.0 * tolerance;
    // Not a number is no agreement either.
    match most as i64 == token || apart <= allowed {
        true => Ok(()),
        false => Err(format!("says {most}, by {apart:.2e} of the largest (allowed {allowed:.0e})")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After each token comes the next number.
    fn counting(all: &[i64]) -> Result<Vec<Vec<f32>>> {
        let next = |last: i64| (0..100).map(|token| if token == last + 1 { 4.0 } else { 0.0 }).collect();
        Ok(all.chunks(all.len() / 2).map(|sequence| next(*sequence.last().unwrap())).collect())
    }

    fn made(sampled: &mut Sampled, from: i64, wrong: Option<usize>) {
        let Some(mut sample) = sampled.begin(&[0, from, 50, from + 50]) else { return };
        for step in 0..3 {
            let next = from + 1 + step as i64;
            sample.made(vec![next, if wrong == Some(step) { 7 } else { next + 50 }]);
        }
        sampled.keep(sample);
    }

    #[test]
    fn tokens_are_what_a_run_over_all_before_them_says() {
        let mut sampled = Sampled::default();
        (0..2).for_each(|from| made(&mut sampled, from, None));
        let mut again = Again::default();
        sampled.check(1e-3, &mut again, counting).unwrap();
        assert_eq!(again.checked, 2 * 2 * 2);
        made(&mut sampled, 1, Some(2));
        let error = sampled.check(1e-3, &mut again, counting).unwrap_err();
        assert_eq!(error.code, Code::WrongOutput);
        assert!(
            error.message.contains("token 2 of a sequence that was timed is 7") && error.message.contains("says 54"),
            "{error}"
        );
    }

    #[test]
    fn one_is_read_again_however_long_that_takes_and_others_only_in_time() {
        let mut sampled = Sampled::default();
        (0..3).for_each(|from| made(&mut sampled, from, None));
        let mut again = Again { checked: 0, until: Instant::now() - Duration::from_millis(1) };
        sampled.check(1e-3, &mut again, counting).unwrap();
        assert_eq!(again.checked, 2 * 2);
    }

    #[test]
    fn any_sequence_of_many_may_be_kept_and_no_more_than_a_few() {
        let firsts = || {
            let mut sampled = Sampled::default();
            (0..40).for_each(|from| made(&mut sampled, from, None));
            sampled.kept.iter().flatten().map(|sample| sample.prompt[1]).collect::<Vec<i64>>()
        };
        let all: Vec<Vec<i64>> = (0..200).map(|_| firsts()).collect();
        assert!(all.iter().all(|kept| kept.len() == KEPT), "{all:?}");
        assert!((0..40).all(|from| all.iter().flatten().any(|kept| *kept == from)));
    }

    #[test]
    fn a_token_that_is_as_likely_as_the_first_is_right() {
        let logits = [1.0, 3.9999, 4.0];
        assert!(says(&logits, 2, 0.0).is_ok() && says(&logits, 1, 1e-3).is_ok());
        for wrong in [0, 3, -1] {
            assert!(says(&logits, wrong, 1e-3).is_err(), "{wrong}");
        }
        assert!(says(&[1.0, f32::NAN, 4.0], 1, 1.0).is_err() && says(&[f32::NAN; 2], 0, 1.0).is_err());
    }
}
