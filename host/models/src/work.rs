//! How much work one inference is: operations counted at some axes, and the bytes of the weights. Efficiency is held against
//! these, so what was not counted stays unknown.

use super::{SkillDescription, stored};
use serde::{Deserialize, Serialize};
use skillbench_record::Axes;

/// Operations of one inference, counted at these axes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlopCount {
    pub value: f64,
    #[serde(default)]
    pub axes: Axes,
    /// It holds at these axes, and lies on no curve with others.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub alone: bool,
}

/// All counts of a skill.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Form")]
pub struct FlopCounts(pub Vec<FlopCount>);

/// As it is written: a list, a single count, or nothing.
#[derive(Deserialize)]
#[serde(untagged)]
enum Form {
    Many(Vec<FlopCount>),
    One(FlopCount),
    None(()),
}

impl From<Form> for FlopCounts {
    fn from(form: Form) -> FlopCounts {
        match form {
            Form::Many(counts) => FlopCounts(counts),
            Form::One(count) => FlopCounts(vec![count]),
            Form::None(()) => FlopCounts::default(),
        }
    }
}

impl FlopCounts {
    /// Each count with the axes it was made at. An item is the same work in every batch, so a count is that of one item;
    /// unless some were counted in another batch, which is then an axis like the others.
    fn of_one(&self) -> (bool, Vec<One>) {
        let counted = self.0.iter().filter(|count| count.value > 0.0);
        let parts =
            || counted.clone().map(|count| (count, without_batch(&count.axes))).filter(|(_, (batch, _))| *batch >= 1);
        let batched = parts().any(|(_, (batch, _))| parts().any(|(_, (other, _))| other != batch));
        let one = |(count, (batch, rest)): (&FlopCount, (i64, Axes))| match batched {
            true => One { value: count.value, axes: count.axes.clone(), alone: count.alone },
            false => One { value: count.value / batch as f64, axes: rest, alone: count.alone },
        };
        (batched, parts().map(one).collect())
    }

    /// Of one inference of the whole batch at these axes.
    pub(crate) fn at(&self, axes: &Axes) -> Option<f64> {
        let (batch, rest) = without_batch(axes);
        if batch < 1 {
            return None;
        }
        let (batched, counts) = self.of_one();
        let (times, point) =
            if batched { (1, rest.into_iter().chain([("batch".into(), batch)]).collect()) } else { (batch, rest) };
        let counted = counts.iter().find(|count| count.axes == point).map(|count| count.value);
        let one = counted.or_else(|| point.keys().find_map(|axis| along(axis, &point, &counts)))?;
        (one > 0.0).then_some(one * times as f64)
    }
}

struct One {
    value: f64,
    axes: Axes,
    alone: bool,
}

fn without_batch(axes: &Axes) -> (i64, Axes) {
    let mut rest = axes.clone();
    let batch = rest.remove("batch").unwrap_or(1);
    (batch, rest)
}

impl SkillDescription {
    /// Floating-point operations of one inference at these axes: counted there, or by the quadratic through three counts that
    /// differ in one axis alone (attention is a quadratic in a length, all else is linear), times the batch. `None` where
    /// the counts do not tell.
    pub fn flops(&self, axes: &Axes) -> Option<f64> {
        self.flops.at(axes)
    }

    /// Bytes that the operators of one inference read and write besides weights, each by itself, as if none were fused; told as
    /// [`SkillDescription::flops`].
    pub fn activation_bytes(&self, axes: &Axes, precision: &str) -> Option<f64> {
        let computed = stored::arithmetic(precision);
        // Weights in 4 bits are multiplied with float32.
        let size = element_bits(if computed == "int4" { "float32" } else { computed })? / 8;
        Some(self.elements.at(axes)? * size as f64)
    }

    /// The least weights that have to be read for one inference, whatever the batch: those that every inference reads, once.
    /// `None` where they were not counted, or for an unknown precision.
    pub fn weight_bytes(&self, precision: &str) -> Option<u64> {
        bytes(self.parameters_read?, precision)
    }

    /// All weights, tables included, without the scales of quantized ones.
    pub fn parameter_bytes(&self, precision: &str) -> Option<u64> {
        bytes(self.parameters?, precision)
    }

    /// About how large the files of the model are in the form that a skillset writes for a precision; blocks of int4 have a scale each, and tables
    /// stay in float16 there and in int8. `None` where the parameters were not counted.
    pub fn file_bytes(&self, form: &str) -> Option<u64> {
        /// With the scale in float32 of each 32.
        const BITS_IN_BLOCKS: u64 = 5;
        let all = self.parameters?;
        let bits = match stored::stored_in(form) {
            "int4" => BITS_IN_BLOCKS,
            "int8" => 8,
            _ => return bytes(all, form),
        };
        let read = self.parameters_read.unwrap_or(all).min(all);
        (read / 8).checked_mul(bits)?.checked_add(bytes(all - read, "float16")?)
    }
}

fn bytes(values: u64, precision: &str) -> Option<u64> {
    Some(values.checked_mul(element_bits(stored::stored_in(precision))?)? / 8)
}

/// Bits of one value; `None` for an unknown precision.
fn element_bits(precision: &str) -> Option<u64> {
    match precision {
        "float64" => Some(64),
        // A product in TF32 reads whole float32.
        "float32" | "tf32" => Some(32),
        "float16" | "bfloat16" => Some(16),
        "int8" => Some(8),
        "int4" => Some(4),
        _ => None,
    }
}

/// The quadratic through three counts that differ from the point, and from each other, in this axis alone.
fn along(axis: &str, point: &Axes, counts: &[One]) -> Option<f64> {
    let mut line: Vec<(f64, f64)> = vec![];
    for One { value, axes: at, .. } in counts.iter().filter(|count| !count.alone) {
        let Some(here) = at.get(axis) else { continue };
        let moved = at.iter().map(|(name, at)| if name == axis { (name, &point[axis]) } else { (name, at) });
        if moved.eq(point.iter()) && line.iter().all(|(known, _)| *known != *here as f64) {
            line.push((*here as f64, *value));
        }
    }
    let line: &[(f64, f64); 3] = line.first_chunk()?;
    let x = point[axis] as f64;
    let term = |i: usize| {
        let others = (0..3).filter(|j| *j != i);
        line[i].1 * others.map(|j| (x - line[j].0) / (line[i].0 - line[j].0)).product::<f64>()
    };
    // Counts are whole; the division leaves a little beside.
    Some((0..3).map(term).sum::<f64>().round())
}

#[cfg(test)]
mod tests {
    use super::super::Manifest;
    use super::*;

    fn axes(pairs: &[(&str, i64)]) -> Axes {
        pairs.iter().map(|(name, value)| (name.to_string(), *value)).collect()
    }

    fn skill(text: &str) -> SkillDescription {
        serde_json::from_str(&format!(r#"{{"id": "it", "parameters_read": 100, "flops": {text}}}"#)).unwrap()
    }

    /// 3 s² + 5 s + 7 at three lengths.
    fn transformer() -> SkillDescription {
        let count =
            |s: i64| format!(r#"{{"value": {}, "axes": {{"batch": 1, "sequence": {s}}}}}"#, 3 * s * s + 5 * s + 7);
        skill(&format!("[{}, {}, {}]", count(16), count(128), count(512)))
    }

    #[test]
    fn a_list_a_single_count_and_none_at_all_are_read() {
        let one = r#"{"value": 10, "axes": {"batch": 1}}"#;
        assert_eq!(skill(one), skill(&format!("[{one}]")));
        assert_eq!(skill("null").flops, FlopCounts::default());
        let silent: SkillDescription = serde_json::from_str(r#"{"id": "it"}"#).unwrap();
        assert_eq!(silent.flops(&axes(&[("batch", 1)])), None);
        let manifest = Manifest::parse(&format!(r#"{{"id": "it", "flops": [{one}]}}"#)).unwrap();
        assert_eq!(manifest.description.flops(&axes(&[("batch", 3)])), Some(30.0));
    }

    #[test]
    fn a_batch_is_so_many_times_the_work_of_one() {
        let skill = skill(r#"{"value": 20, "axes": {"batch": 2}}"#);
        assert_eq!(skill.flops(&axes(&[("batch", 1)])), Some(10.0));
        assert_eq!(skill.flops(&axes(&[("batch", 8)])), Some(80.0));
        assert_eq!(skill.flops(&axes(&[])), Some(10.0), "no batch is a batch of one");
        assert_eq!(skill.flops(&axes(&[("batch", 0)])), None);
    }

    #[test]
    fn three_counts_along_one_axis_give_all_lengths() {
        for s in [1, 16, 77, 128, 300, 512] {
            let expected = (3 * s * s + 5 * s + 7) as f64;
            assert_eq!(transformer().flops(&axes(&[("batch", 4), ("sequence", s)])), Some(4.0 * expected), "{s}");
        }
    }

    #[test]
    fn what_was_not_counted_is_unknown() {
        let two =
            r#"[{"value": 1, "axes": {"batch": 1, "samples": 10}}, {"value": 2, "axes": {"batch": 1, "samples": 20}}]"#;
        assert_eq!(skill(two).flops(&axes(&[("batch", 2), ("samples", 20)])), Some(4.0));
        assert_eq!(skill(two).flops(&axes(&[("batch", 1), ("samples", 15)])), None, "two counts make no curve");
        let twice =
            r#"[{"value": 1, "axes": {"n": 1}}, {"value": 4, "axes": {"n": 2}}, {"value": 4, "axes": {"n": 2}}]"#;
        assert_eq!(skill(twice).flops(&axes(&[("n", 3)])), None, "a count twice is one");
        assert_eq!(transformer().flops(&axes(&[("batch", 1), ("sequence", 16), ("past", 4)])), None);
        assert_eq!(transformer().flops(&axes(&[("batch", 1)])), None);
    }

    #[test]
    fn a_count_that_lies_on_no_curve_holds_where_it_was_made() {
        let count = |s: i64, alone: bool| {
            format!(r#"{{"value": {}, "axes": {{"batch": 1, "samples": {s}}}, "alone": {alone}}}"#, 10 * s)
        };
        let skill = skill(&format!("[{}, {}, {}]", count(1, false), count(2, false), count(4, true)));
        assert_eq!(skill.flops(&axes(&[("batch", 2), ("samples", 4)])), Some(80.0));
        assert_eq!(skill.flops(&axes(&[("batch", 1), ("samples", 3)])), None);
    }

    /// One image and three texts are not a batch of three.
    #[test]
    fn a_batch_that_was_counted_in_several_sizes_is_an_axis() {
        let work = |batch: i64| 100 * batch + 7;
        let count = |b: i64| format!(r#"{{"value": {}, "axes": {{"batch": {b}, "text_batch": 1}}}}"#, work(b));
        let skill = skill(&format!("[{}, {}, {}]", count(1), count(2), count(4)));
        let at = |batch, texts| skill.flops(&axes(&[("batch", batch), ("text_batch", texts)]));
        assert_eq!((at(1, 1), at(2, 1)), (Some(107.0), Some(207.0)));
        assert_eq!(at(8, 1), Some(work(8) as f64));
        assert_eq!(at(2, 2), None, "both differ from every count");
    }

    #[test]
    fn with_two_lengths_each_is_known_where_the_other_was_counted() {
        let work = |s: i64, d: i64| s * s + d * d + s * d;
        let points = [(32, 16), (128, 16), (512, 16), (128, 4), (128, 64)];
        let counts = points.map(|(s, d)| {
            format!(r#"{{"value": {}, "axes": {{"batch": 1, "sequence": {s}, "decoder": {d}}}}}"#, work(s, d))
        });
        let skill = skill(&format!("[{}]", counts.join(",")));
        let at = |s, d| skill.flops(&axes(&[("batch", 2), ("sequence", s), ("decoder", d)]));
        assert_eq!(at(200, 16), Some(2.0 * work(200, 16) as f64));
        assert_eq!(at(128, 40), Some(2.0 * work(128, 40) as f64));
        assert_eq!(at(200, 40), None, "both differ from every count");
    }

    #[test]
    fn what_operators_move_is_told_as_operations_are() {
        let text = r#"{"id": "it", "kernels": 7, "elements": [{"value": 10, "axes": {"batch": 1}}]}"#;
        let skill: SkillDescription = serde_json::from_str(text).unwrap();
        assert_eq!(skill.kernels, Some(7));
        assert_eq!(skill.activation_bytes(&axes(&[("batch", 3)]), "float32"), Some(120.0));
        assert_eq!(skill.activation_bytes(&axes(&[("batch", 3)]), "float16"), Some(60.0));
        assert_eq!(skill.activation_bytes(&axes(&[("batch", 3)]), ""), None);
        assert_eq!(SkillDescription::default().activation_bytes(&axes(&[("batch", 1)]), "float32"), None);
    }

    #[test]
    fn weights_are_as_large_as_their_precision() {
        let skill = skill("null");
        let bytes = ["float32", "float16", "bfloat16", "int8", ""].map(|precision| skill.weight_bytes(precision));
        assert_eq!(bytes, [Some(400), Some(200), Some(200), Some(100), None]);
        assert_eq!(SkillDescription::default().weight_bytes("float32"), None);
    }
}
