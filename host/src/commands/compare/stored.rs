//! Two stored runs. They were measured one after the other, so that the noise between two moments counts.

use super::{across, document, effect};
use crate::cli::{AcrossArg, CompareArgs, Global, WhichRuns};
use crate::commands::stored::Chosen;
use crate::commands::{CommandError, failed, usage};
use clap::ValueEnum;
use skillbench_engine::defaults::defaults;
use skillbench_engine::paths;
use skillbench_record::machine;
use skillbench_results::Stored;
use skillbench_results::compared::{self, Across, Question};
use skillbench_stats::compare::{Comparison, Mode, Noise, Party};

pub fn by_name(global: &Global, args: &CompareArgs) -> Result<Comparison, CommandError> {
    let side = |name: &String| {
        let which = WhichRuns { stored: args.stored.clone(), run: vec![name.clone()], ..WhichRuns::default() };
        which.read(global).map(|Chosen { stored, .. }| stored)
    };
    let (before, after) = (side(&args.before)?, side(&args.after)?);
    if before.runs.iter().map(|run| &run.run_id).eq(after.runs.iter().map(|run| &run.run_id)) {
        return Err(usage(format!("{} and {} are the same run", args.before, args.after)));
    }
    let names = [args.before.as_str(), args.after.as_str()];
    let across = across(&args.across);
    same_machine(&before, &after, across)?;
    let effect = effect(args.effect, args.fail_on_regression);
    let mut comparison = compare([&before, &after], names, across, effect, args.live.seed)?;
    let asked = args.across.iter().filter_map(|what: &AcrossArg| what.to_possible_value());
    comparison.across = asked.map(|value| value.get_name().to_string()).collect();
    Ok(comparison)
}

/// Compares what was read.
///
/// # Errors
/// The results could not be worked through.
pub fn compare(
    sides: [&Stored; 2],
    names: [&str; 2],
    across: Across,
    effect: f64,
    seed: Option<u64>,
) -> Result<Comparison, CommandError> {
    let [before, after] = [0, 1].map(|side| party(names[side], sides[side]));
    // The noise that counts is that of the machine that measured.
    let machine = sides[1].runs.iter().find_map(|run| run.environment.machine_id()).unwrap_or_else(machine::this);
    let noise = Noise::load(&paths::data(), &machine);
    let seed = seed.unwrap_or(defaults().run.seed);
    let question = Question { across, noise: &noise, effect, seed };
    let cells = compared::compare(sides[0], sides[1], &question).map_err(failed)?;
    Ok(document(Mode::Apart, before, after, vec![], cells))
}

/// The machine of a run.
fn machine_of(stored: &Stored) -> String {
    compared::machines(stored).ok().and_then(|machines| machines.into_iter().next()).unwrap_or_default()
}

fn party(name: &str, stored: &Stored) -> Party {
    let last = stored.runs.last();
    Party {
        name: name.into(),
        run: last.map(|run| run.run_id.clone()),
        started_at: last.map(|run| run.started_at.clone()),
        machine: machine_of(stored),
    }
}

/// Times of different machines are not held against each other, unless that is asked for.
fn same_machine(before: &Stored, after: &Stored, across: Across) -> Result<(), CommandError> {
    let (a, b) = (compared::machines(before).map_err(failed)?, compared::machines(after).map_err(failed)?);
    match across.machine || a.is_empty() || b.is_empty() || a.iter().any(|machine| b.contains(machine)) {
        true => Ok(()),
        false => Err(usage(format!(
            "before was measured on {}, after on {}: times of different machines tell nothing of a change; --across machine compares them all the same",
            a.join(" and "),
            b.join(" and ")
        ))),
    }
}
