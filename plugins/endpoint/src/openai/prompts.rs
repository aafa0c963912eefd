//! What is asked: words in an order left to chance, others in each request and in each run. A prompt that the server has seen before would be read out of a
//! cache. Only what prompts are asked to share is the same, and that in no two sessions.

use fastrand::Rng;
use skillbench_load::sizes::Parts;

/// Short words that most tokenizers have as one token each.
const WORDS: [&str; 32] = [
    "and", "the", "for", "with", "from", "that", "this", "when", "time", "house", "water", "light", "road", "tree",
    "stone", "hand", "river", "field", "night", "day", "world", "place", "work", "part", "name", "line", "point",
    "end", "form", "side", "state", "year",
];

pub struct Prompts {
    rng: Rng,
    /// What the words of shared parts are made from.
    secret: u64,
}

impl Prompts {
    /// The words of a run and of no other: no seed of the user's gives them again.
    pub fn new() -> Prompts {
        let mut rng = Rng::new();
        let secret = rng.u64(..);
        Prompts { rng, secret }
    }

    /// The next of a session, of so many words. Those of its parts come first, and are the same in each prompt of the session that has the part.
    pub fn draw(&mut self, session: u64, words: usize, parts: Parts<'_>) -> String {
        let mut prompt = Vec::with_capacity(words);
        for name in parts.names {
            let of_session = self.secret.wrapping_add(session.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            let mut rng = Rng::with_seed(of_session ^ name.wrapping_mul(0xd1b5_4a32_d192_ed03));
            let left = parts.tokens.min(words - prompt.len());
            prompt.extend((0..left).map(|_| word(&mut rng)));
        }
        let own = words - prompt.len();
        prompt.extend((0..own).map(|_| word(&mut self.rng)));
        prompt.join(" ")
    }
}

fn word(rng: &mut Rng) -> &'static str {
    WORDS[rng.usize(..WORDS.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_are_as_long_as_asked_and_no_two_are_alike() {
        let (mut one, mut other) = (Prompts::new(), Prompts::new());
        let all: std::collections::BTreeSet<String> =
            (0..100).flat_map(|_| [&mut one, &mut other].map(|prompts| prompts.draw(1, 16, Parts::NONE))).collect();
        assert_eq!(all.len(), 200);
        assert!(all.iter().all(|prompt| prompt.split(' ').count() == 16));
    }

    #[test]
    fn prompts_share_the_parts_of_their_session_and_nothing_else() {
        let mut prompts = Prompts::new();
        let mut draw = |session: u64, names: &[u64]| {
            let prompt = prompts.draw(session, 40, Parts { names, tokens: 16 });
            prompt.split(' ').map(String::from).collect::<Vec<_>>()
        };
        let [one, other] = [draw(1, &[7, 8]), draw(1, &[7, 8])];
        assert_eq!((one.len(), &one[..32]), (40, &other[..32]));
        assert_ne!(one[32..], other[32..], "what is in no part is each prompt's own");
        let branches = draw(1, &[7, 9, 10]);
        assert_eq!((branches.len(), &one[..16]), (40, &branches[..16]));
        assert_ne!(one[16..32], branches[16..32]);
        assert_eq!(branches[32..], draw(1, &[10])[..8], "the end of a prompt cuts its last part");
        assert_ne!(one[..16], draw(2, &[7])[..16], "another session has others");
    }
}
