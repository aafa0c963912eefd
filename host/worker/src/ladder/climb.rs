//! The ladder from outside: a worker runs case after case, and one that ends costs the case that it ran.

use super::{Rung, ladder};
use crate::{Command, Event, Failure, LadderJob, Limits, PluginUse, Reply, Stop, Worker};
use skillbench_record::scratch;
use std::time::Duration;

/// No case takes so long.
const LIMIT: Duration = Duration::from_secs(20);
/// All of them together, on an engine that compiles each for a second or two.
const ALL: Duration = Duration::from_secs(3600);

/// Runs these cases on a backend, and gives what became of each, in their order.
///
/// # Errors
/// The backend cannot be opened, or the user asked to stop.
pub fn climb(backend: &PluginUse, cases: &[usize], stop: &Stop) -> Result<Vec<(usize, Rung)>, Failure> {
    let failed = |error: std::io::Error| Failure::failed("scratch", error.to_string());
    let scratch = scratch::folder().map_err(failed)?;
    let mut limits = Limits::probing(stop);
    limits.total = ALL;
    limits.step = Some(LIMIT);
    let mut told: Vec<(usize, Rung)> = vec![];
    let mut left = cases.to_vec();
    while !left.is_empty() {
        let job = LadderJob { backend: backend.clone(), cases: left.clone(), scratch: scratch.path().into() };
        let mut under_way = None;
        let mut listen = |event: &Event| match event {
            Event::Rung { case, rung: None } => under_way = Some(*case),
            Event::Rung { case, rung: Some(rung) } => {
                under_way = None;
                told.push((*case, rung.clone()));
            }
            _ => {}
        };
        let command = Command::Ladder(Box::new(job));
        let (ended, _) = Worker::start(&command)?.call(&command, &limits, &mut listen);
        match (ended, under_way) {
            (Ok(Reply::Climbed), _) => break,
            (Ok(other), _) => return Err(Failure::unexpected(&other)),
            (Err(failure), _) if stop.asked() => return Err(failure),
            (Err(failure), Some(case)) => told.push((case, Rung::Crashed(failure.to_string()))),
            // Nothing was run: it cannot be opened.
            (Err(failure), None) => return Err(failure),
        }
        left.retain(|case| !told.iter().any(|(known, _)| known == case));
    }
    told.sort_by_key(|(case, _)| *case);
    Ok(told)
}

/// The places of the cases that `wanted` takes.
pub fn places(wanted: impl Fn(&super::Case) -> bool) -> Vec<usize> {
    let all = ladder().cases.iter().enumerate();
    all.filter(|(_, case)| wanted(case)).map(|(place, _)| place).collect()
}
