//! A protobuf message, field by field.

use std::fmt;

/// Bytes that are no whole message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken(String);

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Broken {}

impl Broken {
    pub(crate) fn text(text: String) -> Broken {
        Broken(text)
    }

    fn message(what: &str) -> Broken {
        Broken(format!("the graph is not a valid protobuf: {what}"))
    }

    pub(crate) fn early() -> Broken {
        Broken::message("it ends too early")
    }

    pub(crate) fn wire_type(number: u64) -> Broken {
        Broken::message(&format!("wire type {number}"))
    }

    pub(crate) fn long_number() -> Broken {
        Broken::message("a number of more than ten bytes")
    }
}

const VARINT: u64 = 0;
const FIXED_64: u64 = 1;
const LENGTH_DELIMITED: u64 = 2;
const FIXED_32: u64 = 5;

/// A field as it stands in its message.
struct Field<'a> {
    number: u64,
    whole: &'a [u8],
    content: Content<'a>,
}

enum Content<'a> {
    Number(u64),
    Bytes(&'a [u8]),
    Fixed,
}

impl<'a> Field<'a> {
    fn take(rest: &mut &'a [u8]) -> Result<Field<'a>, Broken> {
        let start = *rest;
        let key = take_varint(rest)?;
        let content = match key & 7 {
            VARINT => Content::Number(take_varint(rest)?),
            FIXED_64 => take_bytes(rest, 8).map(|_| Content::Fixed)?,
            FIXED_32 => take_bytes(rest, 4).map(|_| Content::Fixed)?,
            LENGTH_DELIMITED => {
                let length = take_varint(rest)?;
                Content::Bytes(take_bytes(rest, length)?)
            }
            other => return Err(Broken::wire_type(other)),
        };
        Ok(Field { number: key >> 3, whole: &start[..start.len() - rest.len()], content })
    }
}

fn take_varint(rest: &mut &[u8]) -> Result<u64, Broken> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = take_bytes(rest, 1)?[0];
        value |= u64::from(byte & 0x7F) << shift;
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err(Broken::long_number())
}

fn take_bytes<'a>(rest: &mut &'a [u8], length: u64) -> Result<&'a [u8], Broken> {
    let split = usize::try_from(length).ok().and_then(|length| rest.split_at_checked(length));
    let (taken, left) = split.ok_or_else(Broken::early)?;
    *rest = left;
    Ok(taken)
}

fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends a field that holds a message, a text or bytes.
pub fn put(out: &mut Vec<u8>, number: u64, content: &[u8]) {
    put_varint(out, number << 3 | LENGTH_DELIMITED);
    put_varint(out, content.len() as u64);
    out.extend_from_slice(content);
}

/// Appends a field that holds a number.
pub fn put_number(out: &mut Vec<u8>, number: u64, value: u64) {
    put_varint(out, number << 3 | VARINT);
    put_varint(out, value);
}

/// The fields of a message until its end, or until the first one that is not whole.
fn fields(message: &[u8]) -> impl Iterator<Item = Field<'_>> {
    let mut rest = message;
    std::iter::from_fn(move || match rest.is_empty() {
        true => None,
        false => Field::take(&mut rest).ok(),
    })
}

/// The messages (or texts) in the fields of one number.
pub fn messages_of(message: &[u8], number: u64) -> impl Iterator<Item = &[u8]> {
    fields(message).filter_map(move |field| match field.content {
        Content::Bytes(bytes) if field.number == number => Some(bytes),
        _ => None,
    })
}

/// The numbers in the fields of one number, packed or not.
pub fn numbers_of(message: &[u8], number: u64) -> impl Iterator<Item = u64> {
    fields(message).filter(move |field| field.number == number).flat_map(|field| match field.content {
        Content::Number(value) => vec![value],
        Content::Bytes(mut packed) => std::iter::from_fn(|| take_varint(&mut packed).ok()).collect(),
        Content::Fixed => vec![],
    })
}

/// A copy of a message in which `change` was asked about every field of a number: it returns what stands in its place, or
/// `None` where it stays.
///
/// # Errors
/// What `change` says, and [`Broken`] for bytes that are no message.
pub fn edit<E: From<Broken>>(
    message: &[u8],
    number: u64,
    mut change: impl FnMut(&[u8]) -> Result<Option<Vec<Vec<u8>>>, E>,
) -> Result<Vec<u8>, E> {
    let mut copy = Vec::with_capacity(message.len());
    let mut rest = message;
    while !rest.is_empty() {
        let field = Field::take(&mut rest)?;
        let new = match field.content {
            Content::Bytes(content) if field.number == number => change(content)?,
            _ => None,
        };
        match new {
            Some(new) => new.iter().for_each(|content| put(&mut copy, number, content)),
            None => copy.extend_from_slice(field.whole),
        }
    }
    Ok(copy)
}

/// A copy of a message without the fields of these numbers.
///
/// # Errors
/// [`Broken`] for bytes that are no message.
pub fn without(message: &[u8], numbers: &[u64]) -> Result<Vec<u8>, Broken> {
    let mut copy = Vec::with_capacity(message.len());
    let mut rest = message;
    while !rest.is_empty() {
        let field = Field::take(&mut rest)?;
        if !numbers.contains(&field.number) {
            copy.extend_from_slice(field.whole);
        }
    }
    Ok(copy)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message() -> Vec<u8> {
        let mut bytes = vec![1 << 3, 200, 1];
        put(&mut bytes, 2, b"one");
        put(&mut bytes, 2, b"two");
        put(&mut bytes, 3, &[1, 2, 0x83, 1]);
        bytes
    }

    #[test]
    fn fields_are_found_by_number_and_numbers_packed_or_not() {
        let bytes = message();
        assert_eq!(messages_of(&bytes, 2).collect::<Vec<_>>(), [b"one", b"two"]);
        assert_eq!(numbers_of(&bytes, 1).collect::<Vec<_>>(), [200]);
        assert_eq!(numbers_of(&bytes, 3).collect::<Vec<_>>(), [1, 2, 131]);
    }

    #[test]
    fn a_field_becomes_several_or_none_and_the_rest_stays() {
        let changed = edit::<Broken>(&message(), 2, |field| {
            Ok((field == b"one").then(|| vec![b"first".to_vec(), b"second".to_vec()]))
        });
        let changed = changed.unwrap();
        assert_eq!(messages_of(&changed, 2).collect::<Vec<_>>(), [&b"first"[..], b"second", b"two"]);
        let same = edit::<Broken>(&message(), 9, |_| Ok(Some(vec![])));
        assert_eq!(same.unwrap(), message());
    }

    #[test]
    fn fields_are_left_out_and_numbers_put_in_their_place() {
        let mut changed = without(&message(), &[1, 2]).unwrap();
        put_number(&mut changed, 1, 300);
        assert_eq!(numbers_of(&changed, 1).collect::<Vec<_>>(), [300]);
        assert_eq!((messages_of(&changed, 2).count(), numbers_of(&changed, 3).count()), (0, 3));
    }

    #[test]
    fn bytes_that_are_cut_short_are_refused() {
        let whole = message();
        let cut = edit::<Broken>(&whole[..whole.len() - 1], 2, |_| Ok(None));
        assert!(cut.unwrap_err().to_string().contains("ends too early"));
        assert_eq!(messages_of(&whole[..whole.len() - 1], 3).count(), 0, "and what is whole is still found");
    }
}
