//! The protobuf wire format: a message is a row of numbered fields, each a number or a stretch of bytes.

use skillbench_plugin_api::{Error, Result, Why};

#[derive(Clone, Copy)]
pub enum Value<'a> {
    Number(u64),
    Fixed32(u32),
    Bytes(&'a [u8]),
}

#[derive(Clone, Copy)]
pub struct Field<'a> {
    pub number: u64,
    value: Value<'a>,
}

impl<'a> Field<'a> {
    pub fn bytes(&self) -> Result<&'a [u8]> {
        match self.value {
            Value::Bytes(bytes) => Ok(bytes),
            _ => Err(broken()),
        }
    }

    pub fn text(&self) -> Result<&'a str> {
        std::str::from_utf8(self.bytes()?).map_err(|_| broken())
    }

    pub fn message(&self) -> Result<Message<'a>> {
        self.bytes().map(Message)
    }

    pub fn number(&self) -> Result<i64> {
        match self.value {
            Value::Number(number) => Ok(number as i64),
            _ => Err(broken()),
        }
    }

    pub fn float(&self) -> Result<f32> {
        match self.value {
            Value::Fixed32(bits) => Ok(f32::from_bits(bits)),
            _ => Err(broken()),
        }
    }

    /// A repeated number: one field for each, or all packed into one.
    pub fn numbers(&self) -> Result<Vec<i64>> {
        let Value::Bytes(mut packed) = self.value else { return Ok(vec![self.number()?]) };
        let mut numbers = Vec::new();
        while !packed.is_empty() {
            numbers.push(varint(&mut packed)? as i64);
        }
        Ok(numbers)
    }
}

/// Iterates over the fields of a message. A broken one ends it with an error.
#[derive(Clone, Copy)]
pub struct Message<'a>(pub &'a [u8]);

impl<'a> Iterator for Message<'a> {
    type Item = Result<Field<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let field = field(&mut self.0);
        if field.is_err() {
            self.0 = &[];
        }
        Some(field)
    }
}

fn field<'a>(rest: &mut &'a [u8]) -> Result<Field<'a>> {
    let key = varint(rest)?;
    let value = match key & 7 {
        0 => Value::Number(varint(rest)?),
        1 => Value::Number(u64::from_le_bytes(array(rest)?)),
        2 => {
            let length = usize::try_from(varint(rest)?).map_err(|_| broken())?;
            Value::Bytes(take(rest, length)?)
        }
        5 => Value::Fixed32(u32::from_le_bytes(array(rest)?)),
        _ => return Err(broken()),
    };
    Ok(Field { number: key >> 3, value })
}

fn varint(rest: &mut &[u8]) -> Result<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let [byte] = array(rest)?;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(number);
        }
    }
    Err(broken())
}

fn array<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N]> {
    take(rest, N)?.try_into().map_err(|_| broken())
}

fn take<'a>(rest: &mut &'a [u8], length: usize) -> Result<&'a [u8]> {
    let (taken, left) = rest.split_at_checked(length).ok_or_else(broken)?;
    *rest = left;
    Ok(taken)
}

/// What is said of every file that is damaged.
pub fn broken() -> Error {
    Error::invalid("it is no complete ONNX file").because(Why::MODEL)
}
