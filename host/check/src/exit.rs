//! How the program ends, with the codes of `host`, and what ends a command before it is done.

use skillbench_signatures::SignatureError;
use std::process::ExitCode;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Good,
    /// A rule is broken, something was found, a signature does not fit.
    Broken,
    Usage,
    /// A rule was not checked, or the backend cannot be opened here.
    Unavailable,
}

impl Exit {
    pub fn code(self) -> ExitCode {
        ExitCode::from(match self {
            Exit::Good => 0,
            Exit::Broken => 1,
            Exit::Usage => 2,
            Exit::Unavailable => 5,
        })
    }

    /// Of two, the one that counts first.
    pub fn or(self, other: Exit) -> Exit {
        let order = [Exit::Usage, Exit::Broken, Exit::Unavailable];
        order.into_iter().find(|exit| *exit == self || *exit == other).unwrap_or(Exit::Good)
    }
}

/// What went wrong, and what to do next.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// A name or value that cannot be.
    #[error("{0}")]
    Usage(String),
    #[error("{what}: {error}")]
    File { what: String, error: std::io::Error },
    #[error(transparent)]
    Key(#[from] SignatureError),
    #[error("{0}: the file is not the one that was signed, or was signed with another key: do not believe it")]
    NotSigned(String),
    /// The plugin, or this machine.
    #[error("{0}")]
    Failed(String),
}

impl CheckError {
    pub fn exit(&self) -> Exit {
        match self {
            CheckError::Usage(_) => Exit::Usage,
            CheckError::File { .. } | CheckError::Key(_) | CheckError::NotSigned(_) | CheckError::Failed(_) => {
                Exit::Broken
            }
        }
    }

    /// An error of a file by its name.
    pub fn of_file(path: &std::path::Path) -> impl FnOnce(std::io::Error) -> CheckError {
        let what = path.display().to_string();
        move |error| CheckError::File { what, error }
    }
}

pub type Done = Result<Exit, CheckError>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_broken_counts_before_what_was_not_checked() {
        assert_eq!(Exit::Unavailable.or(Exit::Broken), Exit::Broken);
        assert_eq!(Exit::Good.or(Exit::Unavailable), Exit::Unavailable);
        assert_eq!(Exit::Good.or(Exit::Good), Exit::Good);
    }
}
