//! Sequences side by side in one batch, each of its own length and age, as servers batch continuously: a sequence begins when there is room,
//! and its room is another's as soon as it ends.
//!
//! A prompt is read alone. Then a step runs all sequences: their states lie in one tensor, each at the end of its row, and the mask hides what
//! is before it. Outputs become inputs without a copy on this side while the same sequences go on; when one begins or ends, they are copied. A backend whose device
//! has memory of its own moves them there and back at each step: none keeps a state whose batch changes.

use crate::cache::{Row, as_it_is, gathered};
use crate::decoder::find;
use crate::fill;
use crate::greedy::{greedy, rows};
use crate::manifest::{Manifest, Plan, State};
use crate::sizes::Sizes;
use skillbench_plugin_api::client::{Output, Request};
use skillbench_plugin_api::sdk::{Host, Target, TargetModel};
use skillbench_plugin_api::{Code, Direction, Error, HostTensor, Port, Result, Why};
use std::sync::Arc;

pub struct Slots<'m> {
    host: Host,
    model: &'m TargetModel<'m>,
    /// Reads prompts.
    alone: Request<'m>,
    /// Runs steps.
    together: Request<'m>,
    feed: u32,
    logits: u32,
    positions: u32,
    mask: u32,
    states: Vec<Kept>,
    most: usize,
    running: Vec<Running>,
}

/// A state: its output and its input, the dimension that grows, and what a sequence begins with.
struct Kept {
    from: u32,
    to: u32,
    grows: usize,
    first: Arc<HostTensor>,
}

/// A sequence that goes on.
pub struct Running {
    /// The caller's number of it.
    pub number: usize,
    /// Its newest token, which the next step reads.
    pub token: i64,
    /// How many tokens its states stand for.
    past: usize,
    /// Where each of its states lies.
    states: Vec<Row>,
}

impl<'m> Slots<'m> {
    /// Room for as many sequences as the batch of `sizes`.
    ///
    /// # Errors
    /// `Unimplemented` for a skill whose sequences cannot lie side by side, `InvalidArgument` for a port that is not there, and whatever
    /// backend and host say.
    pub fn new(
        host: Host,
        target: &Target<'_>,
        model: &'m TargetModel<'m>,
        manifest: &Manifest,
        plan: &Plan,
        sizes: &Sizes,
    ) -> Result<Slots<'m>> {
        let (inputs, outputs) = (model.inputs(), model.outputs());
        let needed = |name: &Option<String>, what: &str| {
            let name = name.as_ref().ok_or_else(|| unable(target, &format!("its graph has no input of {what}")))?;
            find(inputs, name, "input")
        };
        if plan.one_token || !plan.before.is_empty() || plan.image.is_some() || plan.embed.is_some() {
            return Err(unable(target, "a sequence is more than its tokens, or is read one token at a time"));
        }
        let (feed, positions, mask) =
            (needed(&plan.tokens, "tokens")?, needed(&plan.positions, "positions")?, needed(&plan.mask, "a mask")?);
        let kept = |state: &State| {
            let (from, to) = (find(outputs, &state.from, "output")?, find(inputs, &state.to, "input")?);
            let rule = manifest.input(&plan.decoder, &state.to);
            let grows = state.grows.filter(|grows| (1..inputs[to as usize].shape.len()).contains(grows));
            let grows = grows.ok_or_else(|| unable(target, "it has a state that does not grow with its tokens"))?;
            let mut port = inputs[to as usize].clone();
            (port.shape[0], port.shape[grows]) = (Some(1), Some(0));
            let shape = sizes.shape(&port, rule.map(|rule| &rule.dims[..]))?;
            Ok(Kept { from, to, grows, first: fill::state(&port, &shape, "zeros", target.seed())? })
        };
        let states: Vec<Kept> = plan.state.iter().map(kept).collect::<Result<_>>()?;
        if states.is_empty() {
            return Err(unable(target, "it keeps no state from token to token"));
        }
        let bound =
            |input: u32| [feed, positions, mask].contains(&input) || states.iter().any(|state| state.to == input);
        if let Some(other) = (0..inputs.len() as u32).find(|input| !bound(*input)) {
            let name = &inputs[other as usize].name;
            return Err(unable(target, &format!("nothing tells what each sequence has in its input '{name}'")));
        }
        let request = || {
            let mut request = model.request()?;
            target.prepare(model, &mut request, 0)?;
            states.iter().try_for_each(|state| request.leave_output(state.from))?;
            Ok::<_, Error>(request)
        };
        let (alone, together) = (request()?, request()?);
        let logits = find(outputs, &plan.logits, "output")?;
        let (most, running) = (sizes.batch, vec![]);
        Ok(Slots { host, model, alone, together, feed, logits, positions, mask, states, most, running })
    }

    /// How many sequences there is room for.
    pub fn most(&self) -> usize {
        self.most
    }

    pub fn running(&self) -> &[Running] {
        &self.running
    }

    pub fn has_room(&self) -> bool {
        self.running.len() < self.most
    }

    /// Forgets all sequences.
    pub fn clear(&mut self) {
        self.running.clear();
    }

    /// Ends a sequence: its room is free.
    pub fn end(&mut self, number: usize) {
        self.running.retain(|running| running.number != number);
    }

    /// Reads the prompt of a further sequence, and returns the logits of its last token; the sequence's newest token is what they say.
    ///
    /// # Errors
    /// `Internal` where there is no room, and whatever the backend says.
    pub fn begin(&mut self, number: usize, prompt: &[i64]) -> Result<Vec<f32>> {
        self.go_on()?;
        if !self.has_room() {
            return Err(Error::internal("a sequence without room for it"));
        }
        let first = |state: &Kept| self.alone.bind(Direction::Input, state.to, state.first.clone());
        self.states.iter().try_for_each(first)?;
        let length = prompt.len();
        self.alone.bind(Direction::Input, self.feed, fill::tokens(self.port(self.feed), 1, prompt)?)?;
        let places: Vec<i64> = (0..length as i64).collect();
        self.alone.bind(
            Direction::Input,
            self.positions,
            fill::of(self.port(self.positions), &[1, length], &places)?,
        )?;
        self.alone.bind(Direction::Input, self.mask, fill::mask(self.port(self.mask), 1, length)?)?;
        self.alone.run()?;
        let logits = self.alone.take_output(self.logits)?;
        let token = greedy(&logits, 1)?[0];
        let take = |state: &Kept| Ok(Row { of: Arc::new(self.alone.take_output(state.from)?), row: 0 });
        let states = self.states.iter().map(take).collect::<Result<_>>()?;
        self.running.push(Running { number, token, past: length, states });
        Ok(rows(&logits, 1, 0)?.concat())
    }

    /// Runs one step of all sequences; each has a newer token then. Returns the logits, a row for each, in the order of
    /// [`Slots::running`].
    ///
    /// # Errors
    /// Whatever the backend says.
    pub fn step(&mut self) -> Result<Output> {
        self.go_on()?;
        let pasts: Vec<usize> = self.running.iter().map(|running| running.past).collect();
        let (count, length) = (pasts.len(), pasts.iter().copied().max().unwrap_or_default());
        for (index, state) in self.states.iter().enumerate() {
            let rows: Vec<Row> = self.running.iter().map(|running| running.states[index].clone()).collect();
            match as_it_is(&rows, &pasts, state.grows) {
                Some(all) => self.together.bind_taken(state.to, all)?,
                None => {
                    let all = Arc::new(gathered(&rows, &pasts, state.grows)?);
                    self.together.bind(Direction::Input, state.to, all)?;
                }
            }
        }
        // What was gathered is not needed a second time.
        self.running.iter_mut().for_each(|running| running.states.clear());
        let tokens: Vec<i64> = self.running.iter().map(|running| running.token).collect();
        let places: Vec<i64> = pasts.iter().map(|past| *past as i64).collect();
        let seen = |past: usize| (0..=length).map(move |place| i64::from(place >= length - past));
        let seen: Vec<i64> = pasts.iter().copied().flat_map(seen).collect();
        let inputs = [
            (self.feed, fill::tokens(self.port(self.feed), count, &tokens)?),
            (self.positions, fill::of(self.port(self.positions), &[count, 1], &places)?),
            (self.mask, fill::of(self.port(self.mask), &[count, length + 1], &seen)?),
        ];
        for (input, tensor) in inputs {
            self.together.bind(Direction::Input, input, tensor)?;
        }
        self.together.run()?;
        let logits = self.together.take_output(self.logits)?;
        for (running, token) in self.running.iter_mut().zip(greedy(&logits, count)?) {
            (running.token, running.past) = (token, running.past + 1);
        }
        for state in &self.states {
            let all = Arc::new(self.together.take_output(state.from)?);
            for (row, running) in self.running.iter_mut().enumerate() {
                running.states.push(Row { of: all.clone(), row });
            }
        }
        Ok(logits)
    }

    /// Gives a sequence another newest token than its own.
    pub(crate) fn feed(&mut self, number: usize, token: i64) {
        self.running.iter_mut().filter(|running| running.number == number).for_each(|running| running.token = token);
    }

    fn port(&self, input: u32) -> &Port {
        &self.model.inputs()[input as usize]
    }

    fn go_on(&self) -> Result<()> {
        match self.host.stopping() {
            true => Err(Error::new(Code::Cancelled, "the run is being stopped")),
            false => Ok(()),
        }
    }
}

fn unable(target: &Target<'_>, why: &str) -> Error {
    let text = format!(
        "sequences of {} cannot lie side by side: {why}; ask for a batch of 1, which serves each alone",
        target.skill()
    );
    Error::unimplemented(Why::MODEL, text)
}
