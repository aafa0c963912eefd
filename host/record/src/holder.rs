//! Who holds a lock, as the holder says itself. What stands in the file is only for people; the lock is the kernel's.

use crate::machine;
use crate::shown::line;
use crate::time::now_utc;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Read, Seek, Write};

/// No holder writes more about itself.
const MOST_READ: u64 = 4096;
const LONGEST_COMMAND: usize = 1000;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    pub pid: u32,
    /// The machine or the container, in which the number of the process means something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    pub command: String,
    pub since: String,
}

impl Holder {
    /// This process, from now on.
    pub fn own() -> Holder {
        let arguments = std::env::args_os().map(|argument| argument.to_string_lossy().into_owned());
        let command = arguments.collect::<Vec<_>>().join(" ").chars().take(LONGEST_COMMAND).collect();
        Holder { pid: std::process::id(), host: machine::hostname(), command, since: now_utc() }
    }

    /// `None`: nobody says so there.
    pub fn read(file: &mut File) -> Option<Holder> {
        let mut text = String::new();
        file.rewind().ok()?;
        file.take(MOST_READ).read_to_string(&mut text).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, file: &mut File) -> io::Result<()> {
        file.set_len(0)?;
        file.rewind()?;
        file.write_all(&serde_json::to_vec(self)?)
    }
}

impl std::fmt::Display for Holder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Another user may have written it.
        write!(f, "process {}", self.pid)?;
        if let Some(host) = &self.host {
            write!(f, " on {}", line(host))?;
        }
        write!(f, " (`{}`, since {})", line(&self.command), line(&self.since))
    }
}

#[cfg(test)]
mod tests {
    use super::Holder;

    #[test]
    fn what_a_holder_says_cannot_steer_a_terminal() {
        let holder = Holder { pid: 7, host: None, command: "a\u{1b}[2Jb\n".into(), since: String::new() };
        assert_eq!(holder.to_string(), "process 7 (`a\\u001b[2Jb`, since )");
        let holder = Holder { host: Some("box\u{7}".into()), ..holder };
        assert_eq!(holder.to_string(), "process 7 on box\\u0007 (`a\\u001b[2Jb`, since )");
    }
}
