//! States of several sequences in one tensor: each fills the end of its row, so that what a step adds follows the newest token of all.

use skillbench_plugin_api::client::Output;
use skillbench_plugin_api::{Error, HostTensor, Result};
use std::sync::Arc;

/// Where a sequence's state lies: a row of a tensor, of which the last `past` positions are its own.
#[derive(Clone)]
pub struct Row {
    pub of: Arc<Output>,
    pub row: usize,
}

/// A tensor with a row for each sequence, as long as the longest of them. `grows`: the dimension of positions; `pasts`: how many each has.
///
/// # Errors
/// `Internal` for states that do not fit together.
pub fn gathered(rows: &[Row], pasts: &[usize], grows: usize) -> Result<HostTensor> {
    let first = rows.first().ok_or_else(|| Error::internal("a batch of no sequences"))?;
    let length = pasts.iter().copied().max().unwrap_or_default();
    let mut shape = first.of.shape().to_vec();
    let fits = |row: &Row| {
        let other = row.of.shape();
        let alike = other.len() == shape.len()
            && (1..shape.len()).all(|index| index == grows || other[index] == shape[index])
            && row.row < other[0];
        alike && row.of.dtype() == first.of.dtype()
    };
    let long_enough = |(row, past): (&Row, &usize)| row.of.shape().get(grows).is_some_and(|length| length >= past);
    if grows == 0 || grows >= shape.len() || !rows.iter().all(fits) || !rows.iter().zip(pasts).all(long_enough) {
        return Err(Error::internal(format!("states of the shape {shape:?} cannot lie side by side")));
    }
    (shape[0], shape[grows]) = (rows.len(), length);
    let mut all = HostTensor::zeroed(first.of.dtype(), &shape)?;
    let blocks: usize = shape[1..grows].iter().product();
    if shape.contains(&0) {
        return Ok(all);
    }
    // Bytes of one position in one block.
    let width = all.bytes().len() / (rows.len() * blocks * length);
    for (index, (row, past)) in rows.iter().zip(pasts).enumerate() {
        let to = Place { row: index, length };
        let from = Place { row: row.row, length: row.of.shape()[grows] };
        copy(all.bytes_mut(), to, row.of.bytes(), from, *past, blocks, width);
    }
    Ok(all)
}

/// A row of a tensor, and how many positions it has.
#[derive(Clone, Copy)]
struct Place {
    row: usize,
    length: usize,
}

/// Copies the last `past` positions of a row to the end of another. A row has `blocks`, such as heads, each with all positions, of `width` bytes.
fn copy(to: &mut [u8], there: Place, from: &[u8], here: Place, past: usize, blocks: usize, width: usize) {
    for block in 0..blocks {
        let end_of = |place: Place| ((place.row * blocks + block) * place.length + place.length - past) * width;
        to[end_of(there)..][..past * width].copy_from_slice(&from[end_of(here)..][..past * width]);
    }
}

/// The tensor that these rows are all of, in their order, with nothing before the longest: then nothing needs to be moved.
pub fn as_it_is(rows: &[Row], pasts: &[usize], grows: usize) -> Option<Arc<Output>> {
    let first = rows.first()?;
    let in_order = rows.iter().enumerate().all(|(index, row)| row.row == index && Arc::ptr_eq(&row.of, &first.of));
    let (all, length) = (first.of.shape().first()?, first.of.shape().get(grows)?);
    (in_order && *all == rows.len() && pasts.iter().max() == Some(length)).then(|| first.of.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_head_of_a_row_ends_with_its_own_newest_positions() {
        // Two rows of two heads and three positions, each of two bytes, which say row, head and position.
        let byte = |row: u8, head: u8, position: u8| 100 * row + 10 * head + position;
        let of = |row, head| (0..3).flat_map(move |position| [byte(row, head, position); 2]);
        let from: Vec<u8> = (0..2).flat_map(|row| (0..2).flat_map(move |head| of(row, head))).collect();
        // The second row has two positions of its own, and goes before another of four.
        let mut to = [255; 2 * 2 * 4 * 2];
        let (there, here) = (Place { row: 0, length: 4 }, Place { row: 1, length: 3 });
        copy(&mut to, there, &from, here, 2, 2, 2);
        let (one, other) = ([255, 255, 255, 255, 101, 101, 102, 102], [255, 255, 255, 255, 111, 111, 112, 112]);
        assert_eq!(to[..16], [one, other].concat());
        assert!(to[16..].iter().all(|byte| *byte == 255), "nothing of another row is touched");
    }
}
