//! Requests of several sizes in one cell. A benchmark whose schema has an option of the format `sizes` takes an axis and its values in it,
//! `sequence:32,64,128`, and loads the model for each: the host gives each a reference and inputs of its own.

use super::grid::{Workload, refused};
use crate::skill::Skill;
use skillbench_models::Manifest;
use skillbench_record::{Axes, PluginOptions, Reason};
use skillbench_worker::{Failure, FailureKind};

/// Rows are no size of a request: how many items it has is counted.
const BATCH: &str = "batch";

/// What such an option says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sizes {
    axis: String,
    /// In order, each once.
    values: Vec<i64>,
}

impl Sizes {
    /// `None`: every request has the cell's size.
    ///
    /// # Errors
    /// Text that is none, in a sentence.
    pub fn of(options: &PluginOptions, schema: &str) -> Result<Option<Sizes>, String> {
        let key = skillbench_worker::options::sizes_of(schema);
        match key.and_then(|key| Some((options.get(&key)?, key))) {
            None => Ok(None),
            Some((text, key)) => Sizes::parse(text).map(Some).ok_or_else(|| {
                format!("option {key}: '{text}' is no axis with its values, such as sequence:32,64,128")
            }),
        }
    }

    fn parse(text: &str) -> Option<Sizes> {
        let (axis, values) = text.split_once(':')?;
        let mut values: Vec<i64> = values.split(',').map(|value| value.trim().parse().ok()).collect::<Option<_>>()?;
        values.sort_unstable();
        values.dedup();
        (!axis.is_empty() && values.first().is_some_and(|least| *least > 0))
            .then(|| Sizes { axis: axis.into(), values })
    }

    /// The cell's axes with each other value.
    pub fn others(&self, axes: &Axes) -> Vec<Axes> {
        let own = axes.get(&self.axis);
        let with = |value: &i64| {
            let mut axes = axes.clone();
            axes.insert(self.axis.clone(), *value);
            axes
        };
        self.values.iter().filter(|value| own != Some(*value)).map(with).collect()
    }

    /// Why a cell has no requests of these sizes. It stands for the largest.
    pub fn refused(&self, axes: &Axes, skill: &Skill) -> Option<Reason> {
        let (Sizes { axis, values }, reason) = (self, |text: String| Some(Reason::new("sizes", text)));
        let Some(own) = axes.get(axis) else {
            return reason(format!("requests of several sizes: the model '{}' has no axis '{axis}'", skill.id()));
        };
        match values[..] {
            _ if axis == BATCH => {
                reason("requests of several sizes: the batch is how many items a request has, and no size".into())
            }
            [_] => reason(format!("requests of several sizes: {axis} {} is the only one", values[0])),
            [.., largest] if largest != *own => reason(format!(
                "requests of several sizes are measured by the cell of the largest: ask for {axis} {largest} in place of {own}"
            )),
            _ => self.others(axes).iter().find_map(|axes| refused(axes, skill, Workload::Inference)),
        }
    }

    /// Why queries that come one after the other have none.
    pub fn of_a_stream() -> Reason {
        let text = "requests of several sizes: queries one after the other have one size: ask for a --rate, for users, or for --scenario offline";
        Reason::new("sizes", text)
    }

    /// # Errors
    /// The axis is about how a model is used, and no input has it: all requests would be of one size.
    pub fn reach(&self, manifest: &Manifest) -> Result<(), Failure> {
        match manifest.names(&self.axis) {
            true => Ok(()),
            false => Err(Failure::new(
                FailureKind::Unsupported,
                "sizes",
                format!("requests of several sizes: no input of the model has the axis '{}'", self.axis),
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_an_axis_with_values_each_once() {
        let sizes = Sizes::parse("sequence:128,32,32,64").unwrap();
        assert_eq!(sizes, Sizes { axis: "sequence".into(), values: vec![32, 64, 128] });
        let others = sizes.others(&"batch=2 sequence=128".parse().unwrap());
        assert_eq!(others, ["batch=2 sequence=32", "batch=2 sequence=64"].map(|axes| axes.parse().unwrap()));
        for text in ["", "sequence", "sequence:", ":1,2", "sequence:0,4", "sequence:4,x", "sequence:-4,4"] {
            assert_eq!(Sizes::parse(text), None, "{text}");
        }
    }
}
