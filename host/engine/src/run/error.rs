//! Why a request cannot be carried out.

/// A request that names what is not there, or asks for what cannot be. The command line exits with 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct RequestError(pub String);
