//! What was noticed of a server, and is told when its cell ends.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

#[derive(Default)]
pub struct Noticed {
    /// It says that an answer had more or fewer tokens than pieces of text.
    pub counts_otherwise: AtomicBool,
    /// It ends answers before they have the tokens that were asked for, whatever comes.
    pub ends_early: AtomicBool,
    /// It closes a connection behind its answer, although it says that it keeps it.
    pub closes_connections: AtomicBool,
}

impl Noticed {
    /// A sentence for each, with what it means for the figures.
    pub fn told(&self) -> impl Iterator<Item = &'static str> {
        [
            (
                &self.counts_otherwise,
                "the server counts its tokens otherwise than by the pieces of text that it sends: figures by token are by piece",
            ),
            (
                &self.ends_early,
                "the server ends answers before they have as many tokens as were asked for: they took less time than those would (--option openai:ignore_eos=off, if it does not know that word)",
            ),
            (
                &self.closes_connections,
                "the server closes each connection behind its answer, although it says that it keeps it: each request has a new one, in its time",
            ),
        ]
        .into_iter()
        .filter_map(|(noticed, text)| noticed.load(Relaxed).then_some(text))
    }
}
