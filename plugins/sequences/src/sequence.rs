//! One whole sequence for the batch: from the first part to the last token, timed where a user would look at the clock.

use crate::decoder::{Decoder, Feed};
use crate::fill;
use crate::greedy::greedy;
use crate::parts::{Parts, joined};
use skillbench_plugin_api::client::Output;
use skillbench_plugin_api::sdk::Host;
use skillbench_plugin_api::{Code, Error, Result};
use std::sync::Arc;
use std::time::Instant;

pub struct Sequence<'m> {
    host: Host,
    pub decoder: Decoder<'m>,
    pub parts: Parts<'m>,
    pub batch: usize,
    one_token: bool,
    prompts: Prompts,
    /// The tokens of the prompt, those of a sequence of the batch after those of another.
    pub prompt: Vec<i64>,
}

/// Where prompts come from: each is another one.
pub struct Prompts {
    /// Of the input that takes tokens.
    pub rule: Option<String>,
    pub seed: u64,
    /// Tokens of all sequences of the batch.
    pub count: usize,
    pub number: u64,
}

impl Prompts {
    /// # Errors
    /// `InvalidArgument` where the input of tokens is not filled by `ids:V`.
    pub fn draw(&mut self) -> Result<Vec<i64>> {
        let prompt = fill::prompt(self.rule.as_deref(), self.seed.wrapping_add(self.number), self.count)?;
        // Seeds that lie side by side belong to other runs.
        self.number = self.number.wrapping_add(0x9E37_79B9);
        Ok(prompt)
    }
}

/// What is read for a token: all before it, those of a sequence after those of another. `tokens`: of each step one for each sequence.
pub(crate) fn before(prompt: &[i64], tokens: &[Vec<i64>], batch: usize) -> Vec<i64> {
    let length = prompt.len() / batch;
    let of_sequence = |index: usize| {
        let prompt = prompt[index * length..][..length].iter().copied();
        prompt.chain(tokens.iter().map(move |tokens| tokens[index]))
    };
    (0..batch).flat_map(of_sequence).collect()
}

/// Nanoseconds of one sequence.
#[derive(Default)]
pub struct Times {
    /// From the beginning to the first token.
    pub first: f64,
    /// From each token to the next.
    pub gaps: Vec<f64>,
    /// Of the parts that run once, in their order; within `first`.
    pub parts: Vec<f64>,
    /// From the beginning to the last token.
    pub all: f64,
}

/// Is shown a step, and its logits.
pub type Watch<'w> = &'w mut dyn FnMut(usize, &Output) -> Result<()>;

/// What a sequence made.
pub struct Made {
    /// The tokens of each step, one for each sequence of the batch.
    pub tokens: Vec<Vec<i64>>,
    pub times: Times,
}

impl<'m> Sequence<'m> {
    pub fn new(
        host: Host,
        decoder: Decoder<'m>,
        parts: Parts<'m>,
        batch: usize,
        one_token: bool,
        mut prompts: Prompts,
    ) -> Result<Sequence<'m>> {
        let prompt = prompts.draw()?;
        Ok(Sequence { host, decoder, parts, batch, one_token, prompts, prompt })
    }

    /// Another prompt: what an engine remembers of the last one is of no use.
    ///
    /// # Errors
    /// `InvalidArgument` where the input of tokens is not filled by `ids:V`.
    pub fn renew(&mut self) -> Result<()> {
        self.prompt = self.prompts.draw()?;
        Ok(())
    }

    /// Generates as many tokens; a token's time ends when it is known.
    ///
    /// # Errors
    /// Whatever the backend says; `Cancelled` where the run is being stopped.
    pub fn run(&mut self, new_tokens: usize) -> Result<Made> {
        self.watched(new_tokens, &mut |_, _| Ok(()))
    }

    /// The same; `watch` is shown the logits of each step, the prompt's being those of step 0.
    ///
    /// # Errors
    /// As for [`Sequence::run`], and those of `watch`.
    pub fn watched(&mut self, new_tokens: usize, watch: Watch<'_>) -> Result<Made> {
        let mut times = Times { gaps: Vec::with_capacity(new_tokens), ..Times::default() };
        let mut tokens = Vec::with_capacity(new_tokens);
        let start = Instant::now();
        self.parts.before(&mut self.decoder, &mut times.parts)?;
        let prompt = std::mem::take(&mut self.prompt);
        let logits = self.read(&prompt);
        self.prompt = prompt;
        let mut logits = logits?;
        watch(0, &logits)?;
        tokens.push(greedy(&logits, self.batch)?);
        let mut last = Instant::now();
        times.first = (last - start).as_nanos() as f64;
        while tokens.len() < new_tokens {
            self.go_on()?;
            let feed = self.feed(tokens.last().map_or(&[], Vec::as_slice), false)?;
            // Dropped before the next run: two sets of logits at once would be one too many.
            drop(logits);
            logits = self.decoder.step(feed.0, feed.1)?;
            watch(tokens.len(), &logits)?;
            tokens.push(greedy(&logits, self.batch)?);
            let now = Instant::now();
            times.gaps.push((now - last).as_nanos() as f64);
            last = now;
        }
        times.all = (last - start).as_nanos() as f64;
        Ok(Made { tokens, times })
    }

    /// Begins anew and reads a prompt: the logits of its last token.
    pub fn read(&mut self, prompt: &[i64]) -> Result<Output> {
        self.decoder.begin()?;
        if !self.one_token {
            let (feed, count) = self.feed(prompt, true)?;
            return self.decoder.step(feed, count);
        }
        let length = prompt.len() / self.batch;
        let mut logits = None;
        for position in 0..length {
            self.go_on()?;
            let column: Vec<i64> = prompt.iter().skip(position).step_by(length).copied().collect();
            let (feed, count) = self.feed(&column, position == 0)?;
            drop(logits.take());
            logits = Some(self.decoder.step(feed, count)?);
        }
        logits.ok_or_else(|| Error::invalid("a prompt of no tokens"))
    }

    /// Tokens as the decoder takes them, and how many positions they are; before the first of all goes the image.
    fn feed(&mut self, tokens: &[i64], first: bool) -> Result<(Feed, usize)> {
        let count = tokens.len() / self.batch;
        let rows = self.parts.rows().filter(|_| first);
        let Some(embed) = &mut self.parts.embed else {
            return Ok((Feed::Made(fill::tokens(self.decoder.feed_port(), self.batch, tokens)?), count));
        };
        let embeddings = embed.run(self.batch, tokens)?;
        match rows {
            Some(rows) => joined(&rows, &embeddings).map(|(all, count)| (Feed::Made(Arc::new(all)), count)),
            None => Ok((Feed::Taken(Arc::new(embeddings)), count)),
        }
    }

    fn go_on(&self) -> Result<()> {
        match self.host.stopping() {
            true => Err(Error::new(Code::Cancelled, "the run is being stopped")),
            false => Ok(()),
        }
    }
}
