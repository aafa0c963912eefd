//! The browser's end of DevTools: descriptors 3 and 4, as `--remote-debugging-pipe` wants them, and no port that another
//! program of the machine could connect to.
//!
//! Both are one socket without a name. A browser whose pipe ends, since its worker has, closes by itself.

use std::io;
use std::process::{Command, Stdio};
use std::time::Duration;

#[cfg(unix)]
pub(crate) type Pipe = std::os::unix::net::UnixStream;
#[cfg(not(unix))]
pub(crate) type Pipe = std::net::TcpStream;

/// Moves the standard input to where a browser looks for its pipe, and becomes the browser.
const SCRIPT: &str = r#"exec "$@" 3<&0 4>&0 </dev/null"#;

/// A command that starts a program with the other end of the pipe. The pipe ends with the program once the command is dropped.
///
/// # Errors
/// What the system says, where it has no sockets to give or no such thing as descriptors that are inherited.
pub(crate) fn through_pipe(program: &std::path::Path) -> io::Result<(Command, Pipe)> {
    #[cfg(not(unix))]
    return Err(io::Error::new(io::ErrorKind::Unsupported, "a browser's pipe is not supported on this system yet"));
    #[cfg(unix)]
    {
        let (ours, theirs) = Pipe::pair()?;
        let mut command = Command::new("sh");
        command.args(["-c", SCRIPT, "sh"]).arg(program);
        command.stdin(Stdio::from(std::os::fd::OwnedFd::from(theirs)));
        Ok((command, ours))
    }
}

/// How long reads and writes may take.
pub(crate) fn limit(pipe: &Pipe, limit: Duration) -> io::Result<()> {
    pipe.set_read_timeout(Some(limit))?;
    pipe.set_write_timeout(Some(limit))
}
