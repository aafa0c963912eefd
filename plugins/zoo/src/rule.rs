//! What number an element of a generated tensor is. How widely those of a layer are spread, `spread.rs` says.
//!
//! An element depends on its tensor's name and its own index, and on nothing else, so that any thread can write any piece.
//! Every tensor has a seed of its own: equal tensors would be kinder to caches than real weights are.

use crate::blocks::{Layout, Matrix};
use crate::eight::{self, Eight};
use skillbench_onnx::half;
use skillbench_plugin_api::{Error, Result};

/// How a tensor is filled: its numbers, and what they are stored as.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    source: Source,
    element: Element,
}

/// The numbers of a tensor, by their index.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    Fill(f64),
    /// Close to a normal distribution, and never further from the mean than 3.4642 deviations.
    Normal {
        seed: u64,
        mean: f32,
        deviation: f32,
    },
}

/// What a number is stored as. Random ones are made in 32 bits, whatever they are stored as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    Single,
    Double,
    Half,
    Brain,
    /// Weights in 4 bits.
    Blocks(Matrix, Layout),
    /// The scales of blocks, in float32.
    Scales(Matrix, Layout),
    /// Weights in 8 bits.
    Eight(Eight),
}

impl Element {
    /// Bytes that cannot be written apart.
    pub fn unit(self) -> usize {
        match self {
            Element::Single | Element::Scales(..) => size_of::<f32>(),
            Element::Double => size_of::<f64>(),
            Element::Half | Element::Brain => size_of::<u16>(),
            Element::Blocks(matrix, layout) => matrix.unit(layout),
            Element::Eight(_) => size_of::<i8>(),
        }
    }

    /// How many units a tensor of so many numbers is.
    pub fn units(self, numbers: u64) -> u64 {
        match self {
            Element::Blocks(matrix, layout) => matrix.units(layout),
            Element::Scales(matrix, _) => matrix.blocks() * matrix.outputs,
            Element::Single | Element::Double | Element::Half | Element::Brain | Element::Eight(_) => numbers,
        }
    }
}

/// No number of a normal distribution is further from its mean than so many deviations.
const FURTHEST: f32 = 131_070.0 / 37_837.227;

impl Source {
    /// No number has a larger magnitude.
    pub fn bound(&self) -> f32 {
        match *self {
            Source::Fill(value) => (value as f32).abs(),
            Source::Normal { mean, deviation, .. } => mean.abs() + FURTHEST * deviation.abs(),
        }
    }

    /// Numbers that lie `step` apart, the first of them at `index`.
    pub fn strided<const COUNT: usize>(&self, index: u64, step: u64) -> [f32; COUNT] {
        match *self {
            Source::Fill(value) => [value as f32; COUNT],
            Source::Normal { seed, mean, deviation } => {
                let at = |place: usize| summed(seed, index.wrapping_add(step.wrapping_mul(place as u64)));
                std::array::from_fn(at).map(|sum| mean + deviation * scaled(sum))
            }
        }
    }
}

impl Rule {
    /// Reads "fill:V" or "normal:MEAN:DEVIATION", the rule of the tensor `name`.
    pub fn parse(name: &str, rule: &str, element: Element) -> Result<Rule> {
        let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite());
        // Rounded twice, to double and then to single, as the reference does.
        let single = |text: &str| number(text).map(|number| number as f32);
        let words: Vec<&str> = rule.split(':').collect();
        let source = match words[..] {
            ["fill", value] => number(value).map(Source::Fill),
            ["normal", mean, deviation] => single(mean)
                .zip(single(deviation))
                .map(|(mean, deviation)| Source::Normal { seed: fnv1a(name.as_bytes()), mean, deviation }),
            _ => None,
        };
        source.map(|source| Rule { source, element }).ok_or_else(|| {
            Error::invalid(format!("tensor '{name}': '{rule}' is neither fill:V nor normal:MEAN:DEVIATION"))
        })
    }

    /// The same random numbers around zero, with another deviation; a constant stays one.
    pub fn spread(self, deviation: f64) -> Rule {
        let source = match self.source {
            Source::Normal { seed, .. } => Source::Normal { seed, mean: 0.0, deviation: deviation as f32 },
            constant => constant,
        };
        Rule { source, ..self }
    }

    /// The same numbers, stored otherwise.
    pub fn stored_as(&self, element: Element) -> Rule {
        Rule { source: self.source.clone(), element }
    }

    pub fn element(&self) -> Element {
        self.element
    }

    pub fn source(&self) -> &Source {
        &self.source
    }

    /// Writes whole units from the unit `first` on, in little-endian order, as ONNX wants them.
    pub fn write(&self, first: u64, out: &mut [u8]) {
        match (&self.source, self.element) {
            (source, Element::Blocks(matrix, layout)) => matrix.write(layout, source, first, out),
            (source, Element::Scales(matrix, layout)) => matrix.write_scales(layout, source, first, out),
            (&Source::Normal { seed, mean, deviation }, Element::Eight(Eight { scale, transposed: None })) => {
                let inverse = scale.inverse();
                put_normal(out, first, seed, |number| eight::weight((mean + deviation * number) * inverse));
            }
            (source, Element::Eight(eight)) => {
                let inverse = eight.scale.inverse();
                let number = |place| source.strided::<1>(eight.index(place), 0)[0];
                put(out, first, |place| eight::weight(number(place) * inverse));
            }
            (Source::Fill(value), Element::Single) => put(out, first, |_| (*value as f32).to_le_bytes()),
            (Source::Fill(value), Element::Double) => put(out, first, |_| value.to_le_bytes()),
            (Source::Fill(value), Element::Half) => put(out, first, |_| half(*value as f32).to_le_bytes()),
            (Source::Fill(value), Element::Brain) => put(out, first, |_| brain(*value as f32).to_le_bytes()),
            (&Source::Normal { seed, mean, deviation }, Element::Single) => {
                put_normal(out, first, seed, |number| (mean + deviation * number).to_le_bytes());
            }
            (&Source::Normal { seed, mean, deviation }, Element::Double) => {
                put_normal(out, first, seed, |number| f64::from(mean + deviation * number).to_le_bytes());
            }
            (&Source::Normal { seed, mean, deviation }, Element::Half) => {
                put_normal(out, first, seed, |number| half(mean + deviation * number).to_le_bytes());
            }
            (&Source::Normal { seed, mean, deviation }, Element::Brain) => {
                put_normal(out, first, seed, |number| brain(mean + deviation * number).to_le_bytes());
            }
        }
    }
}

/// The nearest bfloat16, of two that are as near the even one. No weight is so large that it would become infinite.
fn brain(value: f32) -> u16 {
    let bits = value.to_bits();
    ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16) as u16
}

#[inline(always)]
fn put<const BYTES: usize>(out: &mut [u8], first: u64, value: impl Fn(u64) -> [u8; BYTES]) {
    let (elements, _) = out.as_chunks_mut::<BYTES>();
    for (element, index) in elements.iter_mut().zip(first..) {
        *element = value(index);
    }
}

/// As many elements as the compiler works on side by side.
const LANES: usize = 16;

/// Random numbers, each made into an element: many at a time, and one by one at the end of a tensor.
#[inline(always)]
fn put_normal<const BYTES: usize>(out: &mut [u8], first: u64, seed: u64, value: impl Fn(f32) -> [u8; BYTES]) {
    let (elements, _) = out.as_chunks_mut::<BYTES>();
    let (lanes, rest) = elements.as_chunks_mut::<LANES>();
    let mut index = first;
    for elements in lanes {
        let mut sums = [0; LANES];
        for (sum, index) in sums.iter_mut().zip(index..) {
            *sum = summed(seed, index);
        }
        for (element, sum) in elements.iter_mut().zip(sums) {
            *element = value(scaled(sum));
        }
        index += LANES as u64;
    }
    for (element, index) in rest.iter_mut().zip(index..) {
        *element = value(scaled(summed(seed, index)));
    }
}

/// Four 16-bit numbers added, less their mean: near enough to a normal distribution, and the same on every machine, which a
/// logarithm or a sine is not.
#[inline(always)]
fn summed(seed: u64, index: u64) -> i32 {
    const EVERY_OTHER: u64 = 0x0000_FFFF_0000_FFFF;
    let mut x = seed.wrapping_add(index.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^= x >> 31;
    // Two and two are added side by side.
    let pairs = (x & EVERY_OTHER) + (x >> 16 & EVERY_OTHER);
    (pairs as u32 + (pairs >> 32) as u32) as i32 - 131_070
}

#[inline(always)]
fn scaled(sum: i32) -> f32 {
    sum as f32 / 37_837.227
}

fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01B3))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elements(name: &str, rule: &str, first: u64, count: usize) -> Vec<f32> {
        let mut bytes = vec![0; count * Element::Single.unit()];
        Rule::parse(name, rule, Element::Single).unwrap().write(first, &mut bytes);
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

    /// As docs and the exporter tell it, one element at a time.
    #[test]
    fn every_element_is_what_the_rule_says_wherever_a_piece_ends() {
        let plain = |seed: u64, index: u64| {
            let mut x = seed.wrapping_add((index + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
            x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            x ^= x >> 31;
            let quarters = (0..4).map(|quarter| x >> (16 * quarter) & 0xFFFF).sum::<u64>();
            0.25_f32 + 0.02 * ((quarters as f32 - 131_070.0) / 37_837.227)
        };
        for (first, count) in [(0, 1), (3, 15), (0, 16), (5, 17), (1 << 33, 1000)] {
            let expected: Vec<f32> = (first..first + count as u64).map(|index| plain(fnv1a(b"w"), index)).collect();
            assert_eq!(elements("w", "normal:0.25:0.02", first, count), expected, "{count} from {first}");
        }
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
    fn numbers_of_16_bits_are_the_nearest_to_those_of_32() {
        let bits = |element: Element| {
            let mut bytes = vec![0; 1000 * element.unit()];
            Rule::parse("w", "normal:0:1", element).unwrap().write(7, &mut bytes);
            bytes.as_chunks::<2>().0.iter().map(|bytes| u16::from_le_bytes(*bytes)).collect::<Vec<_>>()
        };
        let singles = elements("w", "normal:0:1", 7, 1000);
        for (single, brain) in singles.iter().zip(bits(Element::Brain)) {
            let found = f32::from_bits(u32::from(brain) << 16);
            assert!((found - single).abs() <= single.abs() / 256.0, "{single} {found}");
        }
        assert_eq!(bits(Element::Half), singles.iter().map(|single| half(*single)).collect::<Vec<_>>());
    }

    #[test]
    fn a_constant_is_a_constant() {
        assert_eq!(elements("w", "fill:-1.5", 9, 4), [-1.5; 4]);
    }

    #[test]
    fn doubles_hold_the_same_random_numbers_and_exact_constants() {
        let doubles = |rule: &str| {
            let mut bytes = vec![0; 3 * Element::Double.unit()];
            Rule::parse("w", rule, Element::Double).unwrap().write(0, &mut bytes);
            bytes.chunks_exact(8).map(|element| f64::from_le_bytes(element.try_into().unwrap())).collect::<Vec<_>>()
        };
        let singles = elements("w", "normal:3:0.1", 0, 3);
        assert_eq!(doubles("normal:3:0.1"), singles.into_iter().map(f64::from).collect::<Vec<_>>());
        assert_eq!(doubles("fill:0.1"), [0.1; 3]);
    }

    #[test]
    fn a_rule_that_is_not_one_is_refused_with_the_name_of_its_tensor() {
        for rule in ["", "fill", "fill:x", "fill:nan", "normal:0", "normal:0:1:2", "uniform:0:1"] {
            let error = Rule::parse("decoder.bias", rule, Element::Single).unwrap_err();
            assert!(error.message.contains("decoder.bias"), "{rule}: {error}");
        }
    }
}
