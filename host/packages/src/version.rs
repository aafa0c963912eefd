//! Which of two versions is the newer one.

use std::cmp::Ordering;

/// By numbers where both have numbers, else by letters; what has more parts is newer, but for a part that begins with a letter:
/// `1.0-rc1` comes before `1.0`. What stands after a '+' counts for nothing.
pub(crate) fn order(a: &str, b: &str) -> Ordering {
    let (a, b) = (parts(a), parts(b));
    for index in 0..a.len().max(b.len()) {
        let order = match (a.get(index), b.get(index)) {
            (Some(a), Some(b)) => part(a, b),
            (Some(more), None) => against_nothing(more),
            (None, Some(more)) => against_nothing(more).reverse(),
            (None, None) => Ordering::Equal,
        };
        if order != Ordering::Equal {
            return order;
        }
    }
    Ordering::Equal
}

/// Runs of digits, and runs of letters.
fn parts(version: &str) -> Vec<&str> {
    let version = version.split('+').next().unwrap_or_default();
    let runs = version.split(|c: char| !c.is_ascii_alphanumeric()).filter(|run| !run.is_empty());
    runs.flat_map(|run| {
        let boundary = |at: &usize| {
            let pair = run.as_bytes().get(at - 1..=*at).unwrap_or_default();
            pair.len() == 2 && pair[0].is_ascii_digit() != pair[1].is_ascii_digit()
        };
        let mut ends: Vec<usize> = (1..run.len()).filter(boundary).collect();
        ends.push(run.len());
        let mut start = 0;
        ends.into_iter().map(move |end| &run[std::mem::replace(&mut start, end)..end]).collect::<Vec<_>>()
    })
    .collect()
}

fn is_number(part: &str) -> bool {
    part.bytes().all(|byte| byte.is_ascii_digit())
}

fn part(a: &str, b: &str) -> Ordering {
    match (is_number(a), is_number(b)) {
        (true, true) => {
            let (a, b) = (a.trim_start_matches('0'), b.trim_start_matches('0'));
            a.len().cmp(&b.len()).then_with(|| a.cmp(b))
        }
        (false, false) => a.cmp(b),
        (number, _) => {
            if number {
                Ordering::Greater
            } else {
                Ordering::Less
            }
        }
    }
}

fn against_nothing(more: &str) -> Ordering {
    if is_number(more) { Ordering::Greater } else { Ordering::Less }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_ordered_by_their_numbers_and_what_comes_before_a_release_is_older() {
        let sorted =
            ["0.9", "1.0.0-alpha", "1.0.0-rc1", "1.0.0-rc2", "1.0.0", "1.0.0.1", "1.2", "1.10", "2.0rc1", "2.0"];
        for pair in sorted.windows(2) {
            assert_eq!(order(pair[0], pair[1]), Ordering::Less, "{pair:?}");
            assert_eq!(order(pair[1], pair[0]), Ordering::Greater, "{pair:?}");
        }
        for (a, b) in [("1.0", "1.0+build5"), ("1.01", "1.1"), ("", "")] {
            assert_eq!(order(a, b), Ordering::Equal, "{a} {b}");
        }
    }
}
