//! `host doctor --noise`: the same code against itself, again and again. What this shows at most is the noise floor of this machine,
//! and no difference below it is told as one.

use super::compare::{Talk, base_request, side_plan};
use super::machine_lock::MachineLock;
use super::{CommandError, Done, Exit, failed, usage};
use crate::cli::{DoctorArgs, Global, LiveArgs};
use crate::output;
use skillbench_engine::compare::{Live, Side};
use skillbench_engine::defaults::defaults;
use skillbench_engine::paths;
use skillbench_engine::run::{Interleave, Inventory, Probe};
use skillbench_record::machine;
use skillbench_record::time::now_utc;
use skillbench_report::{Cell, Table};
use skillbench_stats::compare::{Deviations, Evidence, Floor, Metric, Noise};
use skillbench_stats::rules;
use std::collections::BTreeMap;

/// One comparison of a model with itself.
struct Seen {
    plugin: String,
    model: String,
    figures: Vec<(Metric, Evidence)>,
}

pub fn noise(global: &Global, args: &DoctorArgs) -> Done {
    let plugins = if args.plugin.is_empty() { usable(global) } else { args.plugin.clone() };
    if plugins.is_empty() {
        return Err(usage("no backend can be used here; `host doctor` says why"));
    }
    let rules = &rules().compare;
    let comparisons = args.comparisons.unwrap_or(rules.noise_comparisons);
    let models = if args.model.is_empty() { rules.noise_models.clone() } else { args.model.clone() };
    let machine = machine::this();
    let mut lock = MachineLock::default();
    lock.take(global, &args.lock).map_err(CommandError::Exit)?;
    let mut seen: Vec<Seen> = vec![];
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
    let floors = floors(&seen, &models, comparisons);
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

/// Backends with a device that computes here, and is neither emulated nor a browser.
fn usable(global: &Global) -> Vec<String> {
    let inventory = Inventory::take(&global.sources());
    let computes = |probe: &Probe| probe.usable().is_some_and(|device| !device.emulated && device.kind != "browser");
    let backends = inventory.backends().filter(|(plugin, _)| computes(&Probe::at(plugin)));
    backends.map(|(plugin, _)| plugin.id.clone()).collect()
}

/// One comparison of each point of a model with itself.
fn itself(
    global: &Global,
    args: &DoctorArgs,
    plugin: &str,
    model: &str,
    number: u64,
    name: &str,
) -> Result<Vec<Seen>, CommandError> {
    let side: Side = plugin.parse().map_err(usage)?;
    let live_args = LiveArgs { model: vec![model.into()], bench: args.bench.clone(), ..LiveArgs::default() };
    let base = base_request(&live_args);
    let plan = side_plan(global, &side, &base)?;
    let floors = Noise::default();
    let rules = &rules().compare;
    // Every comparison is one of its own: other orders, other draws.
    let seed = defaults().run.seed + number * 1_000_003;
    let live = Live { noise: &floors, effect: 0.0, launches: rules.launches, pairs: rules.pairs, seed };
    let folder = std::env::temp_dir();
    let mut interleave = Interleave::new([&plan, &plan], &folder, "noise");
    let mut talk = Talk { quiet: true, debug: global.debug, name: name.into() };
    if !global.quiet {
        output::say(name);
    }
    let mut seen = vec![];
    for cell in &plan.cells {
        let stopped = |_| {
            output::say("stopped; the noise floor is as it was");
            CommandError::Exit(Exit::Stopped)
        };
        match live.evidence(&mut interleave, [cell, cell], &mut talk).map_err(stopped)? {
            // Verdicts look it up by the plugin's own id, whatever was set for it here.
            Ok(figures) => seen.push(Seen {
                plugin: plan.backends[cell.backend].choice.plugin.clone(),
                model: model.into(),
                figures,
            }),
            Err(reason) => output::warning(&format!("{name}: {}", reason.message)),
        }
    }
    Ok(seen)
}

fn floors(seen: &[Seen], models: &[String], comparisons: u64) -> Vec<Floor> {
    let mut all: BTreeMap<(String, String), Deviations> = BTreeMap::new();
    for one in seen {
        for (metric, evidence) in &one.figures {
            let known = all.entry((one.plugin.clone(), metric.name.clone())).or_default();
            known.interleaved.push(evidence.ratio);
            known.levels.entry(one.model.clone()).or_default().push(evidence.before);
        }
    }
    let measured_at = now_utc();
    let floor = |((plugin, metric), deviations): ((String, String), Deviations)| {
        let (interleaved, apart) = deviations.largest()?;
        let (models, measured_at) = (models.to_vec(), measured_at.clone());
        let comparisons = (deviations.interleaved.len() as u64).min(comparisons * models.len() as u64);
        Some(Floor { plugin, metric, interleaved, apart, comparisons, models, measured_at })
    };
    all.into_iter().filter_map(floor).collect()
}

fn table_of_all(seen: &[Seen]) -> Table {
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
