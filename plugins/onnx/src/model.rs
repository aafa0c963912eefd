//! A model that is written whole. To change one that exists, use [`edit`](crate::edit), which keeps what is not known here.

use crate::messages::{Message, Node, Tensor, ValueInfo};

/// Version 8 of the file format came with opset 15; every engine reads it.
const FORMAT: i64 = 8;

/// `GraphProto`.
#[derive(Clone, PartialEq, Message)]
pub struct Graph {
    /// Each node after those whose outputs it takes.
    #[prost(message, repeated, tag = "1")]
    pub node: Vec<Node>,
    #[prost(string, tag = "2")]
    pub name: String,
    #[prost(message, repeated, tag = "5")]
    pub initializer: Vec<Tensor>,
    #[prost(message, repeated, tag = "11")]
    pub input: Vec<ValueInfo>,
    #[prost(message, repeated, tag = "12")]
    pub output: Vec<ValueInfo>,
}

/// `ModelProto`.
#[derive(Clone, PartialEq, Message)]
pub struct Model {
    #[prost(int64, tag = "1")]
    format: i64,
    #[prost(string, tag = "2")]
    producer: String,
    #[prost(message, optional, tag = "7")]
    graph: Option<Graph>,
    #[prost(message, repeated, tag = "8")]
    operators: Vec<Operators>,
}

/// `OperatorSetIdProto`: a set of operators, of the standard domain where it is "".
#[derive(Clone, PartialEq, Message)]
struct Operators {
    #[prost(string, tag = "1")]
    domain: String,
    #[prost(int64, tag = "2")]
    version: i64,
}

impl Model {
    /// A graph of the standard operators of this opset.
    pub fn new(producer: &str, opset: i64, graph: Graph) -> Model {
        let operators = vec![Operators { domain: String::new(), version: opset }];
        Model { format: FORMAT, producer: producer.into(), graph: Some(graph), operators }
    }
}
