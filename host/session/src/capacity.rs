//! Targets whose capacities are searched in turns: which bears more load, and how sure that is.

use crate::compare::{document, party_here};
use crate::event::{Event, Listener};
use crate::gate::Asked;
use crate::run::{Ended, Session, SessionError, Start};
use skillbench_engine::compare::{SIDES, Side, apart, blank};
use skillbench_engine::run::Inventory;
use skillbench_record::catalog::column;
use skillbench_record::defaults::defaults;
use skillbench_record::{Cell, Reason, Run, RunRequest};
use skillbench_stats::compare::{
    Bar, ComparedCell, ComparedMetric, Comparison, Estimate, Metric, Mode, Noise, judge, of_estimates,
};

/// A target, and the search that is asked of it.
pub struct Target<'a> {
    pub side: &'a Side,
    /// With the side's library and runtime.
    pub inventory: Inventory,
    pub request: RunRequest,
}

/// How searches are made and judged.
pub struct Searches<'a> {
    /// Of each target.
    pub times: u64,
    pub noise: &'a Noise,
    /// No smaller difference is told: 0.05 for 5%.
    pub effect: f64,
}

/// Searches the capacity of each target so many times, in turns and back again, and holds each against the first. Every search is a run of its own in
/// the session's folder. `None`: it was stopped.
///
/// # Errors
/// A request cannot be carried out, or its results cannot be kept.
pub fn compare(
    session: &mut Session,
    targets: &[Target<'_>],
    searches: &Searches<'_>,
    on: &mut Listener<'_>,
) -> Result<Option<Comparison>, SessionError> {
    let mut runs: Vec<Vec<Run>> = targets.iter().map(|_| vec![]).collect();
    for time in 0..searches.times {
        let mut order: Vec<usize> = (0..targets.len()).collect();
        // There and back: what changes evenly meanwhile meets all alike.
        if time % 2 == 1 {
            order.reverse();
        }
        for place in order {
            let target = &targets[place];
            let name = format!("search {} of {} on {}", time + 1, searches.times, target.side.name);
            on(Event::ComparisonBegun { name: &name });
            on(Event::Note("the load that keeps the limits"));
            // Arrivals that are others each time, and the same for all targets.
            let seed = target.request.seed.unwrap_or(defaults().run.seed).wrapping_add(time);
            let start = Start::New(Box::new(RunRequest { seed: Some(seed), ..target.request.clone() }));
            match session.run(&target.inventory, start, &Asked::default(), false, on)? {
                Ended::Ran(ran) if ran.verdict.is_some() => runs[place].push(ran.kept.recorded.run),
                _ => return Ok(None),
            }
        }
    }
    let (Some(first), Some(of_first)) = (targets.first(), runs.first()) else { return Ok(None) };
    let all = of_first.first().map(|run| run.cells.as_slice()).unwrap_or_default();
    let mut cells = vec![];
    for (target, of_target) in targets.iter().zip(&runs).skip(1) {
        let side = (targets.len() > 2).then(|| target.side.name.clone());
        let compared = all.iter().map(|cell| of_cell(cell, [of_first, of_target], searches));
        cells.extend(compared.map(|cell| ComparedCell { side: side.clone(), ..cell }));
    }
    let names: Vec<&str> = targets.iter().skip(1).map(|target| target.side.name.as_str()).collect();
    let parties = [party_here(first.side.name.clone()), party_here(names.join(", "))];
    Ok(Some(document(Mode::Interleaved, parties, session.command.clone(), cells)))
}

/// The same work of another run.
fn same<'r>(run: &'r Run, cell: &Cell) -> Option<&'r Cell> {
    run.cells.iter().find(|one| one.skill == cell.skill && one.benchmark == cell.benchmark && one.axes == cell.axes)
}

fn of_cell(cell: &Cell, runs: [&Vec<Run>; 2], searches: &Searches<'_>) -> ComparedCell {
    let of_side = |runs: &'_ Vec<Run>| runs.iter().filter_map(|run| same(run, cell).cloned()).collect::<Vec<Cell>>();
    let sides = runs.map(of_side);
    let newest = |side: &Vec<Cell>| side.last().cloned();
    let (Some(before), Some(after)) = (newest(&sides[0]), newest(&sides[1])) else {
        let alone = blank(&[cell.clone(), cell.clone()]);
        return ComparedCell { reason: Some(Reason::new("only-before", "the other side has no such cell")), ..alone };
    };
    let pair = [before, after];
    let blank = blank(&pair);
    let found = match sides.each_ref().map(|side| estimates(side)) {
        [Ok(before), Ok(after)] => [before, after],
        [Err(reason), _] => return ComparedCell { reason: Some(of(SIDES[0], &reason)), ..blank },
        [_, Err(reason)] => return ComparedCell { reason: Some(of(SIDES[1], &reason)), ..blank },
    };
    if let Some(reason) = sides[0].iter().zip(&sides[1]).find_map(|(before, after)| unequal(before, after)) {
        return ComparedCell { reason: Some(reason), ..blank };
    }
    let Some(evidence) = of_estimates(&found[0], &found[1]) else {
        let reason =
            Reason::new("no-interval", "the interval of a capacity has no lower end: ask for a longer --budget");
        return ComparedCell { reason: Some(reason), ..blank };
    };
    let metric = Metric::capacity();
    // Searches lie as far apart as runs do.
    let (floor, floor_from) = searches.noise.floor(&[&blank.before.plugin, &blank.after.plugin], &metric, false);
    let bar = Bar { floor, floor_from, effect: searches.effect };
    let (verdict, reason) = judge(&metric, &evidence, &bar);
    let pairs = evidence.levels.iter().map(|level| vec![*level]).collect();
    let compared = ComparedMetric { metric, evidence, bar, verdict, reason, run: None, first: None, pairs };
    ComparedCell { metrics: vec![compared], cells: Some(pair), ..blank }
}

/// Why two searches are not held against each other.
fn unequal(before: &Cell, after: &Cell) -> Option<Reason> {
    for (cell, side) in [before, after].into_iter().zip(SIDES) {
        if let Some(why) = cell.implausible.first() {
            return Some(Reason::new(column::IMPLAUSIBLE, format!("{side}: {why}")));
        }
    }
    let limits = |cell: &Cell| Some(cell.outcome.metrics()?.capacity.as_ref()?.slo.clone());
    if limits(before) != limits(after) {
        return Some(Reason::new("limits", "the sides were to keep other limits, and other loads do"));
    }
    let pair = [before.clone(), after.clone()];
    apart(&pair, &blank(&pair))
}

fn of(side: &str, reason: &Reason) -> Reason {
    Reason::new(&reason.code, format!("{side}: {}", reason.message))
}

/// The capacity that each search found, or why one found none.
fn estimates(cells: &[Cell]) -> Result<Vec<Estimate>, Reason> {
    let one = |cell: &Cell| match (
        cell.outcome.metrics().and_then(|metrics| metrics.capacity.as_ref()),
        cell.outcome.reason(),
    ) {
        (Some(found), _) => Ok(Estimate { value: found.per_s, ci95: found.ci95, rounds: found.trials.len() as u64 }),
        (None, Some(reason)) => Err(Reason::new(&reason.code, format!("{}: {}", cell.outcome.name(), reason.message))),
        (None, None) => Err(Reason::new("no-capacity", "no rate was searched")),
    };
    cells.iter().map(one).collect()
}
