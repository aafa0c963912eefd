//! What is seen of a backend's slots while rules call them: which one is under way, how long each took, texts without an end.

use super::Services;
use crate::Event;
use skillbench_plugin_api::client::Observer;
use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

pub(crate) struct Observing {
    services: &'static Services,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    took: BTreeMap<&'static str, Vec<Duration>>,
    texts: Vec<String>,
}

/// There is one backend of a process that is observed.
static OBSERVING: OnceLock<Observing> = OnceLock::new();
/// The times of so many calls of a slot are kept.
const MOST: usize = 1_000;

impl Observing {
    pub(crate) fn of(services: &'static Services) -> &'static Observing {
        OBSERVING.get_or_init(|| Observing { services, seen: Mutex::default() })
    }

    /// How long the calls of each slot took, the first ones of each.
    pub(crate) fn times(&self) -> BTreeMap<&'static str, Vec<Duration>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).took.clone()
    }

    /// What is wrong with texts that slots gave.
    pub(crate) fn texts(&self) -> Vec<String> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).texts.clone()
    }
}

impl Observer for Observing {
    fn enters(&self, slot: &'static str) {
        self.services.send(&Event::Slot(Some(slot.into())));
    }

    fn leaves(&self, slot: &'static str, took: Duration) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let all = seen.took.entry(slot).or_default();
        if all.len() < MOST {
            all.push(took);
        }
        drop(seen);
        self.services.send(&Event::Slot(None));
    }

    fn text(&self, slot: &'static str, whose: &'static str, how: &'static str) {
        let text = format!("{whose}, of `{slot}`, {how}");
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if !seen.texts.contains(&text) {
            seen.texts.push(text);
        }
    }
}
