//! What is asked: words in an order left to chance, others in each request. A prompt that the server has seen before would be read out of a cache.

use fastrand::Rng;

/// Short words that most tokenizers have as one token each.
const WORDS: [&str; 32] = [
    "and", "the", "for", "with", "from", "that", "this", "when", "time", "house", "water", "light", "road", "tree",
    "stone", "hand", "river", "field", "night", "day", "world", "place", "work", "part", "name", "line", "point",
    "end", "form", "side", "state", "year",
];

pub struct Prompts {
    rng: Rng,
}

impl Prompts {
    /// `worker`: each has prompts of its own.
    pub fn new(seed: u64, worker: u64) -> Prompts {
        Prompts { rng: Rng::with_seed(seed ^ (worker + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)) }
    }

    /// The next, of so many words.
    pub fn draw(&mut self, words: usize) -> String {
        let word = |_| WORDS[self.rng.usize(..WORDS.len())];
        (0..words).map(word).collect::<Vec<&str>>().join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_are_as_long_as_asked_and_no_two_are_alike() {
        let (mut one, mut other) = (Prompts::new(1, 0), Prompts::new(1, 1));
        let all: std::collections::BTreeSet<String> = (0..100).flat_map(|_| [one.draw(16), other.draw(16)]).collect();
        assert_eq!(all.len(), 200);
        assert!(all.iter().all(|prompt| prompt.split(' ').count() == 16));
        assert_eq!(Prompts::new(1, 0).draw(8), Prompts::new(1, 0).draw(8));
    }
}
