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
    let elements: usize = shape.iter().product();
    if elements == 0 {
        return Ok(all);
    }
    // Bytes of one position in one block.
    let width = all.bytes().len() / (rows.len() * blocks * length);
    for (index, (row, past)) in rows.iter().zip(pasts).enumerate() {
        let from_length = row.of.shape()[grows];
        let (from, to) = (row.of.bytes(), all.bytes_mut());
        for block in 0..blocks {
            let end_of = |row: usize, length: usize| ((row * blocks + block) * length + length - past) * width;
            let (source, place) = (end_of(row.row, from_length), end_of(index, length));
            to[place..][..past * width].copy_from_slice(&from[source..][..past * width]);
        }
    }
    Ok(all)
}

/// The tensor that these rows are all of, in their order, with nothing before the longest: then nothing needs to be moved.
pub fn as_it_is(rows: &[Row], pasts: &[usize], grows: usize) -> Option<Arc<Output>> {
    let first = rows.first()?;
    let in_order = rows.iter().enumerate().all(|(index, row)| row.row == index && Arc::ptr_eq(&row.of, &first.of));
    let (all, length) = (first.of.shape().first()?, first.of.shape().get(grows)?);
    (in_order && *all == rows.len() && pasts.iter().max() == Some(length)).then(|| first.of.clone())
}
