//! Requests of several sizes: which each has.

use skillbench_load::board::Shift;
use skillbench_load::trace::Trace;
use skillbench_plugin_api::{Dim, Error, Options, Result};

/// One size of many: what the option `sizes` says.
pub struct Mix {
    /// None, where all requests have the size of the cell.
    axis: Option<String>,
    /// The largest first, each once.
    values: Vec<i64>,
    /// Places in `values`, each as often as it was named.
    picks: Vec<usize>,
    /// Requests are as long as those of a trace were.
    by_length: bool,
    seed: u64,
}

impl Mix {
    /// # Errors
    /// `InvalidArgument` for text that is no axis with values, and for a trace whose requests are larger than the largest size.
    pub fn read(options: &Options, trace: Option<&Trace>, seed: u64) -> Result<Mix> {
        let Some(text) = options.get("sizes") else {
            return Ok(Mix { axis: None, values: vec![0], picks: vec![0], by_length: false, seed });
        };
        let wrong =
            || Error::invalid(format!("option sizes: '{text}' is no axis with its values, such as sequence:32,64,128"));
        let (axis, named) = text.split_once(':').ok_or_else(wrong)?;
        let named: Vec<i64> =
            named.split(',').map(|value| value.parse().map_err(|_| wrong())).collect::<Result<_>>()?;
        let mut values = named.clone();
        values.sort_unstable_by_key(|value| std::cmp::Reverse(*value));
        values.dedup();
        let picks = named.iter().filter_map(|value| values.iter().position(|known| known == value)).collect();
        let longest = trace.and_then(Trace::longest).map(|longest| longest.prompt as i64);
        let largest = values[0];
        match longest {
            Some(longest) if longest > largest => Err(Error::invalid(format!(
                "option trace: its longest request has {longest}, and the largest of the sizes is {largest}: name one that holds it"
            ))),
            _ => Ok(Mix { axis: Some(axis.into()), values, picks, by_length: longest.is_some(), seed }),
        }
    }

    pub fn has_several(&self) -> bool {
        self.values.len() > 1
    }

    /// What a model is loaded for, of each size. The largest comes first, so that the cell has its load time.
    pub fn dims(&self) -> impl Iterator<Item = Vec<Dim>> {
        self.values.iter().map(|value| self.axis.iter().map(|axis| Dim::fixed(axis, *value)).collect())
    }

    /// The place of the size that a request has, in one session of several.
    pub fn of(&self, shift: &Shift<'_>, number: usize) -> usize {
        match shift.lengths(number).filter(|_| self.by_length) {
            Some(lengths) => self.values.iter().rposition(|value| *value >= lengths.prompt as i64).unwrap_or_default(),
            None => self.drawn(shift.session(), number),
        }
    }

    fn drawn(&self, session: u64, number: usize) -> usize {
        let at = scattered(scattered(self.seed ^ session) ^ number as u64);
        self.picks[(at % self.picks.len() as u64) as usize]
    }

    /// Requests after which each size was served as often as it was named.
    pub fn turns(&self) -> u32 {
        self.picks.len() as u32
    }

    /// The size that is served when nobody asked for one.
    pub fn in_turn(&self, turn: usize) -> usize {
        self.picks[turn % self.picks.len()]
    }
}

/// SplitMix64's finisher: numbers that follow one another come out as if they had nothing to do with each other.
fn scattered(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mix(sizes: &str) -> Result<Mix> {
        Mix::read(&Options([("sizes".to_string(), sizes.to_string())].into()), None, 7)
    }

    #[test]
    fn each_size_comes_as_often_as_it_is_named_and_others_in_each_session() {
        let mix = mix("sequence:16,64,16").unwrap();
        assert_eq!((&mix.values[..], &mix.picks[..]), (&[64, 16][..], &[1, 0, 1][..]));
        assert_eq!((0..4).map(|turn| mix.in_turn(turn)).collect::<Vec<_>>(), [1, 0, 1, 1]);
        let dims: Vec<Vec<Dim>> = mix.dims().collect();
        assert_eq!(dims, [vec![Dim::fixed("sequence", 64)], vec![Dim::fixed("sequence", 16)]]);
        for seed in [0, 1, 7, 42] {
            let mix = Mix { seed, ..self::mix("sequence:16,64,16").unwrap() };
            // 1 of a small one less what is likely.
            let drawn = |session: u64| -> Vec<f64> {
                (0..30_000).map(|number| mix.drawn(session, number) as f64 - 2.0 / 3.0).collect()
            };
            let (one, other) = (drawn(1), drawn(2));
            let mean: f64 = one.iter().sum::<f64>() / 30_000.0;
            assert!(mean.abs() < 0.015, "{mean}");
            let together = |one: &[f64], other: &[f64]| {
                one.iter().zip(other).map(|(one, other)| one * other).sum::<f64>() / (one.len() as f64 * 2.0 / 9.0)
            };
            for (what, found) in [
                ("the next one", together(&one, &one[1..])),
                ("the one after", together(&one, &one[2..])),
                ("another session", together(&one, &other)),
            ] {
                assert!(found.abs() < 0.03, "{seed}, {what}: {found}");
            }
        }
    }

    #[test]
    fn what_names_no_sizes_is_refused_and_without_it_all_are_the_cells() {
        for text in ["sequence", "sequence:", "sequence:4,x"] {
            assert!(mix(text).is_err(), "{text}");
        }
        let one = Mix::read(&Options::default(), None, 7).unwrap();
        assert!(!one.has_several() && one.dims().collect::<Vec<_>>() == [vec![]]);
        assert_eq!((one.drawn(3, 4), one.in_turn(5)), (0, 0));
    }
}
