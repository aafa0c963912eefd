//! Numbers in 8 bits: whole multiples of a scale that is a power of two.
//!
//! The scales are powers of two so that "right" can be decided. A product of two such numbers is a whole multiple of another power of two,
//! and so is any sum of them: float32 holds it exactly (up to 24 bits), in whatever order it is summed. So an engine that multiplies
//! integers and one that computes the same graph in float32 come to the same numbers, and round them alike at the next point. With other
//! scales they differ by an ulp, round an element here and there to another neighbour, and what was measured apart by 0 on a resnet-18
//! was 5e-3 apart. It costs up to one bit of the eight.
//!
//! Weights keep to -64..=64, data to the whole uint8: without VNNI, x86 kernels add two products in 16 bits, and stop at 32,767. Two of
//! 255 x 64 are 32,640. With weights of the whole int8, bert-tiny came out 7e-2 apart in ONNX Runtime on AVX2.

use crate::rule::Source;
use skillbench_plugin_api::{Error, Result};

/// The largest magnitude of a weight.
const OF_WEIGHTS: f32 = 64.0;
/// What stands for 0 in data that may be below it.
const MIDDLE: u8 = 128;

/// A scale, by its exponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale(i8);

impl Scale {
    /// The least power of two of which so many multiples reach this magnitude. What is nothing, or no number, has the scale 1.
    fn reaching(magnitude: f32, multiples: f32) -> Scale {
        let least = magnitude / multiples;
        if !least.is_normal() {
            return Scale(0);
        }
        let mut exponent = least.log2().ceil().clamp(-100.0, 100.0) as i8;
        // A logarithm may be rounded up or down.
        while 2f32.powi(i32::from(exponent)) < least {
            exponent += 1;
        }
        while exponent > -100 && 2f32.powi(i32::from(exponent) - 1) >= least {
            exponent -= 1;
        }
        Scale(exponent)
    }

    /// Of the weights of a tensor. Its numbers have one bound, whatever the channel, so that channels have one scale, each its own copy.
    pub fn of_weights(source: &Source) -> Scale {
        Scale::reaching(source.bound(), OF_WEIGHTS)
    }

    pub fn value(self) -> f32 {
        2f32.powi(i32::from(self.0))
    }

    /// How often it is in 1. Dividing by a power of two is multiplying by another, exactly.
    pub fn inverse(self) -> f32 {
        2f32.powi(-i32::from(self.0))
    }
}

/// The nearest whole number, of two that are as near the even one.
#[inline(always)]
pub fn weight(multiples: f32) -> [u8; 1] {
    (multiples.round_ties_even().clamp(-OF_WEIGHTS, OF_WEIGHTS) as i8).to_le_bytes()
}

/// A tensor of weights in 8 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Eight {
    pub scale: Scale,
    /// Rows and columns of the matrix that is written, where the tensor holds its transpose.
    pub transposed: Option<(u64, u64)>,
}

impl Eight {
    /// Which number of the tensor stands at a place of what is written.
    pub fn index(&self, place: u64) -> u64 {
        match self.transposed {
            Some((rows, columns)) => place % columns * rows + place / columns,
            None => place,
        }
    }
}

/// How data is quantized to uint8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    pub scale: Scale,
    pub zero: u8,
}

impl Point {
    /// For data between these. What is never below zero has all 255 steps for itself.
    pub fn between(least: f32, most: f32) -> Point {
        match least >= 0.0 {
            true => Point { scale: Scale::reaching(most, 255.0), zero: 0 },
            false => {
                let (below, above) = (Scale::reaching(-least, 128.0), Scale::reaching(most.max(0.0), 127.0));
                let coarser = if most <= 0.0 || below.0 >= above.0 { below } else { above };
                Point { scale: coarser, zero: MIDDLE }
            }
        }
    }

    /// A bias in the units of products of this data and these weights.
    ///
    /// # Errors
    /// It does not fit 32 bits, which no bias of a sane layer misses.
    pub fn bias(self, weights: Scale, bias: f32) -> Result<i32> {
        let units = (bias / self.product(weights)).round_ties_even();
        let fits = units.abs() < 2f32.powi(30);
        fits.then_some(units as i32)
            .ok_or_else(|| Error::internal(format!("a bias of {bias} is {units} steps of a product")))
    }

    /// The scale of products of this data and these weights.
    pub fn product(self, weights: Scale) -> f32 {
        self.scale.value() * weights.value()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::{Element, Rule};

    fn rule() -> Rule {
        Rule::parse("w", "normal:0:0.3", Element::Single).unwrap()
    }

    #[test]
    fn every_weight_is_within_half_a_step_of_the_float32_one_in_both_orders() {
        let (inputs, outputs) = (48, 20);
        let scale = Scale::of_weights(rule().source());
        for transposed in [None, Some((inputs, outputs))] {
            let eight = Eight { scale, transposed };
            let mut bytes = vec![0; (inputs * outputs) as usize];
            rule().stored_as(Element::Eight(eight)).write(0, &mut bytes);
            for (place, byte) in bytes.iter().enumerate() {
                let [weight] = rule().source().strided::<1>(eight.index(place as u64), 0);
                let apart = (f32::from(*byte as i8) * scale.value() - weight).abs();
                assert!(apart <= scale.value() / 2.0, "{place}: {apart} of {}", scale.value());
                assert!((*byte as i8).unsigned_abs() <= 64);
            }
        }
    }

    #[test]
    fn a_transposed_tensor_is_written_row_by_row_wherever_a_piece_starts() {
        let eight = Eight { scale: Scale::of_weights(rule().source()), transposed: Some((3, 5)) };
        let of = |element: Eight, first: u64, count: usize| {
            let mut bytes = vec![0; count];
            rule().stored_as(Element::Eight(element)).write(first, &mut bytes);
            bytes
        };
        let (plain, whole) = (of(Eight { transposed: None, ..eight }, 0, 15), of(eight, 0, 15));
        for row in 0..3 {
            for column in 0..5 {
                assert_eq!(whole[row * 5 + column], plain[column * 3 + row]);
            }
        }
        assert_eq!(of(eight, 7, 8), whole[7..]);
    }

    #[test]
    fn a_scale_is_the_least_power_of_two_that_reaches() {
        assert_eq!(Scale::reaching(64.0, 64.0).value(), 1.0);
        assert_eq!(Scale::reaching(64.1, 64.0).value(), 2.0);
        assert_eq!(Scale::reaching(0.4, 64.0).value(), 0.0078125);
        for nothing in [0.0, f32::NAN, f32::INFINITY] {
            assert_eq!(Scale::reaching(nothing, 64.0).value(), 1.0);
        }
    }

    #[test]
    fn data_that_is_never_below_zero_has_all_steps_and_other_data_has_zero_in_the_middle() {
        let point = Point::between(0.0, 200.0);
        assert_eq!((point.zero, point.scale.value()), (0, 1.0));
        let point = Point::between(-100.0, 20.0);
        assert_eq!((point.zero, point.scale.value()), (128, 1.0));
        assert_eq!(Point::between(-3.0, 200.0).scale.value(), 2.0);
        assert_eq!(Point::between(-3.0, -1.0).scale.value(), 0.03125);
    }

    #[test]
    fn two_products_never_reach_what_sixteen_bits_hold() {
        assert!(2 * 255 * OF_WEIGHTS as i32 <= i32::from(i16::MAX));
    }
}
