//! Which colour hardware has and which marker an architecture has: the same everywhere.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::colour::Rgb;
use crate::marker::Marker;
use crate::{ChartError, hash};

/// Colours of hardware, markers of architectures, and the colours of the themes.
#[derive(Clone, Debug)]
pub struct Look {
    data: Data,
    overrides: BTreeMap<String, Rgb>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Data {
    hardware: BTreeMap<String, Rgb>,
    alias: BTreeMap<String, String>,
    architecture: BTreeMap<String, Marker>,
    others: Others,
    parts: Parts,
    scale: Scales,
    light: Inks,
    dark: Inks,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Others {
    colours: Vec<Rgb>,
    markers: Vec<Marker>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Parts {
    colours: Vec<Rgb>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Scales {
    pub diverging: Vec<Rgb>,
    pub sequential: Vec<Rgb>,
}

/// The colours of all that is not data.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Inks {
    pub ground: Rgb,
    pub ink: Rgb,
    pub soft: Rgb,
    pub grid: Rgb,
}

static DATA: LazyLock<Data> =
    LazyLock::new(|| toml::from_str(include_str!("../data/look.toml")).expect("look.toml is part of the crate"));

impl Default for Look {
    fn default() -> Self {
        Self { data: DATA.clone(), overrides: BTreeMap::new() }
    }
}

impl Look {
    /// The standard look with colours of one's own, `#rrggbb` by hardware id.
    pub fn with_colours(colours: &BTreeMap<String, String>) -> Result<Self, ChartError> {
        let mut look = Self::default();
        for (id, colour) in colours {
            let rgb = Rgb::parse(id, colour)?;
            look.overrides.insert(look.known_as(id), rgb);
        }
        Ok(look)
    }

    /// The colour of a hardware id. An id without one gets a colour made from its name, which no known id has.
    pub fn colour(&self, hardware: &str) -> Rgb {
        let id = self.known_as(hardware);
        if let Some(colour) = self.overrides.get(&id).or_else(|| self.data.hardware.get(&id)) {
            return *colour;
        }
        let taken = |colour: &Rgb| {
            self.data.hardware.values().any(|known| known == colour) || self.overrides.values().any(|own| own == colour)
        };
        // From the name's own place on to the first that is free: so an override moves nobody whose colour it does not take.
        let others = &self.data.others.colours;
        let first = place(others.len(), &id);
        others
            .iter()
            .cycle()
            .skip(first)
            .take(others.len())
            .copied()
            .find(|colour| !taken(colour))
            .unwrap_or(self.data.light.soft)
    }

    /// The marker of an architecture. One without gets a marker made from its name, which no known one has.
    pub fn marker(&self, architecture: &str) -> Marker {
        let id = architecture.trim().to_lowercase();
        if id.is_empty() {
            return Marker::Circle;
        }
        let known = self.data.architecture.get(&id).copied();
        let others = &self.data.others.markers;
        known.or_else(|| others.get(place(others.len(), &id)).copied()).unwrap_or(Marker::Circle)
    }

    /// The hardware ids that have a colour of their own, in the order of their names.
    pub fn hardware(&self) -> impl Iterator<Item = &str> {
        let more = self.overrides.keys().filter(|id| !self.data.hardware.contains_key(*id));
        self.data.hardware.keys().chain(more).map(String::as_str)
    }

    /// The architectures that have a marker of their own, in the order of their names.
    pub fn architectures(&self) -> impl Iterator<Item = &str> {
        self.data.architecture.keys().map(String::as_str)
    }

    pub(crate) fn part(&self, index: usize) -> Rgb {
        let colours = &self.data.parts.colours;
        if colours.is_empty() { self.data.light.soft } else { colours[index % colours.len()] }
    }

    pub(crate) fn scales(&self) -> &Scales {
        &self.data.scale
    }

    pub(crate) fn light(&self) -> Inks {
        self.data.light
    }

    pub(crate) fn dark(&self) -> Inks {
        self.data.dark
    }

    fn known_as(&self, id: &str) -> String {
        let id = id.trim().to_lowercase();
        self.data.alias.get(&id).cloned().unwrap_or(id)
    }
}

/// A name's place among so many.
fn place(count: usize, name: &str) -> usize {
    (hash::of(name) % count.max(1) as u64) as usize
}
