//! The cache against a run without it: a token's logits are the same, whether the tokens before it are in the cache or read again.

use crate::greedy::{positions, rows};
use crate::sequence::{Made, Sequence};
use skillbench_plugin_api::{Code, Error, Result};

/// At how many steps the logits are held against each other: one that needs what was lost may come later than it went.
const LOOKS: usize = 8;

/// Generates with the cache, reads prompt and generated tokens in one run, and holds the logits of the same tokens against each
/// other. For graphs that can read several tokens at once.
///
/// # Errors
/// `WrongOutput` with the difference.
pub fn against_reading(sequence: &mut Sequence<'_>, steps: usize, tolerance: f64) -> Result<f64> {
    let (cached, made) = looked(sequence, steps)?;
    // The last token made is what the logits say, and was not fed.
    let fed = &made.tokens[..steps];
    let length = sequence.prompt.len() / sequence.batch;
    let all = |index: usize| {
        let prompt = sequence.prompt[index * length..][..length].iter().copied();
        prompt.chain(fed.iter().map(move |tokens| tokens[index])).collect::<Vec<i64>>()
    };
    let all: Vec<i64> = (0..sequence.batch).flat_map(all).collect();
    let read = sequence.read(&all)?;
    // Some graphs give the logits of the last token alone.
    let known = positions(&read, sequence.batch)?;
    let mut most = 0.0_f64;
    for (step, logits) in cached.iter().filter(|(step, _)| steps - step < known) {
        let read = rows(&read, sequence.batch, steps - step)?.concat();
        let apart = agree(logits, &read, tolerance, |apart| {
            let tokens = length + step;
            format!(
                "the cache loses something: after {step} steps with it the logits are {apart} from those of a run over all \
                 {tokens} tokens at once"
            )
        })?;
        most = most.max(apart);
    }
    Ok(most)
}

/// Holds what a backend keeps against what this side kept for it, for graphs that read one token at a time.
///
/// # Errors
/// `WrongOutput` with the difference.
pub fn against_host(kept: &mut Sequence<'_>, by_host: &mut Sequence<'_>, steps: usize, tolerance: f64) -> Result<f64> {
    let ((one, _), (other, _)) = (looked(kept, steps)?, looked(by_host, steps)?);
    let mut most = 0.0_f64;
    for ((step, one), (_, other)) in one.iter().zip(&other) {
        let apart = agree(one, other, tolerance, |apart| {
            format!(
                "the state that the backend keeps is not what its outputs were: after {step} steps the logits are {apart} \
                 apart"
            )
        })?;
        most = most.max(apart);
    }
    Ok(most)
}

/// Steps, and their logits.
type Looks = Vec<(usize, Vec<f32>)>;

/// Generates, and keeps the logits of some steps: those of the last, and of others as far apart as possible.
fn looked(sequence: &mut Sequence<'_>, steps: usize) -> Result<(Looks, Made)> {
    let (mut looks, batch) = (vec![], sequence.batch);
    let stride = steps.div_ceil(LOOKS).max(1);
    let made = sequence.watched(steps + 1, &mut |step, logits| {
        if (steps - step).is_multiple_of(stride) {
            looks.push((step, rows(logits, batch, 0)?.concat()));
        }
        Ok(())
    })?;
    Ok((looks, made))
}

fn agree(found: &[f32], expected: &[f32], tolerance: f64, text: impl Fn(String) -> String) -> Result<f64> {
    let apart = difference(found, expected);
    match apart <= tolerance {
        true => Ok(apart),
        // Not a number is no agreement either.
        false => {
            let apart = format!("{apart:.2e} of the largest (allowed {tolerance:.0e})");
            Err(Error::new(Code::WrongOutput, text(apart)))
        }
    }
}

/// The largest difference, as a share of the largest magnitude.
fn difference(found: &[f32], expected: &[f32]) -> f64 {
    if found.len() != expected.len() {
        return f64::INFINITY;
    }
    let largest = |most: f64, next: f64| if next > most || next.is_nan() { next } else { most };
    let apart = found.iter().zip(expected).map(|(one, other)| f64::from((one - other).abs())).fold(0.0, largest);
    let magnitude = expected.iter().map(|value| f64::from(value.abs())).fold(0.0, largest);
    match magnitude > 0.0 {
        true => apart / magnitude,
        false if apart == 0.0 => 0.0,
        false => f64::INFINITY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_a_share_of_the_largest_magnitude() {
        assert_eq!(difference(&[1.0, -4.0], &[1.0, -4.0]), 0.0);
        assert_eq!(difference(&[1.5, -4.0], &[1.0, -4.0]), 0.125);
        assert_eq!(difference(&[0.0], &[0.0]), 0.0);
    }

    #[test]
    fn what_is_no_number_or_of_another_size_does_not_agree() {
        for (found, expected) in
            [(&[f32::NAN][..], &[1.0][..]), (&[1.0], &[f32::NAN]), (&[1.0], &[1.0, 2.0]), (&[1.0], &[0.0])]
        {
            let error = agree(found, expected, 1e-3, |apart| apart).unwrap_err();
            assert_eq!(error.code, Code::WrongOutput);
        }
        assert!(agree(&[1.0005], &[1.0], 1e-3, |apart| apart).is_ok());
    }
}
