//! The point of the workload grid that a cell is at: "batch", "sequence" and the model's other axes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::str::FromStr;

/// Axes by name, each with its size. [`Display`](fmt::Display) and [`FromStr`] are the only writer and the only reader of the text
/// form, "batch=4 sequence=32".
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Axes(BTreeMap<String, i64>);

impl Axes {
    pub fn new() -> Axes {
        Axes::default()
    }
}

impl Deref for Axes {
    type Target = BTreeMap<String, i64>;

    fn deref(&self) -> &BTreeMap<String, i64> {
        &self.0
    }
}

impl DerefMut for Axes {
    fn deref_mut(&mut self) -> &mut BTreeMap<String, i64> {
        &mut self.0
    }
}

impl From<BTreeMap<String, i64>> for Axes {
    fn from(axes: BTreeMap<String, i64>) -> Axes {
        Axes(axes)
    }
}

impl<const N: usize> From<[(String, i64); N]> for Axes {
    fn from(axes: [(String, i64); N]) -> Axes {
        Axes(axes.into())
    }
}

impl FromIterator<(String, i64)> for Axes {
    fn from_iter<I: IntoIterator<Item = (String, i64)>>(axes: I) -> Axes {
        Axes(axes.into_iter().collect())
    }
}

impl Extend<(String, i64)> for Axes {
    fn extend<I: IntoIterator<Item = (String, i64)>>(&mut self, axes: I) {
        self.0.extend(axes);
    }
}

impl IntoIterator for Axes {
    type Item = (String, i64);
    type IntoIter = std::collections::btree_map::IntoIter<String, i64>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a Axes {
    type Item = (&'a String, &'a i64);
    type IntoIter = std::collections::btree_map::Iter<'a, String, i64>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl fmt::Display for Axes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, (name, size)) in self.0.iter().enumerate() {
            let space = if place > 0 { " " } else { "" };
            write!(f, "{space}{name}={size}")?;
        }
        Ok(())
    }
}

impl FromStr for Axes {
    type Err = String;

    fn from_str(text: &str) -> Result<Axes, String> {
        let axis = |word: &str| {
            let wrong = || format!("axes '{text}': expected NAME=SIZE, found '{word}'");
            let (name, size) = word.split_once('=').filter(|(name, _)| !name.is_empty()).ok_or_else(wrong)?;
            Ok((name.to_string(), size.parse().map_err(|_| wrong())?))
        };
        text.split_whitespace().map(axis).collect::<Result<_, String>>().map(Axes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_are_read_as_they_were_written() {
        let axes = Axes::from([("sequence".to_string(), 32), ("batch".to_string(), 4)]);
        assert_eq!(axes.to_string(), "batch=4 sequence=32");
        assert_eq!("batch=4 sequence=32".parse(), Ok(axes));
        assert_eq!("".parse(), Ok(Axes::new()));
        assert_eq!(Axes::new().to_string(), "");
    }

    #[test]
    fn what_is_no_axis_is_refused() {
        for text in ["batch", "batch=", "=4", "batch=x"] {
            assert!(text.parse::<Axes>().unwrap_err().contains("NAME=SIZE"), "{text}");
        }
    }
}
