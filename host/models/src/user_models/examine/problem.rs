//! What can be wrong with a model's file, and what to do about it.

use super::{MOST_DIMENSIONS, MOST_PORTS, PROTOBUF_LIMIT};
use crate::user_models::files::{FileError, NO_LINKS};
use std::fmt;
use std::path::PathBuf;

/// A model file that no engine is given.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the model {}: {problem}; {}", file.display(), problem.next())]
pub struct BadModel {
    pub file: PathBuf,
    pub problem: Problem,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    Unreadable(String),
    Empty,
    /// Its first line.
    Text(String),
    /// The small file that Git keeps in place of a large one.
    Pointer,
    OtherFormat(&'static str),
    /// Cut off, or no protobuf.
    Broken(String),
    TooLarge {
        bytes: u64,
    },
    NoFormat,
    Format {
        found: i64,
        highest: i64,
    },
    Opset {
        found: i64,
        highest: i64,
    },
    NoOpset {
        domain: String,
        operator: String,
    },
    /// "inputs" or "outputs".
    NoPorts(&'static str),
    ManyPorts {
        which: &'static str,
        count: usize,
    },
    ManyDimensions {
        port: String,
        count: usize,
    },
    /// The port.
    NoTensor(String),
    Unproduced {
        node: String,
        value: String,
    },
    /// An output of the graph that no node makes.
    UnproducedOutput(String),
    Twice {
        value: String,
        first: String,
        second: String,
    },
    /// The nodes, each of which needs the one after it, the last one the first.
    Cycle(Vec<String>),
    Dimensions {
        tensor: String,
        dims: Vec<i64>,
    },
    NoData(String),
    ShortInside {
        tensor: String,
        needs: u64,
        has: u64,
    },
    Escapes {
        tensor: String,
        location: String,
    },
    /// A file of it is a link that leads out of its folder.
    Elsewhere(FileError),
    Missing {
        tensor: String,
        file: PathBuf,
        error: String,
    },
    Place {
        tensor: String,
        key: &'static str,
        value: String,
    },
    Short {
        tensor: String,
        file: PathBuf,
        needs: u64,
        has: u64,
    },
}

impl Problem {
    /// What to do.
    pub fn next(&self) -> &'static str {
        match self {
            Problem::Unreadable(_) => "give the path of a file that can be read",
            Problem::Empty | Problem::Broken(_) => "download or export it again",
            Problem::Text(_) | Problem::OtherFormat(_) => "a model file is an ONNX protobuf: export it to one",
            Problem::Pointer => "fetch the model itself with `git lfs pull`",
            Problem::TooLarge { .. } => "export it with its weights as external data beside it",
            Problem::NoFormat | Problem::NoOpset { .. } => "export it again with a current exporter",
            Problem::Format { .. } | Problem::Opset { .. } => "export it for an opset that engines know",
            Problem::NoPorts(_) => "export the graph with its inputs and outputs",
            Problem::ManyPorts { .. } | Problem::ManyDimensions { .. } => "export the graph of a model",
            Problem::NoTensor(_) => "export it with tensors alone as inputs and outputs",
            Problem::Unproduced { .. }
            | Problem::UnproducedOutput(_)
            | Problem::Twice { .. }
            | Problem::Cycle(_)
            | Problem::Dimensions { .. } => "the graph is damaged: export it again",
            Problem::NoData(_) => "export it with its weights",
            Problem::ShortInside { .. } | Problem::Place { .. } => "export it again",
            Problem::Escapes { .. } => "export it with its weights beside it: a model is not trusted with other files",
            Problem::Elsewhere(_) => NO_LINKS,
            Problem::Missing { .. } => "put the file there; it belongs to the model",
            Problem::Short { .. } => "it is cut off or belongs to another model: fetch it again",
        }
    }
}

/// A name as it stands in a message: a file may hold one of a million signs.
fn short(name: &str) -> String {
    cut(name, 200)
}

fn cut(text: &str, most: usize) -> String {
    let mut cut: String = text.chars().take(most).collect();
    if cut.len() < text.len() {
        cut.push_str("...");
    }
    cut
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Unreadable(error) => write!(f, "it cannot be read: {error}"),
            Problem::Empty => write!(f, "the file is empty"),
            Problem::Text(line) => write!(f, "it is a text file that begins with '{line}'"),
            Problem::Pointer => write!(f, "it is a pointer of Git LFS, not the model"),
            Problem::OtherFormat(what) => write!(f, "it is {what}, no ONNX protobuf"),
            Problem::Broken(error) => write!(f, "{error}"),
            Problem::TooLarge { bytes } => {
                write!(f, "it has {bytes} bytes, and a protobuf ends before {PROTOBUF_LIMIT} (2 GiB)")
            }
            Problem::NoFormat => write!(f, "it does not say its ONNX version (ir_version)"),
            Problem::Format { found, highest } => {
                write!(f, "its file format (ir_version) is {found}, the highest one known is {highest}")
            }
            Problem::Opset { found, highest } => write!(f, "its opset is {found}, the highest one known is {highest}"),
            Problem::NoOpset { domain, operator } if domain.is_empty() => {
                write!(f, "it uses the operator {} and does not say of which opset", short(operator))
            }
            Problem::NoOpset { domain, operator } => {
                write!(
                    f,
                    "it uses the operator {} of '{}' and does not say of which opset",
                    short(operator),
                    short(domain)
                )
            }
            Problem::NoPorts(which) => write!(f, "its graph has no {which}"),
            Problem::ManyPorts { which, count } => {
                write!(f, "its graph has {count} {which}, more than the {MOST_PORTS} that any model has")
            }
            Problem::ManyDimensions { port, count } => {
                let port = short(port);
                write!(f, "'{port}' has {count} dimensions, more than the {MOST_DIMENSIONS} that any tensor has")
            }
            Problem::Elsewhere(error) => write!(f, "{error}"),
            Problem::NoTensor(port) => {
                write!(f, "'{}' is no tensor (a sequence, a map or an optional value)", short(port))
            }
            Problem::Unproduced { node, value } => {
                write!(f, "nothing produces '{}', which the node {} takes", short(value), short(node))
            }
            Problem::UnproducedOutput(value) => write!(f, "nothing produces its output '{}'", short(value)),
            Problem::Twice { value, first, second } => {
                write!(f, "'{}' is produced twice, by {} and by {}", short(value), short(first), short(second))
            }
            Problem::Cycle(nodes) => match nodes.as_slice() {
                [node] => write!(f, "its graph has a cycle: {} needs its own output", short(node)),
                nodes => {
                    let nodes: Vec<String> = nodes.iter().map(|node| short(node)).collect();
                    write!(f, "its graph has a cycle: {} needs the first again", nodes.join(" needs "))
                }
            },
            Problem::Dimensions { tensor, dims } => {
                let shown = &dims[..dims.len().min(MOST_DIMENSIONS)];
                write!(f, "no tensor has the dimensions {shown:?} of '{}'", short(tensor))
            }
            Problem::NoData(tensor) => {
                write!(f, "the tensor '{}' has no data, as if its weights were stripped", short(tensor))
            }
            Problem::ShortInside { tensor, needs, has } => {
                write!(f, "the tensor '{}' needs {needs} bytes and has {has}", short(tensor))
            }
            Problem::Escapes { tensor, location } => {
                write!(
                    f,
                    "the tensor '{}' is kept in '{}', which is not in the model's folder",
                    short(tensor),
                    short(location)
                )
            }
            Problem::Missing { tensor, file, error } => {
                write!(
                    f,
                    "the weights of '{}' are not there: looked for {} ({error})",
                    short(tensor),
                    cut(&file.to_string_lossy(), 4096)
                )
            }
            Problem::Place { tensor, key, value } => {
                write!(f, "the {key} of the external data of '{}' is '{}', not a number", short(tensor), short(value))
            }
            Problem::Short { tensor, file, needs, has } => {
                write!(
                    f,
                    "the tensor '{}' needs {} up to byte {needs}, and it has {has}",
                    short(tensor),
                    file.display()
                )
            }
        }
    }
}
