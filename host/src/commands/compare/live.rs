//! Two backends, versions, precisions or options, measured in turns.

use super::{document, effect};
use crate::cli::{CompareArgs, Global, LiveArgs};
use crate::commands::machine_lock::MachineLock;
use crate::commands::plugin::tell_rejected;
use crate::commands::{CommandError, Exit, failed, usage};
use crate::output;
use skillbench_engine::compare::{Live, Side};
use skillbench_engine::defaults::defaults;
use skillbench_engine::paths;
use skillbench_engine::run::{self, Interleave, Inventory, Observer, Plan, PlannedCell};
use skillbench_engine::worker::Stop;
use skillbench_record::RunRequest;
use skillbench_record::machine;
use skillbench_stats::compare::{ComparedCell, Comparison, Mode, Noise, Party};
use skillbench_stats::rules;

pub fn compare(global: &Global, args: &CompareArgs) -> Result<Comparison, CommandError> {
    let sides = [&args.before, &args.after].map(|text| text.parse::<Side>().map_err(usage));
    let [before, after] = sides;
    let sides = [before?, after?];
    let base = base_request(&args.live);
    let plans = [side_plan(global, &sides[0], &base)?, side_plan(global, &sides[1], &base)?];
    // Of a length that nobody gave nothing is told.
    let given =
        |warning: &&String| !args.live.sequence_lengths.is_empty() || !warning.starts_with("--sequence-lengths");
    plans[0].warnings.iter().filter(given).for_each(|warning| output::warning(warning));
    let pairs = pairs(&plans[0], &plans[1])?;
    let mut lock = MachineLock::default();
    lock.take(global, &args.lock).map_err(CommandError::Exit)?;

    let machine = machine::label();
    let noise = Noise::load(&paths::data(), &machine::this());
    let rules = &rules().compare;
    let live = Live {
        noise: &noise,
        effect: effect(args.effect, args.fail_on_regression),
        launches: args.live.launches.unwrap_or(rules.launches),
        pairs: args.live.pairs.unwrap_or(rules.pairs),
        seed: args.live.seed.unwrap_or(defaults().run.seed),
    };
    let folder = args.stored.results_dir.join("comparisons");
    let mut interleave = Interleave::new([&plans[0], &plans[1]], &folder, "comparison");
    let mut cells: Vec<ComparedCell> = vec![];
    for (number, pair) in pairs.iter().enumerate() {
        let cell = &plans[0].models[pair[0].model];
        let name = format!("[{}/{}] {}, {}", number + 1, pairs.len(), cell.id(), pair[0].axes);
        let mut talk = Talk { quiet: global.quiet, debug: global.debug, name };
        talk.note(&format!("in turns, {} launches or more", live.launches));
        match live.compare(&mut interleave, *pair, &mut talk) {
            Ok(cell) => cells.push(cell),
            Err(_) => break,
        }
    }
    let party = |side: &Side| Party { name: side.name.clone(), run: None, started_at: None, machine: machine.clone() };
    let comparison = document(Mode::Interleaved, party(&sides[0]), party(&sides[1]), vec![], cells);
    let file = folder.join(format!("{}.json", comparison.id));
    let text = serde_json::to_vec_pretty(&comparison).map_err(failed)?;
    match global.quiet {
        true => output::write(&file, &text).map_err(failed)?,
        false => output::to_file(&file, &text).map_err(failed)?,
    }
    if Stop::global().asked() {
        output::say(&format!("stopped; {} of {} comparisons are done", comparison.cells.len(), pairs.len()));
        return Err(CommandError::Exit(Exit::Stopped));
    }
    Ok(comparison)
}

/// What both sides of a comparison have in common.
pub fn base_request(args: &LiveArgs) -> RunRequest {
    let or =
        |given: &[String], default: &str| if given.is_empty() { vec![default.to_string()] } else { given.to_vec() };
    RunRequest {
        models: args.model.clone(),
        benchmarks: or(&args.bench, "inference"),
        batch_sizes: if args.batch_sizes.is_empty() { vec![1] } else { args.batch_sizes.clone() },
        sequence_lengths: match (args.sequence_lengths.is_empty(), args.model.is_empty()) {
            // One point of each model, where none is asked for.
            (true, false) => defaults().run.sequence_lengths.clone(),
            _ => args.sequence_lengths.clone(),
        },
        threads: args.threads,
        timeout_s: args.timeout,
        seed: args.seed,
        ..RunRequest::default()
    }
}

/// The plan of one side. Its own cells measure nothing: the rounds come in turns.
///
/// # Errors
/// A name or value that cannot be.
pub fn side_plan(global: &Global, side: &Side, base: &RunRequest) -> Result<Plan, CommandError> {
    let mut inventory = Inventory::take(&global.sources());
    if side.library.is_none() {
        tell_rejected(&inventory);
    }
    if !global.quiet {
        inventory.tell = skillbench_engine::skill::Tell(output::say);
    }
    let plugin = match &side.library {
        None => side.backend.clone(),
        Some(library) => inventory.take_library(library).map_err(usage)?,
    };
    let mut plan = run::plan(&inventory, side.of(base, &plugin)).map_err(usage)?;
    plan.request.verify_only = true;
    Ok(plan)
}

/// Cells of both plans that do the same work.
fn pairs<'p>(before: &'p Plan, after: &'p Plan) -> Result<Vec<[&'p PlannedCell; 2]>, CommandError> {
    let same = |a: &PlannedCell, b: &PlannedCell| {
        before.models[a.model].id() == after.models[b.model].id()
            && before.benchmarks[a.benchmark].description.id == after.benchmarks[b.benchmark].description.id
            && a.axes == b.axes
    };
    let of = |a: &'p PlannedCell| after.cells.iter().find(|b| same(a, b)).map(|b| [a, b]);
    let pairs: Vec<_> = before.cells.iter().filter_map(of).collect();
    match pairs.is_empty() {
        true => Err(usage("there is no cell that both sides have")),
        false => Ok(pairs),
    }
}

/// How a comparison goes, for people.
pub struct Talk {
    pub quiet: bool,
    pub debug: bool,
    pub name: String,
}

impl Observer for Talk {
    fn note(&mut self, text: &str) {
        if !self.quiet {
            output::say(&format!("{}: {text}", self.name));
        }
    }

    fn warning(&mut self, text: &str) {
        output::warning(&format!("{}: {text}", self.name));
    }

    fn debug(&mut self, text: &str) {
        if self.debug {
            output::say(&format!("{}: {text}", self.name));
        }
    }
}
