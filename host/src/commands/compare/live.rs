//! Two backends, versions, precisions or options, measured in turns: rounds of a benchmark, or with `--slo` whole searches of a capacity.

use super::effect;
use crate::cli::{CompareArgs, Global, LiveArgs};
use crate::commands::persist::Persist;
use crate::commands::plugin::tell_rejected;
use crate::commands::run::ended;
use crate::commands::typed::typed;
use crate::commands::{CommandError, Exit, failed, locked_out, usage};
use crate::output;
use crate::screen::Screen;
use skillbench_engine::compare::{Live, Side};
use skillbench_engine::run::Plan;
use skillbench_engine::skill::Tell;
use skillbench_engine::suite::{SuiteFile, serving};
use skillbench_record::RunRequest;
use skillbench_record::defaults::defaults;
use skillbench_record::machine;
use skillbench_record::paths;
use skillbench_session::Event;
use skillbench_session::capacity::{self, Searches, Target};
use skillbench_session::interleave::{self, pairs, plan_of, with_defaults};
use skillbench_stats::compare::{Comparison, Noise};
use skillbench_stats::rules;
use std::path::Path;

/// What warnings about lengths begin with.
const OF_LENGTHS: &str = "--sequence-lengths";

pub fn compare(global: &Global, args: &CompareArgs) -> Result<Comparison, CommandError> {
    let sides = sides(args)?;
    let base = base_request(&args.live);
    let plans = sides.iter().map(|side| side_plan(global, side, &base)).collect::<Result<Vec<Plan>, _>>()?;
    let (Some((first, others)), Some((first_side, other_sides))) = (plans.split_first(), sides.split_first()) else {
        return Err(usage("at least two sides are compared"));
    };
    if others.is_empty() {
        return Err(usage("at least two sides are compared"));
    }
    // Of a length that nobody gave nothing is told.
    let given = |warning: &&String| !args.live.sequence_lengths.is_empty() || !warning.starts_with(OF_LENGTHS);
    first.warnings.iter().filter(given).for_each(|warning| output::warning(warning));
    // A slip is an error before any wait for the machine.
    let of = others.iter().map(|other| pairs(first, other).map(|pairs| pairs.len()).map_err(usage));
    let of = of.sum::<Result<usize, _>>()?;
    let noise = Noise::load(&paths::data(), &machine::this());
    let folder = args.stored.results().join("comparisons");
    if args.live.slo.is_some() {
        let comparison = searched(global, args, &sides, &base, &noise, &folder)?;
        return kept(global, comparison, &folder);
    }
    let (mut lock, mut screen) = (args.lock.lock(), Screen::new(global));
    lock.take(&global.stop, &mut |event| screen.on(event)).map_err(|error| locked_out(&error))?;

    let rules = &rules().compare;
    let live = Live {
        noise: &noise,
        effect: effect(args.effect, args.fail_on_regression),
        launches: args.live.launches.unwrap_or(rules.launches),
        pairs: args.live.pairs.unwrap_or(rules.pairs),
        seed: args.live.seed.unwrap_or(defaults().run.seed),
    };
    let others: Vec<(&Plan, &Side)> = others.iter().zip(other_sides).collect();
    let first = (first, first_side);
    let comparison = interleave::compare(first, &others, &live, &folder, typed(), &mut |event| screen.on(event));
    let comparison = kept(global, comparison.map_err(usage)?, &folder)?;
    if global.stop.asked() {
        output::say(&format!("stopped; {} of {of} comparisons are done", comparison.cells.len()));
        return Err(CommandError::Exit(Exit::Stopped));
    }
    Ok(comparison)
}

/// The capacity of each side, searched in turns.
fn searched(
    global: &Global,
    args: &CompareArgs,
    sides: &[Side],
    base: &RunRequest,
    noise: &Noise,
    folder: &Path,
) -> Result<Comparison, CommandError> {
    let target = |side| {
        let mut inventory = global.inventory();
        let request = interleave::request_of(&mut inventory, side, base).map_err(usage)?;
        Ok(Target { side, inventory, request })
    };
    let targets = sides.iter().map(target).collect::<Result<Vec<_>, CommandError>>()?;
    let searches = Searches {
        times: args.live.launches.unwrap_or(rules().compare.searches),
        noise,
        effect: effect(args.effect, args.fail_on_regression),
    };
    let persist = Persist::repeating(folder, &args.lock);
    // What stands in the way of keeping a search is told; its figures count all the same.
    let mut screen = Screen::new(global).on_kept(|kept| {
        persist.after(global, kept);
    });
    let mut session = persist.session();
    let is_given = !args.live.sequence_lengths.is_empty();
    let comparison = capacity::compare(&mut session, &targets, &searches, &mut |event| match event {
        Event::Warning(text) if !is_given && text.starts_with(OF_LENGTHS) => {}
        event => screen.on(event),
    });
    comparison.map_err(ended)?.ok_or_else(|| {
        output::say(&format!("stopped; the searches that are done are kept in {}", folder.display()));
        CommandError::Exit(Exit::Stopped)
    })
}

/// Writes a comparison into its folder.
fn kept(global: &Global, comparison: Comparison, folder: &Path) -> Result<Comparison, CommandError> {
    let file = folder.join(format!("{}.json", comparison.id));
    let text = serde_json::to_vec_pretty(&comparison).map_err(failed)?;
    match global.quiet {
        true => output::write(&file, &text).map_err(failed)?,
        false => output::to_file(&file, &text).map_err(failed)?,
    }
    Ok(comparison)
}

/// The sides as they were written, or the versions of one plugin's runtime.
fn sides(args: &CompareArgs) -> Result<Vec<Side>, CommandError> {
    let parse = |text: &str| text.parse::<Side>().map_err(usage);
    let Some(runtime) = &args.runtime else { return args.sides.iter().map(|text| parse(text)).collect() };
    let expected = || usage(format!("'{runtime}': expected PLUGIN=VERSION,VERSION, such as cpu=1.30.0,1.31.1"));
    let (plugin, versions) = runtime.split_once('=').ok_or_else(expected)?;
    versions.split(',').map(|version| parse(&format!("{plugin}@runtime={version}"))).collect()
}

/// What both sides of a comparison have in common.
fn base_request(args: &LiveArgs) -> RunRequest {
    let mut request = RunRequest {
        models: args.model.clone(),
        benchmarks: args.bench.clone(),
        batch_sizes: args.batch_sizes.clone(),
        sequence_lengths: args.sequence_lengths.clone(),
        threads: args.threads,
        budget_s: args.budget,
        timeout_s: args.timeout,
        seed: args.seed,
        ..RunRequest::default()
    };
    serving(&SuiteFile { slo: args.slo.clone(), ..SuiteFile::default() }, &mut request);
    with_defaults(request)
}

/// The plan of one side.
///
/// # Errors
/// A name or value that cannot be.
fn side_plan(global: &Global, side: &Side, base: &RunRequest) -> Result<Plan, CommandError> {
    let mut inventory = global.inventory();
    if side.library.is_none() {
        tell_rejected(&inventory);
    }
    if !global.quiet {
        inventory.tell = Tell(output::say);
    }
    plan_of(&mut inventory, side, base).map_err(usage)
}
