//! The elements of a small tensor: a graph computes its shapes from them.

use super::OutlinedTensor;
use super::read::Reader;
use crate::Broken;
use crate::messages::{
    BOOL, DOUBLE, FLOAT, FLOAT16, INT8, INT32, INT64, TENSOR_FLOATS, TENSOR_INT32S, TENSOR_INT64S, UINT8,
};
use crate::walk::Value;
use std::io::{BufRead, Seek};

/// Bytes of a tensor whose data is kept.
const MOST: u64 = 1 << 13;

/// What was read of a tensor's data so far.
#[derive(Default)]
pub(super) struct Small {
    bytes: Vec<u8>,
    /// As they stand in a field of whole numbers; how wide they are is known when the type is.
    numbers: Vec<i64>,
    too_large: bool,
}

impl Small {
    /// The field of bytes as they lie in memory.
    pub fn raw<R: BufRead + Seek>(&mut self, reader: &mut Reader<R>, end: u64) -> Result<(), Broken> {
        if !self.fits(end.saturating_sub(reader.walk.place())) {
            return Ok(());
        }
        reader.short(end)?;
        self.bytes.extend(reader.walk.bytes(end)?);
        Ok(())
    }

    /// A field of elements behind each other.
    pub fn packed<R: BufRead + Seek>(&mut self, reader: &mut Reader<R>, field: u64, end: u64) -> Result<(), Broken> {
        match field {
            TENSOR_FLOATS => self.raw(reader, end),
            TENSOR_INT32S | TENSOR_INT64S if self.fits(end.saturating_sub(reader.walk.place())) => {
                reader.short(end)?;
                while !reader.walk.is_at(end) {
                    self.numbers.push(reader.walk.number(end)? as i64);
                }
                Ok(())
            }
            _ => {
                self.too_large = true;
                Ok(())
            }
        }
    }

    /// A field of one element.
    pub fn single(&mut self, field: u64, value: Value) {
        match (field, value) {
            (TENSOR_INT32S | TENSOR_INT64S, Value::Number(number)) if self.fits(1) => self.numbers.push(number as i64),
            _ => self.too_large = true,
        }
    }

    fn fits(&mut self, more: u64) -> bool {
        self.too_large |= (self.bytes.len() + self.numbers.len()) as u64 + more > MOST;
        !self.too_large
    }

    /// As they lie in memory; `None`: too large, or of a type that nobody asks for.
    pub fn bytes(self, element: i32) -> Option<Vec<u8>> {
        if self.too_large {
            return None;
        }
        let mut bytes = self.bytes;
        for number in self.numbers {
            bytes.extend_from_slice(number.to_le_bytes().get(..width(element)?)?);
        }
        Some(bytes)
    }
}

fn width(element: i32) -> Option<usize> {
    match element {
        INT64 | DOUBLE => Some(8),
        INT32 | FLOAT => Some(4),
        FLOAT16 => Some(2),
        BOOL | INT8 | UINT8 => Some(1),
        _ => None,
    }
}

impl OutlinedTensor {
    /// The elements of a small tensor of whole numbers or truth values.
    pub fn integers(&self) -> Option<Vec<i64>> {
        let bytes = self.small.as_deref().filter(|_| !self.sparse)?;
        let all: Vec<i64> = match self.element {
            INT64 => bytes.as_chunks().0.iter().map(|eight| i64::from_le_bytes(*eight)).collect(),
            INT32 => bytes.as_chunks().0.iter().map(|four| i32::from_le_bytes(*four).into()).collect(),
            BOOL => bytes.iter().map(|byte| (*byte).into()).collect(),
            _ => return None,
        };
        (self.count() == Some(all.len() as u64)).then_some(all)
    }

    /// The elements of a small tensor of float32.
    pub fn floats(&self) -> Option<Vec<f32>> {
        let bytes = self.small.as_deref().filter(|_| self.element == FLOAT && !self.sparse)?;
        let all: Vec<f32> = bytes.as_chunks().0.iter().map(|four| f32::from_le_bytes(*four)).collect();
        (self.count() == Some(all.len() as u64)).then_some(all)
    }
}

#[cfg(test)]
mod tests {
    use crate::messages::*;
    use crate::{Graph, Model, Outline};

    #[test]
    fn small_tensors_are_read_and_large_ones_are_not() {
        let bytes = |numbers: &[i64]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>();
        let graph = Graph {
            node: vec![Node::new("Relu", &["x"], "y")],
            initializer: vec![
                Tensor::of_bytes("few", INT64, &[2], bytes(&[-1, 7])),
                Tensor::of_bytes("many", INT64, &[2000], bytes(&[0; 2000])),
                Tensor::of_bytes("scales", FLOAT, &[1], 2.5_f32.to_le_bytes().into()),
                Tensor::of_bytes("wrong", INT64, &[3], bytes(&[1])),
            ],
            ..Graph::default()
        };
        let outline = Outline::of(&Model::new("test", 17, graph).encode_to_vec()).unwrap();
        let [few, many, scales, wrong] = &outline.graph.weights[..] else { panic!("four") };
        assert_eq!((few.integers(), few.floats()), (Some(vec![-1, 7]), None));
        assert_eq!((many.integers(), many.inside), (None, 16000));
        assert_eq!(scales.floats(), Some(vec![2.5]));
        assert_eq!(wrong.integers(), None);
    }
}
