//! "Did you mean": the names nearest to one that is not there.

/// Up to three of `known` that are near to `name`, nearest first.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let name = name.to_lowercase();
    let score = |candidate: &str| {
        let candidate = candidate.to_lowercase();
        let contained = candidate.contains(&name) || name.contains(&candidate);
        strsim::jaro_winkler(&name, &candidate) + if contained { 0.1 } else { 0.0 }
    };
    let mut scored: Vec<(f64, &str)> = known.into_iter().map(|k| (score(k), k)).filter(|(s, _)| *s > 0.75).collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    scored.dedup_by(|a, b| a.1 == b.1);
    scored.into_iter().take(3).map(|(_, name)| name).collect()
}

/// The end of an error message: "; did you mean a, b?", or nothing.
pub fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    match nearest(name, known).as_slice() {
        [] => String::new(),
        names => format!("; did you mean {}?", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_finger_finds_its_name() {
        assert_eq!(nearest("bert-tinny", ["gpt2", "bert-tiny", "resnet-50"])[0], "bert-tiny");
        assert!(nearest("zzzz", ["gpt2", "bert-tiny"]).is_empty());
    }
}
