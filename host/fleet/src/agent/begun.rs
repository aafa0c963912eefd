//! What was begun of a lot, kept on the server: whoever gets the lot after this agent knows how often each cell was begun in vain.

use super::AgentError;
use super::lot::Work;
use crate::courier::{CourierError, Over, Table};
use crate::lease::Lease;
use crate::names;

impl Work<'_, '_> {
    /// An agent that ends in order takes its last start back.
    pub(super) fn take_back(&mut self) -> Result<(), AgentError> {
        let Some(key) = self.begun.take() else { return Ok(()) };
        let session = self.agent.machine.session.clone();
        self.lease = self.changed_lease(|lease| lease.take_back(&key, &session))?;
        Ok(())
    }

    /// The lease, and what a change of it is written over.
    pub(super) fn read_lease(&self) -> Result<(Lease, Over), CourierError> {
        let entry = self.agent.courier.read(Table::Leases, &self.lease_key())?;
        Ok(entry.map_or((Lease::default(), Over::Nothing), |entry| {
            (serde_json::from_slice(&entry.body).unwrap_or_default(), Over::Revision(entry.revision))
        }))
    }

    /// Changes the lease by compare-and-set, and returns it.
    pub(super) fn changed_lease(&self, change: impl Fn(&mut Lease)) -> Result<Lease, CourierError> {
        loop {
            let (mut lease, over) = self.read_lease()?;
            change(&mut lease);
            let body = serde_json::to_vec(&lease).map_err(|error| CourierError::Refused(error.to_string()))?;
            if self.agent.courier.write(Table::Leases, &self.lease_key(), &body, over)?.is_some() {
                return Ok(lease);
            }
        }
    }

    fn lease_key(&self) -> String {
        names::lease(&self.job.machine, &self.job.submission, &self.job.lot)
    }
}
