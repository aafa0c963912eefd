//! Inputs that the reference engine ran and the measured one has not seen yet. Each is used once.

use super::super::comparison::apart;
use super::super::outputs::{self, Reference, Values};
use super::random::Random;
use std::path::PathBuf;

/// What has to come out of an input.
pub(super) struct Expected {
    pub variant: u64,
    pub references: Vec<Reference>,
    pub tolerance: f64,
}

/// An element that is another for every input: of the output, and its place there.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Spot {
    pub output: String,
    pub place: usize,
}

/// So many spots of a part are looked at after each run. Fewer than the other number prove nothing: each might be the same by chance.
const SPOTS: usize = 16;
const FEW: usize = 4;
/// So many inputs have to give different numbers.
const INPUTS: usize = 5;
/// No more elements are tried.
const TRIED: usize = 1 << 12;

/// The unseen inputs of a part.
pub struct Unseen {
    left: Vec<(u64, Vec<Reference>)>,
    tolerance: f64,
    movement: Option<f64>,
    spots: Vec<Spot>,
}

impl Unseen {
    /// # Errors
    /// A file of the reference is not whole.
    pub fn read(files: &[(u64, PathBuf)], tolerance: f64) -> std::io::Result<Unseen> {
        let read = |(variant, file): &(u64, PathBuf)| Ok((*variant, outputs::read(file)?));
        let left = files.iter().map(read).collect::<std::io::Result<Vec<_>>>()?;
        // How little outputs move: no more than a plugin's constant would have to be off by.
        let moves = left.windows(2).filter_map(|pair| apart(&pair[0].1, &pair[1].1));
        let movement = moves.reduce(f64::min);
        let all: Vec<&[Reference]> = left.iter().map(|(_, references)| references.as_slice()).collect();
        let spots = spots(&all, tolerance);
        Ok(Unseen { left, tolerance, movement, spots })
    }

    /// Elements that are others after each run, if it did its work; none where too few of them are known.
    pub(super) fn spots(&self) -> &[Spot] {
        &self.spots
    }

    /// Whether an output has the same shape for every input.
    pub fn keeps_shape(&self, output: &str) -> bool {
        let of_output = |all: &Vec<Reference>| all.iter().find(|one| one.name == output).map(|one| one.shape.clone());
        let mut shapes = self.left.iter().map(|(_, all)| of_output(all));
        let first = shapes.next();
        first.is_none_or(|first| shapes.all(|shape| shape == first))
    }

    /// Takes one out, unless no more than `reserved` would be left.
    pub(super) fn take(&mut self, random: &mut Random, reserved: usize) -> Option<Expected> {
        if self.left.len() <= reserved {
            return None;
        }
        let at = (random.next() % self.left.len() as u64) as usize;
        let (variant, references) = self.left.swap_remove(at);
        Some(Expected { variant, references, tolerance: self.tolerance })
    }

    pub fn tolerance(&self) -> f64 {
        self.tolerance
    }

    /// How far outputs move, at the least, from one input to another.
    pub fn movement(&self) -> Option<f64> {
        self.movement
    }
}

/// The elements of which no two inputs have the same, by more than the tolerance.
fn spots(all: &[&[Reference]], tolerance: f64) -> Vec<Spot> {
    let mut found = vec![];
    let [first, others @ ..] = all else { return found };
    if all.len() < INPUTS {
        return found;
    }
    for one in first.iter().filter(|one| matches!(one.values, Values::Floats(_))) {
        let same = |other: &&Reference| {
            (&other.name, &other.shape, other.offset, other.stride) == (&one.name, &one.shape, one.offset, one.stride)
                && other.values.len() == one.values.len()
        };
        let of_others = others.iter().map(|references| references.iter().find(same));
        let Some(of_all) = std::iter::once(Some(one)).chain(of_others).collect::<Option<Vec<_>>>() else { continue };
        let count = one.values.len();
        let numbers = |index: usize| of_all.iter().map(move |reference| reference.values.number(index));
        let step = count.div_ceil(TRIED).max(1);
        let tried: Vec<usize> = (0..count).step_by(step).collect();
        let magnitudes = tried.iter().flat_map(|index| numbers(*index)).map(f64::abs);
        let least = magnitudes.filter(|value| value.is_finite()).fold(0.0, f64::max) * tolerance;
        let differs = |index: &&usize| {
            let mut sorted: Vec<f64> = numbers(**index).collect();
            sorted.sort_by(f64::total_cmp);
            sorted.iter().all(|value| value.is_finite()) && sorted.windows(2).all(|pair| pair[1] - pair[0] > least)
        };
        let of_output = tried.iter().filter(differs);
        found.extend(of_output.map(|index| Spot { output: one.name.clone(), place: one.offset + index * one.stride }));
    }
    // From all over: what comes first may depend on the first token alone.
    let count = found.len();
    match () {
        () if count < FEW => vec![],
        () if count <= SPOTS => found,
        () => (0..SPOTS).map(|index| found[index * count / SPOTS].clone()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn references(values: &[f32]) -> Vec<Reference> {
        let values = Values::Floats(values.to_vec());
        vec![Reference { name: "y".into(), shape: vec![8], offset: 1, stride: 1, values }]
    }

    #[test]
    fn spots_are_where_every_input_gives_another_number() {
        let inputs: Vec<Vec<Reference>> = (0..5u8)
            .map(|input| {
                let moving = f32::from(input);
                references(&[1.0, moving, moving + 0.1, 0.0, -moving, moving * 1e-6, 2.0 * moving])
            })
            .collect();
        let all: Vec<&[Reference]> = inputs.iter().map(Vec::as_slice).collect();
        let places: Vec<usize> = spots(&all, 1e-3).iter().map(|spot| spot.place).collect();
        assert_eq!(places, [2, 3, 5, 7]);
        assert!(spots(&all[..4], 1e-3).is_empty(), "a few inputs prove nothing");
        let of_input =
            |input: u8| references(&(1..700u16).map(|at| f32::from(at) * f32::from(input)).collect::<Vec<_>>());
        let long: Vec<Vec<Reference>> = (1..6).map(of_input).collect();
        let all: Vec<&[Reference]> = long.iter().map(Vec::as_slice).collect();
        let found = spots(&all, 1e-4);
        assert!(found.len() == SPOTS && found[15].place > 600, "they come from all over: {found:?}");
    }

    #[test]
    fn a_few_spots_are_none() {
        let inputs: Vec<Vec<Reference>> = (0..5u8).map(|input| references(&[f32::from(input); 3])).collect();
        let all: Vec<&[Reference]> = inputs.iter().map(Vec::as_slice).collect();
        assert!(spots(&all, 1e-3).is_empty());
    }
}
