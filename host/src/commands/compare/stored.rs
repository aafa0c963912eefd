//! Two stored runs. They were measured one after the other, so that the noise between two moments counts.

use super::{across, effect};
use crate::cli::{AcrossArg, CompareArgs, Global};
use crate::commands::stored::read_run;
use crate::commands::typed::typed;
use crate::commands::{CommandError, failed, usage};
use clap::ValueEnum;
use skillbench_record::catalog::{self, Better, Metric};
use skillbench_record::suggest::did_you_mean;
use skillbench_results::Stored;
use skillbench_results::compared::{self, Across};
use skillbench_session::compare::{self, Rules};
use skillbench_stats::compare::Comparison;

pub fn by_name(global: &Global, args: &CompareArgs) -> Result<Comparison, CommandError> {
    let place = args.stored.place(global);
    let side = |name: &String| read_run(&place, name).map(|chosen| chosen.stored);
    let [one, other] = args.sides.as_slice() else {
        return Err(usage(
            "two stored runs are compared; several sides with --interleave, which measures them in turns",
        ));
    };
    let (before, after) = (side(one)?, side(other)?);
    if before.runs.iter().map(|run| &run.run_id).eq(after.runs.iter().map(|run| &run.run_id)) {
        return Err(usage(format!("{one} and {other} are the same run")));
    }
    let names = [one.as_str(), other.as_str()];
    let across = across(&args.across);
    same_machine(&before, &after, across)?;
    let rules = Rules {
        across,
        effect: effect(args.effect, args.fail_on_regression),
        metrics: metrics(&args.metric)?,
        seed: args.live.seed,
        command: typed(),
    };
    let mut comparison = compare::stored([&before, &after], names, &rules).map_err(failed)?;
    let asked = args.across.iter().filter_map(|what: &AcrossArg| what.to_possible_value());
    comparison.across = asked.map(|value| value.get_name().to_string()).collect();
    Ok(comparison)
}

/// The metrics of these names that can become better or worse.
fn metrics(names: &[String]) -> Result<Vec<&'static Metric>, CommandError> {
    let known = || catalog::metrics().iter().filter(|metric| metric.better != Better::Neither);
    let one = |name: &String| {
        let unknown = || usage(format!("no metric '{name}'{}", did_you_mean(name, known().map(|metric| metric.name))));
        known().find(|metric| metric.name == name).ok_or_else(unknown)
    };
    names.iter().map(one).collect()
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
