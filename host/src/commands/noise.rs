//! `host doctor --noise`: measures the noise floor of this machine, and keeps it.

use super::compare::{Talk, base_request, side_plan};
use super::machine_lock::MachineLock;
use super::{CommandError, Done, Exit, failed, usage};
use crate::cli::{DoctorArgs, Global, LiveArgs};
use crate::output;
use skillbench_engine::compare::Side;
use skillbench_engine::paths;
use skillbench_engine::run::Inventory;
use skillbench_record::machine;
use skillbench_report::{Cell, Table};
use skillbench_session::noise::{self, Itself};
use skillbench_stats::compare::Noise;
use skillbench_stats::rules;

pub fn noise(global: &Global, args: &DoctorArgs) -> Done {
    let plugins =
        if args.plugin.is_empty() { noise::backends(&Inventory::take(&global.sources())) } else { args.plugin.clone() };
    if plugins.is_empty() {
        return Err(usage("no backend can be used here; `host doctor` says why"));
    }
    let rules = &rules().compare;
    let comparisons = args.comparisons.unwrap_or(rules.noise_comparisons);
    let models = if args.model.is_empty() { rules.noise_models.clone() } else { args.model.clone() };
    let machine = machine::this();
    let mut lock = MachineLock::default();
    lock.take(global, &args.lock).map_err(CommandError::Exit)?;
    let mut seen: Vec<Itself> = vec![];
    for plugin in &plugins {
        // Model after model, again and again: a moment that is noisy meets all of them.
        for number in 0..comparisons {
            for model in &models {
                let name = format!("{model} on {plugin}, {} of {comparisons}", number + 1);
                seen.extend(itself(global, args, plugin, model, number, &name)?);
            }
        }
    }
    if let Some(file) = &args.output {
        output::to_file(file, table_of_all(&seen).render(skillbench_report::Format::Csv).as_bytes()).map_err(failed)?;
    }
    let floors = noise::floors(&seen, &models, comparisons);
    if floors.is_empty() {
        output::error("nothing was measured of what was asked for");
        return Ok(Exit::Unmeasured);
    }
    let mut table = Table::new(["plugin", "metric", "in_turns_pct", "apart_pct", "comparisons"]);
    for floor in &floors {
        table.row([
            floor.plugin.as_str().into(),
            floor.metric.as_str().into(),
            Cell::number(floor.interleaved * 100.0),
            Cell::number(floor.apart * 100.0),
            Cell::count(floor.comparisons),
        ]);
    }
    let mut kept = Noise::load(&paths::data(), &machine);
    kept.keep(floors).map_err(|error| failed(format!("the noise floor could not be kept: {error}")))?;
    output::table(&table, global.format.into());
    if !global.quiet {
        output::say(&format!("kept for {}: no smaller difference is told as one", machine::label()));
    }
    Ok(Exit::Good)
}

/// One comparison of each point of a model with itself.
fn itself(
    global: &Global,
    args: &DoctorArgs,
    plugin: &str,
    model: &str,
    number: u64,
    name: &str,
) -> Result<Vec<Itself>, CommandError> {
    let side: Side = plugin.parse().map_err(usage)?;
    let live_args = LiveArgs { model: vec![model.into()], bench: args.bench.clone(), ..LiveArgs::default() };
    let plan = side_plan(global, &side, &base_request(&live_args))?;
    let mut talk = Talk { quiet: true, debug: global.debug, name: name.into() };
    if !global.quiet {
        output::say(name);
    }
    noise::measure(&plan, number, &mut talk).map_err(|_| {
        output::say("stopped; the noise floor is as it was");
        CommandError::Exit(Exit::Stopped)
    })
}

fn table_of_all(seen: &[Itself]) -> Table {
    let mut table = Table::new(["plugin", "model", "metric", "one", "other", "ratio", "low", "high"]);
    for one in seen {
        for (metric, evidence) in &one.figures {
            let [low, high] = evidence.interval.map_or([None, None], |[low, high]| [Some(low), Some(high)]);
            table.row([
                one.plugin.as_str().into(),
                one.model.as_str().into(),
                metric.name.as_str().into(),
                Cell::number(evidence.before),
                Cell::number(evidence.after),
                Cell::number(evidence.ratio),
                Cell::maybe(low, Cell::number),
                Cell::maybe(high, Cell::number),
            ]);
        }
    }
    table
}
