//! What is asked: words in an order left to chance, others in each request and in each run. A prompt that the server has seen before would be read out of a cache.

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
    /// The words of a run and of no other: no seed of the user's gives them again.
    pub fn new() -> Prompts {
        Prompts { rng: Rng::new() }
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
        let (mut one, mut other) = (Prompts::new(), Prompts::new());
        let all: std::collections::BTreeSet<String> = (0..100).flat_map(|_| [one.draw(16), other.draw(16)]).collect();
        assert_eq!(all.len(), 200);
        assert!(all.iter().all(|prompt| prompt.split(' ').count() == 16));
    }
}
