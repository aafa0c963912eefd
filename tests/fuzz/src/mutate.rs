//! Other bytes from those that are there: flipped, cut, doubled, spliced, with words of the corpus and numbers at their ends. The
//! same seed makes the same cases.

use std::collections::BTreeSet;

/// No case is longer, but for the few that repeat one piece to show what depth or a square does.
const LONGEST: usize = 64 << 10;
const LONGEST_OF_ALL: usize = 1 << 20;

/// What formats give a meaning to, and what has ended parsers.
const WORDS: [&[u8]; 46] = [
    b"{",
    b"}",
    b"[",
    b"]",
    b"\"",
    b"'",
    b",",
    b":",
    b"=",
    b"#",
    b"\n",
    b"\r\n",
    b"\\",
    b"\\u0000",
    b"\\ud800",
    b"\0",
    b"null",
    b"true",
    b"false",
    b"-",
    b".",
    b"..",
    b"../",
    b"/",
    b"//",
    b"/*",
    b"*/",
    b"--",
    b";",
    b"(",
    b")",
    b"[[",
    b"]]",
    b"$ref",
    b"/etc/passwd",
    b"file:///etc/passwd",
    b"C:\\",
    b"~/",
    b"\x1b[2J",
    b"\xef\xbb\xbf",
    b"\xff",
    b"\xc3\x28",
    b"\xf0\x9f\x92\xa9",
    b"\xe2\x80\xae",
    b"%s%n",
    b"=cmd|' /C calc'!A0",
];

/// Numbers as text that lie at the ends of what types hold.
const NUMBERS: [&str; 20] = [
    "0",
    "-1",
    "1",
    "-0",
    "255",
    "256",
    "65536",
    "2147483647",
    "2147483648",
    "-2147483649",
    "4294967296",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775809",
    "18446744073709551616",
    "1e308",
    "1e999",
    "1e-400",
    "NaN",
];

/// The same as protobuf and other binary formats write them.
const BINARY: [&[u8]; 9] = [
    b"\x00",
    b"\x7f",
    b"\x80\x01",
    b"\xff\xff\xff\xff\x07",
    b"\xff\xff\xff\xff\x0f",
    b"\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
    b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
    b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
    b"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01",
];

pub(crate) struct Mutator {
    state: u64,
    words: Vec<Vec<u8>>,
}

impl Mutator {
    pub fn new(seed: u64, corpus: &[Vec<u8>]) -> Mutator {
        let is_inner = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let all = corpus.iter().flat_map(|bytes| bytes.split(|byte| !is_inner(byte)));
        let own: BTreeSet<&[u8]> = all.filter(|word| (2..40).contains(&word.len())).collect();
        let words = WORDS.into_iter().chain(own).map(<[u8]>::to_vec).collect();
        Mutator { state: seed, words }
    }

    /// A random number (splitmix64).
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A random number below this one; 0 below 0.
    pub fn below(&mut self, end: usize) -> usize {
        if end == 0 { 0 } else { (self.next() % end as u64) as usize }
    }

    fn one_in(&mut self, many: usize) -> bool {
        self.below(many) == 0
    }

    /// A new case, half of the time from one of the first `by_hand`: what was made from others holds less and less.
    pub fn make(&mut self, pool: &[Vec<u8>], by_hand: usize) -> Vec<u8> {
        let end = if self.one_in(2) { by_hand } else { pool.len() };
        let from = self.below(end);
        let mut bytes = pool.get(from).cloned().unwrap_or_default();
        loop {
            self.change(&mut bytes, pool);
            if bytes.len() > LONGEST {
                bytes.truncate(LONGEST);
            }
            if self.one_in(3) {
                break;
            }
        }
        if self.one_in(500) {
            self.repeat(&mut bytes);
        }
        bytes
    }

    fn change(&mut self, bytes: &mut Vec<u8>, pool: &[Vec<u8>]) {
        let at = self.below(bytes.len() + 1);
        match self.below(12) {
            0 | 1 if at < bytes.len() => bytes[at] ^= 1 << self.below(8),
            2 if at < bytes.len() => bytes[at] = self.next() as u8,
            3 => {
                let end = (at + 1 + self.below(16)).min(bytes.len());
                bytes.drain(at..end);
            }
            4 => bytes.truncate(at),
            5 => {
                let word = self.word();
                bytes.splice(at..at, word);
            }
            6 => {
                let word = self.word();
                let end = (at + word.len()).min(bytes.len());
                bytes.splice(at..end, word);
            }
            7 => {
                let number = BINARY[self.below(BINARY.len())];
                let end = if self.one_in(2) { at } else { (at + 1).min(bytes.len()) };
                bytes.splice(at..end, number.iter().copied());
            }
            8 => self.number(bytes, at),
            9 => {
                let end = (at + 1 + self.below(64)).min(bytes.len());
                let piece = bytes[at..end].to_vec();
                let to = self.below(bytes.len() + 1);
                bytes.splice(to..to, piece);
            }
            10 => {
                let other = &pool[self.below(pool.len())];
                let from = self.below(other.len() + 1);
                bytes.truncate(at);
                bytes.extend(&other[from..]);
            }
            _ => self.line(bytes, at),
        }
    }

    fn word(&mut self) -> Vec<u8> {
        let place = self.below(self.words.len());
        self.words[place].clone()
    }

    /// Puts another number in the place of one that is written in digits.
    fn number(&mut self, bytes: &mut Vec<u8>, at: usize) {
        let Some(start) = bytes[at..].iter().position(u8::is_ascii_digit).map(|more| at + more) else { return };
        let length = bytes[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let number = NUMBERS[self.below(NUMBERS.len())];
        bytes.splice(start..start + length, number.bytes());
    }

    /// Doubles a line, or takes it away.
    fn line(&mut self, bytes: &mut Vec<u8>, at: usize) {
        let start = bytes[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |place| place + 1);
        let end = bytes[at..].iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |place| at + place + 1);
        let line = if self.one_in(2) { vec![] } else { bytes[start..end].to_vec() };
        bytes.splice(if line.is_empty() { start..end } else { end..end }, line);
    }

    /// Repeats a short piece very often.
    fn repeat(&mut self, bytes: &mut Vec<u8>) {
        let at = self.below(bytes.len() + 1);
        let end = (at + 1 + self.below(12)).min(bytes.len());
        let piece = if self.one_in(2) { self.word() } else { bytes[at..end].to_vec() };
        let room = LONGEST_OF_ALL >> self.below(8);
        let times = room / piece.len().max(1);
        bytes.splice(at..at, piece.repeat(times));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_makes_the_same_cases_and_another_seed_makes_others() {
        let pool = vec![br#"{"id": "it", "axes": {"batch": [1, 64]}}"#.to_vec(), b"version = 1\nid = 'a'\n".to_vec()];
        let made = |seed| {
            let mut mutator = Mutator::new(seed, &pool);
            (0..2000).map(|_| mutator.make(&pool, 2)).collect::<Vec<_>>()
        };
        let (once, again, other) = (made(1), made(1), made(2));
        assert!(once == again && once != other);
        let different: BTreeSet<&Vec<u8>> = once.iter().collect();
        assert!(different.len() > 1500, "{}", different.len());
        assert!(once.iter().all(|case| case.len() <= LONGEST + LONGEST_OF_ALL));
        assert!(once.iter().any(|case| case.len() > 4096), "some show depth");
    }

    #[test]
    fn nothing_becomes_something() {
        let mut mutator = Mutator::new(1, &[]);
        let pool = vec![vec![]];
        assert!((0..100).any(|_| !mutator.make(&pool, 1).is_empty()));
    }
}
