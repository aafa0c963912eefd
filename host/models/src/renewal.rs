//! Other contents for a bound input, made where it lies between two runs: cheap, and the same again from the same numbers, so that
//! a reference engine in another process sees what the measured one saw.
//!
//! A small input is filled by its rule. A large one of random numbers is put together from blocks of one stretch of them, which costs
//! little more than a copy. What a rule leaves no choice for (ones, ranges) is never changed.

use super::fill::{fill, hash, light, plane, random};
use super::manifest::InputRule;
use skillbench_plugin_api::{DType, HostTensor, Result as PluginResult};
use skillbench_record::Axes;

/// Larger inputs of random numbers are put together from blocks.
const FILLED: usize = 4096;
/// Elements of the stretch that blocks are taken from.
const STRETCH: usize = 1 << 16;
/// Elements of a block.
const BLOCK: usize = 4096;
/// Blocks begin at multiples of so many elements.
const STEP: usize = 16;
/// Stands for the stretch where others give a variant.
const OF_STRETCH: u64 = u64::MAX;

/// How one input gets other contents.
pub struct Renewal {
    rule: InputRule,
    axes: Axes,
    seed: u64,
    /// Of a large input of random numbers.
    stretch: Option<HostTensor>,
    is_image: bool,
}

impl Renewal {
    /// For an input that was filled by `rule`; `None`: its rule leaves no choice.
    ///
    /// # Errors
    /// No memory, or a rule that does not fit.
    pub fn new(tensor: &HostTensor, rule: &InputRule, axes: &Axes, seed: u64) -> PluginResult<Option<Renewal>> {
        let kind = rule.fill.split(':').next().unwrap_or_default();
        if !matches!(kind, "ids" | "normal" | "image" | "uniform" | "boxes") || tensor.bytes().is_empty() {
            return Ok(None);
        }
        let elements = tensor.bytes().len() / tensor.dtype().bytes();
        let is_image = kind == "image";
        let has_blocks = matches!(kind, "normal" | "uniform") || is_image && tensor.dtype() == DType::F32;
        let stretch = match has_blocks && elements > FILLED {
            true => {
                let mut stretch = HostTensor::zeroed(tensor.dtype(), &[STRETCH])?;
                let plain = InputRule { fill: "normal".into(), ..rule.clone() };
                fill(&mut stretch, if is_image { &plain } else { rule }, axes, seed, OF_STRETCH)
                    .map_err(skillbench_plugin_api::Error::invalid)?;
                Some(stretch)
            }
            false => None,
        };
        Ok(Some(Renewal { rule: rule.clone(), axes: axes.clone(), seed, stretch, is_image }))
    }

    /// Fills the tensor with what `variant` stands for.
    ///
    /// # Errors
    /// A rule that does not fit the tensor.
    pub fn write(&self, tensor: &mut HostTensor, variant: u64) -> PluginResult<()> {
        let Some(stretch) = &self.stretch else {
            let filled = fill(tensor, &self.rule, &self.axes, self.seed, variant);
            return filled.map_err(skillbench_plugin_api::Error::invalid);
        };
        let size = tensor.dtype().bytes();
        let from = stretch.bytes();
        let key = hash(&self.rule.name) ^ random(self.seed, variant);
        let begins = ((STRETCH - BLOCK) / STEP) as u64;
        for (at, block) in tensor.bytes_mut().chunks_mut(BLOCK * size).enumerate() {
            let begin = (random(key, at as u64) % begins) as usize * STEP * size;
            block.copy_from_slice(&from[begin..begin + block.len()]);
        }
        if self.is_image {
            let plane = plane(&tensor.shape()) * size_of::<f32>();
            for (at, values) in tensor.bytes_mut().chunks_mut(plane).enumerate() {
                let (brightness, contrast) = light(key, at as u64);
                for bytes in values.as_chunks_mut().0 {
                    *bytes = (brightness as f32 + contrast as f32 * f32::from_le_bytes(*bytes)).to_le_bytes();
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn renewal(fill: &str, dtype: DType, shape: &[usize]) -> (HostTensor, Option<Renewal>) {
        let tensor = HostTensor::zeroed(dtype, shape).unwrap();
        let rule = InputRule {
            part: String::new(),
            name: "x".into(),
            dtype: dtype.name().into(),
            dims: vec![],
            fill: fill.into(),
        };
        let renewal = Renewal::new(&tensor, &rule, &Axes::new(), 42).unwrap();
        (tensor, renewal)
    }

    #[test]
    fn each_variant_has_contents_of_its_own_and_the_same_again() {
        for (fill, dtype, shape) in [
            ("normal", DType::F32, &[3, 64, 64][..]),
            ("image", DType::F32, &[1, 3, 64, 64]),
            ("ids:1000", DType::I64, &[1, 16]),
            ("uniform:0:1", DType::F16, &[2, 5]),
        ] {
            let (mut tensor, renewal) = renewal(fill, dtype, shape);
            let renewal = renewal.unwrap();
            let mut seen = std::collections::HashSet::new();
            for variant in 0..200 {
                renewal.write(&mut tensor, variant).unwrap();
                assert!(seen.insert(tensor.bytes().to_vec()), "{fill}, variant {variant}");
            }
            renewal.write(&mut tensor, 7).unwrap();
            assert!(!seen.insert(tensor.bytes().to_vec()));
        }
    }

    #[test]
    fn blocks_keep_mean_and_deviation() {
        let (mut tensor, renewal) = renewal("normal:3:2", DType::F32, &[3, 224, 224]);
        renewal.unwrap().write(&mut tensor, 1).unwrap();
        let values = tensor.as_slice::<f32>().unwrap();
        let mean = values.iter().sum::<f32>() / values.len() as f32;
        let deviation = (values.iter().map(|v| (v - mean).powi(2)).sum::<f32>() / values.len() as f32).sqrt();
        assert!((mean - 3.0).abs() < 0.05 && (deviation - 2.0).abs() < 0.05, "{mean} {deviation}");
    }

    #[test]
    fn what_its_rule_leaves_no_choice_for_is_not_changed() {
        for fill in ["ones", "zeros", "const:3", "range"] {
            assert!(renewal(fill, DType::I64, &[1, 16]).1.is_none(), "{fill}");
        }
    }
}
