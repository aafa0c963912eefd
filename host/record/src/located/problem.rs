//! Where something stands in a file, and what is wrong there.

use std::fmt;
use std::path::PathBuf;

/// Where an entry stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    pub file: PathBuf,
    /// From 1; 0 for a loose library, which has no line.
    pub line: usize,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}", self.file.display()),
            line => write!(f, "{}:{line}", self.file.display()),
        }
    }
}

/// What is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub file: PathBuf,
    /// From 1; 0 where the file as a whole is meant.
    pub line: usize,
    pub key: String,
    /// What was expected.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Origin { file: self.file.clone(), line: self.line })?;
        match self.key.is_empty() {
            true => write!(f, ": {}", self.message),
            false => write!(f, ": key '{}': {}", self.key, self.message),
        }
    }
}
