//! A skeleton's way to a graph whose weights lie in a file beside it.
//!
//! Only the initializers to generate are decoded and written anew. Every other field of the protobuf is copied as it
//! stands, so that nothing is lost, not even what a later version of ONNX adds.

use crate::rule::Rule;
use crate::weights::Weights;
use skillbench_onnx::messages::*;
use skillbench_onnx::{Broken, edit};
use skillbench_plugin_api::{Error, Result};

/// Where a graph finds its weights.
pub const WEIGHTS: &str = "model.onnx.data";

/// The runnable graph of a skeleton, and the weights to write beside it.
pub fn refill(skeleton: &[u8]) -> Result<(Vec<u8>, Weights)> {
    let mut weights = Weights::default();
    let graph = replace(skeleton, MODEL_GRAPH, &mut |graph| {
        replace(graph, GRAPH_INITIALIZER, &mut |tensor| initializer(tensor, &mut weights)).map(Some)
    })?;
    Ok((graph, weights))
}

/// `None`: the tensor stays as it is.
fn initializer(bytes: &[u8], weights: &mut Weights) -> Result<Option<Vec<u8>>> {
    let mut tensor = Tensor::decode(bytes).map_err(|error| broken(format!("in an initializer: {error}")))?;
    let Some(rule) = tensor.external_data.iter().find(|entry| entry.key == "gen") else { return Ok(None) };
    if tensor.data_type != FLOAT {
        let text = format!("tensor '{}': only float32 is generated, not ONNX type {}", tensor.name, tensor.data_type);
        return Err(Error::invalid(text));
    }
    let rule = Rule::parse(&tensor.name, &rule.value)?;
    let elements = tensor.dims.iter().try_fold(1_u64, |product, dim| product.checked_mul(u64::try_from(*dim).ok()?));
    let place = elements.and_then(|elements| weights.add(rule, elements)).ok_or_else(|| {
        Error::invalid(format!("tensor '{}': the dimensions {:?} cannot be", tensor.name, tensor.dims))
    })?;
    let entry = |key: &str, value: String| Entry { key: key.into(), value };
    tensor.data_location = EXTERNAL;
    tensor.external_data = vec![
        entry("location", WEIGHTS.into()),
        entry("offset", place.start.to_string()),
        entry("length", (place.end - place.start).to_string()),
    ];
    Ok(Some(tensor.encode_to_vec()))
}

fn broken(what: impl std::fmt::Display) -> Error {
    Error::invalid(format!("the graph is not a valid protobuf: {what}"))
}

/// What a field becomes: new contents, or `None` where it stays.
type Change<'a> = &'a mut dyn FnMut(&[u8]) -> Result<Option<Vec<u8>>>;

/// A copy of a message in which every field `number` went through `change`.
fn replace(message: &[u8], number: u64, change: Change<'_>) -> Result<Vec<u8>> {
    let copy = edit(message, number, |field| Ok(change(field).map_err(Failure::Change)?.map(|new| vec![new])));
    copy.map_err(|failure| match failure {
        Failure::Change(error) => error,
        Failure::Broken(broken) => Error::invalid(broken.to_string()),
    })
}

enum Failure {
    Change(Error),
    Broken(Broken),
}

impl From<Broken> for Failure {
    fn from(broken: Broken) -> Failure {
        Failure::Broken(broken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{skeleton, skills};

    /// A model of one graph of one initializer.
    fn model(tensor: &Tensor) -> Vec<u8> {
        let wrap = |number: u64, contents: &[u8]| {
            let mut field = Vec::new();
            skillbench_onnx::fields::put(&mut field, number, contents);
            field
        };
        wrap(MODEL_GRAPH, &wrap(GRAPH_INITIALIZER, &tensor.encode_to_vec()))
    }

    fn generated(data_type: i32, dims: &[i64]) -> Tensor {
        let entry = Entry { key: "gen".into(), value: "normal:0:1".into() };
        Tensor { dims: dims.into(), data_type, name: "w".into(), external_data: vec![entry], ..Tensor::default() }
    }

    fn initializers(model: &[u8]) -> Vec<Tensor> {
        let mut found = Vec::new();
        replace(model, MODEL_GRAPH, &mut |graph| {
            replace(graph, GRAPH_INITIALIZER, &mut |tensor| {
                found.push(Tensor::decode(tensor).unwrap());
                Ok(None)
            })
            .map(Some)
        })
        .unwrap();
        found
    }

    #[test]
    fn what_is_not_edited_stays_byte_for_byte() {
        for skill in skills::all() {
            let skeleton = skeleton::unpack(&skill.id, &skill.sha256).unwrap();
            let copy = replace(&skeleton, MODEL_GRAPH, &mut |graph| {
                replace(graph, GRAPH_INITIALIZER, &mut |_| Ok(None)).map(Some)
            });
            assert!(copy.unwrap() == skeleton, "{} changed", skill.id);
        }
    }

    #[test]
    fn no_rule_is_left_and_every_weight_has_its_place() {
        for skill in skills::all() {
            let (graph, weights) = refill(&skeleton::unpack(&skill.id, &skill.sha256).unwrap()).unwrap();
            let mut end = 0;
            for tensor in initializers(&graph).iter().filter(|tensor| !tensor.external_data.is_empty()) {
                let values: Vec<&str> = tensor.external_data.iter().map(|entry| entry.value.as_str()).collect();
                let [location, offset, length] = values[..] else { panic!("{values:?}") };
                let (offset, length): (u64, u64) = (offset.parse().unwrap(), length.parse().unwrap());
                assert_eq!((location, tensor.data_location), (WEIGHTS, EXTERNAL));
                assert_eq!(length, 4 * tensor.dims.iter().product::<i64>() as u64);
                assert!(offset >= end && offset.is_multiple_of(64));
                end = offset + length;
            }
            assert!(weights.bytes >= end);
        }
    }

    #[test]
    fn a_type_that_is_not_generated_is_refused_by_name() {
        let error = refill(&model(&generated(10, &[4]))).err().unwrap();
        assert!(error.message.contains("'w'") && error.message.contains("type 10"), "{error}");
    }

    #[test]
    fn dimensions_that_cannot_be_are_refused() {
        for dims in [&[-1, 4][..], &[i64::MAX, 3], &[i64::MAX]] {
            assert!(refill(&model(&generated(FLOAT, dims))).is_err(), "{dims:?}");
        }
    }

    #[test]
    fn a_graph_that_is_cut_short_is_refused() {
        let whole = model(&generated(FLOAT, &[4]));
        for length in 1..whole.len() {
            assert!(refill(&whole[..length]).is_err(), "{length} bytes");
        }
    }
}
