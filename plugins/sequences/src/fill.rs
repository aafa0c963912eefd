//! What a sequence begins with and is fed: tokens of a prompt, positions, masks, first states.

use skillbench_plugin_api::{DType, Error, HostTensor, Port, Result, Why};
use std::sync::Arc;

/// A tensor of whole numbers in a port's own type.
///
/// # Errors
/// `Unimplemented` for a type that such inputs do not have.
fn whole(port: &Port, shape: &[usize], value: impl Fn(usize) -> i64) -> Result<Arc<HostTensor>> {
    fn write<const N: usize>(tensor: &mut HostTensor, element: impl Fn(usize) -> [u8; N]) {
        let (elements, _) = tensor.bytes_mut().as_chunks_mut::<N>();
        elements.iter_mut().enumerate().for_each(|(index, bytes)| *bytes = element(index));
    }
    let mut tensor = HostTensor::zeroed(port.dtype, shape)?;
    match port.dtype {
        DType::I64 => write(&mut tensor, |index| value(index).to_ne_bytes()),
        DType::I32 => write(&mut tensor, |index| (value(index) as i32).to_ne_bytes()),
        DType::F32 => write(&mut tensor, |index| (value(index) as f32).to_ne_bytes()),
        DType::Bool => write(&mut tensor, |index| [u8::from(value(index) != 0)]),
        other => {
            let text =
                format!("'{}' is {}: tokens, positions and masks are i64, i32, f32 or bool", port.name, other.name());
            return Err(Error::unimplemented(Why::MODEL, text));
        }
    }
    Ok(Arc::new(tensor))
}

/// Tokens, as many for each sequence of the batch.
pub fn tokens(port: &Port, batch: usize, tokens: &[i64]) -> Result<Arc<HostTensor>> {
    whole(port, &[batch, tokens.len() / batch.max(1)], |index| tokens[index])
}

/// The positions of the next `count` tokens after `past` of them.
pub fn positions(port: &Port, batch: usize, past: usize, count: usize) -> Result<Arc<HostTensor>> {
    whole(port, &[batch, count], |index| (past + index % count.max(1)) as i64)
}

/// Whole numbers of a shape, in their order.
pub fn of(port: &Port, shape: &[usize], values: &[i64]) -> Result<Arc<HostTensor>> {
    whole(port, shape, |index| values[index])
}

/// A mask that lets all of `length` be seen.
pub fn mask(port: &Port, batch: usize, length: usize) -> Result<Arc<HostTensor>> {
    whole(port, &[batch, length], |_| 1)
}

/// The `index`-th number of a stream (splitmix64, by position).
fn random(stream: u64, index: u64) -> u64 {
    let mut x = stream.wrapping_add((index + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

/// Tokens of a prompt, by the rule of the input they go into: `ids:V` is as large a vocabulary.
///
/// # Errors
/// `InvalidArgument` for another rule.
pub fn prompt(rule: Option<&str>, seed: u64, count: usize) -> Result<Vec<i64>> {
    let rule = rule.unwrap_or("ids:100");
    let vocabulary = rule.strip_prefix("ids:").and_then(|size| size.parse::<u64>().ok()).filter(|size| *size > 0);
    let vocabulary =
        vocabulary.ok_or_else(|| Error::invalid(format!("the input of tokens is filled by '{rule}', not by ids:V")))?;
    let low = 10.min(vocabulary / 2);
    let token = |index| (low + random(seed, index) % (vocabulary - low)) as i64;
    Ok((0..count as u64).map(token).collect())
}

/// The state that a sequence begins with: zeros, unless the skill has a rule of its own for it. What grows begins as nothing.
///
/// # Errors
/// `InvalidArgument` for a rule that is unknown.
pub fn state(port: &Port, shape: &[usize], rule: &str, seed: u64) -> Result<Arc<HostTensor>> {
    let mut tensor = HostTensor::zeroed(port.dtype, shape)?;
    let (kind, numbers) = rule.split_once(':').unwrap_or((rule, ""));
    let numbers: Vec<f64> = numbers.split(':').filter_map(|number| number.parse().ok()).collect();
    let unit = |index: usize| (random(seed, index as u64) >> 11) as f64 / (1_u64 << 53) as f64;
    let value: Box<dyn Fn(usize) -> f64> = match (kind, &numbers[..]) {
        ("normal" | "zeros", _) => return Ok(Arc::new(tensor)),
        ("ones", _) => Box::new(|_| 1.0),
        ("const", [value]) => {
            let value = *value;
            Box::new(move |_| value)
        }
        ("uniform", [low, high]) => {
            let (low, high) = (*low, *high);
            Box::new(move |index| low + (high - low) * unit(index))
        }
        _ => return Err(Error::invalid(format!("'{}' cannot begin by the rule '{rule}'", port.name))),
    };
    if port.dtype != DType::F32 {
        let text =
            format!("'{}' begins by the rule '{rule}', which only f32 can, and it is {}", port.name, port.dtype.name());
        return Err(Error::unimplemented(Why::MODEL, text));
    }
    let (elements, _) = tensor.bytes_mut().as_chunks_mut::<4>();
    elements.iter_mut().enumerate().for_each(|(index, bytes)| *bytes = (value(index) as f32).to_ne_bytes());
    Ok(Arc::new(tensor))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn port(dtype: DType) -> Port {
        Port { name: "x".into(), dtype, shape: vec![None, None], dim_names: vec![None, None] }
    }

    #[test]
    fn positions_go_on_from_the_past_in_every_row() {
        let of = |past, count| positions(&port(DType::I64), 2, past, count).unwrap();
        assert_eq!(of(0, 3).as_slice::<i64>().unwrap(), [0, 1, 2, 0, 1, 2]);
        assert_eq!(of(3, 1).as_slice::<i64>().unwrap(), [3, 3]);
    }

    #[test]
    fn a_mask_is_as_long_as_past_and_present_together() {
        let mask = mask(&port(DType::I64), 2, 5).unwrap();
        assert_eq!((mask.shape(), mask.as_slice::<i64>().unwrap()), (vec![2, 5], &[1; 10][..]));
        assert_eq!(super::mask(&port(DType::Bool), 1, 3).unwrap().bytes(), [1, 1, 1]);
        assert_eq!(super::mask(&port(DType::F32), 1, 2).unwrap().as_slice::<f32>().unwrap(), [1.0, 1.0]);
    }

    #[test]
    fn tokens_lie_row_by_row_in_the_type_of_their_port() {
        let tensor = tokens(&port(DType::I32), 2, &[1, 2, 3, 4]).unwrap();
        assert_eq!((tensor.shape(), tensor.as_slice::<i32>().unwrap()), (vec![2, 2], &[1, 2, 3, 4][..]));
        assert!(tokens(&port(DType::F64), 1, &[1]).is_err());
    }

    #[test]
    fn a_prompt_is_in_the_vocabulary_and_the_same_for_the_same_seed() {
        let ids = prompt(Some("ids:50"), 7, 500).unwrap();
        assert!(ids.iter().all(|id| (10..50).contains(id)));
        assert_eq!(ids, prompt(Some("ids:50"), 7, 500).unwrap());
        assert_ne!(ids, prompt(Some("ids:50"), 8, 500).unwrap());
        assert!(prompt(Some("normal"), 7, 1).is_err());
    }

    #[test]
    fn a_state_begins_as_zeros_as_nothing_or_by_its_own_rule() {
        let begin = |shape: &[usize], rule| state(&port(DType::F32), shape, rule, 1).unwrap();
        assert_eq!(begin(&[1, 2], "normal:0:0.1").as_slice::<f32>().unwrap(), [0.0, 0.0]);
        assert_eq!(begin(&[1, 0], "normal").shape(), [1, 0]);
        let uniform = begin(&[4, 64], "uniform:0.5:1.5");
        assert!(uniform.as_slice::<f32>().unwrap().iter().all(|value| (0.5..1.5).contains(value)));
        assert!(state(&port(DType::F32), &[1, 1], "grid:2", 1).is_err());
    }
}
