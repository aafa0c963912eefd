//! A time in which the server cannot be reached.

use crate::courier::CourierError;
use skillbench_session::{Event, Listener};

/// It is told once.
#[derive(Default)]
pub(super) struct Outage(bool);

impl Outage {
    pub(super) fn is_on(&self) -> bool {
        self.0
    }

    pub(super) fn tell(&mut self, error: &CourierError, on: &mut Listener<'_>) {
        if !std::mem::replace(&mut self.0, true) {
            on(Event::Warning(&format!("{error}; it is waited for, and nothing is lost")));
        }
    }

    pub(super) fn over(&mut self, on: &mut Listener<'_>) {
        if std::mem::take(&mut self.0) {
            on(Event::Note("the fleet's server is there again"));
        }
    }
}
