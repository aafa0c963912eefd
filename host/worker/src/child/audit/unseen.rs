//! Inputs that the reference engine ran and the measured one has not seen yet. Each is used once.

use super::super::comparison::apart;
use super::super::outputs::{self, Reference};
use super::random::Random;
use std::path::PathBuf;

/// What has to come out of an input.
pub(super) struct Expected {
    pub variant: u64,
    pub references: Vec<Reference>,
    pub tolerance: f64,
}

/// The unseen inputs of a part.
pub struct Unseen {
    left: Vec<(u64, Vec<Reference>)>,
    tolerance: f64,
    movement: Option<f64>,
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
        Ok(Unseen { left, tolerance, movement })
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
