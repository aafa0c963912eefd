//! `data/user_models.toml`, typed: what exporters' names mean, and how an input is filled by its name and type.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

#[derive(Debug, Deserialize)]
pub(in crate::user_models) struct Table {
    axes: BTreeMap<String, Vec<String>>,
    place: Vec<Place>,
    fill: Vec<Fill>,
    pub usual: BTreeMap<String, i64>,
    pub files: Files,
    pub set: Vec<Set>,
}

#[derive(Debug, Deserialize)]
struct Place {
    input: String,
    rank: usize,
    axes: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Fill {
    names: Vec<String>,
    #[serde(rename = "type")]
    of: Option<Type>,
    fill: String,
}

/// What an input's elements are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Type {
    Whole,
    Float,
    Bool,
}

#[derive(Debug, Deserialize)]
pub(in crate::user_models) struct Files {
    pub variants: Vec<String>,
}

/// Graphs that make one model.
#[derive(Debug, Deserialize)]
pub(in crate::user_models) struct Set {
    pub parts: Vec<Part>,
}

#[derive(Debug, Deserialize)]
pub(in crate::user_models) struct Part {
    pub part: String,
    pub names: Vec<String>,
}

/// What is compiled in. A test reads it, so that a slip in the file cannot ship.
pub(in crate::user_models) fn table() -> &'static Table {
    static TABLE: LazyLock<Table> = LazyLock::new(|| {
        toml::from_str(include_str!("../../../data/user_models.toml")).expect("data/user_models.toml is valid")
    });
    &TABLE
}

impl Table {
    /// The host's axis for a name that is not the host's own.
    pub fn axis(&self, name: &str) -> Option<&str> {
        let name = name.to_lowercase();
        self.axes.iter().find(|(_, others)| others.contains(&name)).map(|(axis, _)| axis.as_str())
    }

    /// The axis of a dimension by its input and place.
    pub fn place(&self, input: &str, rank: usize, index: usize) -> Option<&str> {
        let place = self.place.iter().find(|place| place.input == input && place.rank == rank)?;
        place.axes.get(index).map(String::as_str)
    }

    /// How an input is filled.
    pub fn fill(&self, input: &str, of: Type) -> &str {
        let input = input.to_lowercase();
        let fits = |fill: &&Fill| {
            fill.of.is_none_or(|wanted| wanted == of) && fill.names.iter().any(|pattern| matches(pattern, &input))
        };
        self.fill.iter().find(fits).map_or("normal", |fill| fill.fill.as_str())
    }

    /// Whether a graph's file has a name that exporters give.
    pub fn is_usual(&self, stem: &str) -> bool {
        self.set.iter().flat_map(|set| &set.parts).flat_map(|part| &part.names).any(|name| name == stem)
    }
}

/// A star at an end stands for anything.
fn matches(pattern: &str, name: &str) -> bool {
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(""), _) => true,
        (Some(rest), Some(_)) => name.contains(rest.trim_end_matches('*')),
        (Some(end), None) => name.ends_with(end),
        (None, Some(start)) => name.starts_with(start),
        (None, None) => name == pattern,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_filled_by_name_and_type() {
        let fill = |name, of| table().fill(name, of);
        assert_eq!(fill("input_ids", Type::Whole), "ids");
        assert_eq!(fill("token_type_ids", Type::Whole), "zeros");
        assert_eq!(fill("position_ids", Type::Whole), "range");
        assert_eq!(fill("decoder_attention_mask", Type::Whole), "ones");
        assert_eq!(fill("pixel_mask", Type::Bool), "ones");
        assert_eq!(fill("bool_masked_pos", Type::Bool), "zeros");
        assert_eq!(fill("bbox", Type::Whole), "boxes:1000");
        assert_eq!(fill("timestep", Type::Float), "const:1");
        assert_eq!(fill("pixel_values", Type::Float), "normal");
        assert_eq!(fill("anything", Type::Whole), "ids");
    }

    #[test]
    fn axes_are_known_by_the_names_that_exporters_give() {
        assert_eq!(table().axis("past_sequence_length"), Some("past"));
        assert_eq!(table().axis("Decoder_Sequence_Length"), Some("decoder_sequence"));
        assert_eq!(table().axis("total_sequence_length"), Some("past+sequence"));
        assert_eq!(table().axis("something"), None);
        assert_eq!(table().place("pixel_values", 4, 1), Some("channels"));
    }
}
