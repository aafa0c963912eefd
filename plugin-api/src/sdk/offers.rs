//! Which optional slots a backend has.

use crate::{Error, Place, Result, Why};

/// The optional slots that a backend fills. Those it does not are NULL in its table, so that the host knows before it calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offers {
    /// [`Backend::supports`](super::Backend::supports).
    pub supports: bool,
    /// [`Request::alias`](super::Request::alias): it may still refuse a pair of ports.
    pub alias: bool,
    /// [`Backend::memory`](super::Backend::memory): it may still not know a device's.
    pub memory: bool,
    /// [`Request::submit`](super::Request::submit), and with it [`Request::cancel`](super::Request::cancel).
    pub submit: bool,
    /// Models are read from memory, too: `Source::bytes`.
    pub from_memory: bool,
    /// A model is loaded onto several devices together: `Load::devices` may have more than one.
    pub several_devices: bool,
    /// Memory of its devices, by its DLPack number: [`Model::allocate`](super::Model::allocate), [`Backend::copy`](super::Backend::copy), and
    /// tensors that lie there are bound.
    pub device_memory: Option<i32>,
}

impl Offers {
    pub const NONE: Offers = Offers {
        supports: false,
        alias: false,
        memory: false,
        submit: false,
        from_memory: false,
        several_devices: false,
        device_memory: None,
    };

    /// Refuses tensors in memory that it does not offer.
    pub(crate) fn takes(self, place: Place) -> Result<()> {
        match place.is_host() || self.device_memory == Some(place.kind) {
            true => Ok(()),
            false => {
                let text = format!("the tensor lies at place {}, and this backend has no memory there", place.kind);
                Err(Error::unimplemented(Why::NONE, text))
            }
        }
    }
}
