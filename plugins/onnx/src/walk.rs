//! A protobuf message field by field, from a file or from memory, in which what nobody asks for is skipped, not read. For
//! messages that are in memory and small, [`fields`](crate::fields) is simpler.

use crate::Broken;
use std::io::{BufRead, ErrorKind, Read, Seek, SeekFrom};

pub(crate) struct Walk<R> {
    source: R,
    at: u64,
    length: u64,
}

/// What a field holds; bytes are not read yet.
pub(crate) enum Value {
    Number(u64),
    /// A message, a text or bytes, up to this place in the file.
    Bytes(u64),
    Fixed,
}

impl<R: BufRead + Seek> Walk<R> {
    pub fn new(mut source: R) -> Result<Walk<R>, Broken> {
        let length = source.seek(SeekFrom::End(0)).and_then(|length| source.rewind().map(|()| length));
        Ok(Walk { source, at: 0, length: length.map_err(unreadable)? })
    }

    pub fn length(&self) -> u64 {
        self.length
    }

    pub fn is_at(&self, end: u64) -> bool {
        self.at >= end
    }

    /// Where reading goes on.
    pub fn place(&self) -> u64 {
        self.at
    }

    /// The fields from here to the end of a message; `look` is shown each, and need not read it.
    pub fn fields(
        &mut self,
        end: u64,
        mut look: impl FnMut(&mut Self, u64, Value) -> Result<(), Broken>,
    ) -> Result<(), Broken> {
        while let Some((number, value, after)) = self.next(end)? {
            look(self, number, value)?;
            self.skip_to(after)?;
        }
        Ok(())
    }

    /// The next field of a message that ends at `end`: its number, what it holds, and where the one after it begins.
    pub fn next(&mut self, end: u64) -> Result<Option<(u64, Value, u64)>, Broken> {
        if self.at >= end {
            return Ok(None);
        }
        let key = self.number(end)?;
        let (value, after) = match key & 7 {
            0 => (Value::Number(self.number(end)?), self.at),
            1 => (Value::Fixed, self.at + 8),
            5 => (Value::Fixed, self.at + 4),
            2 => {
                let length = self.number(end)?;
                let after = self.at.checked_add(length).ok_or_else(Broken::early)?;
                (Value::Bytes(after), after)
            }
            other => return Err(Broken::wire_type(other)),
        };
        match after <= end {
            true => Ok(Some((key >> 3, value, after))),
            false => Err(Broken::early()),
        }
    }

    pub fn skip_to(&mut self, place: u64) -> Result<(), Broken> {
        let rest = i64::try_from(place - self.at).map_err(|_| Broken::early())?;
        if rest > 0 {
            self.source.seek_relative(rest).map_err(unreadable)?;
            self.at = place;
        }
        Ok(())
    }

    /// A number of variable length.
    pub fn number(&mut self, end: u64) -> Result<u64, Broken> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = match self.at < end {
                true => self.source.fill_buf().map_err(unreadable)?.first().copied(),
                false => None,
            };
            let byte = byte.ok_or_else(Broken::early)?;
            self.source.consume(1);
            self.at += 1;
            value |= u64::from(byte & 0x7F) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Broken::long_number())
    }

    pub fn bytes(&mut self, end: u64) -> Result<Vec<u8>, Broken> {
        let mut bytes = vec![];
        let length = end - self.at;
        self.source.by_ref().take(length).read_to_end(&mut bytes).map_err(unreadable)?;
        self.at = end;
        if bytes.len() as u64 != length { Err(Broken::early()) } else { Ok(bytes) }
    }

    pub fn text(&mut self, end: u64) -> Result<String, Broken> {
        self.bytes(end).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }
}

fn unreadable(error: std::io::Error) -> Broken {
    match error.kind() {
        ErrorKind::UnexpectedEof => Broken::early(),
        _ => Broken::text(format!("it cannot be read: {error}")),
    }
}
