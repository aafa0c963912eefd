//! What the operators of a model cost, as its engine recorded it.

use super::Model;
use crate::error::checked;
use crate::raw::*;
use crate::{Error, Operator, Result, abi_size};

/// The recording of a model that was loaded to be profiled. Between [`Recording::begin`] and [`Recording::end`] one request of the model
/// runs, once at a time.
pub struct Recording<'m> {
    table: sb_profile,
    model: &'m Model<'m>,
}

impl<'m> Recording<'m> {
    /// The table is that of the model's own backend.
    pub(super) fn new(table: sb_profile, model: &'m Model<'_>) -> Recording<'m> {
        Recording { table, model }
    }

    /// # Errors
    /// Whatever the plugin says; `FailedPrecondition` for a model that was not loaded for it, or has recorded all it can.
    pub fn begin(&self) -> Result<()> {
        let begin = slot!(self.table, begin);
        // SAFETY: [main], which is this side's to keep; a live model of the table's backend.
        checked(|error| unsafe { begin(self.model.as_raw(), error) })
    }

    /// The operators that ran since `begin`.
    ///
    /// # Errors
    /// Whatever the plugin says.
    pub fn end(&self) -> Result<Vec<Operator>> {
        let (end, count, read) = (slot!(self.table, end), slot!(self.table, count), slot!(self.table, read));
        // SAFETY: as for `begin`.
        checked(|error| unsafe { end(self.model.as_raw(), error) })?;
        // SAFETY: as for `begin`.
        let count = unsafe { count(self.model.as_raw()) };
        let one = |index| {
            let mut raw: sb_operator = abi_size::sized();
            (raw.run, raw.start_ns, raw.duration_ns) = (SB_UNKNOWN, SB_UNKNOWN, SB_UNKNOWN);
            // SAFETY: as for `begin`; a writable struct.
            checked(|error| unsafe { read(self.model.as_raw(), index, &raw mut raw, error) })?;
            Operator::from_raw(&raw).ok_or_else(|| Error::internal(format!("operator {index} has no duration")))
        };
        (0..count).map(one).collect()
    }
}
