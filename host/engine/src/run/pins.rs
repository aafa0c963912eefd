//! Pinned hashes are final: what one refuses is not taken from another place, neither its bytes nor its id.

use crate::registry::Registry;
use skillbench_record::sealed::Sealed;
use skillbench_worker::Library;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug, Default)]
pub struct Pins {
    /// The pinned hash of each id, and which file says so.
    of_id: BTreeMap<String, (String, String)>,
    /// Hashes of libraries that a pin refuses.
    refused: BTreeSet<String>,
}

impl Pins {
    /// Of all entries, hidden ones too: whoever pins an id means it, wherever another entry of it comes first.
    pub(super) fn of(registry: &Registry) -> Pins {
        let mut pins = Pins::default();
        let entries = registry.entries.iter().chain(registry.hidden.iter().map(|(entry, _)| entry));
        for entry in entries {
            let Some(pin) = &entry.sha256 else { continue };
            pins.of_id.entry(entry.id.clone()).or_insert((pin.clone(), entry.origin.to_string()));
            let found = registry.lookup(entry).found().and_then(|path| Sealed::of(path).ok());
            pins.refused.extend(found.map(|sealed| sealed.sha256).filter(|hash| hash != pin));
        }
        pins
    }

    /// Asked before a library is opened for the first time, with the pin of its own entry. From then on workers open this very file.
    ///
    /// # Errors
    /// A pin refuses it, or it cannot be read.
    pub fn admit(&self, library: &mut Library, pin: Option<&str>) -> Result<(), String> {
        // Nothing is pinned: no library has to be read.
        if self.of_id.is_empty() {
            return Ok(());
        }
        library.seal([]).map_err(|error| error.to_string())?;
        let Some(hash) = library.sealed.first().map(|sealed| &sealed.sha256) else { return Ok(()) };
        let shown = library.display();
        match pin {
            Some(pin) if pin != hash => Err(format!("{shown} has sha256 {hash}, the registry pins {pin}: refused")),
            None if self.refused.contains(hash) => Err(format!("{shown} is what a pin refused (sha256 {hash})")),
            _ => Ok(()),
        }
    }

    /// Whether a library may have an id: one that is pinned belongs to one library.
    ///
    /// # Errors
    /// It has another hash.
    pub fn allow(&self, id: &str, library: &Library) -> Result<(), String> {
        match self.of_id.get(id) {
            Some((pin, origin)) if library.sealed.first().is_none_or(|sealed| sealed.sha256 != *pin) => {
                Err(format!("{origin} pins '{id}' to sha256 {pin}, and {} has another: refused", library.display()))
            }
            _ => Ok(()),
        }
    }
}
