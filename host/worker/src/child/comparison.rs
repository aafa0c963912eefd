//! Outputs held against a reference: how far they are from it, in a scale that a few large elements cannot set.
//!
//! - Floats: each difference over the scale of its row. That is the largest magnitude of the row (along the last axis), but at least a
//!   tenth of the output's, and without what stands out from the rest by [`STANDS_OUT`], such as masks of -1e9; such an element is
//!   held against its own magnitude.
//! - Integers and truth values are equal or wrong. So are infinities. What is not a number is always wrong.

use super::outputs::{Reference, Values, View, read};
use skillbench_models::Manifest;
use skillbench_plugin_api::Port;
use skillbench_record::defaults::defaults;
use std::path::Path;

/// An element that is so many times the median magnitude sets no scale.
const STANDS_OUT: f64 = 1e4;
/// A row's scale is no smaller than this share of the output's.
const LEAST_SCALE: f64 = 0.1;
/// Shorter last axes make no rows of their own: what comes before them does.
const ROW: usize = 16;
/// No more elements are looked at for the median magnitude.
const LOOKED_AT: usize = 1 << 14;

/// What a comparison found.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Comparison {
    /// The largest difference, over its scale.
    pub max_relative: f64,
    pub elements: u64,
}

/// Holds outputs against a reference, output by output.
///
/// # Errors
/// What differs: a missing output, another shape, a value by how much and where.
pub(super) fn compare(
    ports: &[Port],
    outputs: &[View<'_>],
    references: &[Reference],
    tolerance: f64,
) -> Result<Comparison, String> {
    let mut found = Comparison { max_relative: 0.0, elements: 0 };
    for reference in references {
        let index = ports.iter().position(|port| port.name == reference.name);
        let output = index.and_then(|index| outputs.get(index));
        let output = output.ok_or_else(|| format!("output '{}' of the reference is missing", reference.name))?;
        if output.shape != reference.shape {
            return Err(format!(
                "output '{}' has shape {:?}, the reference {:?}",
                reference.name, output.shape, reference.shape
            ));
        }
        let differences = match &reference.values {
            Values::Integers(_) if !output.is_float() => of_integers(reference, output),
            values => of_floats(reference, values.len(), |index| output.number(index), tolerance),
        };
        found.elements += reference.values.len() as u64;
        found.max_relative = found.max_relative.max(differences.worst);
        if differences.worst > tolerance {
            return Err(differences.describe(reference, output, tolerance));
        }
    }
    Ok(found)
}

/// The differences of one output.
#[derive(Default)]
struct Differences {
    /// Infinite where a number stands against an infinity or against none at all.
    worst: f64,
    /// The element that the worst is of, as the reference counts.
    at: usize,
    /// How many are more than the tolerance.
    outside: usize,
    correlation: Option<f64>,
}

impl Differences {
    fn describe(&self, reference: &Reference, output: &View<'_>, tolerance: f64) -> String {
        let index = reference.offset + self.at * reference.stride;
        let (have, want) = (output.number(index), reference.values.number(self.at));
        let outside = 100.0 * self.outside as f64 / reference.values.len().max(1) as f64;
        let by = match self.worst.is_finite() {
            true => format!("by {:.2e} of its scale, more than {tolerance:.0e}", self.worst),
            false => "where it has to be equal".into(),
        };
        let correlation = self.correlation.map_or(String::new(), |r| format!(", correlation {r:.4}"));
        format!(
            "output '{}' differs from the reference {by}: element {index} is {have}, not {want} ({outside:.2}% of the elements are outside{correlation})",
            reference.name
        )
    }
}

fn of_integers(reference: &Reference, output: &View<'_>) -> Differences {
    let mut found = Differences::default();
    let Values::Integers(values) = &reference.values else { return found };
    for (index, want) in values.iter().enumerate() {
        if output.integer(reference.offset + index * reference.stride) != *want {
            if found.outside == 0 {
                (found.worst, found.at) = (f64::INFINITY, index);
            }
            found.outside += 1;
        }
    }
    found
}

/// `have` gives the element of an output, counted as the output counts.
fn of_floats(reference: &Reference, count: usize, have: impl Fn(usize) -> f64, tolerance: f64) -> Differences {
    let scales = Scales::of(reference);
    let mut found = Differences::default();
    let mut sums = Sums::default();
    for index in 0..count {
        let place = reference.offset + index * reference.stride;
        let (have, want) = (have(place), reference.values.number(index));
        let difference = match (have.is_finite(), want.is_finite()) {
            (true, true) => (have - want).abs() / scales.at(place, want),
            _ if have == want => 0.0,
            _ => f64::INFINITY,
        };
        if difference > found.worst {
            (found.worst, found.at) = (difference, index);
        }
        found.outside += usize::from(difference > tolerance);
        if have.is_finite() && want.abs() <= scales.stands_out {
            sums.add(have, want);
        }
    }
    found.correlation = sums.correlation();
    found
}

/// What differences of one output are held against.
struct Scales {
    width: usize,
    rows: Vec<f64>,
    least: f64,
    stands_out: f64,
}

impl Scales {
    fn of(reference: &Reference) -> Scales {
        let values = &reference.values;
        let step = values.len().div_ceil(LOOKED_AT).max(1);
        let looked_at = (0..values.len()).step_by(step).map(|index| values.number(index).abs());
        let mut magnitudes: Vec<f64> = looked_at.filter(|value| value.is_finite() && *value > 0.0).collect();
        magnitudes.sort_by(f64::total_cmp);
        let stands_out = magnitudes.get(magnitudes.len() / 2).map_or(f64::INFINITY, |median| median * STANDS_OUT);
        let width = width(&reference.shape);
        let all: usize = reference.shape.iter().product();
        let mut rows = vec![0f64; all.div_ceil(width).max(1)];
        for index in 0..values.len() {
            let value = values.number(index).abs();
            if value <= stands_out && value.is_finite() {
                let row = &mut rows[(reference.offset + index * reference.stride) / width];
                *row = row.max(value);
            }
        }
        let largest = rows.iter().copied().fold(0.0, f64::max);
        Scales { width, rows, least: (largest * LEAST_SCALE).max(1e-6), stands_out }
    }

    fn at(&self, place: usize, want: f64) -> f64 {
        match want.abs() > self.stands_out {
            true => want.abs(),
            false => self.rows[place / self.width].max(self.least),
        }
    }
}

/// Elements of a row.
fn width(shape: &[usize]) -> usize {
    match shape {
        [.., last] if *last >= ROW => *last,
        [_, rest @ ..] => rest.iter().product::<usize>().max(1),
        [] => 1,
    }
}

/// For Pearson's correlation.
#[derive(Default)]
struct Sums {
    n: f64,
    have: f64,
    want: f64,
    have2: f64,
    want2: f64,
    both: f64,
}

impl Sums {
    fn add(&mut self, have: f64, want: f64) {
        self.n += 1.0;
        self.have += have;
        self.want += want;
        self.have2 += have * have;
        self.want2 += want * want;
        self.both += have * want;
    }

    fn correlation(&self) -> Option<f64> {
        let spread = |sum: f64, squares: f64| squares - sum * sum / self.n;
        let under = (spread(self.have, self.have2) * spread(self.want, self.want2)).sqrt();
        (self.n > 1.0 && under > 0.0).then(|| ((self.both - self.have * self.want / self.n) / under).clamp(-1.0, 1.0))
    }
}

/// How far two references of the same outputs are apart: the larger of both ways. `None`: they have other outputs or shapes.
pub(super) fn apart(one: &[Reference], other: &[Reference]) -> Option<f64> {
    one.iter().try_fold(0f64, |most, have| {
        let want = other.iter().find(|want| want.name == have.name && want.shape == have.shape)?;
        let same = (have.offset, have.stride, have.values.len()) == (want.offset, want.stride, want.values.len());
        let way = |from: &Reference, to: &Reference| {
            let place = |place: usize| from.values.number((place - to.offset) / to.stride);
            of_floats(to, to.values.len(), place, f64::INFINITY).worst
        };
        same.then(|| match (&have.values, &want.values) {
            (Values::Integers(one), Values::Integers(other)) if one != other => f64::INFINITY,
            (Values::Integers(_), Values::Integers(_)) => most,
            _ => most.max(way(have, want)).max(way(want, have)),
        })
    })
}

/// How far two outputs of one engine are apart, over the largest magnitude of the first; 0 only where they are equal, and 1 where
/// nothing can be said of how far.
pub(super) fn apart_of(one: &View<'_>, other: &View<'_>) -> f64 {
    if one.bytes == other.bytes {
        return 0.0;
    }
    if one.shape != other.shape || !one.is_float() {
        return 1.0;
    }
    let pairs = || (0..one.elements()).map(|index| (one.number(index), other.number(index)));
    let largest = pairs().filter(|(a, _)| a.is_finite()).fold(0f64, |most, (a, _)| most.max(a.abs()));
    let difference = |(a, b): (f64, f64)| if a == b { 0.0 } else { (a - b).abs() };
    let most =
        pairs().map(difference).fold(0f64, |most, one| if one.is_finite() { most.max(one) } else { f64::INFINITY });
    if most.is_finite() { most / largest.max(1e-6) } else { 1.0 }
}

/// How two references stand to each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Agreement {
    /// The largest difference, in the scale of a comparison. `None`: one of them lacks a part, or they have other outputs or shapes.
    pub apart: Option<f64>,
    /// Every part is within the tolerance of the coarser precision of both.
    pub agree: bool,
}

/// Holds two references of a model against each other.
pub fn agreement(one: &Path, other: &Path, manifest: &Manifest) -> Agreement {
    let ran = |file: &Path| super::reference::Index::read(file).map(|index| index.ran(file)).unwrap_or_default();
    let (one, other) = (ran(one), ran(other));
    let mut all = Agreement { apart: (!one.is_empty()).then_some(0.0), agree: !one.is_empty() };
    for mine in &one {
        let theirs = other.iter().find(|theirs| theirs.part == mine.part);
        let apart = theirs.and_then(|theirs| apart(&read(&mine.file).ok()?, &read(&theirs.file).ok()?));
        let coarser = theirs.map_or(0.0, |theirs| {
            let manifest = manifest.of_part(&mine.part);
            tolerance(&manifest, &mine.precision).max(tolerance(&manifest, &theirs.precision))
        });
        all.agree &= apart.is_some_and(|apart| apart <= coarser);
        all.apart = all.apart.zip(apart).map(|(all, apart)| all.max(apart));
    }
    all
}

/// Engines that add in another order are so many times their usual difference apart, at most.
const OF_SPREAD: f64 = 30.0;
/// No tolerance is smaller: that much comes of rounding alone.
const LEAST: f64 = 1e-5;

/// How far float32 may be from the reference where two engines of it are so far apart: never more than `named`.
pub(super) fn tolerance_of_spread(spread: f64, named: f64) -> f64 {
    (OF_SPREAD * spread).max(LEAST).min(named)
}

/// How far outputs may be from the reference; for a precision that nobody can tell, as far as for the coarsest.
pub(super) fn tolerance(manifest: &Manifest, precision: &str) -> f64 {
    let known = manifest.tolerance.get(precision).or_else(|| defaults().tolerance.get(precision));
    known.copied().unwrap_or_else(|| defaults().tolerance.values().copied().fold(0.0, f64::max))
}

/// Whether every element is a finite number; infinities are let pass where the reference has some.
///
/// # Errors
/// How many are not, and the first.
pub(super) fn finite(port: &Port, output: &View<'_>, reference: Option<&[Reference]>) -> Result<(), String> {
    let of_port = reference.and_then(|all| all.iter().find(|reference| reference.name == port.name));
    let is_infinite =
        |reference: &Reference| (0..reference.values.len()).any(|index| reference.values.number(index).is_infinite());
    numbers(port, output, of_port.is_some_and(is_infinite))
}

/// Whether every element is a number, and, unless `infinities` are allowed, a finite one.
///
/// # Errors
/// As for [`finite`].
pub(super) fn numbers(port: &Port, output: &View<'_>, infinities: bool) -> Result<(), String> {
    if !output.is_float() {
        return Ok(());
    }
    let good = |value: f64| if infinities { !value.is_nan() } else { value.is_finite() };
    let count = output.elements();
    let mut bad = (0..count).filter(|index| !good(output.number(*index)));
    match bad.next() {
        None => Ok(()),
        Some(first) => Err(format!(
            "output '{}' has {} of {count} elements that are not finite; the first is element {first}",
            port.name,
            1 + bad.count()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skillbench_plugin_api::DType;

    fn reference(shape: &[usize], values: &[f32]) -> Reference {
        Reference {
            name: "y".into(),
            shape: shape.to_vec(),
            offset: 0,
            stride: 1,
            values: Values::Floats(values.to_vec()),
        }
    }

    fn held(dtype: DType, shape: &[usize], bytes: &[u8], reference: Reference) -> Result<Comparison, String> {
        let port = Port { name: "y".into(), dtype, shape: vec![], dim_names: vec![] };
        compare(&[port], &[View { dtype, shape, bytes }], &[reference], 1e-3)
    }

    fn floats(shape: &[usize], have: &[f32], want: &[f32]) -> Result<Comparison, String> {
        let bytes: Vec<u8> = have.iter().flat_map(|value| value.to_le_bytes()).collect();
        held(DType::F32, shape, &bytes, reference(shape, want))
    }

    fn wave(n: usize) -> Vec<f32> {
        (0..n).map(|index| (index as f32 * 0.7).sin()).collect()
    }

    #[test]
    fn one_large_element_does_not_hide_all_others() {
        for mask in [1e6, -1e9, f32::NEG_INFINITY] {
            let mut want = wave(256);
            want[3] = mask;
            assert_eq!(floats(&[1, 256], &want, &want).unwrap().max_relative, 0.0);
            let mut have: Vec<f32> = want.iter().map(|value| value + 0.6).collect();
            have[3] = mask;
            let told = floats(&[1, 256], &have, &want).unwrap_err();
            assert!(told.contains("99.61% of the elements"), "{told}");
        }
    }

    #[test]
    fn a_row_is_judged_in_its_own_scale() {
        let mut want = wave(64);
        want[..32].iter_mut().for_each(|value| *value *= 0.1);
        let mut have = want.clone();
        have[5] += 5e-4;
        assert!(floats(&[2, 32], &have, &want).is_err(), "5e-4 of rows up to 0.1");
        have[5] = want[5];
        have[40] += 5e-4;
        assert!(floats(&[2, 32], &have, &want).is_ok(), "5e-4 of rows up to 1");
    }

    #[test]
    fn integers_are_equal_or_wrong() {
        let ids = |ids: &[i64]| ids.iter().flat_map(|id| id.to_le_bytes()).collect::<Vec<u8>>();
        let want = Reference { values: Values::Integers(vec![20_000, 20_001]), ..reference(&[2], &[]) };
        let told = held(DType::I64, &[2], &ids(&[20_015, 20_016]), want).unwrap_err();
        assert!(told.contains("element 0 is 20015, not 20000"), "{told}");
    }

    #[test]
    fn an_infinity_of_the_reference_is_right_and_no_other() {
        let want = [1.0, f32::NEG_INFINITY, 2.0];
        assert!(floats(&[3], &want, &want).is_ok());
        assert!(floats(&[3], &[1.0, f32::INFINITY, 2.0], &want).is_err());
        assert!(floats(&[3], &[f32::INFINITY, f32::NEG_INFINITY, 2.0], &want).is_err());
        assert!(floats(&[3], &[1.0, f32::NEG_INFINITY, f32::NAN], &want).is_err());
    }

    #[test]
    fn a_difference_of_a_tenth_of_the_tolerance_is_found_and_allowed() {
        let want = wave(64);
        let have: Vec<f32> = want.iter().map(|value| value + 1e-4).collect();
        let found = floats(&[1, 64], &have, &want).unwrap();
        assert!((5e-5..2e-4).contains(&found.max_relative), "{found:?}");
    }
}
