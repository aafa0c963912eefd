//! Text across the contract: borrowed C strings in, fixed arrays out.

use std::borrow::Cow;
use std::ffi::{CStr, CString, c_char};

/// Reads a borrowed C string; `None` for a null pointer. Bytes that are not UTF-8 are replaced.
///
/// # Safety
/// `text` is null or points to a string that ends with NUL and lives for `'a`.
pub(crate) unsafe fn borrow<'a>(text: *const c_char) -> Option<Cow<'a, str>> {
    if text.is_null() {
        return None;
    }
    // SAFETY: the caller promises a NUL-terminated string that outlives 'a.
    Some(unsafe { CStr::from_ptr(text) }.to_string_lossy())
}

/// Reads a fixed array up to its NUL or its end.
pub(crate) fn from_array(array: &[c_char]) -> String {
    let bytes: Vec<u8> = array.iter().take_while(|c| **c != 0).map(|c| *c as u8).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Writes into a fixed array, cut at a character boundary, always ended with NUL.
pub(crate) fn to_array<const N: usize>(text: &str) -> [c_char; N] {
    let mut array = [0; N];
    let mut end = text.len().min(N - 1);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    for (slot, byte) in array.iter_mut().zip(text.as_bytes()[..end].iter().filter(|b| **b != 0)) {
        *slot = *byte as c_char;
    }
    array
}

/// A C string of `text`; NUL bytes inside it are dropped, since the contract has no way to carry them.
pub(crate) fn c_string(text: &str) -> CString {
    let bytes: Vec<u8> = text.bytes().filter(|b| *b != 0).collect();
    CString::new(bytes).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_is_too_long_is_cut_at_a_character() {
        let array: [c_char; 4] = to_array("aéé");
        assert_eq!(from_array(&array), "aé");
        let array: [c_char; 3] = to_array("aé");
        assert_eq!(from_array(&array), "a");
    }
}
