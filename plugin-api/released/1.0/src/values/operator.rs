//! What an operator of a model cost, as the engine has it.

use super::{known, or_unknown};
use crate::raw::*;
use crate::{abi_size, text};

/// An operator that ran, or an average of its runs. A text is empty where the engine cannot tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Operator {
    /// Which run of the recording, from 0; `None`: durations are means over the runs of the model.
    pub run: Option<u64>,
    /// Since its run began; `None` where the engine tells durations alone.
    pub start_ns: Option<u64>,
    /// 0: less than the engine's clock can tell.
    pub duration_ns: u64,
    /// The duration ends where the host's call for it returned. A device that works behind it may have been at it for longer.
    pub as_seen_by_host: bool,
    /// The node's name.
    pub name: String,
    /// "MatMul", or what the engine made of several nodes.
    pub kind: String,
    /// What computed it, as the engine calls that: "brgemm_avx512_f32".
    pub kernel: String,
    /// The id of the device that it ran on.
    pub device: String,
}

impl Operator {
    pub(crate) fn to_raw(&self) -> sb_operator {
        let mut raw: sb_operator = abi_size::sized();
        raw.flags = if self.as_seen_by_host { SB_OPERATOR_AS_SEEN_BY_HOST } else { 0 };
        raw.run = or_unknown(self.run);
        raw.start_ns = or_unknown(self.start_ns);
        raw.duration_ns = self.duration_ns;
        raw.name = text::to_array(&self.name);
        raw.r#type = text::to_array(&self.kind);
        raw.kernel = text::to_array(&self.kernel);
        raw.device = text::to_array(&self.device);
        raw
    }

    /// `None` where the duration itself is unknown.
    pub(crate) fn from_raw(raw: &sb_operator) -> Option<Operator> {
        Some(Operator {
            run: known(raw.run),
            start_ns: known(raw.start_ns),
            duration_ns: known(raw.duration_ns)?,
            as_seen_by_host: raw.flags & SB_OPERATOR_AS_SEEN_BY_HOST != 0,
            name: text::from_array(&raw.name),
            kind: text::from_array(&raw.r#type),
            kernel: text::from_array(&raw.kernel),
            device: text::from_array(&raw.device),
        })
    }
}
