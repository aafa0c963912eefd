//! Matrices in 4 bits: 32 weights that one output multiplies with 32 successive inputs are a block, with one scale.
//!
//! A weight is the nearest of 15 multiples of its block's scale, the largest magnitude of the block over 7.

use crate::rule::Source;

/// Weights of one block. ONNX Runtime's `MatMulNBits` takes other powers of two as well; this is what exports have.
pub const BLOCK: u64 = 32;
const LARGEST: f32 = 7.0;
/// What stands for 0 where numbers have no sign.
const ZERO: i8 = 8;

/// A matrix of `inputs` x `outputs` weights, by the order in which its float32 tensor holds them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Matrix {
    pub inputs: u64,
    pub outputs: u64,
    /// The tensor is `outputs` x `inputs`.
    pub transposed: bool,
}

/// How the blocks of a matrix lie in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// As `MatMulNBits` reads it: for each output all blocks of inputs, 16 bytes each, without signs.
    ByOutput,
    /// As an int4 tensor of `inputs` x `outputs`: signed.
    ByInput,
}

impl Matrix {
    /// `None`: the inputs are no whole number of blocks, or a byte would hold weights of two rows.
    pub fn of(inputs: i64, outputs: i64, transposed: bool) -> Option<Matrix> {
        let (inputs, outputs) = (u64::try_from(inputs).ok()?, u64::try_from(outputs).ok()?);
        let fits = inputs > 0 && outputs > 0 && inputs % BLOCK == 0 && outputs % 2 == 0;
        fits.then_some(Matrix { inputs, outputs, transposed })
    }

    pub fn blocks(&self) -> u64 {
        self.inputs / BLOCK
    }

    fn index(&self, input: u64, output: u64) -> u64 {
        if self.transposed { output * self.inputs + input } else { input * self.outputs + output }
    }

    /// The weights of a block, and its scale.
    fn block(&self, source: &Source, block: u64, output: u64) -> ([f32; BLOCK as usize], f32) {
        let step = if self.transposed { 1 } else { self.outputs };
        let weights = source.strided(self.index(block * BLOCK, output), step);
        let largest = weights.iter().fold(0.0_f32, |largest, weight| largest.max(weight.abs()));
        (weights, if largest > 0.0 { largest / LARGEST } else { 1.0 })
    }

    /// Bytes that are made at once.
    pub fn unit(&self, layout: Layout) -> usize {
        match layout {
            Layout::ByOutput => BLOCK as usize / 2,
            Layout::ByInput => BLOCK as usize / 2 * self.outputs as usize,
        }
    }

    pub fn units(&self, layout: Layout) -> u64 {
        match layout {
            Layout::ByOutput => self.outputs * self.blocks(),
            Layout::ByInput => self.blocks(),
        }
    }

    /// Writes whole units from the unit `first` on.
    pub fn write(&self, layout: Layout, source: &Source, first: u64, out: &mut [u8]) {
        for (unit, bytes) in (first..).zip(out.chunks_exact_mut(self.unit(layout))) {
            match layout {
                Layout::ByOutput => {
                    let (weights, scale) = self.block(source, unit % self.blocks(), unit / self.blocks());
                    for (byte, pair) in bytes.iter_mut().zip(weights.as_chunks::<2>().0) {
                        let [low, high] = pair.map(|weight| (rounded(weight, scale) + ZERO) as u8);
                        *byte = low | high << 4;
                    }
                }
                Layout::ByInput => self.write_rows(source, unit, bytes),
            }
        }
    }

    fn write_rows(&self, source: &Source, block: u64, bytes: &mut [u8]) {
        let row = self.outputs as usize / 2;
        for output in 0..self.outputs {
            let (weights, scale) = self.block(source, block, output);
            let (place, shift) = (output as usize / 2, output % 2 * 4);
            for (index, weight) in weights.into_iter().enumerate() {
                let byte = &mut bytes[index * row + place];
                let kept = if shift == 0 { 0 } else { *byte };
                *byte = kept | (rounded(weight, scale) as u8 & 0x0F) << shift;
            }
        }
    }

    /// Writes the scale of each block, in float32, from the scale `first` on.
    pub fn write_scales(&self, layout: Layout, source: &Source, first: u64, out: &mut [u8]) {
        for (index, bytes) in (first..).zip(out.as_chunks_mut::<4>().0) {
            let (block, output) = match layout {
                Layout::ByOutput => (index % self.blocks(), index / self.blocks()),
                Layout::ByInput => (index / self.outputs, index % self.outputs),
            };
            *bytes = self.block(source, block, output).1.to_le_bytes();
        }
    }
}

fn rounded(weight: f32, scale: f32) -> i8 {
    (weight / scale).round_ties_even().clamp(-LARGEST, LARGEST) as i8
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::{Element, Rule};

    fn source() -> Source {
        Rule::parse("w", "normal:0:1", Element::Single).unwrap().source().clone()
    }

    fn weight(matrix: &Matrix, input: u64, output: u64) -> f32 {
        source().strided::<1>(matrix.index(input, output), 0)[0]
    }

    /// What an engine makes of the file, in the order of inputs and outputs.
    fn read(matrix: &Matrix, layout: Layout) -> Vec<Vec<f32>> {
        let mut weights = vec![0; matrix.unit(layout) * matrix.units(layout) as usize];
        matrix.write(layout, &source(), 0, &mut weights);
        let mut scales = vec![0; (matrix.blocks() * matrix.outputs * 4) as usize];
        matrix.write_scales(layout, &source(), 0, &mut scales);
        let scale = |index: u64| f32::from_le_bytes(scales.as_chunks::<4>().0[index as usize]);
        let nibble = |index: u64| weights[index as usize / 2] >> (index % 2 * 4) & 0x0F;
        let of = |input: u64, output: u64| match layout {
            Layout::ByOutput => {
                let signed = nibble(output * matrix.inputs + input) as i8 - ZERO;
                f32::from(signed) * scale(output * matrix.blocks() + input / BLOCK)
            }
            Layout::ByInput => {
                let signed = (nibble(input * matrix.outputs + output) << 4) as i8 >> 4;
                f32::from(signed) * scale(input / BLOCK * matrix.outputs + output)
            }
        };
        (0..matrix.inputs).map(|input| (0..matrix.outputs).map(|output| of(input, output)).collect()).collect()
    }

    #[test]
    fn every_weight_is_within_half_a_step_of_the_float32_one_in_both_layouts_and_orders() {
        for transposed in [false, true] {
            let matrix = Matrix::of(64, 6, transposed).unwrap();
            let (one, other) = (read(&matrix, Layout::ByOutput), read(&matrix, Layout::ByInput));
            assert_eq!(one, other);
            for (input, row) in one.iter().enumerate() {
                for (output, found) in row.iter().enumerate() {
                    let (_, scale) = matrix.block(&source(), input as u64 / BLOCK, output as u64);
                    let apart = (found - weight(&matrix, input as u64, output as u64)).abs();
                    assert!(apart <= scale * 0.5001, "{input} {output}: {apart} of {scale}");
                }
            }
        }
    }

    #[test]
    fn a_piece_is_the_same_wherever_it_starts() {
        let matrix = Matrix::of(96, 10, false).unwrap();
        for layout in [Layout::ByOutput, Layout::ByInput] {
            let unit = matrix.unit(layout);
            let mut whole = vec![0; unit * matrix.units(layout) as usize];
            matrix.write(layout, &source(), 0, &mut whole);
            let mut piece = vec![0xFF; unit];
            matrix.write(layout, &source(), 2, &mut piece);
            assert_eq!(piece, whole[2 * unit..3 * unit], "{layout:?}");
        }
    }

    #[test]
    fn what_does_not_come_in_whole_blocks_has_none() {
        assert_eq!(Matrix::of(33, 4, false), None);
        assert_eq!(Matrix::of(32, 3, false), None);
        assert_eq!(Matrix::of(-32, 4, false), None);
    }
}
