//! How long the requests of a trace are, and which parts their prompts share.

/// How long a request is, in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lengths {
    pub prompt: usize,
    /// Those that it makes.
    pub tokens: usize,
}

/// The beginning of a prompt in parts: one of the same name is the same in all prompts of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts<'a> {
    pub names: &'a [u64],
    /// Of each part. The end of the prompt cuts the last.
    pub tokens: usize,
}

impl Parts<'_> {
    pub const NONE: Parts<'static> = Parts { names: &[], tokens: 0 };
}

/// Of the requests of a session, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sizes {
    pub(crate) lengths: Vec<Lengths>,
    /// Names of the parts of each prompt, where a trace has them.
    pub(crate) names: Vec<Vec<u64>>,
    /// Tokens of a part; 0: prompts share nothing.
    pub(crate) part: usize,
}

impl Sizes {
    /// `None`: nobody says.
    pub fn lengths(&self, number: usize) -> Option<Lengths> {
        self.lengths.get(number).copied()
    }

    pub fn parts(&self, number: usize) -> Parts<'_> {
        match self.names.get(number) {
            Some(names) if self.part > 0 => Parts { names, tokens: self.part },
            _ => Parts::NONE,
        }
    }

    /// The longest prompt, and the most tokens that a request makes; `None`: nobody says.
    pub fn longest(&self) -> Option<Lengths> {
        let longest = |one: Lengths, other: Lengths| Lengths {
            prompt: one.prompt.max(other.prompt),
            tokens: one.tokens.max(other.tokens),
        };
        self.lengths.iter().copied().reduce(longest)
    }

    /// Has prompts share parts of so many tokens each, as they are named. `false`: none is.
    ///
    /// # Errors
    /// The first request, from 0 on, whose prompt does not have as many parts, and how many it has.
    pub(crate) fn share(&mut self, part: usize) -> Result<bool, (usize, usize)> {
        if self.lengths.is_empty() || self.names.iter().all(Vec::is_empty) {
            return Ok(false);
        }
        let mut all = self.lengths.iter().zip(&self.names).enumerate();
        if let Some((number, (_, names))) = all.find(|(_, (one, names))| names.len() != one.prompt.div_ceil(part)) {
            return Err((number, names.len()));
        }
        self.part = part;
        Ok(true)
    }
}
