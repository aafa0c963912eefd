//! The rule `weights/1`: what number an element of a generated tensor is.
//!
//! An element depends on its tensor's name and its own index, and on nothing else, so that any thread can write any piece.
//! Every tensor has a seed of its own: equal tensors would be kinder to caches than real weights are.

use skillbench_plugin_api::{Error, Result};

/// How a tensor of 32-bit floats is filled.
#[derive(Clone, Debug, PartialEq)]
pub enum Rule {
    Fill(f32),
    /// Close to a normal distribution, and never further from the mean than 3.4642 deviations.
    Normal {
        seed: u64,
        mean: f32,
        deviation: f32,
    },
}

impl Rule {
    pub const ELEMENT: usize = size_of::<f32>();

    /// Reads "fill:V" or "normal:MEAN:DEVIATION", the rule of the tensor `name`.
    pub fn parse(name: &str, rule: &str) -> Result<Rule> {
        // Rounded twice, to double and then to single, as the reference does.
        let number =
            |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite()).map(|number| number as f32);
        let words: Vec<&str> = rule.split(':').collect();
        let parsed =
            match words[..] {
                ["fill", value] => number(value).map(Rule::Fill),
                ["normal", mean, deviation] => number(mean)
                    .zip(number(deviation))
                    .map(|(mean, deviation)| Rule::Normal { seed: fnv1a(name.as_bytes()), mean, deviation }),
                _ => None,
            };
        parsed.ok_or_else(|| {
            Error::invalid(format!("tensor '{name}': '{rule}' is neither fill:V nor normal:MEAN:DEVIATION"))
        })
    }

    /// Writes the elements from index `first` on, in little-endian order, as ONNX wants them.
    pub fn write(&self, first: u64, out: &mut [u8]) {
        let elements = out.chunks_exact_mut(Self::ELEMENT);
        match *self {
            Rule::Fill(value) => elements.for_each(|element| element.copy_from_slice(&value.to_le_bytes())),
            Rule::Normal { seed, mean, deviation } => {
                for (element, index) in elements.zip(first..) {
                    let value = mean + deviation * normal(seed, index);
                    element.copy_from_slice(&value.to_le_bytes());
                }
            }
        }
    }
}

/// Four 16-bit numbers added: near enough to a normal distribution, and the same on every machine, which a logarithm or a
/// sine is not.
fn normal(seed: u64, index: u64) -> f32 {
    let mut x = seed.wrapping_add(index.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^= x >> 31;
    let sum = (x & 0xFFFF) + (x >> 16 & 0xFFFF) + (x >> 32 & 0xFFFF) + (x >> 48);
    (sum as f32 - 131_070.0) / 37_837.227
}

fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01B3))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elements(name: &str, rule: &str, first: u64, count: usize) -> Vec<f32> {
        let mut bytes = vec![0; count * Rule::ELEMENT];
        Rule::parse(name, rule).unwrap().write(first, &mut bytes);
        bytes.chunks_exact(4).map(|element| f32::from_le_bytes(element.try_into().unwrap())).collect()
    }

    #[test]
    fn the_published_vector_comes_out() {
        let found = elements("model.pooler.dense.bias", "normal:0:1", 0, 3);
        assert_eq!(found, [2.106_629_1, 0.571_104_2, 1.665_555_5]);
    }

    #[test]
    fn a_piece_is_the_same_wherever_it_starts() {
        let whole = elements("w", "normal:0.5:0.02", 0, 100);
        assert_eq!(elements("w", "normal:0.5:0.02", 37, 63), whole[37..]);
    }

    #[test]
    fn mean_and_deviation_are_as_asked() {
        let values = elements("w", "normal:3:0.5", 0, 100_000);
        let mean = values.iter().map(|value| f64::from(*value)).sum::<f64>() / values.len() as f64;
        let square = values.iter().map(|value| (f64::from(*value) - mean).powi(2)).sum::<f64>() / values.len() as f64;
        assert!((mean - 3.0).abs() < 0.01, "{mean}");
        assert!((square.sqrt() - 0.5).abs() < 0.01, "{square}");
    }

    #[test]
    fn a_constant_is_a_constant() {
        assert_eq!(elements("w", "fill:-1.5", 9, 4), [-1.5; 4]);
    }

    #[test]
    fn a_rule_that_is_not_one_is_refused_with_the_name_of_its_tensor() {
        for rule in ["", "fill", "fill:x", "fill:nan", "normal:0", "normal:0:1:2", "uniform:0:1"] {
            let error = Rule::parse("decoder.bias", rule).unwrap_err();
            assert!(error.message.contains("decoder.bias"), "{rule}: {error}");
        }
    }
}
