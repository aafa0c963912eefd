//! Whether a benchmark runs each part of a skill as often as one inference of it does: a denoising network that runs once for twenty
//! steps is a figure for work not done.

use std::collections::BTreeMap;

/// How often one inference runs each part. Empty: each once, and nothing is watched.
pub(super) struct Stages(pub Vec<(String, u64)>);

impl Stages {
    pub fn count(&self, runs: &mut BTreeMap<String, u64>, part: &str) {
        if self.0.is_empty() {
            return;
        }
        match runs.get_mut(part) {
            Some(count) => *count += 1,
            None => drop(runs.insert(part.into(), 1)),
        }
    }

    /// What ran less often in a round than another part of it asks for. A round of one part alone is no inference.
    pub fn lost(&self, runs: &BTreeMap<String, u64>) -> Option<String> {
        let ran = || self.0.iter().filter_map(|(part, times)| Some((part, *times, *runs.get(part)?)));
        ran().find_map(|(part, times, count)| {
            let (other, of_other, more) = ran().find(|(_, of_other, more)| count.saturating_mul(*of_other) < more.saturating_mul(times))?;
            let wanted = more.saturating_mul(times) / of_other.max(1);
            Some(format!("'{part}' ran {count} times in a round in which '{other}' ran {more} times: one inference needs {wanted}"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lost(text: u64, unet: u64) -> Option<String> {
        let stages = Stages(vec![("text".into(), 1), ("unet".into(), 20)]);
        let mut runs = BTreeMap::new();
        (0..text).for_each(|_| stages.count(&mut runs, "text"));
        (0..unet).for_each(|_| stages.count(&mut runs, "unet"));
        stages.lost(&runs)
    }

    #[test]
    fn a_round_in_which_a_part_runs_less_often_than_it_has_to_is_told() {
        assert_eq!(lost(2, 40), None);
        assert_eq!((lost(0, 3), lost(3, 0)), (None, None), "a round of one part");
        assert!(lost(2, 2).is_some_and(|text| text.contains("'unet' ran 2 times") && text.contains("needs 40")));
        assert!(lost(2, 39).is_some());
    }

    #[test]
    fn nothing_is_counted_where_every_part_runs_once() {
        let mut runs = BTreeMap::new();
        Stages(vec![]).count(&mut runs, "");
        assert!(runs.is_empty());
    }
}
