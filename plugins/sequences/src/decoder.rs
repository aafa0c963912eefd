//! The decoder while it generates: what goes in at each step, and the state that goes on to the next one.

use crate::fill;
use crate::manifest::{Manifest, Plan};
use crate::sizes::Sizes;
use skillbench_plugin_api::client::{Output, Request};
use skillbench_plugin_api::sdk::{Target, TargetModel};
use skillbench_plugin_api::{Code, Direction, Error, HostTensor, Port, Result};
use std::sync::Arc;

/// Who keeps the state between steps.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Keeper {
    /// The backend, where it computes.
    Backend,
    /// This side: outputs are taken and bound again, without a copy of ours.
    Host,
}

/// What a step reads.
pub enum Feed {
    /// Made here: tokens, or embeddings.
    Made(Arc<HostTensor>),
    /// Embeddings that another part gave.
    Taken(Arc<Output>),
}

pub struct Decoder<'m> {
    pub keeper: Keeper,
    model: &'m TargetModel<'m>,
    request: Request<'m>,
    batch: usize,
    /// Where tokens or embeddings go in.
    feed: u32,
    logits: u32,
    positions: Option<u32>,
    mask: Option<u32>,
    state: Vec<Kept>,
    /// How many tokens the state stands for.
    past: usize,
}

/// A state: its output, its input, and what a sequence begins with.
struct Kept {
    from: u32,
    to: u32,
    first: Arc<HostTensor>,
}

/// The index of a port.
pub fn find(ports: &[Port], name: &str, what: &str) -> Result<u32> {
    let found = ports.iter().position(|port| port.name == name);
    found.map(|index| index as u32).ok_or_else(|| {
        let known: Vec<&str> = ports.iter().map(|port| port.name.as_str()).take(8).collect();
        Error::invalid(format!("the graph has no {what} '{name}', which skill.json names; it has {}", known.join(", ")))
    })
}

impl<'m> Decoder<'m> {
    /// A request whose inputs are all bound, those that no step changes for good. With `keeper` the backend is asked to keep the
    /// state; where it cannot, this side does.
    ///
    /// # Errors
    /// `InvalidArgument` for a port that is not there, and whatever backend and host say.
    pub fn new(
        target: &Target<'_>,
        model: &'m TargetModel<'m>,
        manifest: &Manifest,
        plan: &Plan,
        sizes: &Sizes,
        keeper: Keeper,
    ) -> Result<Decoder<'m>> {
        let (inputs, outputs) = (model.inputs(), model.outputs());
        let feed = plan.embed.as_ref().map(|embed| &embed.to).or(plan.tokens.as_ref());
        let optional = |name: &Option<String>| name.as_ref().map(|name| find(inputs, name, "input")).transpose();
        let kept = |state: &crate::manifest::State| {
            let (from, to) = (find(outputs, &state.from, "output")?, find(inputs, &state.to, "input")?);
            let (port, rule) = (&inputs[to as usize], manifest.input(&plan.decoder, &state.to));
            let mut port = port.clone();
            if let Some(size) = state.grows.and_then(|grows| port.shape.get_mut(grows)) {
                *size = Some(0);
            }
            let shape = sizes.shape(&port, rule.map(|rule| &rule.dims[..]))?;
            let first = fill::state(&port, &shape, rule.map_or("zeros", |rule| &rule.fill), target.seed())?;
            Ok(Kept { from, to, first })
        };
        let mut request = model.request()?;
        target.prepare(model, &mut request, 0)?;
        let mut decoder = Decoder {
            keeper,
            model,
            request,
            batch: sizes.batch,
            feed: find(inputs, feed.map_or("", String::as_str), "input")?,
            logits: find(outputs, &plan.logits, "output")?,
            positions: optional(&plan.positions)?,
            mask: optional(&plan.mask)?,
            state: plan.state.iter().map(kept).collect::<Result<_>>()?,
            past: 0,
        };
        if keeper == Keeper::Backend {
            decoder.ask_backend()?;
        }
        Ok(decoder)
    }

    /// All of the state is kept by the backend, or none of it.
    fn ask_backend(&mut self) -> Result<()> {
        for state in &self.state {
            match self.request.alias(state.from, state.to) {
                Ok(()) => {}
                Err(error) if error.code == Code::Unimplemented => {
                    self.keeper = Keeper::Host;
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        if self.keeper == Keeper::Host {
            self.state.iter().try_for_each(|state| self.request.leave_output(state.from))?;
        }
        Ok(())
    }

    /// Whether there is any state to keep.
    pub fn has_state(&self) -> bool {
        !self.state.is_empty()
    }

    pub fn input(&self, name: &str) -> Result<u32> {
        find(self.model.inputs(), name, "input")
    }

    pub fn feed_port(&self) -> &Port {
        &self.model.inputs()[self.feed as usize]
    }

    /// Binds what another part gave for the whole sequence.
    pub fn give(&mut self, input: u32, output: Arc<Output>) -> Result<()> {
        self.request.bind_taken(input, output)
    }

    /// Forgets the sequence before.
    pub fn begin(&mut self) -> Result<()> {
        self.past = 0;
        match self.request.reset() {
            // A backend without it keeps nothing but what it was asked to.
            Err(error) if error.code == Code::Unimplemented => {}
            forgotten => forgotten?,
        }
        for state in &self.state {
            self.request.bind(Direction::Input, state.to, state.first.clone())?;
        }
        Ok(())
    }

    /// Runs with `count` more tokens for each sequence, and returns their logits.
    ///
    /// # Errors
    /// Whatever the backend says.
    pub fn step(&mut self, feed: Feed, count: usize) -> Result<Output> {
        if self.keeper == Keeper::Host && self.past > 0 {
            for state in &self.state {
                let taken = Arc::new(self.request.take_output(state.from)?);
                self.request.bind_taken(state.to, taken)?;
            }
        }
        match feed {
            Feed::Made(tensor) => self.request.bind(Direction::Input, self.feed, tensor)?,
            Feed::Taken(output) => self.request.bind_taken(self.feed, output)?,
        }
        let inputs = self.model.inputs();
        if let Some(index) = self.positions {
            let positions = fill::positions(&inputs[index as usize], self.batch, self.past, count)?;
            self.request.bind(Direction::Input, index, positions)?;
        }
        if let Some(index) = self.mask {
            let mask = fill::mask(&inputs[index as usize], self.batch, self.past + count)?;
            self.request.bind(Direction::Input, index, mask)?;
        }
        self.request.run()?;
        self.past += count;
        self.request.take_output(self.logits)
    }
}
