//! "Did you mean": the names nearest to one that is not there.

/// Nobody types a longer name, and how near two names are takes as long as both together, one times the other.
const LONGEST: usize = 100;

/// Up to three of `known` that are near to `name`, nearest first.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    if name.len() > LONGEST {
        return vec![];
    }
    let name = name.to_lowercase();
    let score = |candidate: &str| {
        let candidate = candidate.to_lowercase();
        let contained = candidate.contains(&name) || name.contains(&candidate);
        strsim::jaro_winkler(&name, &candidate) + if contained { 0.1 } else { 0.0 }
    };
    let known = known.into_iter().filter(|candidate| candidate.len() <= LONGEST);
    let mut scored: Vec<(f64, &str)> = known.map(|k| (score(k), k)).filter(|(s, _)| *s > 0.75).collect();
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

/// The same, and where no name is near, all that there are: "; there are: a, b".
pub fn one_of<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let mut known: Vec<&str> = known.into_iter().collect();
    known.sort_unstable();
    known.dedup();
    match did_you_mean(name, known.iter().copied()) {
        near if near.is_empty() && !known.is_empty() => format!("; there are: {}", known.join(", ")),
        near => near,
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

    #[test]
    fn where_no_name_is_near_all_are_told() {
        let known = ["openvino", "cpu", "cpu"];
        assert_eq!(one_of("openvinno", known), "; did you mean openvino?");
        assert_eq!(one_of("zzzz", known), "; there are: cpu, openvino");
        assert_eq!(one_of("zzzz", []), "");
    }

    #[test]
    fn a_name_of_a_million_signs_is_near_to_nothing_and_not_looked_at() {
        let long = "n".repeat(1 << 20);
        let began = std::time::Instant::now();
        assert!(nearest(&long, vec![long.as_str(); 100]).is_empty());
        assert_eq!(nearest("gpt", [long.as_str(), "gpt2"]), ["gpt2"]);
        assert!(began.elapsed() < std::time::Duration::from_secs(5));
    }
}
