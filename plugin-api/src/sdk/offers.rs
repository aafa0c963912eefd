//! Which optional slots a backend has.

/// The optional slots that a backend fills. Those it does not are NULL in its table, so that the host knows before it calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offers {
    /// [`Backend::supports`](super::Backend::supports).
    pub supports: bool,
    /// [`Request::submit`](super::Request::submit), and with it [`Request::cancel`](super::Request::cancel).
    pub submit: bool,
    /// Models are read from memory, too: `Source::bytes`.
    pub from_memory: bool,
}

impl Offers {
    pub const NONE: Offers = Offers { supports: false, submit: false, from_memory: false };
}
