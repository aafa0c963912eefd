//! Requests of several sizes: which each has.

use skillbench_load::board::Shift;
use skillbench_load::trace::Trace;
use skillbench_plugin_api::{Dim, Error, Options, Result};

/// One size of many: what the option `sizes` says.
pub struct Mix {
    /// None, where all requests have the size of the cell.
    axis: Option<String>,
    /// In order, each once.
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
        values.sort_unstable();
        values.dedup();
        let picks = named.iter().filter_map(|value| values.binary_search(value).ok()).collect();
        let longest = trace.and_then(Trace::longest).map(|longest| longest.prompt as i64);
        let largest = values.last().copied().unwrap_or_default();
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

    /// What a model is loaded for, of each size in order.
    pub fn dims(&self) -> impl Iterator<Item = Vec<Dim>> {
        self.values.iter().map(|value| self.axis.iter().map(|axis| Dim::fixed(axis, *value)).collect())
    }

    /// The place of the size that a request has, in one session of several.
    pub fn of(&self, shift: &Shift<'_>, number: usize) -> usize {
        match shift.lengths(number).filter(|_| self.by_length) {
            Some(lengths) => {
                self.values.partition_point(|value| *value < lengths.prompt as i64).min(self.values.len() - 1)
            }
            None => self.drawn(shift.session(), number),
        }
    }

    fn drawn(&self, session: u64, number: usize) -> usize {
        let seed = self.seed ^ session.rotate_left(32) ^ number as u64;
        self.picks[fastrand::Rng::with_seed(seed).usize(..self.picks.len())]
    }

    /// The size that is served when nobody asked for one: one after the other, each as often as it was named.
    pub fn in_turn(&self, turn: usize) -> usize {
        self.picks[turn % self.picks.len()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mix(sizes: &str) -> Result<Mix> {
        Mix::read(&Options([("sizes".to_string(), sizes.to_string())].into()), None, 7)
    }

    #[test]
    fn each_size_comes_as_often_as_it_is_named_and_others_in_each_session() {
        let mix = mix("sequence:64,16,16").unwrap();
        assert_eq!(mix.values, [16, 64]);
        let drawn: Vec<usize> = (0..3_000).map(|number| mix.drawn(1, number)).collect();
        let small = drawn.iter().filter(|place| **place == 0).count();
        assert!((1_850..2_150).contains(&small), "{small}");
        assert!((0..3_000).any(|number| mix.drawn(2, number) != drawn[number]));
        assert_eq!((0..3).map(|turn| mix.in_turn(turn)).collect::<Vec<_>>(), [1, 0, 0]);
        let dims: Vec<Vec<Dim>> = mix.dims().collect();
        assert_eq!(dims, [vec![Dim::fixed("sequence", 16)], vec![Dim::fixed("sequence", 64)]]);
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
