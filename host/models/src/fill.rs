//! Inputs by rule: every element depends on seed, input, variant and its own index only.

use super::manifest::DimRule;
use super::{dims, manifest::InputRule};
use skillbench_plugin_api::{DType, HostTensor, Port};
use skillbench_record::Axes;

/// FNV-1a.
pub(super) fn hash(text: &str) -> u64 {
    text.bytes().fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3))
}

/// The `index`-th number of a stream (splitmix64, by position).
pub(super) fn random(stream: u64, index: u64) -> u64 {
    let mut x = stream.wrapping_add((index + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

/// Where an element of 0 to `span` goes in an order that the key chooses: each goes to a place of its own.
fn shuffled(key: u64, element: u64, span: u64) -> u64 {
    let bits = u64::BITS - (span - 1).leading_zeros().min(u64::BITS - 1);
    let mask = u64::MAX >> (u64::BITS - bits);
    let mut x = element % span;
    loop {
        // Each step maps the numbers of so many bits onto themselves.
        for round in 0..3 {
            let part = random(key, round);
            x = (x.wrapping_add(part).wrapping_mul(part >> 32 | 1)) & mask;
            x ^= x >> (bits / 2).max(1);
        }
        if x < span {
            return x;
        }
    }
}

/// Uniform in [0, 1).
fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1u64 << 53) as f64
}

/// Nearly normal: the sum of four 16-bit quarters, as the skills' weights are made.
fn normal(bits: u64) -> f64 {
    let sum = (0..4).map(|quarter| (bits >> (16 * quarter)) & 0xFFFF).sum::<u64>();
    (sum as f64 - 131_070.0) / 37_837.227
}

/// Elements of a plane: of one channel of an image.
pub(super) fn plane(shape: &[usize]) -> usize {
    shape[shape.len().saturating_sub(2)..].iter().product::<usize>().max(1)
}

/// Brightness, from -1 to 1, and contrast, from 0.3 to 1.5, of a plane: pictures differ in both, and what a network makes of noise alone
/// hardly differs from one to the next.
pub(super) fn light(stream: u64, plane: u64) -> (f64, f64) {
    let one = |number: u64| unit(random(!stream, 2 * plane + number));
    (2.0 * one(0) - 1.0, 0.3 + 1.2 * one(1))
}

/// The rule for an input of a model that comes without rules: by its name and type. Token ids stay small, so that they are in
/// range of any vocabulary.
pub fn default_rule(port: &Port) -> String {
    let name = port.name.to_lowercase();
    let whole = !matches!(port.dtype, DType::F16 | DType::BF16 | DType::F32 | DType::F64 | DType::Bool);
    let rule = match () {
        () if name.contains("mask") || port.dtype == DType::Bool => "ones",
        () if name.contains("token_type") => "zeros",
        () if name.contains("position") && whole => "range",
        () if whole => "ids:100",
        () => "normal",
    };
    rule.into()
}

/// Fills a tensor by a rule.
///
/// # Errors
/// An unknown rule, or one that does not fit the shape.
pub fn fill(tensor: &mut HostTensor, rule: &InputRule, axes: &Axes, seed: u64, variant: u64) -> Result<(), String> {
    let (kind, arguments) = rule.fill.split_once(':').unwrap_or((&rule.fill, ""));
    let arguments: Vec<&str> = arguments.split(':').filter(|text| !text.is_empty()).collect();
    let bad = |what: &str| format!("input '{}': fill rule '{}' {what}", rule.name, rule.fill);
    let number = |index: usize, default: Option<f64>| match arguments.get(index) {
        Some(text) => text.parse::<f64>().map_err(|_| bad("has an argument that is not a number")),
        None => default.ok_or_else(|| bad("lacks an argument")),
    };
    let shape = tensor.shape();
    let last = shape.last().copied().unwrap_or(1).max(1) as u64;
    let stream = hash(&rule.name) ^ random(seed, variant);
    let at = move |index: u64| random(stream, index);
    match kind {
        "ones" => put(tensor, |_| 1.0),
        "zeros" => put(tensor, |_| 0.0),
        "const" => {
            let value = number(0, None)?;
            put(tensor, |_| value)
        }
        "ids" => {
            let count = number(0, None)? as u64;
            let low = 10.min(count / 2);
            let end = if arguments.len() > 1 { Some(number(1, None)? as u64) } else { None };
            // The id that ends a text is at its end and nowhere else.
            let ids = count - u64::from(end.is_some_and(|end| (low..count).contains(&end)));
            let span = ids.checked_sub(low).filter(|span| *span > 0).ok_or_else(|| bad("leaves no ids"))?;
            let id = |index: u64| {
                // No id twice in a row, as long as there are enough: models that look for the largest one find it in one place.
                let id = low + shuffled(at(u64::MAX - index / last), index % last, span);
                if end.is_some_and(|end| end <= id && end >= low) { id + 1 } else { id }
            };
            put(tensor, |index| match end {
                Some(end) if index % last == last - 1 => end as f64,
                _ => id(index) as f64,
            })
        }
        "normal" => {
            let (mean, deviation) = (number(0, Some(0.0))?, number(1, Some(1.0))?);
            put(tensor, |index| mean + deviation * normal(at(index)))
        }
        "image" if shape.len() > 2 => {
            let plane = plane(&shape) as u64;
            put(tensor, |index| {
                let (brightness, contrast) = light(stream, index / plane);
                brightness + contrast * normal(at(index))
            })
        }
        "uniform" => {
            let (low, high) = (number(0, None)?, number(1, None)?);
            put(tensor, |index| low + (high - low) * unit(at(index)))
        }
        "range" => {
            let start = arguments.first().map_or(Ok(0), |text| dims::evaluate(&DimRule::Of((*text).into()), axes))?;
            put(tensor, |index| (start + (index % last) as i64) as f64)
        }
        "boxes" if last == 4 => {
            let count = (number(0, None)? as u64).max(1);
            put(tensor, |index| {
                // Corners x0, y0, x1, y1: the lesser of a pair first.
                let (base, corner) = (index - index % 4, index % 4);
                let pair = [at(base + corner % 2) % count, at(base + corner % 2 + 2) % count];
                if corner < 2 { pair[0].min(pair[1]) as f64 } else { pair[0].max(pair[1]) as f64 }
            })
        }
        "grid" if last == 2 && shape.len() > 1 => {
            let width = (number(0, None)? as u64).max(1);
            let patches = shape[shape.len() - 2].max(1) as u64;
            put(tensor, |index| {
                let patch = index / 2 % patches;
                if index % 2 == 0 { (patch / width) as f64 } else { (patch % width) as f64 }
            })
        }
        _ => {
            return Err(bad(
                "is not one of ones, zeros, const, ids, normal, image, uniform, range, boxes, grid, or does not fit the shape",
            ));
        }
    }
    Ok(())
}

/// Writes each element in the tensor's own type.
fn put(tensor: &mut HostTensor, value: impl Fn(u64) -> f64) {
    fn write<const N: usize>(tensor: &mut HostTensor, element: impl Fn(u64) -> [u8; N]) {
        for (index, bytes) in tensor.bytes_mut().chunks_exact_mut(N).enumerate() {
            bytes.copy_from_slice(&element(index as u64));
        }
    }
    match tensor.dtype() {
        DType::F32 => write(tensor, |i| (value(i) as f32).to_le_bytes()),
        DType::F64 => write(tensor, |i| value(i).to_le_bytes()),
        DType::F16 => write(tensor, |i| half(value(i) as f32).to_le_bytes()),
        DType::BF16 => write(tensor, |i| (((value(i) as f32).to_bits() >> 16) as u16).to_le_bytes()),
        DType::I8 => write(tensor, |i| (value(i) as i8).to_le_bytes()),
        DType::I16 => write(tensor, |i| (value(i) as i16).to_le_bytes()),
        DType::I32 => write(tensor, |i| (value(i) as i32).to_le_bytes()),
        DType::I64 => write(tensor, |i| (value(i) as i64).to_le_bytes()),
        DType::U8 => write(tensor, |i| (value(i) as u8).to_le_bytes()),
        DType::U16 => write(tensor, |i| (value(i) as u16).to_le_bytes()),
        DType::U32 => write(tensor, |i| (value(i) as u32).to_le_bytes()),
        DType::U64 => write(tensor, |i| (value(i) as u64).to_le_bytes()),
        DType::Bool => write(tensor, |i| [u8::from(value(i) != 0.0)]),
    }
}

/// The bits of a half-precision float, towards zero; inputs need no better rounding.
fn half(value: f32) -> u16 {
    let bits = value.to_bits();
    let (sign, exponent, mantissa) = ((bits >> 16) & 0x8000, ((bits >> 23) & 0xFF) as i32 - 112, bits & 0x7F_FFFF);
    let magnitude = match exponent {
        ..=0 => 0,
        1..=30 => ((exponent as u32) << 10) | (mantissa >> 13),
        _ => 0x7BFF,
    };
    (sign | magnitude) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(rule: &str, dtype: DType, shape: &[usize], variant: u64) -> HostTensor {
        let mut tensor = HostTensor::zeroed(dtype, shape).unwrap();
        let rule = InputRule {
            part: String::new(),
            name: "x".into(),
            dtype: dtype.name().into(),
            dims: vec![],
            fill: rule.into(),
        };
        fill(&mut tensor, &rule, &Axes::from([("past".into(), 7)]), 42, variant).unwrap();
        tensor
    }

    #[test]
    fn token_ids_stay_in_range_and_clear_of_the_special_ones() {
        let ids = filled("ids:50", DType::I64, &[4, 64], 0);
        assert!(ids.as_slice::<i64>().unwrap().iter().all(|id| (10..50).contains(id)));
    }

    #[test]
    fn no_id_comes_twice_in_a_row_while_there_are_others() {
        for (count, length) in [(30_522, 512), (100, 90), (2, 1), (20, 10), (50, 64)] {
            let ids = filled(&format!("ids:{count}"), DType::I64, &[3, length], 7);
            for row in ids.as_slice::<i64>().unwrap().chunks(length) {
                let distinct: std::collections::BTreeSet<&i64> = row.iter().collect();
                let low = 10.min(count / 2);
                assert_eq!(distinct.len(), length.min((count - low) as usize), "{count} {length}");
            }
            let rows: Vec<&[i64]> = ids.as_slice::<i64>().unwrap().chunks(length).collect();
            assert!(length < 16 || rows[0] != rows[1]);
        }
    }

    #[test]
    fn the_id_that_ends_a_text_is_the_last_one_of_each_row_and_no_other() {
        let ids = filled("ids:60:59", DType::I64, &[4, 40], 0);
        for row in ids.as_slice::<i64>().unwrap().chunks(40) {
            let at: Vec<usize> = row.iter().enumerate().filter(|(_, id)| **id == 59).map(|(at, _)| at).collect();
            assert_eq!(at, [39]);
            assert!(row.iter().all(|id| (10..60).contains(id)));
        }
        let among = filled("ids:60:30", DType::I64, &[1, 50], 0);
        assert_eq!(among.as_slice::<i64>().unwrap().iter().filter(|id| **id == 30).count(), 1);
    }

    #[test]
    fn another_variant_gives_other_values_and_the_same_variant_the_same() {
        let values = |variant| filled("normal", DType::F32, &[64], variant).bytes().to_vec();
        assert_eq!(values(1), values(1));
        assert_ne!(values(1), values(2));
    }

    #[test]
    fn normal_values_have_mean_and_deviation_as_asked() {
        let tensor = filled("normal:3:2", DType::F32, &[20_000], 0);
        let values = tensor.as_slice::<f32>().unwrap();
        let mean = values.iter().sum::<f32>() / 20_000.0;
        let deviation = (values.iter().map(|v| (v - mean).powi(2)).sum::<f32>() / 20_000.0).sqrt();
        assert!((mean - 3.0).abs() < 0.05 && (deviation - 2.0).abs() < 0.05, "{mean} {deviation}");
    }

    #[test]
    fn each_channel_of_an_image_has_a_brightness_and_a_contrast_of_its_own() {
        let image = filled("image", DType::F32, &[2, 3, 50, 40], 0);
        let of = |plane: &[f32]| {
            let mean = plane.iter().sum::<f32>() / plane.len() as f32;
            (mean, (plane.iter().map(|v| (v - mean).powi(2)).sum::<f32>() / plane.len() as f32).sqrt())
        };
        let mut lights: Vec<(f32, f32)> = image.as_slice::<f32>().unwrap().chunks(2000).map(of).collect();
        assert!(
            lights.iter().all(|(mean, deviation)| mean.abs() < 1.2 && (0.25..1.6).contains(deviation)),
            "{lights:?}"
        );
        lights.sort_by(|one, other| one.0.total_cmp(&other.0));
        assert!(lights.windows(2).all(|pair| pair[1].0 - pair[0].0 > 1e-3), "{lights:?}");
    }

    #[test]
    fn a_range_starts_at_its_axis_in_every_row() {
        assert_eq!(filled("range:past", DType::I64, &[2, 3], 0).as_slice::<i64>().unwrap(), [7, 8, 9, 7, 8, 9]);
    }

    #[test]
    fn boxes_have_their_corners_in_order() {
        let boxes = filled("boxes:1000", DType::I64, &[2, 8, 4], 0);
        assert!(boxes.as_slice::<i64>().unwrap().chunks(4).all(|b| b[0] <= b[2] && b[1] <= b[3]));
    }

    #[test]
    fn half_precision_has_the_right_bits() {
        assert_eq!([1.0, -2.0, 0.5, 65504.0].map(half), [0x3C00, 0xC000, 0x3800, 0x7BFF]);
    }
}
