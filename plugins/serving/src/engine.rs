//! Workers that make tokens: one sequence after the other, or several side by side.

use fastrand::Rng;
use skillbench_load::board::Shift;
use skillbench_load::session::{Batching, Serve};
use skillbench_plugin_api::Result;
use skillbench_sequences::Work;
use skillbench_sequences::decoder::Keeper;
use skillbench_sequences::sampled::{Again, Sample, Sampled};
use skillbench_sequences::sequence::{Prompts, Sequence};
use skillbench_sequences::slots::Slots;
use std::ops::Range;

/// How long requests are.
#[derive(Clone, Copy, Debug)]
pub struct Lengths {
    /// Tokens of a prompt, and those that a request makes.
    pub prompt: usize,
    pub tokens: usize,
    /// Each from one to that.
    pub uniform: bool,
    pub seed: u64,
}

impl Lengths {
    /// Of a request, as its trace says; without one as [`Lengths::of`] says.
    fn of_request(&self, shift: &Shift<'_>, number: usize) -> (usize, usize) {
        match shift.lengths(number) {
            Some(told) => (told.prompt, told.tokens),
            None => self.of(shift.session(), number),
        }
    }

    /// By its session and its number there: the same whoever serves it.
    fn of(&self, session: u64, number: usize) -> (usize, usize) {
        if !self.uniform {
            return (self.prompt, self.tokens);
        }
        let request = (session << 32).wrapping_add(number as u64 + 1);
        let mut rng = Rng::with_seed(self.seed ^ request.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        (rng.usize(1..=self.prompt), rng.usize(1..=self.tokens))
    }
}

pub enum Engine<'m> {
    /// Whatever generates.
    Alone(Box<Alone<'m>>),
    /// Several sequences at once.
    Together(Box<Together<'m>>),
}

pub struct Alone<'m> {
    sequence: Sequence<'m>,
    lengths: Lengths,
    sampled: Sampled,
}

pub struct Together<'m> {
    slots: Slots<'m>,
    prompts: Prompts,
    lengths: Lengths,
    /// A sequence begins when another ends; where not, all of a batch begin together, and the next when all have ended.
    continuous: bool,
    /// What is known of each that runs, in the order of the slots.
    times: Vec<Times>,
    sampled: Sampled,
}

struct Times {
    number: usize,
    /// How many tokens it is to make.
    tokens: usize,
    first: u64,
    last: u64,
    gaps: Vec<u64>,
    sample: Option<Sample>,
}

impl<'m> Engine<'m> {
    /// `worker`: the number of the worker, whose prompts are its own.
    ///
    /// # Errors
    /// `Unimplemented` for a skill whose sequences cannot lie side by side, where the cell's batch has several, and whatever backend and
    /// host say.
    pub fn new(work: &Work<'_, 'm>, batching: Batching, lengths: Lengths, worker: u64) -> Result<Engine<'m>> {
        if work.sizes.batch == 1 {
            let sequence = work.sequence(Keeper::Backend, worker)?;
            return Ok(Engine::Alone(Box::new(Alone { sequence, lengths, sampled: Sampled::default() })));
        }
        let continuous = batching == Batching::NONE;
        let (slots, prompts) = (work.slots()?, work.prompts(worker, 1));
        let (times, sampled) = Default::default();
        Ok(Engine::Together(Box::new(Together { slots, prompts, lengths, continuous, times, sampled })))
    }

    /// Whether the backend keeps the cache, where it computes; `None`: nothing is carried from token to token.
    pub fn kept_by_backend(&self) -> Option<bool> {
        match self {
            Engine::Alone(alone) => {
                let decoder = &alone.sequence.decoder;
                decoder.has_state().then_some(decoder.keeper == Keeper::Backend)
            }
            Engine::Together(_) => Some(false),
        }
    }

    /// That its sequences are what they should be.
    ///
    /// # Errors
    /// `WrongOutput` with the difference.
    pub fn check(&mut self, work: &Work<'_, 'm>) -> Result<()> {
        match self {
            Engine::Alone(alone) => work.check(&mut alone.sequence),
            Engine::Together(together) => work.check_side_by_side(&mut together.slots, &mut together.prompts),
        }
    }

    /// That a few of the sequences which it served have the tokens that they should.
    ///
    /// # Errors
    /// `WrongOutput` with the token.
    pub fn check_sampled(&mut self, work: &Work<'_, 'm>, again: &mut Again) -> Result<()> {
        match self {
            Engine::Alone(alone) => work.check_sampled(&mut alone.sampled, &mut alone.sequence, again),
            Engine::Together(together) => {
                work.check_sampled_side_by_side(&mut together.sampled, &mut together.slots, again)
            }
        }
    }
}

impl Serve for &mut Engine<'_> {
    fn serve(&mut self) -> Result<()> {
        match self {
            Engine::Alone(alone) => alone.serve(),
            Engine::Together(together) => together.serve(),
        }
    }

    fn attend(&mut self, shift: &Shift<'_>) -> Result<()> {
        match self {
            Engine::Alone(alone) => alone.attend(shift),
            Engine::Together(together) => together.attend(shift),
        }
    }
}

impl Alone<'_> {
    fn serve(&mut self) -> Result<()> {
        self.sequence.renew()?;
        self.sequence.run(self.lengths.tokens).map(drop)
    }

    fn attend(&mut self, shift: &Shift<'_>) -> Result<()> {
        while let Some(batch) = shift.next() {
            let number = batch.start;
            let (prompt, tokens) = self.lengths.of_request(shift, number);
            self.sequence.renew()?;
            self.sequence.prompt.truncate(prompt);
            let sample = self.sampled.begin(&self.sequence.prompt);
            let taken = shift.begin(batch);
            let made = match self.sequence.run(tokens) {
                Ok(made) => Some(made),
                Err(error) if shift.takes(&error) => None,
                Err(error) => return Err(error),
            };
            let end = shift.now();
            let times = made.as_ref().map(|made| &made.times);
            if let Some(times) = times {
                let gaps: Vec<u64> = times.gaps.iter().map(|gap| *gap as u64).collect();
                // What came after the last token was known is none of the sequence's time.
                shift.made(number, taken + times.first as u64, &gaps);
            }
            shift.ran(1);
            shift.worked(taken, end, 1.0);
            shift.end(number, times.map_or(end, |times| taken + times.all as u64), times.is_none());
            if let (Some(mut sample), Some(made)) = (sample, made) {
                made.tokens.into_iter().for_each(|tokens| sample.made(tokens));
                self.sampled.keep(sample);
            }
        }
        Ok(())
    }
}

impl Together<'_> {
    /// As many sequences as there is room for, at once.
    fn serve(&mut self) -> Result<()> {
        self.slots.clear();
        for number in 0..self.slots.most() {
            self.slots.begin(number, &self.prompts.draw()?)?;
        }
        (1..self.lengths.tokens).try_for_each(|_| self.slots.step().map(drop))?;
        self.slots.clear();
        Ok(())
    }

    fn attend(&mut self, shift: &Shift<'_>) -> Result<()> {
        self.slots.clear();
        self.times.clear();
        while let Some(batch) = shift.next() {
            self.admit(shift, batch)?;
            while !self.times.is_empty() && !shift.is_over() {
                while self.continuous
                    && self.slots.has_room()
                    && let Some(number) = shift.one_more()
                {
                    self.admit(shift, number..number + 1)?;
                }
                if !self.times.is_empty() {
                    self.step(shift)?;
                }
            }
        }
        Ok(())
    }

    /// Of the room that there is, how much is taken.
    fn share(&self) -> f64 {
        self.times.len() as f64 / self.slots.most() as f64
    }

    /// Reads the prompts of requests; one that makes a single token is done then.
    fn admit(&mut self, shift: &Shift<'_>, batch: Range<usize>) -> Result<()> {
        let from = shift.begin(batch.clone());
        for number in batch {
            let (length, tokens) = self.lengths.of_request(shift, number);
            let mut prompt = self.prompts.draw()?;
            prompt.truncate(length);
            match self.slots.begin(number, &prompt) {
                Ok(_) => {
                    let now = shift.now();
                    let gaps = Vec::with_capacity(tokens);
                    let mut sample = self.sampled.begin(&prompt);
                    if let (Some(sample), Some(running)) = (&mut sample, self.slots.running().last()) {
                        sample.made(vec![running.token]);
                    }
                    self.times.push(Times { number, tokens, first: now, last: now, gaps, sample });
                }
                Err(error) if shift.takes(&error) => shift.end(number, shift.now(), true),
                Err(error) => return Err(error),
            }
            if tokens == 1 {
                // No step serves it with others.
                shift.ran(1);
            }
        }
        shift.worked(from, shift.now(), self.share());
        self.end_those_that_are_done(shift);
        Ok(())
    }

    fn step(&mut self, shift: &Shift<'_>) -> Result<()> {
        let from = shift.now();
        if let Err(error) = self.slots.step() {
            if !shift.takes(&error) {
                return Err(error);
            }
            let now = shift.now();
            self.times.drain(..).for_each(|times| shift.end(times.number, now, true));
            self.slots.clear();
            return Ok(());
        }
        shift.ran(self.times.len());
        let now = shift.now();
        shift.worked(from, now, self.share());
        for (times, running) in self.times.iter_mut().zip(self.slots.running()) {
            times.gaps.push(now.saturating_sub(times.last));
            times.last = now;
            if let Some(sample) = &mut times.sample {
                sample.made(vec![running.token]);
            }
        }
        self.end_those_that_are_done(shift);
        Ok(())
    }

    fn end_those_that_are_done(&mut self, shift: &Shift<'_>) {
        let Together { slots, sampled, times, .. } = self;
        times.retain_mut(|times| {
            let goes_on = times.gaps.len() + 1 < times.tokens;
            if !goes_on {
                shift.made(times.number, times.first, &times.gaps);
                shift.end(times.number, times.last, false);
                slots.end(times.number);
                times.sample.take().into_iter().for_each(|sample| sampled.keep(sample));
            }
            goes_on
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_all_the_same_or_spread_from_one_token_on() {
        let fixed = Lengths { prompt: 16, tokens: 8, uniform: false, seed: 1 };
        assert_eq!(fixed.of(1, 7), (16, 8));
        let uniform = Lengths { uniform: true, ..fixed };
        let seen: Vec<(usize, usize)> = (0..500).map(|number| uniform.of(1, number)).collect();
        assert!(seen.iter().all(|(prompt, tokens)| (1..=16).contains(prompt) && (1..=8).contains(tokens)));
        assert!((1..=16).all(|length| seen.iter().any(|(prompt, _)| *prompt == length)));
        assert_eq!(seen[3], uniform.of(1, 3), "whoever serves it");
        let first = |lengths: Lengths, session| (0..20).map(|number| lengths.of(session, number)).collect::<Vec<_>>();
        assert_ne!(seen[..20], first(Lengths { seed: 2, ..uniform }, 1)[..]);
        assert_ne!(seen[..20], first(uniform, 2)[..], "chance is another one in each session");
    }
}
