//! Pinned hashes are final: what one refuses is not taken from another place, neither its bytes nor its id.

use super::Plugin;
use crate::registry::Entry;
use skillbench_worker::Library;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Default)]
pub(super) struct Pins {
    /// The pinned hash of each id, and which file says so.
    of_id: BTreeMap<String, (String, String)>,
    /// Hashes of libraries that a pin refused.
    refused: BTreeSet<String>,
}

impl Pins {
    pub fn note(&mut self, entry: &Entry) {
        if let Some(pin) = &entry.sha256 {
            self.of_id.entry(entry.id.clone()).or_insert((pin.clone(), entry.origin.to_string()));
        }
    }

    /// Holds a library against its entry's pin, before it is opened for the first time. From then on workers open this very file.
    ///
    /// # Errors
    /// It is another one, or cannot be read.
    pub fn check(&mut self, entry: &Entry, library: &mut Library) -> Result<(), String> {
        // Nothing was refused, and nothing is pinned: no library has to be read.
        if entry.sha256.is_none() && self.of_id.is_empty() {
            return Ok(());
        }
        library.seal([]).map_err(|error| error.to_string())?;
        let Some(hash) = library.sealed.first().map(|sealed| sealed.sha256.clone()) else { return Ok(()) };
        let shown = library.display();
        match &entry.sha256 {
            Some(pin) if *pin != hash => {
                self.refused.insert(hash.clone());
                Err(format!("{shown} has sha256 {hash}, the registry pins {pin}: refused"))
            }
            None if self.refused.contains(&hash) => Err(format!("{shown} is what a pin refused (sha256 {hash})")),
            _ => Ok(()),
        }
    }

    /// Whether a plugin may have its id: one that is pinned belongs to one library.
    pub fn allow(&self, plugin: &Plugin) -> bool {
        let Some((pin, _)) = self.of_id.get(&plugin.id) else { return true };
        plugin.library.sealed.first().is_some_and(|sealed| sealed.sha256 == *pin)
    }

    pub fn why(&self, id: &str) -> String {
        let (pin, origin) = self.of_id.get(id).cloned().unwrap_or_default();
        format!("{origin} pins '{id}' to sha256 {pin}, and this library has another: refused")
    }
}
