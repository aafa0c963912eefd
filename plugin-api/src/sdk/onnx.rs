//! Reading an ONNX file: the fields of its protobuf messages, its ports, and the operators that an engine lacks.
//!
//! It is for engines that read the graph themselves. Nothing is copied: texts and weights are used where they lie in
//! the file. Nothing in a file is believed either: what reaches beyond its message is an error, and no length is
//! allocated before it is known to be there. Numbers of fields are those of `onnx.proto3` of the ONNX project. Not
//! here: what an operator computes, and writing.

use crate::{DType, Error, Port, Result, Why};

/// One field of a protobuf message: its number, and what it holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Field<'f> {
    /// Its number in the message; 0, which no field has, where there is none.
    pub number: u64,
    /// An integer; 0 where the field holds bytes.
    pub value: u64,
    /// A text, a message within the message, or numbers: four or eight bytes for one, any count for a packed row. Empty
    /// for an integer.
    pub bytes: &'f [u8],
    is_row: bool,
}

impl<'f> Field<'f> {
    /// Its bytes as a text.
    ///
    /// # Errors
    /// `InvalidArgument`, because of the model, where they are not UTF-8.
    pub fn text(&self) -> Result<&'f str> {
        std::str::from_utf8(self.bytes).map_err(|_| broken())
    }
}

fn broken() -> Error {
    Error::invalid("it is no complete ONNX file").because(Why::MODEL)
}

/// Takes one integer off the front, in protobuf's form of seven bits a byte, the low ones first. Of a packed row of
/// integers it takes the next one; a negative one is its 64 bits.
///
/// # Errors
/// `InvalidArgument`, because of the model, where the bytes end within it, or where it goes on after ten.
pub fn varint(rest: &mut &[u8]) -> Result<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (first, after) = rest.split_first().ok_or_else(broken)?;
        *rest = after;
        number |= u64::from(first & 0x7F) << shift;
        if *first < 0x80 {
            return Ok(number);
        }
    }
    Err(broken())
}

/// The fields of this number, in the order of the message. The whole message is walked, so that damage behind them is
/// found, too.
///
/// # Errors
/// `InvalidArgument`, because of the model, where a field reaches beyond the message, or is of a kind that ONNX does
/// not have.
pub fn all(mut message: &[u8], number: u64) -> Result<Vec<Field<'_>>> {
    let mut found = vec![];
    while !message.is_empty() {
        let key = varint(&mut message)?;
        let mut field = Field { number: key >> 3, is_row: key & 7 == 2, ..Field::default() };
        let length = match key & 7 {
            0 => {
                field.value = varint(&mut message)?;
                0
            }
            1 => 8,
            2 => varint(&mut message)?,
            5 => 4,
            _ => return Err(broken()),
        };
        let length = usize::try_from(length).map_err(|_| broken())?;
        (field.bytes, message) = message.split_at_checked(length).ok_or_else(broken)?;
        if field.number == number {
            found.push(field);
        }
    }
    Ok(found)
}

/// The last field of this number, which is the one that counts; where there is none, an empty one of the number 0.
///
/// # Errors
/// As for [`all`].
pub fn get(message: &[u8], number: u64) -> Result<Field<'_>> {
    Ok(all(message, number)?.pop().unwrap_or_default())
}

/// The text of the last field of this number; "" where there is none.
///
/// # Errors
/// As for [`all`], and for [`Field::text`].
pub fn text(message: &[u8], number: u64) -> Result<&str> {
    get(message, number)?.text()
}

/// The integers of a repeated field, such as the dimensions of a TensorProto, whether each is a field or a field packs
/// a row of them.
///
/// # Errors
/// As for [`all`], where a row ends within an integer, and where a field holds four or eight bytes.
pub fn integers(message: &[u8], number: u64) -> Result<Vec<i64>> {
    let mut found = vec![];
    for mut field in all(message, number)? {
        if field.is_row {
            while !field.bytes.is_empty() {
                found.push(varint(&mut field.bytes)? as i64);
            }
        } else if field.bytes.is_empty() {
            found.push(field.value as i64);
        } else {
            return Err(broken());
        }
    }
    Ok(found)
}

/// The port that a ValueInfoProto tells of: its name, its type, and for each dimension a length and a name. A length
/// that is left out or negative is `None`, known when a run begins; a name that is left out is `None`. A type that is
/// left out counts as float32, since some files do not tell the type of an output.
///
/// ValueInfoProto: name (1), type (2); in that tensor_type (1); in that elem_type (1) and shape (2); in that dim (1);
/// in that dim_value (1) or dim_param (2).
///
/// # Errors
/// As for [`text`], and `Unimplemented`, because of the model, for a type that the contract does not have, such as
/// text.
pub fn port(info: &[u8]) -> Result<Port> {
    let name = text(info, 1)?;
    let tensor = get(get(info, 2)?.bytes, 1)?.bytes;
    let kind = get(tensor, 1)?.value;
    let dtype = dtype(kind).ok_or_else(|| {
        Error::unimplemented(
            Why::MODEL,
            format!("'{name}' holds values of ONNX's type {kind}, which no plugin can carry"),
        )
    })?;
    let (mut shape, mut dim_names) = (vec![], vec![]);
    for dim in all(get(tensor, 2)?.bytes, 1)? {
        let length = get(dim.bytes, 1)?;
        shape.push(usize::try_from(length.value as i64).ok().filter(|_| length.number != 0));
        dim_names.push(Some(text(dim.bytes, 2)?.to_string()).filter(|name| !name.is_empty()));
    }
    Ok(Port { name: name.into(), dtype, shape, dim_names })
}

/// TensorProto.DataType.
fn dtype(kind: u64) -> Option<DType> {
    Some(match kind {
        0 | 1 => DType::F32,
        2 => DType::U8,
        3 => DType::I8,
        4 => DType::U16,
        5 => DType::I16,
        6 => DType::I32,
        7 => DType::I64,
        9 => DType::Bool,
        10 => DType::F16,
        11 => DType::F64,
        12 => DType::U32,
        13 => DType::U64,
        16 => DType::BF16,
        _ => return None,
    })
}

/// Refuses a GraphProto with operators that are not among `known`, and names ALL of them, each once, in the order of
/// the graph: whoever has to add them wants to learn it in one go. An operator of ONNX itself goes by its type,
/// "MatMul", any other by domain and type, "com.microsoft.Gelu", in `known` as well as in the message. Graphs within
/// nodes, as If and Loop have them, are not looked into.
///
/// GraphProto: node (1). NodeProto: op_type (4), domain (7).
///
/// # Errors
/// As for [`text`], and `Unimplemented`, because of the model, where operators are missing.
pub fn check_operators(graph: &[u8], known: &[&str]) -> Result<()> {
    let mut missing: Vec<String> = vec![];
    for node in all(graph, 1)? {
        let (name, domain) = (text(node.bytes, 4)?, text(node.bytes, 7)?);
        let full = if matches!(domain, "" | "ai.onnx") { name.to_string() } else { format!("{domain}.{name}") };
        if !known.contains(&full.as_str()) && !missing.contains(&full) {
            missing.push(full);
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    let (missing, has) = (missing.join(", "), known.join(", "));
    Err(Error::unimplemented(Why::MODEL, format!("operators that this engine lacks: {missing}; it has {has}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Code;

    /// A field of bytes, none of which is longer than a length of one byte can tell.
    fn bytes(number: u8, value: impl AsRef<[u8]>) -> Vec<u8> {
        let value = value.as_ref();
        assert!(number < 16 && value.len() < 128, "a key and a length of one byte each");
        [&[number << 3 | 2, value.len() as u8], value].concat()
    }

    fn node(operator: &str, domain: &str) -> Vec<u8> {
        bytes(1, [bytes(1, "x"), bytes(2, "y"), bytes(4, operator), bytes(7, domain)].concat())
    }

    fn info(kind: u8) -> Vec<u8> {
        let negative = [&[0x08][..], &[0xFF; 9], &[1]].concat();
        let dims = [bytes(1, bytes(2, "batch")), bytes(1, [0x08, 5]), bytes(1, []), bytes(1, negative)].concat();
        let tensor = [vec![0x08, kind], bytes(2, dims)].concat();
        [bytes(1, "x"), bytes(2, bytes(1, tensor))].concat()
    }

    #[track_caller]
    fn assert_broken<T: std::fmt::Debug>(read: Result<T>) {
        let error = read.unwrap_err();
        assert_eq!((error.code, error.why), (Code::InvalidArgument, Why::MODEL), "{error:?}");
    }

    #[test]
    fn fields_are_told_in_order_and_the_last_one_counts() {
        let message = [bytes(1, "a"), vec![0x10, 0xAC, 0x02], bytes(1, "b"), vec![0x1D, 0, 0, 0x80, 0x3F]].concat();
        let texts: Vec<&[u8]> = all(&message, 1).unwrap().iter().map(|field| field.bytes).collect();
        assert_eq!(texts, [b"a", b"b"]);
        assert_eq!(text(&message, 1).unwrap(), "b");
        assert_eq!(get(&message, 2).unwrap().value, 300);
        assert_eq!(get(&message, 3).unwrap().bytes, 1f32.to_le_bytes());
        assert_eq!(get(&message, 4).unwrap(), Field::default());
        assert_eq!(text(&message, 4).unwrap(), "");
    }

    #[test]
    fn a_length_that_reaches_beyond_its_message_is_refused() {
        assert_broken(all(&[0x0A, 2, b'a'], 1));
        assert_broken(all(&[0x0A, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1], 1));
        assert_broken(all(&[0x0D, 0, 0, 0], 1)); // four bytes
        assert_broken(all(&[0x09, 0, 0, 0, 0, 0, 0, 0], 1)); // eight
        assert_broken(all(&[0x08, 0x80], 1)); // an integer that goes on
        assert_broken(all(&[0x80], 1));
        assert_broken(varint(&mut &[0x80; 11][..]));
        for group in [3, 4, 6, 7] {
            assert_broken(all(&[1 << 3 | group, 0], 1));
        }
        // Damage counts behind the field that is looked for, and in fields of other numbers.
        assert_broken(get(&[bytes(1, "a"), vec![0x12, 1]].concat(), 1));
        assert_broken(text(&bytes(1, [0xFF]), 1));
    }

    #[test]
    fn integers_are_read_one_by_one_and_from_packed_rows() {
        assert_eq!(integers(&[0x08, 2, 0x08, 0xAC, 0x02], 1).unwrap(), [2, 300]);
        assert_eq!(integers(&bytes(1, [2, 0xAC, 0x02]), 1).unwrap(), [2, 300]);
        assert_eq!(integers(&[bytes(1, [2, 3]), vec![0x08, 0, 0x10, 9], bytes(1, [])].concat(), 1).unwrap(), [2, 3, 0]);
        assert_eq!(integers(&[&[0x08][..], &[0xFF; 9], &[1]].concat(), 1).unwrap(), [-1]);
        assert_broken(integers(&bytes(1, [2, 0xAC]), 1));
        assert_broken(integers(&[0x0D, 1, 0, 0, 0], 1));
    }

    #[test]
    fn a_port_has_lengths_and_names_of_its_dimensions() {
        let read = port(&info(7)).unwrap();
        assert_eq!((read.name.as_str(), read.dtype), ("x", DType::I64));
        assert_eq!(read.shape, [None, Some(5), None, None]);
        assert_eq!(read.dim_names, [Some("batch".to_string()), None, None, None]);
        assert_eq!(port(&bytes(1, "y")).unwrap().dtype, DType::F32);

        let error = port(&info(8)).unwrap_err(); // text
        assert_eq!((error.code, error.why), (Code::Unimplemented, Why::MODEL));
        assert!(error.message.contains("'x'"), "{error:?}");
    }

    #[test]
    fn all_missing_operators_are_named_once() {
        let nodes = [("Erf", ""), ("Relu", ""), ("Erf", "ai.onnx"), ("Relu", "acme"), ("Tanh", ""), ("Relu", "acme")];
        let graph = nodes.map(|(operator, domain)| node(operator, domain)).concat();
        let error = check_operators(&graph, &["MatMul", "Relu"]).unwrap_err();
        assert_eq!((error.code, error.why), (Code::Unimplemented, Why::MODEL));
        assert_eq!(error.message, "operators that this engine lacks: Erf, acme.Relu, Tanh; it has MatMul, Relu");
        assert_eq!(check_operators(&graph, &["Erf", "Relu", "Tanh", "acme.Relu"]), Ok(()));
        assert_broken(check_operators(&graph[..graph.len() - 1], &["MatMul"]));
    }

    #[test]
    fn no_prefix_and_no_changed_byte_is_more_than_an_error() {
        let whole = [node("Relu", "acme"), bytes(5, bytes(1, [2, 3])), bytes(11, info(1)), bytes(12, info(1))].concat();
        let read = |file: &[u8]| -> Result<()> {
            check_operators(file, &["acme.Relu"])?;
            for tensor in all(file, 5)? {
                integers(tensor.bytes, 1)?;
            }
            all(file, 11)?.iter().chain(&all(file, 12)?).try_for_each(|info| port(info.bytes).map(drop))
        };
        assert_eq!(read(&whole), Ok(()));
        let ends: Vec<usize> = (0..whole.len()).filter(|end| read(&whole[..*end]).is_ok()).collect();
        assert_eq!(ends.len(), 4, "only where a field of the graph ends: {ends:?}");
        for at in 0..whole.len() {
            for changed in 0..=u8::MAX {
                let mut file = whole.clone();
                file[at] = changed;
                let _ = read(&file);
            }
        }
    }
}
