//! Frames on a worker's channel: a length in four bytes, then that many bytes of JSON. Bounded, so that neither side can be
//! made to allocate without end.

use serde::{Serialize, de::DeserializeOwned};
use std::io::{self, Write};

/// No frame is longer. The largest are the samples of one cell.
const LONGEST: usize = 256 << 20;

/// Writes one message.
///
/// # Errors
/// The channel's, and a message that is too long.
pub fn write_frame(channel: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let body = serde_json::to_vec(message)?;
    if body.len() > LONGEST {
        return Err(io::Error::other(format!("a message of {} bytes, more than {LONGEST}", body.len())));
    }
    let mut frame = (body.len() as u32).to_le_bytes().to_vec();
    frame.extend(body);
    channel.write_all(&frame)?;
    channel.flush()
}

/// Bytes as they arrive, cut into messages.
#[derive(Default)]
pub struct Frames {
    bytes: Vec<u8>,
}

impl Frames {
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The next whole message, if there is one.
    ///
    /// # Errors
    /// A length beyond the bound, a body that is not the message.
    pub fn take<T: DeserializeOwned>(&mut self) -> io::Result<Option<T>> {
        let Some(length) = self.bytes.first_chunk::<4>() else { return Ok(None) };
        let length = u32::from_le_bytes(*length) as usize;
        if length > LONGEST {
            return Err(io::Error::other(format!("a frame of {length} bytes, more than {LONGEST}")));
        }
        if self.bytes.len() < 4 + length {
            return Ok(None);
        }
        let message = serde_json::from_slice(&self.bytes[4..4 + length])?;
        self.bytes.drain(..4 + length);
        Ok(Some(message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_out_as_they_went_in_however_they_are_cut() {
        let mut wire = vec![];
        write_frame(&mut wire, &"one").unwrap();
        write_frame(&mut wire, &vec![1, 2]).unwrap();
        let mut frames = Frames::default();
        let mut found = vec![];
        for byte in wire {
            frames.push(&[byte]);
            while let Some(value) = frames.take::<serde_json::Value>().unwrap() {
                found.push(value.to_string());
            }
        }
        assert_eq!(found, ["\"one\"", "[1,2]"]);
    }

    #[test]
    fn a_length_beyond_the_bound_is_an_error() {
        let mut frames = Frames::default();
        frames.push(&u32::MAX.to_le_bytes());
        assert!(frames.take::<String>().is_err());
    }
}
