//! A worker's side of taking turns: before each round it asks the host, and waits.

use super::{Commands, Services};
use crate::{Command, Event};
use std::sync::{Mutex, PoisonError};

/// Held while a cell runs whose rounds alternate with those of another worker.
pub(super) struct Permits<'c> {
    services: &'static Services,
    commands: Mutex<&'c mut Commands>,
}

impl<'c> Permits<'c> {
    pub fn new(services: &'static Services, commands: &'c mut Commands) -> Permits<'c> {
        Permits { services, commands: Mutex::new(commands) }
    }

    /// Waits for the turn of a round. `false`: there were enough, or the host is gone.
    pub fn wait(&self, series: &str, measured: bool) -> bool {
        let mut commands = self.commands.lock().unwrap_or_else(PoisonError::into_inner);
        self.services.send(&Event::RoundWaits { series: series.into(), measured });
        matches!(commands.next(), Ok(Some(Command::Permit(true))))
    }
}
