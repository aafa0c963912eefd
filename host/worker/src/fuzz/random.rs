//! Numbers from a seed (splitmix64), and bytes that are changed with them. The same seed gives the same ones on every machine.

pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x2545_F491_4F6C_DD1D) ^ 0x5851_F42D_4C95_7F2D)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below this one; 0 below 0.
    pub(super) fn below(&mut self, end: usize) -> usize {
        if end == 0 { 0 } else { (self.next() % end as u64) as usize }
    }

    pub(super) fn one_in(&mut self, many: usize) -> bool {
        self.below(many) == 0
    }

    /// One of these; `None` of none.
    pub(super) fn pick<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        all.get(self.below(all.len()))
    }

    /// Changes a few bytes: flips, replaces, cuts, doubles, and numbers at their ends as protobuf writes them.
    pub(super) fn change(&mut self, bytes: &mut Vec<u8>) {
        const NUMBERS: [&[u8]; 5] =
            [b"\0", b"\x7f", b"\x80\x01", b"\xff\xff\xff\xff\x07", b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"];
        for _ in 0..=self.below(4) {
            let at = self.below(bytes.len() + 1);
            match self.below(7) {
                0 | 1 if at < bytes.len() => bytes[at] ^= 1 << self.below(8),
                2 if at < bytes.len() => bytes[at] = self.next() as u8,
                3 => {
                    let end = (at + 1 + self.below(16)).min(bytes.len());
                    bytes.drain(at.min(end)..end);
                }
                4 if self.one_in(4) => bytes.truncate(at),
                5 => {
                    let end = (at + 1 + self.below(64)).min(bytes.len());
                    let piece = bytes[at.min(end)..end].to_vec();
                    let to = self.below(bytes.len() + 1);
                    bytes.splice(to..to, piece);
                }
                _ => {
                    let number = NUMBERS[self.below(NUMBERS.len())];
                    let end = (at + 1).min(bytes.len());
                    bytes.splice(at..end.max(at), number.iter().copied());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_bytes_and_another_seed_others() {
        let made = |seed| {
            let mut random = Random::new(seed);
            let mut bytes = b"a model of some bytes".to_vec();
            random.change(&mut bytes);
            (bytes, random.next())
        };
        assert_eq!(made(7), made(7));
        assert_ne!(made(7), made(8));
        (0..5_000).for_each(|seed| drop(made(seed)));
    }
}
