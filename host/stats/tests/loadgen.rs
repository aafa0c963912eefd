//! Early stopping says what MLPerf's LoadGen says, of its own traces (`scripts/loadgen-verdicts` made them).

use skillbench_stats::{is_kept, percentile};

struct Row {
    trace: u32,
    queries: u64,
    percentile: f64,
    said: Said,
}

enum Said {
    /// The places of the estimate, counted from the highest latency; `None`: there was none.
    Estimate(Option<std::ops::RangeInclusive<u64>>),
    /// So many queries were over the limit, and it was kept in spite of them or not.
    Verdict { over: u64, met: bool },
}

fn rows() -> Vec<Row> {
    let text = include_str!("loadgen.csv");
    let row = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        let number = |place: usize| fields[place].parse::<u64>().unwrap();
        let said = match fields[1] {
            "Server" => Said::Verdict { over: number(6), met: fields[7] == "True" },
            _ => Said::Estimate((number(4) > 0).then(|| number(4)..=number(5))),
        };
        Row { trace: number(0) as u32, queries: number(2), percentile: fields[3].parse().unwrap(), said }
    };
    text.lines().skip(1).map(row).collect()
}

/// The place of the percentile among so many samples, counted from the highest.
fn place(queries: u64, p: f64) -> Option<u64> {
    let samples: Vec<f64> = (0..queries).map(|sample| sample as f64).collect();
    percentile(&samples, p).map(|found| queries - found as u64)
}

#[test]
fn estimates_and_verdicts_are_those_of_loadgen_on_each_of_its_traces() {
    let (mut estimates, mut verdicts) = (0, [0, 0]);
    for Row { trace, queries, percentile: p, said } in rows() {
        match said {
            Said::Estimate(theirs) => {
                let ours = place(queries, p);
                let same = match (&theirs, ours) {
                    (Some(theirs), Some(ours)) => theirs.contains(&ours),
                    (None, None) => true,
                    _ => false,
                };
                assert!(same, "trace {trace}, p{}: {ours:?} is not at {theirs:?}", p * 100.0);
                estimates += 1;
            }
            Said::Verdict { over, met } => {
                assert_eq!(is_kept(over, queries, p), met, "trace {trace}: {over} of {queries} over");
                verdicts[usize::from(met)] += 1;
            }
        }
    }
    assert!(estimates >= 50 && verdicts.iter().all(|count| *count >= 10), "{estimates} {verdicts:?}");
}
