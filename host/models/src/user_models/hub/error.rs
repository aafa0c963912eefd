//! Why a model of the hub cannot be had, and what to do.

use super::super::local::LocalError;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum HubError {
    #[error(
        "{id} is not in the cache ({}: {why}), and {variable} forbids to fetch it; fetch it where there is a network, or unset \
         {variable}",
        looked.display()
    )]
    Offline { id: String, variable: String, looked: PathBuf, why: Box<LocalError> },
    #[error("the hub at {endpoint} has no model {id}, or it is private and {token}; check the name")]
    NoModel { id: String, endpoint: String, token: &'static str },
    #[error("the model {id} has no revision '{revision}'; leave it out for the newest one")]
    NoRevision { id: String, revision: String },
    #[error(
        "access to {id} is refused ({status}): {token}; ask for access on its page, and give a token of yours in HF_TOKEN"
    )]
    Denied { id: String, status: u16, token: &'static str },
    #[error(
        "{id} has no ONNX file ({}); export it (for example with `optimum-cli export onnx --model {id} FOLDER`) and give the folder",
        describe(files)
    )]
    NoOnnx { id: String, files: Vec<String> },
    #[error("{id} has several ONNX files, and they are no set that is known: {}; name one of them, as in {id}:{}", graphs.join(", "), graphs[0])]
    Several { id: String, graphs: Vec<String> },
    #[error("{id} has no file {file}; its ONNX files are: {}", describe(graphs))]
    NoFile { id: String, file: String, graphs: Vec<String> },
    #[error("{id}: {file} has {bytes} bytes, and a protobuf ends before 2 GiB: no engine can read it")]
    TooLarge { id: String, file: String, bytes: u64 },
    #[error(
        "{url} cannot be reached: {error}; check the network, HTTPS_PROXY and HF_ENDPOINT, or work with what is in the cache"
    )]
    Network { url: String, error: String },
    #[error("{url} answers with status {status}, after {attempts} attempts; try again later")]
    Server { url: String, status: u16, attempts: u32 },
    #[error("{url} answers with what is not understood: {what}; check HF_ENDPOINT")]
    Answer { url: String, what: String },
    #[error("{file} came with {found} where {expected} was announced; what came of it was removed: try again")]
    Mismatch { file: String, expected: String, found: String },
    #[error("{}: {error}; the cache needs space and the right to write: HF_HOME names another place", path.display())]
    Io { path: PathBuf, error: std::io::Error },
    #[error("{text}; correct the variable, or unset it")]
    Setting { text: String },
    #[error(transparent)]
    Local(#[from] LocalError),
}

/// Names that are shown.
const SHOWN: usize = 12;

fn describe(files: &[String]) -> String {
    match files.len() {
        0 => "it has no files at all".into(),
        SHOWN.. => format!("{} and {} more", files[..SHOWN].join(", "), files.len() - SHOWN),
        _ => files.join(", "),
    }
}

impl HubError {
    /// Whether the hub could not be asked, so that what was fetched before may serve.
    pub fn is_of_the_network(&self) -> bool {
        matches!(self, HubError::Network { .. } | HubError::Server { .. })
    }
}
