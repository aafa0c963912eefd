//! The cache against a run without it: a token's logits are the same, whether the tokens before it are in the cache or read again.

use crate::greedy::{positions, rows};
use crate::sequence::{Made, Prompts, Sequence, before};
use crate::sizes::Sizes;
use crate::slots::Slots;
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
    let read = sequence.read(&before(&sequence.prompt, fed, sequence.batch))?;
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

/// At most so many tokens of each sequence are looked at, side by side.
const SIDE_BY_SIDE: usize = 8;

/// What was held against each other.
pub struct SideBySide {
    /// The largest difference, as a share of the largest magnitude.
    pub apart: f64,
    /// How many sequences at most were in one run.
    pub most: usize,
}

/// A sequence, as it is alone.
struct Alone {
    prompt: Vec<i64>,
    tokens: Vec<i64>,
    logits: Vec<Vec<f32>>,
}

/// Has sequences of several lengths begin and end side by side, more than there is room for, and holds the logits of each token against
/// those that the same sequence has alone; and the last of those against the logits of a run over all its tokens at once.
///
/// # Errors
/// `WrongOutput` with the difference.
pub fn side_by_side(slots: &mut Slots<'_>, prompts: &mut Prompts, sizes: &Sizes, tolerance: f64) -> Result<SideBySide> {
    let tokens = sizes.new_tokens.min(SIDE_BY_SIDE);
    let mut apart = 0.0_f64;
    let mut sequences = vec![];
    for number in 0..slots.most() + 2 {
        let mut prompt = prompts.draw()?;
        prompt.truncate((sizes.fed * (number % 3 + 1) / 3).max(1));
        // Not all are done at the same time, nor in the order in which they began.
        let count = if tokens > 2 { tokens - number % (tokens - 1) } else { tokens };
        let sequence = alone(slots, prompt, count)?;
        let all: Vec<i64> = sequence.prompt.iter().chain(&sequence.tokens[..count - 1]).copied().collect();
        slots.clear();
        let read = slots.begin(number, &all)?;
        let newest = agree(&sequence.logits[count - 1], &read, tolerance, |apart| {
            let (steps, tokens) = (count - 1, all.len());
            format!(
                "the cache loses something: after {steps} steps with it the logits are {apart} from those of a run over all {tokens} tokens at once"
            )
        })?;
        apart = apart.max(newest);
        sequences.push(sequence);
    }
    slots.clear();
    let (mut done, mut next, mut most) = (vec![0; sequences.len()], 0, 0);
    let look = |number: usize, token: usize, found: &[f32], beside: usize| {
        agree(&sequences[number].logits[token], found, tolerance, |apart| {
            format!(
                "beside {} other sequences the logits of a sequence's token {token} are {apart} from those that it has alone",
                beside - 1
            )
        })
    };
    loop {
        while slots.has_room() && next < sequences.len() {
            let found = slots.begin(next, &sequences[next].prompt)?;
            apart = apart.max(look(next, 0, &found, slots.running().len())?);
            (done[next], next) = (1, next + 1);
            if done[next - 1] == sequences[next - 1].tokens.len() {
                slots.end(next - 1);
            }
        }
        let numbers: Vec<usize> = slots.running().iter().map(|one| one.number).collect();
        if numbers.is_empty() {
            break;
        }
        most = most.max(numbers.len());
        for number in &numbers {
            // What a tie of logits says is chance: all go the same way.
            slots.feed(*number, sequences[*number].tokens[done[*number] - 1]);
        }
        let logits = slots.step()?;
        for (number, found) in numbers.iter().zip(rows(&logits, numbers.len(), 0)?) {
            apart = apart.max(look(*number, done[*number], &found, numbers.len())?);
            done[*number] += 1;
            if done[*number] == sequences[*number].tokens.len() {
                slots.end(*number);
            }
        }
    }
    Ok(SideBySide { apart, most })
}

/// A sequence without others beside it.
fn alone(slots: &mut Slots<'_>, prompt: Vec<i64>, count: usize) -> Result<Alone> {
    slots.clear();
    let mut logits = vec![slots.begin(0, &prompt)?];
    let newest = |slots: &Slots<'_>| slots.running().first().map(|one| one.token);
    let mut tokens: Vec<i64> = newest(slots).into_iter().collect();
    while logits.len() < count {
        logits.push(rows(&slots.step()?, 1, 0)?.concat());
        tokens.extend(newest(slots));
    }
    Ok(Alone { prompt, tokens, logits })
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
    let apart = found.iter().zip(expected).map(|(one, other)| f64::from((one - other).abs())).fold(0.0, larger);
    let magnitude = magnitude(expected);
    match magnitude > 0.0 {
        true => apart / magnitude,
        false if apart == 0.0 => 0.0,
        false => f64::INFINITY,
    }
}

/// The largest magnitude; no number where one of them is none.
pub(crate) fn magnitude(logits: &[f32]) -> f64 {
    logits.iter().map(|value| f64::from(value.abs())).fold(0.0, larger)
}

fn larger(most: f64, next: f64) -> f64 {
    if next > most || next.is_nan() { next } else { most }
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
