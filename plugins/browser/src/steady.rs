//! A stream that goes on where it was when its process is stopped and continued.
//!
//! A socket with a time limit answers "interrupted" to a reader that was stopped (a suspended machine, a frozen container, a
//! debugger, Ctrl-Z), even where the program handles no signal at all. Nothing is lost then, and the read is asked for again.

use std::io::{ErrorKind, Read, Result, Write};

pub(crate) struct Steady<S>(pub S);

fn again<T>(mut work: impl FnMut() -> Result<T>) -> Result<T> {
    loop {
        match work() {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

impl<S: Read> Read for Steady<S> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        again(|| self.0.read(buffer))
    }
}

impl<S: Write> Write for Steady<S> {
    fn write(&mut self, buffer: &[u8]) -> Result<usize> {
        again(|| self.0.write(buffer))
    }

    fn flush(&mut self) -> Result<()> {
        again(|| self.0.flush())
    }
}

#[cfg(test)]
mod tests {
    use super::Steady;
    use std::io::{Error, ErrorKind, Read, Result};

    /// A reader that is interrupted once.
    struct Stopped(bool);

    impl Read for Stopped {
        fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
            if !std::mem::replace(&mut self.0, true) {
                return Err(Error::from(ErrorKind::Interrupted));
            }
            buffer[0] = 7;
            Ok(1)
        }
    }

    #[test]
    fn an_interrupted_read_is_asked_for_again() {
        let mut byte = [0];
        assert_eq!(Steady(Stopped(false)).read(&mut byte).unwrap(), 1);
        assert_eq!(byte, [7]);
    }
}
