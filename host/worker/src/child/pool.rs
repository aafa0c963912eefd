//! Models that a cell loaded and the next one may take, with the inputs that were made for them. What comes from here was not
//! loaded: no time of it counts as a load.

use super::target::{Loaded, lock};
use skillbench_plugin_api::Dim;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// What two loads must have in common to be the same.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Key {
    pub part: String,
    /// A graph that was changed so that it loads is not the one that was asked for.
    pub graph: Option<PathBuf>,
    pub dims: Vec<Dim>,
    pub precision: Option<String>,
}

/// Idle models of one opened backend.
#[derive(Default)]
pub(super) struct Pool<'i>(Mutex<Vec<(Key, Arc<Loaded<'i>>)>>);

impl<'i> Pool<'i> {
    /// Takes a model out. One of the same part for other dimensions is given up: it would only take up memory.
    pub fn take(&self, key: &Key) -> Option<Arc<Loaded<'i>>> {
        let mut idle = lock(&self.0);
        match idle.iter().position(|(known, _)| known == key) {
            Some(at) => Some(idle.swap_remove(at).1),
            None => {
                idle.retain(|(known, _)| known.part != key.part);
                None
            }
        }
    }

    pub fn give(&self, key: Key, model: Arc<Loaded<'i>>) {
        lock(&self.0).push((key, model));
    }

    pub fn clear(&self) {
        lock(&self.0).clear();
    }
}
