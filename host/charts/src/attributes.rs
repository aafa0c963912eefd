//! What a mark carries for the page around it: names and values, written as `data-` attributes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::ChartError;

/// Attributes of a mark by name. Names are checked here, so that a drawing cannot be broken by one; values are escaped
/// when they are drawn. `hardware` and `state` are written by the chart itself, which goes before one given here.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "BTreeMap<String, String>", into = "BTreeMap<String, String>")]
pub struct Attributes(BTreeMap<String, String>);

impl Attributes {
    /// Attributes of these names and values.
    pub fn of<N: Into<String>, V: Into<String>>(pairs: impl IntoIterator<Item = (N, V)>) -> Result<Self, ChartError> {
        let mut attributes = Self::default();
        for (name, value) in pairs {
            attributes.set(name, value)?;
        }
        Ok(attributes)
    }

    /// Adds one, or replaces it.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<String>) -> Result<(), ChartError> {
        let name = name.into();
        if !is_name(&name) {
            return Err(ChartError::Attribute { name });
        }
        self.0.insert(name, value.into());
        Ok(())
    }

    /// Names and values in the order of the names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

fn is_name(name: &str) -> bool {
    name.len() <= 40
        && name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

impl TryFrom<BTreeMap<String, String>> for Attributes {
    type Error = ChartError;

    fn try_from(map: BTreeMap<String, String>) -> Result<Self, ChartError> {
        Self::of(map)
    }
}

impl From<Attributes> for BTreeMap<String, String> {
    fn from(attributes: Attributes) -> Self {
        attributes.0
    }
}
