//! Hostile bytes for whatever reads what others wrote. A parser may refuse them; it may not panic, hang, or take the process down.
//!
//! - `corpus`: what every run replays: small files made by hand, and each case that was once found.
//! - `mutate`: other bytes made from them, the same from the same seed.
//! - `case`: one case at a time, with what is held of it.
//!
//! Each crate has its targets in tests of its own, in modules called `fuzz`, where its parsers can be reached. `scripts/fuzz` runs
//! one of them, or all, for as many cases as one likes.

mod case;
mod corpus;
mod mutate;

use case::Cases;
use std::time::Instant;

/// Cases of each target where nobody asks for more.
const FEW: u64 = 2000;
/// Cases that were accepted and are kept to begin from, and the longest of them: long ones hold little and take long.
const KEPT: usize = 512;
const LONGEST_KEPT: usize = 16 << 10;

/// Replays the corpus of a target, and makes cases from it. `read` says whether it accepted the bytes: such are worth going on from.
///
/// `SKILLBENCH_FUZZ_CASES` says how many cases are made, `SKILLBENCH_FUZZ_SEED` which.
///
/// # Panics
/// Where a case is found: its file is named. And where the target has no corpus.
pub fn fuzz(target: &str, read: impl Fn(&[u8]) -> bool) {
    fuzz_few(target, FEW, read);
}

/// As [`fuzz`], with fewer cases where nobody asks for more: for what takes its time.
///
/// # Panics
/// As for [`fuzz`].
pub fn fuzz_few(target: &str, few: u64, read: impl Fn(&[u8]) -> bool) {
    let asked = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (count, seed) = (asked("SKILLBENCH_FUZZ_CASES").unwrap_or(few), asked("SKILLBENCH_FUZZ_SEED").unwrap_or(1));
    let corpus = corpus::of(target);
    let mut cases = Cases::new(target, &read);
    let began = Instant::now();
    let mut accepted = corpus.iter().filter(|bytes| cases.run(bytes)).count() as u64;
    let mut mutator = mutate::Mutator::new(seed, &corpus);
    let mut pool = corpus;
    let first = pool.len();
    for _ in 0..count {
        let bytes = mutator.make(&pool, first);
        if cases.run(&bytes) {
            accepted += 1;
            if bytes.len() > LONGEST_KEPT {
                continue;
            }
            // What was made by hand stays.
            match pool.len() < first + KEPT {
                true => pool.push(bytes),
                false => {
                    let place = first + mutator.below(KEPT);
                    pool[place] = bytes;
                }
            }
        }
    }
    let (slowest, memory) = (cases.finish(), case::peak_megabytes());
    eprintln!(
        "{target}: {count} cases and {first} of the corpus, {accepted} accepted, {:.1} s, the slowest {} ms, {memory} MB at most",
        began.elapsed().as_secs_f64(),
        slowest.as_millis()
    );
}
