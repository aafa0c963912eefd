//! A hash that stays the same from version to version and from machine to machine (FNV-1a).

pub(crate) fn of(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
